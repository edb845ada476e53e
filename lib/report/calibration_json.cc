#include <cmath>

#include "fmt/format.h"
#include "lmsimbench/report.h"
#include "nlohmann/json.hpp"

namespace lmsimbench {
namespace {

using Json = nlohmann::ordered_json;

// Digits that say no more than the fit knows keep the file readable.
Json Number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const double unit =
      value == 0 ? 1
                 : std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  return std::stod(fmt::format("{:.4g}", std::round(value / unit) * unit));
}

Json ConstantJson(const CalibratedConstant& constant) {
  Json json = {{"name", constant.name}};
  if (!constant.accelerator.empty()) {
    json["accelerator"] = constant.accelerator;
  }
  json["value"] = Number(constant.value);
  json["error"] = Number(constant.error);
  json["initial"] = Number(constant.initial);
  json["range"] = {Number(constant.lowest), Number(constant.highest)};
  if (constant.at_bound) json["at_bound"] = true;
  if (IsStated(constant.error_percent_without)) {
    json["error_percent_without"] = Number(constant.error_percent_without);
  }
  return json;
}

Json ErrorJson(const CalibrationError& error) {
  return {{"runs", error.runs},
          {"error_percent_before", Number(error.before_percent)},
          {"error_percent", Number(error.after_percent)}};
}

}  // namespace

std::string CalibrationJson(
    const std::vector<CalibratedFramework>& calibrated) {
  std::string text = "[";
  for (const CalibratedFramework& framework : calibrated) {
    text += text.size() == 1 ? "\n" : ",\n";
    text += fmt::format(
        " {{\"name\": {}, \"begins\": {}, \"unanswered\": {},\n"
        "  \"time\": {},\n  \"memory\": {},\n  \"constants\": [",
        Json(framework.name).dump(), Json(framework.begins).dump(),
        framework.unanswered, ErrorJson(framework.time).dump(),
        ErrorJson(framework.memory).dump());
    bool first = true;
    for (const CalibratedConstant& constant : framework.constants) {
      text += fmt::format("{}\n   {}", first ? "" : ",",
                          ConstantJson(constant).dump());
      first = false;
    }
    text += "]}";
  }
  return text + "\n]\n";
}

}  // namespace lmsimbench
