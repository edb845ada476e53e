#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"

/// What the program exits with.
inline constexpr int kAnswered = 0;
inline constexpr int kRefusedOrFailed = 1;
inline constexpr int kUsage = 2;

/// What all commands share: the bundle they read and the action that the
/// parsed command line asks for.
struct Program {
  /// File given with --bundle; empty: the embedded bundle.
  std::string bundle_file;
  std::function<int()> action;
};

/// Opens the bundle that the command line names.
absl::StatusOr<lmsimbench::Bundle> OpenBundle(const Program& program);

/// Prints what was refused or failed and gives the exit code.
int Fail(const absl::Status& status);

/// As `Fail`, for the look-up of a name that the command line gives: a name
/// that does not exist is wrong usage.
int FailLookup(const absl::Status& status);

/// Prints how the command was used wrongly and gives the exit code.
int FailUsage(const std::string& message);

/// Checks a name given for `option` against the known ones: OK, or
/// INVALID_ARGUMENT with the nearest. An empty name is OK.
absl::Status CheckKnown(const std::string& option, const std::string& name,
                        const std::vector<std::string>& known);

/// Adds a command to the program.
void AddScoreCommand(CLI::App& app, Program& program);
void AddCalibrateCommand(CLI::App& app, Program& program);
void AddPredictCommand(CLI::App& app, Program& program);
void AddExplainCommand(CLI::App& app, Program& program);
void AddListCommand(CLI::App& app, Program& program);
void AddServeCommand(CLI::App& app, Program& program);
void AddBundleCommand(CLI::App& app, Program& program);
