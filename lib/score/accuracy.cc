#include "lib/score/accuracy.h"

#include <algorithm>
#include <cmath>

#include "lib/score/statistics.h"

namespace lmsimbench::score {

void Pairs::Append(const Pairs& other) {
  measured.insert(measured.end(), other.measured.begin(), other.measured.end());
  predicted.insert(predicted.end(), other.predicted.begin(),
                   other.predicted.end());
}

Errors ErrorsOf(const Pairs& pairs, double factor) {
  Errors errors;
  if (pairs.size() == 0) return errors;
  std::vector<double> relative, absolute, logarithmic;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const double y = pairs.measured[i];
    const double p = pairs.predicted[i] * factor;
    relative.push_back((p - y) / y);
    absolute.push_back(std::abs(relative.back()));
    logarithmic.push_back(std::abs(std::log(p / y)));
  }
  errors.bias = Median(std::move(relative));
  errors.mape = Mean(absolute);
  errors.mdape = Median(absolute);
  errors.p90 = Quantile(absolute, 0.9);
  errors.max = *std::max_element(absolute.begin(), absolute.end());
  errors.mean_l = Mean(logarithmic);
  errors.gmae = std::expm1(errors.mean_l);
  return errors;
}

double CalibrationFactor(const Pairs& pairs) {
  std::vector<double> logs;
  for (size_t i = 0; i < pairs.size(); ++i) {
    logs.push_back(std::log(pairs.measured[i] / pairs.predicted[i]));
  }
  return std::exp(Median(std::move(logs)));
}

}  // namespace lmsimbench::score
