#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lmsimbench/bundle.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"
#include "lmsimbench/values.h"
#include "lmsimbench/workload.h"

/// What the command line says of a configuration.
struct QuestionOptions {
  std::string run, model, platform, config, framework;
  int64_t devices = lmsimbench::kNoCount;
  /// What single options change, in the order of the command line.
  std::vector<
      std::function<void(lmsimbench::Workload&, lmsimbench::ParallelConfig&)>>
      changes;
  /// Where data parallelism was given it does not follow from the devices.
  const CLI::Option* dp = nullptr;
};

/// What is asked: the workload, the system and the configuration, and the
/// measured run that they come from, if any.
struct Question {
  lmsimbench::Workload workload;
  lmsimbench::System system;
  lmsimbench::ParallelConfig config;
  const lmsimbench::MeasuredRun* measured = nullptr;
  /// All measured runs, where one of them was named.
  std::vector<lmsimbench::MeasuredRun> runs;
};

/// Adds the options that say what is asked: a model, a platform and a number of
/// devices, or a measured run, and one option for each field of workload and
/// configuration. `options` has to stay where it is until the line is parsed.
void AddQuestionOptions(CLI::App& command, QuestionOptions& options);

/// Looks up what the options name, and checks that it is legal. Prints what is
/// wrong; gives the exit code, `kAnswered` where all is well.
int AskQuestion(const lmsimbench::Bundle& bundle,
                const QuestionOptions& options, Question& question);

/// The question as lines for people.
std::string QuestionText(const Question& question);
