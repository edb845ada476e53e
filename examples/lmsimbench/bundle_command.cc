#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "lmsimbench/linked_rows.h"
#include "lmsimbench/lookup.h"
#include "table.h"

namespace {

using lmsimbench::Bundle;
using lmsimbench::ColumnType;
using lmsimbench::ProfileColumn;
using lmsimbench::ProfileView;

struct Options {
  std::string run;
  std::string from;
  std::string output;
  std::string csv_folder;
};

std::string Cell(const ProfileColumn& column, size_t row) {
  switch (column.type) {
    case ColumnType::kF64:
      return std::isnan(column.f64[row]) ? ""
                                         : fmt::format("{}", column.f64[row]);
    case ColumnType::kI64:
      return column.i64[row] == lmsimbench::kNoCount
                 ? ""
                 : fmt::format("{}", column.i64[row]);
    case ColumnType::kString:
      return std::string(column.strings[row]);
  }
  return "";
}

int ShowSources(const Bundle& bundle) {
  const ProfileView& view = bundle.ViewOrEmpty("sources");
  std::vector<std::vector<std::string>> rows = {
      {"source", "licence", "commit or date", "title"}};
  for (size_t row = 0; row < view.rows(); ++row) {
    std::vector<std::string> cells;
    for (const char* name :
         {"source_id", "license", "commit_or_date", "title"}) {
      const ProfileColumn* column = view.Find(name);
      cells.push_back(column == nullptr ? "" : Cell(*column, row));
    }
    rows.push_back(std::move(cells));
  }
  fmt::print("{}", FormatTable(rows));
  return kAnswered;
}

// One row of a table, every cell that is there on a line of its own.
void PrintRow(const ProfileView& view, size_t row) {
  size_t width = 0;
  for (const ProfileColumn& column : view.columns()) {
    width = std::max(width, column.name.size());
  }
  for (const ProfileColumn& column : view.columns()) {
    const std::string cell = Cell(column, row);
    if (!cell.empty()) fmt::print("  {:{}}  {}\n", column.name, width, cell);
  }
}

// Several rows: a table of the columns in which any of them has a cell; what
// they all share stands above it.
void PrintRows(const ProfileView& view, const std::vector<size_t>& rows) {
  std::vector<std::vector<std::string>> table(rows.size() + 1);
  for (const ProfileColumn& column : view.columns()) {
    const std::string first = Cell(column, rows.front());
    bool shared = true;
    for (const size_t row : rows) shared = shared && Cell(column, row) == first;
    if (shared) {
      if (!first.empty()) fmt::print("  {}: {}\n", column.name, first);
      continue;
    }
    table[0].push_back(column.name);
    for (size_t i = 0; i < rows.size(); ++i) {
      table[i + 1].push_back(Cell(column, rows[i]));
    }
  }
  if (!table[0].empty()) fmt::print("{}", FormatTable(table));
}

int ShowRun(const Bundle& bundle, const std::string& name) {
  const auto run = lmsimbench::FindLinkedRun(bundle, name);
  if (!run.ok()) return FailLookup(run.status());
  fmt::print("run {}, source {}{}\nlevels: {}\n", run->name, run->source,
             run->platform.empty() ? "" : ", platform " + run->platform,
             fmt::join(lmsimbench::LevelsOf(*run, true), ", "));
  for (const auto& linked : run->tables) {
    const ProfileView& view = bundle.ViewOrEmpty(linked.table);
    fmt::print(
        "\n{}, {} row{}{}\n", linked.table, linked.rows.size(),
        linked.rows.size() == 1 ? "" : "s",
        linked.shared ? ", measured once for several runs of the source" : "");
    if (linked.rows.size() == 1) {
      PrintRow(view, linked.rows.front());
    } else {
      PrintRows(view, linked.rows);
    }
  }
  return kAnswered;
}

int Build(const Options& options) {
  const auto built = lmsimbench::BuildBundle(options.from, options.output);
  return built.ok() ? kAnswered : Fail(built);
}

int Export(const Bundle& bundle, const std::string& folder) {
  const auto exported = lmsimbench::ExportBundle(bundle, folder);
  return exported.ok() ? kAnswered : Fail(exported);
}

}  // namespace

void AddBundleCommand(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* bundle = app.add_subcommand(
      "bundle", "Look into a measurement bundle, build one, export one");
  bundle->require_subcommand(1);
  bundle->fallthrough();

  // Runs an action on the bundle that the command line names.
  const auto with_bundle = [&program](auto action) {
    return [&program, action] {
      program.action = [&program, action] {
        const auto opened = OpenBundle(program);
        return opened.ok() ? action(*opened) : Fail(opened.status());
      };
    };
  };

  CLI::App* sources =
      bundle->add_subcommand("sources", "Where the figures come from");
  sources->fallthrough();
  sources->callback(with_bundle(ShowSources));

  CLI::App* show = bundle->add_subcommand(
      "show", "Everything that was measured of a run, at all levels");
  show->fallthrough();
  show->add_option("run", options->run, "Record id, or run id of a lower table")
      ->type_name("RUN")
      ->required();
  show->callback(with_bundle([options](const Bundle& opened) {
    return ShowRun(opened, options->run);
  }));

  CLI::App* build =
      bundle->add_subcommand("build", "Compile a folder of CSV tables");
  build->fallthrough();
  build->add_option("--from", options->from, "Folder with the tables")
      ->type_name("DIR")
      ->required();
  build->add_option("-o,--output", options->output, "Bundle to write")
      ->type_name("FILE")
      ->required();
  build->callback([&program, options] {
    program.action = [options] { return Build(*options); };
  });

  CLI::App* exporting =
      bundle->add_subcommand("export", "Write every table as CSV");
  exporting->fallthrough();
  exporting->add_option("--csv", options->csv_folder, "Folder to write to")
      ->type_name("DIR")
      ->required();
  exporting->callback(with_bundle([options](const Bundle& opened) {
    return Export(opened, options->csv_folder);
  }));
}
