#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "lmsimbench/json.h"
#include "lmsimbench/report.h"
#include "lmsimbench/simulators.h"
#include "lmsimbench/staged.h"
#include "lmsimbench/vtrain.h"
#include "prediction_text.h"
#include "question.h"
#include "stages.h"

namespace {

using lmsimbench::Bundle;

// The simulator whose iterations have a timeline.
constexpr char kTraced[] = "staged";

struct Options {
  QuestionOptions question;
  std::vector<std::string> simulators;
  bool json = false;
  std::string trace_file;
  std::string vtrain_kernels;
};

// In the place of a trace: the layer latencies that were published.
constexpr char kPublished[] = "published";

bool IsVtrain(const std::string& name) {
  return name == "vtrain" || name == "vtrain-repaired";
}

// A built-in simulator; vTrain with other kernels than those of a cost model
// where they were given.
absl::StatusOr<std::unique_ptr<lmsimbench::Simulator>> Make(
    const std::string& name, const Bundle& bundle, const Options& options) {
  if (options.vtrain_kernels.empty()) {
    return lmsimbench::MakeSimulator(name, bundle);
  }
  lmsimbench::VtrainOptions vtrain;
  if (name != "vtrain") {
    vtrain.repairs = lmsimbench::VtrainRepairs::All();
  }
  vtrain.kernels = lmsimbench::VtrainKernels::kPublishedLatencies;
  if (options.vtrain_kernels != kPublished) {
    auto trace = lmsimbench::ReadVtrainTrace(options.vtrain_kernels);
    if (!trace.ok()) return trace.status();
    vtrain.kernels = lmsimbench::VtrainKernels::kTrace;
    vtrain.trace = *std::move(trace);
  }
  return lmsimbench::MakeVtrain(name, nullptr, vtrain);
}

// Those named; else those that the timeline or the kernels are of; else all.
std::vector<std::string> SimulatorNames(const Options& options) {
  if (!options.simulators.empty()) return options.simulators;
  if (!options.trace_file.empty()) return {kTraced};
  if (!options.vtrain_kernels.empty()) return {"vtrain", "vtrain-repaired"};
  std::vector<std::string> names;
  for (const auto& simulator : lmsimbench::BuiltInSimulators()) {
    if (simulator.scored_by_default) names.emplace_back(simulator.name);
  }
  return names;
}

absl::Status WriteTrace(const Bundle& bundle, Question question,
                        const std::string& file) {
  const auto model = lmsimbench::MakeStagedCostModel(bundle);
  if (!model.ok()) return model.status();
  lmsimbench::ChooseWhatIsOpen(question.system, question.workload,
                               question.config);
  const auto trace = TraceOf(question, **model);
  if (!trace.ok()) return trace.status();
  return lmsimbench::WriteReport(file, *trace);
}

int Predict(const Program& program, const Options& options) {
  const auto bundle = OpenBundle(program);
  if (!bundle.ok()) return Fail(bundle.status());
  const std::vector<std::string> names = SimulatorNames(options);
  for (const std::string& name : names) {
    if (!options.trace_file.empty() && name != kTraced) {
      return Fail(absl::UnimplementedError(
          fmt::format("simulator '{}' gives no timeline", name)));
    }
    if (!options.vtrain_kernels.empty() && !IsVtrain(name)) {
      return Fail(absl::UnimplementedError(
          fmt::format("simulator '{}' takes no kernels of vTrain", name)));
    }
  }
  Question question;
  const int asked = AskQuestion(*bundle, options.question, question);
  if (asked != kAnswered) return asked;
  // The file first: a prediction on the terminal says that it is there.
  if (!options.trace_file.empty()) {
    const absl::Status status =
        WriteTrace(*bundle, question, options.trace_file);
    if (!status.ok()) return Fail(status);
  }

  if (!options.json) fmt::print("{}", QuestionText(question));
  int answered = 0;
  for (const std::string& name : names) {
    const auto simulator = Make(name, *bundle, options);
    if (!simulator.ok()) {
      return options.vtrain_kernels.empty() ? FailLookup(simulator.status())
                                            : Fail(simulator.status());
    }
    const auto prediction =
        (*simulator)
            ->Predict(question.workload, question.system, question.config);
    if (!prediction.ok()) {
      fmt::print(
          stderr, "lmsimbench: {} {}: {}\n", name,
          lmsimbench::IsRefusal(prediction.status()) ? "refuses" : "failed",
          std::string(prediction.status().message()));
      continue;
    }
    ++answered;
    if (options.json) {
      fmt::print("{{\"simulator\": \"{}\", \"prediction\": {}}}\n", name,
                 lmsimbench::ToJson(*prediction));
    } else {
      fmt::print("\n{}\n{}", name, PredictionText(*prediction));
    }
  }
  if (!options.trace_file.empty()) {
    fmt::print(options.json ? stderr : stdout,
               "timeline: {}, for ui.perfetto.dev\n", options.trace_file);
  }
  return answered > 0 ? kAnswered : kRefusedOrFailed;
}

}  // namespace

void AddPredictCommand(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* predict =
      app.add_subcommand("predict", "Ask simulators about one configuration");
  predict->fallthrough();
  predict
      ->add_option("--simulator", options->simulators,
                   "Simulator to ask; default: all")
      ->type_name("NAME");
  predict->add_flag("--json", options->json,
                    "Print predictions as JSON, one object a simulator");
  predict
      ->add_option("--trace", options->trace_file,
                   "Write the iteration's timeline to this file (staged only)")
      ->type_name("FILE");
  predict
      ->add_option("--vtrain-kernels", options->vtrain_kernels,
                   "Kernels of vtrain and vtrain-repaired: a trace that vTrain "
                   "made (its name ends in _hidden_tensor_microbatch), or "
                   "'published' for the layer latencies of published runs")
      ->type_name("FILE");
  AddQuestionOptions(*predict, options->question);
  predict->callback([&program, options] {
    program.action = [&program, options] { return Predict(program, *options); };
  });
}
