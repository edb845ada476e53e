#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/external_simulator.h"

/// What the command line says of simulators that are programs of their own.
struct ExternalArguments {
  /// "[NAME=]program arguments", each.
  std::vector<std::string> commands;
  double timeout_s = 60;
  int restarts = 10;
  int processes = 1;
};

/// Adds `--simulator-command` and its companions. `arguments` has to stay where
/// it is until the line is parsed.
void AddExternalOptions(CLI::App& command, ExternalArguments& arguments);

/// Starts the program of one of the commands.
absl::StatusOr<std::unique_ptr<lmsimbench::ExternalSimulator>> StartExternal(
    const std::string& command, const ExternalArguments& arguments);

/// The same for a program and its arguments.
absl::StatusOr<std::unique_ptr<lmsimbench::ExternalSimulator>> StartExternal(
    std::vector<std::string> command, const ExternalArguments& arguments,
    std::string name = "");

/// Takes "NAME=" from the begin of an argument; empty if it has none.
std::string TakeName(std::string& argument);

/// One line on what asking has cost: "mine: started 2 times (0.03 s), 1234
/// questions, 0.40 ms each, 1 crash, 0 time-outs".
/// Under the name that it is scored by.
std::string CostOfAsking(const std::string& name,
                         const lmsimbench::ExternalSimulator& simulator);
