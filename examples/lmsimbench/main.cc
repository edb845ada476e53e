// The command-line program: asks simulators about configurations, scores them
// on measured runs, and shows what was measured.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/version.h"

namespace {

// The innermost command that the line named.
const CLI::App* ChosenCommand(const CLI::App& app) {
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty())
    chosen = chosen->get_subcommands().front();
  return chosen;
}

// Commands and options that could stand where an unknown word stands.
std::vector<std::string> KnownWords(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command = ChosenCommand(app); command != nullptr;
       command = command->get_parent()) {
    for (const CLI::App* sub :
         command->get_subcommands([](const CLI::App*) { return true; })) {
      words.push_back(sub->get_name());
    }
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames())
        words.push_back("--" + name);
    }
  }
  return words;
}

int ReportParseError(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  for (const std::string& word : app.remaining(true)) {
    const std::string nearest = lmsimbench::NearestName(word, KnownWords(app));
    message = fmt::format(
        "'{}' is not known here{}", word,
        nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
    break;
  }
  const CLI::App* command = ChosenCommand(app);
  std::string path = "lmsimbench";
  if (command != &app) path += " " + command->get_name();
  if (command->get_parent() != nullptr && command->get_parent() != &app) {
    path = "lmsimbench " + command->get_parent()->get_name() + " " +
           command->get_name();
  }
  return FailUsage(fmt::format("{}\nsee '{} --help'", message, path));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "The bench for simulators of distributed language-model training.",
      "lmsimbench"};
  app.set_version_flag("--version",
                       std::string("lmsimbench ") + lmsimbench::kVersion);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 answered, 1 refused or failed, 2 wrong usage.");

  Program program;
  app.add_option("--bundle", program.bundle_file,
                 "Measurement bundle to use instead of the embedded one")
      ->type_name("FILE");
  AddScoreCommand(app, program);
  AddCalibrateCommand(app, program);
  AddPredictCommand(app, program);
  AddExplainCommand(app, program);
  AddListCommand(app, program);
  AddBundleCommand(app, program);
  AddServeCommand(app, program);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return ReportParseError(app, error);
  }
  return program.action();
}
