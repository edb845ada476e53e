#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "command.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/report.h"

namespace {

struct Options {
  lmsimbench::CalibrateOptions calibrate;
  std::string output;
  bool carry_over = false;
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

// Writes the report to the file that is asked for.
absl::Status Write(const Options& options, const std::string& text) {
  if (options.output.empty()) return absl::OkStatus();
  return lmsimbench::WriteReport(options.output, text);
}

int CarryOver(const lmsimbench::Measurements& measurements,
              const lmsimbench::Bundle& bundle, const Options& options) {
  const auto carried =
      lmsimbench::CarryOver(measurements, bundle, options.calibrate);
  if (!carried.ok()) return FailLookup(carried.status());
  const auto written = Write(options, lmsimbench::CarryOverJson(*carried));
  if (!written.ok()) return Fail(written);
  fmt::print("{}", lmsimbench::CarryOverTable(*carried));
  return kAnswered;
}

int Calibrate(const Program& program, const Options& options) {
  const auto bundle = OpenBundle(program);
  if (!bundle.ok()) return Fail(bundle.status());
  const auto measurements = lmsimbench::ReadMeasurements(*bundle);
  if (!measurements.ok()) return Fail(measurements.status());
  if (options.carry_over) return CarryOver(*measurements, *bundle, options);
  const auto calibrated = lmsimbench::CalibrateFrameworks(
      *measurements, *bundle, options.calibrate);
  if (!calibrated.ok()) return FailLookup(calibrated.status());
  const auto written = Write(options, lmsimbench::CalibrationJson(*calibrated));
  if (!written.ok()) return Fail(written);
  for (const auto& framework : *calibrated) Print(framework);
  return kAnswered;
}

}  // namespace

void AddCalibrateCommand(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  options->calibrate.threads =
      static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  CLI::App* calibrate = app.add_subcommand(
      "calibrate",
      "Fit the constants of training frameworks on runs of split 'fit'");
  calibrate->fallthrough();
  calibrate->add_option("--framework", options->calibrate.framework,
                        "Only this class of frameworks");
  calibrate->add_flag("--leave-one-out", options->calibrate.leave_one_out,
                      "Fit without each constant in turn, to see what it buys");
  calibrate->add_flag("--carry-over", options->carry_over,
                      "Instead fit without each source in turn, to see how "
                      "constants carry over to it");
  calibrate
      ->add_option("--threads", options->calibrate.threads,
                   "Threads; the answer does not depend on them")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->capture_default_str();
  calibrate
      ->add_option("--output", options->output,
                   "Write the constants, or how they carry over, to this "
                   "file (JSON)")
      ->type_name("FILE");
  calibrate->callback([&program, options] {
    program.action = [&program, options] {
      return Calibrate(program, *options);
    };
  });
}
