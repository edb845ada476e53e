#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/report.h"

namespace {

struct Options {
  lmsimbench::CalibrateOptions calibrate;
  std::string output;
};

void PrintError(const char* what, const lmsimbench::CalibrationError& error) {
  if (error.runs == 0) return;
  fmt::print("; {} of {} runs: {:.1f} % before, {:.1f} % after", what,
             error.runs, error.before_percent, error.after_percent);
}

void Print(const lmsimbench::CalibratedFramework& framework) {
  fmt::print("{}: {} runs not answered", framework.name, framework.unanswered);
  PrintError("time", framework.time);
  PrintError("memory", framework.memory);
  fmt::print("{}\n", framework.constants.empty() ? "; too few to fit" : "");
  for (const auto& constant : framework.constants) {
    fmt::print(
        "  {:18} {:28} {:12.6g} +- {:<10.2g} from {:<8g} in {:g} .. {:g}{}",
        constant.name, constant.accelerator, constant.value, constant.error,
        constant.initial, constant.lowest, constant.highest,
        constant.at_bound ? "  AT BOUND" : "");
    if (lmsimbench::IsStated(constant.error_percent_without)) {
      fmt::print("  without {:.1f} %", constant.error_percent_without);
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

int Calibrate(const Program& program, const Options& options) {
  const auto bundle = OpenBundle(program);
  if (!bundle.ok()) return Fail(bundle.status());
  const auto measurements = lmsimbench::ReadMeasurements(*bundle);
  if (!measurements.ok()) return Fail(measurements.status());
  const auto calibrated = lmsimbench::CalibrateFrameworks(
      *measurements, *bundle, options.calibrate);
  if (!calibrated.ok()) return FailLookup(calibrated.status());
  if (!options.output.empty()) {
    const auto written = lmsimbench::WriteReport(
        options.output, lmsimbench::CalibrationJson(*calibrated));
    if (!written.ok()) return Fail(written);
  }
  for (const auto& framework : *calibrated) Print(framework);
  return kAnswered;
}

}  // namespace

void AddCalibrateCommand(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* calibrate = app.add_subcommand(
      "calibrate",
      "Fit the constants of training frameworks on runs of split 'fit'");
  calibrate->fallthrough();
  calibrate->add_option("--framework", options->calibrate.framework,
                        "Only this class of frameworks");
  calibrate->add_flag("--leave-one-out", options->calibrate.leave_one_out,
                      "Fit without each constant in turn, to see what it buys");
  calibrate
      ->add_option("--output", options->output,
                   "Write the constants to this file (JSON)")
      ->type_name("FILE");
  calibrate->callback([&program, options] {
    program.action = [&program, options] {
      return Calibrate(program, *options);
    };
  });
}
