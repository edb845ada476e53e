#include <fmt/core.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "command.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/json.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/simulators.h"
#include "table.h"

namespace {

using lmsimbench::Bundle;
using lmsimbench::IsStated;
using lmsimbench::MeasuredRun;
using lmsimbench::ParallelConfig;
using lmsimbench::Prediction;
using lmsimbench::System;
using lmsimbench::Workload;
using lmsimbench::YesNo;

struct Options {
  std::string run, model, platform, config;
  int64_t devices = lmsimbench::kNoCount;
  std::vector<std::string> simulators;
  bool json = false;
  // What single options change, in the order of the command line.
  std::vector<std::function<void(Workload&, ParallelConfig&)>> changes;
  bool dp_given = false;
};

// What is asked: the workload, the system and the configuration, and the
// measured run that they come from, if any.
struct Question {
  Workload workload;
  System system;
  ParallelConfig config;
  const MeasuredRun* measured = nullptr;
  std::vector<MeasuredRun> runs;
};

std::string OptionName(const char* field) {
  std::string name = std::string("--") + field;
  for (char& c : name) {
    if (c == '_') c = '-';
  }
  return name;
}

Workload& Part(Workload& workload, ParallelConfig&, const Workload*) {
  return workload;
}
ParallelConfig& Part(Workload&, ParallelConfig& config, const ParallelConfig*) {
  return config;
}

// Sets the field number `index` of a value.
template <typename T, typename Field>
void SetField(T& value, int index, const Field& field) {
  int i = 0;
  T::VisitFields(
      [&](const char*, auto& target) {
        if constexpr (std::is_same_v<std::decay_t<decltype(target)>, Field>) {
          if (i == index) target = field;
        }
        ++i;
      },
      value);
}

// One option for every scalar field of a core value, named as the field.
template <typename T>
void AddFieldOptions(CLI::App& command, std::shared_ptr<Options> options,
                     const std::string& group) {
  T example;
  int index = 0;
  T::VisitFields(
      [&](const char* name, auto& field) {
        using Field = std::decay_t<decltype(field)>;
        const int i = index++;
        const auto change = [options, i](const Field& value) {
          options->changes.push_back(
              [i, value](Workload& w, ParallelConfig& c) {
                SetField(Part(w, c, static_cast<const T*>(nullptr)), i, value);
              });
        };
        const std::string option_name = OptionName(name);
        CLI::Option* option = nullptr;
        if constexpr (std::is_same_v<Field, int64_t>) {
          option = command.add_option_function<int64_t>(option_name, change)
                       ->type_name("N")
                       ->check(CLI::PositiveNumber);
        } else if constexpr (std::is_same_v<Field, YesNo>) {
          option = command
                       .add_option_function<std::string>(
                           option_name,
                           [change](const std::string& text) {
                             change(text == "yes" ? YesNo::kYes : YesNo::kNo);
                           })
                       ->type_name("yes|no")
                       ->check(CLI::IsMember({"yes", "no"}));
        } else if constexpr (std::is_enum_v<Field>) {
          std::vector<std::string> names;
          // The first name is 'not stated', which is said by leaving it out.
          for (const char* known : lmsimbench::EnumNames<Field>::kNames) {
            names.emplace_back(known);
          }
          names.erase(names.begin());
          option = command
                       .add_option_function<std::string>(
                           option_name,
                           [change](const std::string& text) {
                             Field value{};
                             lmsimbench::ParseName(text, value);
                             change(value);
                           })
                       ->check([names](const std::string& text) {
                         for (const auto& known : names) {
                           if (text == known) return std::string();
                         }
                         return fmt::format("'{}' is not one of {}", text,
                                            fmt::join(names, ", "));
                       });
        } else if constexpr (std::is_same_v<Field, std::vector<int64_t>>) {
          option = command.add_option_function<Field>(option_name, change)
                       ->type_name("N,N,…")
                       ->delimiter(',');
        } else if constexpr (std::is_same_v<Field, std::string>) {
          option =
              command.add_option_function<std::string>(option_name, change);
        }
        if (option != nullptr) option->group(group);
      },
      example);
}

absl::Status FillQuestion(const Bundle& bundle, const Options& options,
                          Question& question, bool& usage) {
  usage = false;
  int64_t devices = options.devices;
  if (!options.run.empty()) {
    auto runs = lmsimbench::ReadRuns(bundle);
    if (!runs.ok()) return runs.status();
    auto failed = lmsimbench::ReadFailedRuns(bundle);
    if (!failed.ok()) return failed.status();
    runs->insert(runs->end(), failed->begin(), failed->end());
    question.runs = *std::move(runs);
    std::vector<std::string> ids;
    for (const MeasuredRun& run : question.runs) {
      ids.push_back(run.record_id);
      if (run.record_id == options.run) question.measured = &run;
    }
    if (question.measured == nullptr) {
      usage = true;
      return CheckKnown("--run", options.run, ids);
    }
    question.workload = question.measured->workload;
    question.config = question.measured->config;
    if (!IsStated(devices)) devices = question.measured->devices;
  }
  if (!options.model.empty()) {
    auto model = lmsimbench::FindModel(bundle, options.model);
    if (!model.ok()) return model.status();
    question.workload.model = *std::move(model);
  }
  const std::string platform =
      options.platform.empty() && question.measured != nullptr
          ? question.measured->platform
          : options.platform;
  if (platform.empty() || (options.model.empty() && options.run.empty())) {
    usage = true;
    return absl::InvalidArgumentError(
        "give --model and --platform, or --run with a measured run");
  }
  auto system = lmsimbench::FindPlatform(bundle, platform);
  if (!system.ok()) return system.status();
  question.system = *std::move(system);
  if (!options.config.empty()) {
    auto config = lmsimbench::FindConfig(bundle, options.config);
    if (!config.ok()) return config.status();
    question.config = *std::move(config);
  }
  for (const auto& change : options.changes)
    change(question.workload, question.config);

  ParallelConfig& config = question.config;
  if (IsStated(devices) && !options.dp_given && options.config.empty()) {
    const int64_t others = config.tp * config.pp * config.cp;
    if (others > 0 && devices % others == 0) config.dp = devices / others;
  }
  question.system.devices =
      IsStated(devices) ? devices : lmsimbench::Devices(config);
  if (question.workload.precision == lmsimbench::Precision::kNotStated &&
      question.measured == nullptr) {
    question.workload.precision = lmsimbench::Precision::kBf16;
  }
  if (!IsStated(question.workload.seq_len) ||
      !IsStated(question.workload.global_batch)) {
    usage = true;
    return absl::InvalidArgumentError("give --seq-len and --global-batch");
  }
  return absl::OkStatus();
}

std::string Milliseconds(double seconds) {
  return IsStated(seconds) ? fmt::format("{:.2f}", seconds * 1e3) : "-";
}
std::string Gibibytes(double bytes) {
  return IsStated(bytes) ? fmt::format("{:.2f}", bytes / (1024.0 * 1024 * 1024))
                         : "-";
}

// "tensor_communication_s" as "tensor communication".
std::string PartName(std::string field) {
  field.erase(field.rfind('_'));
  for (char& c : field) {
    if (c == '_') c = ' ';
  }
  return field;
}

void PrintPrediction(const std::string& simulator,
                     const Prediction& prediction) {
  fmt::print("\n{}\n", simulator);
  std::vector<std::vector<std::string>> rows = {
      {"part", "time, ms", "memory, GiB"}};
  Prediction copy = prediction;
  lmsimbench::TimeParts::VisitFields(
      [&](const char* name, double part) {
        if (IsStated(part))
          rows.push_back({PartName(name), Milliseconds(part), "-"});
      },
      copy.time);
  lmsimbench::MemoryParts::VisitFields(
      [&](const char* name, double part) {
        if (IsStated(part))
          rows.push_back({PartName(name), "-", Gibibytes(part)});
      },
      copy.memory);
  rows.push_back({"total", Milliseconds(prediction.iteration_time_s),
                  Gibibytes(prediction.peak_memory_bytes)});
  fmt::print("{}", FormatTable(rows));
  fmt::print(
      "verdict: {}{}\n", std::string(lmsimbench::Name(prediction.verdict)),
      prediction.verdict_reason.empty() ? ""
                                        : ": " + prediction.verdict_reason);
  for (const std::string& adaptation : prediction.adaptations) {
    fmt::print("adapted: {}\n", adaptation);
  }
}

int Predict(const Program& program, const Options& options) {
  const auto bundle = OpenBundle(program);
  if (!bundle.ok()) return Fail(bundle.status());
  Question question;
  bool usage = false;
  if (const absl::Status status =
          FillQuestion(*bundle, options, question, usage);
      !status.ok()) {
    return usage ? FailUsage(std::string(status.message()))
                 : FailLookup(status);
  }
  if (const absl::Status legal = lmsimbench::CheckLegal(
          question.workload, question.config, question.system.devices);
      !legal.ok()) {
    return Fail(legal);
  }

  std::vector<std::string> names = options.simulators;
  if (names.empty()) {
    for (const auto& simulator : lmsimbench::BuiltInSimulators()) {
      if (simulator.scored_by_default) {
        names.emplace_back(simulator.name);
      }
    }
  }
  if (!options.json) {
    fmt::print("model {}, platform {}, {} devices\nconfiguration: {}\n",
               question.workload.model.name, question.system.name,
               question.system.devices, question.config);
    if (question.measured != nullptr) {
      fmt::print("measured: {} ms, {} GiB\n",
                 Milliseconds(question.measured->iteration_time_s),
                 Gibibytes(question.measured->peak_memory_bytes));
    }
  }
  int answered = 0;
  for (const std::string& name : names) {
    const auto simulator = lmsimbench::MakeSimulator(name, *bundle);
    if (!simulator.ok()) return FailLookup(simulator.status());
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
      PrintPrediction(name, *prediction);
    }
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
      ->add_option("--model", options->model,
                   "Model of the bundle, or its JSON file")
      ->type_name("NAME|FILE");
  predict
      ->add_option("--platform", options->platform,
                   "Platform of the bundle, or its JSON file")
      ->type_name("NAME|FILE");
  predict
      ->add_option("--devices", options->devices,
                   "Devices; data parallelism follows from them")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  predict
      ->add_option("--config", options->config,
                   "Configuration of a measured run, or its JSON file")
      ->type_name("RECORD|FILE");
  predict
      ->add_option("--run", options->run,
                   "Start from this measured run and print its figures too")
      ->type_name("RECORD");
  predict
      ->add_option("--simulator", options->simulators,
                   "Simulator to ask; default: all")
      ->type_name("NAME");
  predict->add_flag("--json", options->json,
                    "Print predictions as JSON, one object a simulator");
  AddFieldOptions<Workload>(*predict, options, "Workload");
  AddFieldOptions<ParallelConfig>(*predict, options, "Configuration");
  predict->callback([&program, options, predict] {
    options->dp_given = predict->get_option("--dp")->count() > 0;
    program.action = [&program, options] { return Predict(program, *options); };
  });
}
