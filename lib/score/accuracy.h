#pragma once

#include <cstddef>
#include <vector>

#include "lmsimbench/values.h"

namespace lmsimbench::score {

/// Measured values beside the predictions of them, both positive.
struct Pairs {
  std::vector<double> measured;
  std::vector<double> predicted;

  size_t size() const { return measured.size(); }
  void Add(double y, double p) {
    measured.push_back(y);
    predicted.push_back(p);
  }
  void Append(const Pairs& other);
};

/// Point errors (section A): e = (p - y) / y, L = |ln(p / y)|. Undefined (NaN)
/// for no pairs.
struct Errors {
  double bias = kNoNumber;    ///< median e
  double mape = kNoNumber;    ///< mean |e|
  double mdape = kNoNumber;   ///< median |e|
  double p90 = kNoNumber;     ///< 90 % quantile of |e|
  double max = kNoNumber;     ///< largest |e|
  double mean_l = kNoNumber;  ///< mean L
  double gmae = kNoNumber;    ///< exp(mean L) - 1
};

/// The errors after every prediction has been multiplied by `factor`.
Errors ErrorsOf(const Pairs& pairs, double factor = 1);

/// exp(median ln(y / p)): the factor that takes out the bias.
double CalibrationFactor(const Pairs& pairs);

}  // namespace lmsimbench::score
