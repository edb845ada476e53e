#include "lib/profile/bundle_references.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"
#include "lib/profile/spdx.h"
#include "lmsimbench/nearest_name.h"

namespace lmsimbench {
namespace {

// Ids of texts, each with the file and line where the text first stands.
using Places = absl::flat_hash_map<uint32_t, std::string>;

absl::Status Refuse(const TableData& table, size_t row, const char* column,
                    const std::string& why) {
  return absl::InvalidArgumentError(fmt::format(
      "{}:{}: column '{}': {}", table.file, table.lines[row], column, why));
}

// Adds the identifiers of a table's rows; they are unique among all added.
absl::Status AddUnique(const BundleData& data, const char* name,
                       const char* column, Places& places) {
  const TableData* table = data.Find(name);
  if (table == nullptr) return absl::OkStatus();
  const int index = FindColumnSpec(*table->spec, column);
  for (size_t row = 0; row < table->rows; ++row) {
    const std::string place =
        fmt::format("{}:{}", table->file, table->lines[row]);
    const auto [first, added] =
        places.try_emplace(table->columns[index].ids[row], place);
    if (added) continue;
    return Refuse(
        *table, row, column,
        fmt::format("\"{}\" is already at {}",
                    table->Text(data.pool, index, row), first->second));
  }
  return absl::OkStatus();
}

// Every text of `column`, in whatever table has one, is among `known`, the
// identifiers of `known_table`.
absl::Status CheckKnown(const BundleData& data, const char* column,
                        const char* known_table, const Places& known) {
  for (const TableData& table : data.tables) {
    const int index = FindColumnSpec(*table.spec, column);
    if (index < 0) continue;
    for (size_t row = 0; row < table.rows; ++row) {
      if (known.contains(table.columns[index].ids[row])) continue;
      const std::string& text = table.Text(data.pool, index, row);
      if (data.Find(known_table) == nullptr) {
        return Refuse(table, row, column,
                      fmt::format("\"{}\" is to be found in {}.csv, which the "
                                  "folder does not have",
                                  text, known_table));
      }
      std::vector<std::string> names;
      for (const auto& entry : known) {
        names.push_back(data.pool.Text(entry.first));
      }
      std::sort(names.begin(), names.end());
      const std::string nearest = NearestName(text, names);
      return Refuse(
          table, row, column,
          fmt::format("\"{}\" is not in {}.csv{}", text, known_table,
                      nearest.empty()
                          ? ""
                          : fmt::format("; did you mean \"{}\"?", nearest)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLicences(const BundleData& data) {
  const TableData* sources = data.Find("sources");
  if (sources == nullptr) return absl::OkStatus();
  const int column = FindColumnSpec(*sources->spec, "license");
  for (size_t row = 0; row < sources->rows; ++row) {
    const absl::Status status =
        CheckLicence(sources->Text(data.pool, column, row));
    if (!status.ok()) {
      return Refuse(*sources, row, "license", std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

// A row of links.csv leads from a record to rows of another table with the same
// source and run.
absl::Status CheckLinks(const BundleData& data, const Places& records) {
  const TableData* links = data.Find("links");
  if (links == nullptr) return absl::OkStatus();
  const int record = FindColumnSpec(*links->spec, "record_id");
  const int view = FindColumnSpec(*links->spec, "view");
  const int source = FindColumnSpec(*links->spec, "source_id");
  const int run = FindColumnSpec(*links->spec, "run");

  using Run = std::pair<uint32_t, uint32_t>;
  absl::flat_hash_map<std::string, absl::flat_hash_set<Run>> runs;
  absl::flat_hash_set<std::pair<Run, Run>> seen;
  for (size_t row = 0; row < links->rows; ++row) {
    const uint32_t record_id = links->columns[record].ids[row];
    const uint32_t view_id = links->columns[view].ids[row];
    const Run target(links->columns[source].ids[row],
                     links->columns[run].ids[row]);
    if (!records.contains(record_id)) {
      return Refuse(*links, row, "record_id",
                    fmt::format("no row of iterations.csv or "
                                "failed_configurations.csv has the record_id "
                                "\"{}\"",
                                data.pool.Text(record_id)));
    }
    const std::string& name = data.pool.Text(view_id);
    const TableData* table = data.Find(name);
    const int table_source =
        table == nullptr ? -1 : FindColumnSpec(*table->spec, "source_id");
    const int table_run =
        table == nullptr ? -1 : FindColumnSpec(*table->spec, "run");
    if (table_source < 0 || table_run < 0 || table == links) {
      return Refuse(
          *links, row, "view",
          fmt::format("the folder has no table '{}' with runs", name));
    }
    const auto [known, first] = runs.try_emplace(name);
    if (first) {
      for (size_t i = 0; i < table->rows; ++i) {
        known->second.emplace(table->columns[table_source].ids[i],
                              table->columns[table_run].ids[i]);
      }
    }
    if (!known->second.contains(target)) {
      return Refuse(*links, row, "run",
                    fmt::format("{} has no row of the run \"{}\" of source "
                                "\"{}\"",
                                table->file, data.pool.Text(target.second),
                                data.pool.Text(target.first)));
    }
    if (!seen.emplace(Run(record_id, view_id), target).second) {
      return Refuse(*links, row, "run", "the same link is there already");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckReferences(const BundleData& data) {
  Places records;
  Places models;
  Places platforms;
  Places sources;
  absl::Status status = AddUnique(data, "iterations", "record_id", records);
  if (status.ok()) {
    status = AddUnique(data, "failed_configurations", "record_id", records);
  }
  if (status.ok()) status = AddUnique(data, "models", "name", models);
  if (status.ok()) {
    status = AddUnique(data, "platforms", "platform_id", platforms);
  }
  if (status.ok()) status = AddUnique(data, "sources", "source_id", sources);
  if (status.ok()) status = CheckLicences(data);
  if (status.ok()) status = CheckKnown(data, "source_id", "sources", sources);
  if (status.ok() && data.Find("platforms") != nullptr) {
    status = CheckKnown(data, "platform", "platforms", platforms);
  }
  if (status.ok()) status = CheckLinks(data, records);
  return status;
}

}  // namespace lmsimbench
