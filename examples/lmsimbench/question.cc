#include "question.h"

#include <fmt/core.h>

#include <type_traits>
#include <utility>

#include "command.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/lookup.h"
#include "table.h"

namespace {

using lmsimbench::Bundle;
using lmsimbench::IsStated;
using lmsimbench::MeasuredRun;
using lmsimbench::ParallelConfig;
using lmsimbench::Workload;
using lmsimbench::YesNo;

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
void AddFieldOptions(CLI::App& command, QuestionOptions& options,
                     const std::string& group) {
  T example;
  int index = 0;
  T::VisitFields(
      [&](const char* name, auto& field) {
        using Field = std::decay_t<decltype(field)>;
        const int i = index++;
        const auto change = [&options, i](const Field& value) {
          options.changes.push_back([i, value](Workload& w, ParallelConfig& c) {
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

absl::Status FillQuestion(const Bundle& bundle, const QuestionOptions& options,
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
  if (question.measured != nullptr) {
    if (options.platform.empty()) {
      question.system =
          lmsimbench::SystemOfRun(question.system, *question.measured);
    }
    question.system.framework = question.measured->framework;
  }
  if (!options.framework.empty()) {
    question.system.framework = options.framework;
  }
  if (!options.config.empty()) {
    auto config = lmsimbench::FindConfig(bundle, options.config);
    if (!config.ok()) return config.status();
    question.config = *std::move(config);
  }
  for (const auto& change : options.changes)
    change(question.workload, question.config);

  ParallelConfig& config = question.config;
  if (IsStated(devices) && options.dp->count() == 0 && options.config.empty()) {
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

}  // namespace

void AddQuestionOptions(CLI::App& command, QuestionOptions& options) {
  command
      .add_option("--model", options.model,
                  "Model of the bundle, or its JSON file")
      ->type_name("NAME|FILE");
  command
      .add_option("--platform", options.platform,
                  "Platform of the bundle, or its JSON file")
      ->type_name("NAME|FILE");
  command
      .add_option("--framework", options.framework,
                  "Software that trains on it ('NeMo', 'nanotron'…): its "
                  "defaults and constants")
      ->type_name("NAME");
  command
      .add_option("--devices", options.devices,
                  "Devices; data parallelism follows from them")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--config", options.config,
                  "Configuration of a measured run, or its JSON file")
      ->type_name("RECORD|FILE");
  command
      .add_option("--run", options.run,
                  "Start from this measured run and print its figures too")
      ->type_name("RECORD");
  AddFieldOptions<Workload>(command, options, "Workload");
  AddFieldOptions<ParallelConfig>(command, options, "Configuration");
  options.dp = command.get_option("--dp");
}

int AskQuestion(const Bundle& bundle, const QuestionOptions& options,
                Question& question) {
  bool usage = false;
  if (const absl::Status status =
          FillQuestion(bundle, options, question, usage);
      !status.ok()) {
    return usage ? FailUsage(std::string(status.message()))
                 : FailLookup(status);
  }
  if (const absl::Status legal = lmsimbench::CheckLegal(
          question.workload, question.config, question.system.devices);
      !legal.ok()) {
    return Fail(legal);
  }
  return kAnswered;
}

std::string QuestionText(const Question& question) {
  Workload workload = question.workload;
  workload.model = {};
  std::string text = fmt::format(
      "model {}, platform {}, {} devices{}{}\nworkload: {}\nconfiguration: "
      "{}\n",
      question.workload.model.name, question.system.name,
      question.system.devices, question.system.framework.empty() ? "" : ", ",
      question.system.framework, workload, question.config);
  if (question.measured != nullptr) {
    text += fmt::format("measured: {} ms, {} GiB\n",
                        Milliseconds(question.measured->iteration_time_s),
                        Gibibytes(question.measured->peak_memory_bytes));
  }
  return text;
}
