#include <fmt/core.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "lmsimbench/json.h"
#include "lmsimbench/staged.h"
#include "prediction_text.h"
#include "question.h"
#include "stages.h"

namespace {

struct Options {
  QuestionOptions question;
  /// Name of the only stage to show; empty: all.
  std::string stage;
  bool json = false;
};

constexpr StageName kAllStages[] = {StageName::kCompile, StageName::kPlace,
                                    StageName::kLower, StageName::kCost,
                                    StageName::kAggregate};

const char* NameOf(StageName stage) {
  return kStageNames[static_cast<int>(stage)];
}

const char* Head(StageName stage) {
  switch (stage) {
    case StageName::kCompile:
      return "the sharded work of one micro-batch";
    case StageName::kPlace:
      return "ranks on devices";
    case StageName::kLower:
      return "what runs in one iteration";
    case StageName::kCost:
      return "seconds and what they rest on";
    case StageName::kAggregate:
      return "the simulated iteration";
  }
  return "";
}

std::string TextOf(StageName stage, const Stages& stages) {
  switch (stage) {
    case StageName::kCompile:
      return ToText(stages.program);
    case StageName::kPlace:
      return ToText(stages.placement);
    case StageName::kLower:
      return ToText(stages.graph);
    case StageName::kCost:
      return ToText(stages.costed);
    case StageName::kAggregate:
      return PredictionText(stages.prediction) +
             PredictionDetails(stages.prediction);
  }
  return "";
}

std::string JsonOf(StageName stage, const Stages& stages) {
  switch (stage) {
    case StageName::kCompile:
      return ToJson(stages.program);
    case StageName::kPlace:
      return ToJson(stages.placement);
    case StageName::kLower:
      return ToJson(stages.graph);
    case StageName::kCost:
      return ToJson(stages.costed);
    case StageName::kAggregate:
      return ToJson(stages.prediction);
  }
  return "";
}

std::string QuestionJson(const Question& question) {
  return fmt::format(
      "{{\n\"workload\": {},\n\"system\": {},\n\"configuration\": {}\n}}",
      ToJson(question.workload), ToJson(question.system),
      ToJson(question.config));
}

// Runs the stages and shows each as soon as it is there, so that what comes
// before a refusal can be read.
int ShowStages(const Options& options, const Question& question,
               const lmsimbench::CostModel& model) {
  const bool all = options.stage.empty();
  std::string json;
  if (all) json = "{\n\"question\": " + QuestionJson(question);
  Stages stages;
  for (const StageName stage : kAllStages) {
    // A placement needs no program.
    if (options.stage == NameOf(StageName::kPlace) &&
        stage == StageName::kCompile) {
      continue;
    }
    const absl::Status status = RunStage(stage, question, model, stages);
    if (!status.ok()) return Fail(status);
    const bool asked = options.stage == NameOf(stage);
    if (options.json) {
      if (all) json += fmt::format(",\n\"{}\": ", NameOf(stage));
      if (all || asked) json += JsonOf(stage, stages);
    } else if (all || asked) {
      fmt::print("\n== {}: {}\n\n{}", NameOf(stage), Head(stage),
                 TextOf(stage, stages));
    }
    if (asked) break;
  }
  if (options.json) fmt::print("{}{}\n", json, all ? "\n}" : "");
  return kAnswered;
}

int Explain(const Program& program, const Options& options) {
  const auto bundle = OpenBundle(program);
  if (!bundle.ok()) return Fail(bundle.status());
  Question question;
  const int asked = AskQuestion(*bundle, options.question, question);
  if (asked != kAnswered) return asked;
  const auto model = lmsimbench::MakeStagedCostModel(*bundle);
  if (!model.ok()) return Fail(model.status());
  const std::vector<std::string> choices = lmsimbench::ChooseWhatIsOpen(
      question.system, question.workload, question.config);
  if (!options.json) {
    fmt::print("{}", QuestionText(question));
    for (const std::string& choice : choices) {
      fmt::print("chosen: {}\n", choice);
    }
  }
  return ShowStages(options, question, **model);
}

}  // namespace

void AddExplainCommand(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* explain = app.add_subcommand(
      "explain",
      "Show how the staged pipeline comes to its answer, stage by stage");
  explain->fallthrough();
  explain
      ->add_option("--stage", options->stage,
                   "Show this stage only: compile, place, lower, cost or "
                   "aggregate")
      ->type_name("STAGE")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kStageNames),
                                                     std::end(kStageNames))));
  explain->add_flag("--json", options->json,
                    "Print one JSON document: the stage, or all of them");
  AddQuestionOptions(*explain, options->question);
  explain->callback([&program, options] {
    program.action = [&program, options] { return Explain(program, *options); };
  });
}
