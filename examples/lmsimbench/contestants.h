#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "external.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/external_simulator.h"
#include "lmsimbench/simulator.h"

/// Which simulators the command line names: built-in ones, programs, plug-ins.
struct ContestantArguments {
  std::vector<std::string> simulators;
  ExternalArguments external;
  /// "[NAME=]FILE", each.
  std::vector<std::string> plugins;
  /// Plug-ins are loaded into this process.
  bool in_process = false;

  bool empty() const {
    return simulators.empty() && external.commands.empty() && plugins.empty();
  }
};

/// A simulator to be asked.
struct Contestant {
  std::unique_ptr<const lmsimbench::Simulator> simulator;
  /// Name to score it by.
  std::string name;
  /// As many threads may ask it at once.
  int threads = 1;
  /// The same where it is a program, whose cost of asking is told.
  const lmsimbench::ExternalSimulator* external = nullptr;
};

/// Adds the options. `arguments` has to stay where it is until the line is
/// parsed.
void AddContestantOptions(CLI::App& command, ContestantArguments& arguments);

/// Makes the simulators, and starts what is a program, before anything is
/// asked. `defaults` says that the built-in ones were not named: those that a
/// bundle lacks the measurements for are then left out. Gives the exit code;
/// what failed has been printed.
int MakeContestants(const ContestantArguments& arguments,
                    const lmsimbench::Bundle& bundle, bool defaults,
                    std::vector<Contestant>& contestants);
