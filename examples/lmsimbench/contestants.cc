#include "contestants.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "command.h"
#include "lmsimbench/plugin.h"
#include "lmsimbench/simulators.h"

namespace {

int HardwareThreads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void Add(std::unique_ptr<const lmsimbench::Simulator> simulator,
         std::string name, int threads, std::vector<Contestant>& contestants) {
  Contestant& contestant = contestants.emplace_back();
  contestant.name = name.empty() ? simulator->name() : std::move(name);
  contestant.simulator = std::move(simulator);
  contestant.threads = threads;
}

void AddProgram(std::unique_ptr<lmsimbench::ExternalSimulator> program,
                std::string name, int processes,
                std::vector<Contestant>& contestants) {
  const lmsimbench::ExternalSimulator* const external = program.get();
  Add(std::move(program), std::move(name), processes, contestants);
  contestants.back().external = external;
}

int AddBuiltIn(const ContestantArguments& arguments,
               const lmsimbench::Bundle& bundle, bool defaults,
               std::vector<Contestant>& contestants) {
  for (const std::string& name : arguments.simulators) {
    auto simulator = lmsimbench::MakeSimulator(name, bundle);
    if (simulator.ok()) {
      Add(*std::move(simulator), "", HardwareThreads(), contestants);
    } else if (defaults && absl::IsFailedPrecondition(simulator.status())) {
      // A bundle of one's own may lack what a yardstick is fitted on.
      fmt::print(stderr, "lmsimbench: {} is left out: {}\n", name,
                 std::string(simulator.status().message()));
    } else {
      return FailLookup(simulator.status());
    }
  }
  return kAnswered;
}

int AddPrograms(const ContestantArguments& arguments,
                std::vector<Contestant>& contestants) {
  for (const std::string& command : arguments.external.commands) {
    auto program = StartExternal(command, arguments.external);
    if (absl::IsInvalidArgument(program.status())) {
      return FailUsage("--simulator-command: " +
                       std::string(program.status().message()));
    }
    if (!program.ok()) return Fail(program.status());
    AddProgram(*std::move(program), "", arguments.external.processes,
               contestants);
  }
  return kAnswered;
}

// This very program, to be run as the worker that a plug-in is loaded into.
absl::StatusOr<std::string> OwnProgram() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return path.string();
  return absl::UnavailableError(
      "this system does not say where this program lies, so no worker can be "
      "started for the plug-in; --in-process needs none");
}

int AddPlugins(const ContestantArguments& arguments,
               std::vector<Contestant>& contestants) {
  for (const std::string& argument : arguments.plugins) {
    std::string file = argument;
    std::string name = TakeName(file);
    if (arguments.in_process) {
      auto plugin = lmsimbench::LoadPlugin(file);
      if (!plugin.ok()) return Fail(plugin.status());
      Add(std::move(plugin->simulator), std::move(name),
          plugin->thread_safe ? HardwareThreads() : 1, contestants);
      continue;
    }
    const auto own = OwnProgram();
    if (!own.ok()) return Fail(own.status());
    auto worker =
        StartExternal({*own, "serve", "--plugin", file}, arguments.external);
    if (!worker.ok()) return Fail(worker.status());
    AddProgram(*std::move(worker), std::move(name),
               arguments.external.processes, contestants);
  }
  return kAnswered;
}

}  // namespace

void AddContestantOptions(CLI::App& command, ContestantArguments& arguments) {
  command
      .add_option("--simulator", arguments.simulators,
                  "Built-in simulator to score; default: all of them")
      ->type_name("NAME");
  command
      .add_option("--plugin", arguments.plugins,
                  "Shared object to score that exports lmsb_plugin_open "
                  "(lmsimbench/c.h). It runs in a process of its own: a crash "
                  "or a hang costs a row")
      ->type_name("[NAME=]FILE");
  command.add_flag("--in-process", arguments.in_process,
                   "Load plug-ins into this process: faster, and their crash "
                   "is this program's");
  AddExternalOptions(command, arguments.external);
}

int MakeContestants(const ContestantArguments& arguments,
                    const lmsimbench::Bundle& bundle, bool defaults,
                    std::vector<Contestant>& contestants) {
  int code = AddBuiltIn(arguments, bundle, defaults, contestants);
  if (code == kAnswered) code = AddPlugins(arguments, contestants);
  if (code == kAnswered) code = AddPrograms(arguments, contestants);
  return code;
}
