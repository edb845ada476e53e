#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "lmsimbench/counts.h"
#include "lmsimbench/json.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/simulators.h"
#include "table.h"

namespace {

using lmsimbench::Bundle;
using lmsimbench::IsStated;

std::string Count(int64_t count) {
  return IsStated(count) ? std::to_string(count) : "-";
}

// A figure in a larger unit, or '-' where it is missing.
std::string Scaled(double value, double unit, int digits) {
  return IsStated(value) ? fmt::format("{:.{}f}", value / unit, digits) : "-";
}

int ListSimulators() {
  std::vector<std::vector<std::string>> rows = {{"simulator", "what it is"}};
  for (const auto& simulator : lmsimbench::BuiltInSimulators()) {
    rows.push_back({simulator.name, simulator.description});
  }
  fmt::print("{}", FormatTable(rows));
  return kAnswered;
}

int ListModels(const Bundle& bundle) {
  std::vector<std::vector<std::string>> rows = {
      {"model", "layers", "hidden", "heads", "kv heads", "ffn", "experts",
       "vocabulary", "parameters, 1e9"}};
  const auto models = lmsimbench::NamedModels(bundle);
  if (!models.ok()) return Fail(models.status());
  for (const auto& [name, also_called, model] : *models) {
    const auto parameters = lmsimbench::CountParameters(model);
    rows.push_back(
        {name, Count(model.layers), Count(model.hidden), Count(model.heads),
         Count(model.kv_heads),
         Count(IsStated(model.ffn) ? model.ffn : model.expert_ffn),
         model.experts > 0 ? Count(model.experts) : "-", Count(model.vocab),
         parameters.ok()
             ? fmt::format("{:.2f}",
                           static_cast<double>(parameters->total) / 1e9)
             : "-"});
  }
  fmt::print("{}", FormatTable(rows));
  return kAnswered;
}

int ListPlatforms(const Bundle& bundle) {
  std::vector<std::vector<std::string>> rows = {
      {"platform", "memory, GiB", "memory, GB/s", "bf16, TFLOP/s",
       "devices a node", "in node, GB/s", "between nodes, GB/s"}};
  for (const std::string& name : lmsimbench::PlatformNames(bundle)) {
    const auto platform = lmsimbench::FindPlatform(bundle, name);
    if (!platform.ok()) return Fail(platform.status());
    const auto& accelerator = platform->accelerator;
    const auto& network = platform->network;
    rows.push_back(
        {name, Scaled(accelerator.memory_bytes, 1024.0 * 1024 * 1024, 0),
         Scaled(accelerator.memory_bandwidth, 1e9, 0),
         Scaled(accelerator.bf16_flops, 1e12, 0),
         Count(lmsimbench::DevicesPerNode(*platform)),
         network.empty() ? "-" : Scaled(network[0].bandwidth, 1e9, 1),
         network.size() < 2 ? "-" : Scaled(network[1].bandwidth, 1e9, 2)});
  }
  fmt::print("{}", FormatTable(rows));
  return kAnswered;
}

struct SettingFilter {
  std::string split, source, platform;
};

int ListSettings(const Bundle& bundle, const SettingFilter& filter) {
  const auto runs = lmsimbench::ReadRuns(bundle);
  if (!runs.ok()) return Fail(runs.status());
  const auto failed = lmsimbench::ReadFailedRuns(bundle);
  if (!failed.ok()) return Fail(failed.status());

  struct Setting {
    const lmsimbench::MeasuredRun* first = nullptr;
    int64_t ran = 0;
    int64_t failed = 0;
  };
  std::map<std::string, Setting> settings;
  const auto add = [&](const std::vector<lmsimbench::MeasuredRun>& measured) {
    for (const auto& run : measured) {
      if (!filter.split.empty() && run.split != filter.split) continue;
      if (!filter.source.empty() && run.source != filter.source) continue;
      if (!filter.platform.empty() && run.platform != filter.platform) continue;
      Setting& setting = settings[run.workload_id];
      if (setting.first == nullptr) setting.first = &run;
      ++(run.ran ? setting.ran : setting.failed);
    }
  };
  add(*runs);
  add(*failed);

  std::vector<std::vector<std::string>> rows = {
      {"setting", "split", "platform", "devices", "model", "sequence, tokens",
       "batch, sequences", "precision", "runs", "failed runs"}};
  for (const auto& [id, setting] : settings) {
    const auto& run = *setting.first;
    rows.push_back({id, run.split, run.platform, Count(run.devices),
                    run.workload.model.name, Count(run.workload.seq_len),
                    Count(run.workload.global_batch),
                    std::string(lmsimbench::Name(run.workload.precision)),
                    std::to_string(setting.ran),
                    std::to_string(setting.failed)});
  }
  fmt::print("{}", FormatTable(rows));
  return kAnswered;
}

// Prints one named object as JSON, or the list if no name is asked for.
template <typename List, typename Find>
std::function<int()> ListOrShow(const Program& program, const std::string& name,
                                List list, Find find) {
  return [&program, &name, list, find]() {
    const auto bundle = OpenBundle(program);
    if (!bundle.ok()) return Fail(bundle.status());
    if (name.empty()) return list(*bundle);
    const auto found = find(*bundle, name);
    if (!found.ok()) return FailLookup(found.status());
    fmt::print("{}\n", lmsimbench::ToJson(*found));
    return kAnswered;
  };
}

}  // namespace

void AddListCommand(CLI::App& app, Program& program) {
  CLI::App* list = app.add_subcommand("list", "List what is known by name");
  list->require_subcommand(1);
  list->fallthrough();

  auto names = std::make_shared<std::pair<std::string, std::string>>();
  auto filter = std::make_shared<SettingFilter>();

  CLI::App* models = list->add_subcommand("models", "Models of the bundle");
  models->fallthrough();
  models
      ->add_option("--json", names->first,
                   "Print this model as JSON to start from")
      ->type_name("NAME");
  models->callback([&program, names] {
    program.action = [&program, names] {
      return ListOrShow(program, names->first, ListModels,
                        lmsimbench::FindModel)();
    };
  });

  CLI::App* platforms =
      list->add_subcommand("platforms", "Platforms of the bundle");
  platforms->fallthrough();
  platforms
      ->add_option("--json", names->second,
                   "Print this platform as JSON to start from")
      ->type_name("NAME");
  platforms->callback([&program, names] {
    program.action = [&program, names] {
      return ListOrShow(program, names->second, ListPlatforms,
                        lmsimbench::FindPlatform)();
    };
  });

  CLI::App* settings = list->add_subcommand(
      "settings",
      "Measured settings: workload, platform and number of devices");
  settings->fallthrough();
  settings->add_option("--split", filter->split, "Only this split");
  settings->add_option("--source", filter->source, "Only this source");
  settings->add_option("--platform", filter->platform, "Only this platform");
  settings->callback([&program, filter] {
    program.action = [&program, filter] {
      const auto bundle = OpenBundle(program);
      return bundle.ok() ? ListSettings(*bundle, *filter)
                         : Fail(bundle.status());
    };
  });

  CLI::App* simulators =
      list->add_subcommand("simulators", "Built-in simulators");
  simulators->fallthrough();
  simulators->callback([&program] { program.action = ListSimulators; });
}
