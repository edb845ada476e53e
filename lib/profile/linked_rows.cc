#include "lmsimbench/linked_rows.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "lib/profile/run_index.h"
#include "lib/profile/view_row.h"
#include "lmsimbench/nearest_name.h"

namespace lmsimbench {
namespace {

bool NotesNameRun(absl::string_view notes, const std::string& run) {
  for (absl::string_view piece : absl::StrSplit(notes, ';')) {
    piece = absl::StripAsciiWhitespace(piece);
    if (absl::ConsumePrefix(&piece, "run=") && piece == run) return true;
  }
  return false;
}

// Runs with the same id of one source on several platforms are several runs.
struct PlacedRun {
  RunId id;
  std::string platform;
};

class Linker {
 public:
  explicit Linker(const Bundle& bundle) : bundle_(bundle), index_(bundle) {
    const ProfileView& links = bundle.ViewOrEmpty("links");
    for (size_t row = 0; row < links.rows(); ++row) {
      const RunId target(links.Find("source_id")->strings.ids()[row],
                         links.Find("run")->strings.ids()[row]);
      std::vector<RunId>& targets =
          targets_[links.Find("record_id")->strings.ids()[row]];
      if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
        targets.push_back(target);
      }
      linked_.insert(target);
    }
  }

  std::vector<LinkedRun> All() {
    std::vector<LinkedRun> runs;
    for (const char* table : {"iterations", "failed_configurations"}) {
      AddRecords(bundle_.ViewOrEmpty(table), runs);
    }
    AddOthers(runs);
    return runs;
  }

  // Names of records by the run ids that belong to them.
  const absl::flat_hash_map<std::string, std::string>& records_of_runs() const {
    return records_of_runs_;
  }
  // Run ids that several runs share.
  const absl::flat_hash_map<std::string, std::vector<std::string>>& several()
      const {
    return several_;
  }

 private:
  void AddRecords(const ProfileView& view, std::vector<LinkedRun>& runs) {
    for (size_t row = 0; row < view.rows(); ++row) {
      const ViewRow cells(view, row);
      LinkedRun run;
      run.name = cells.Text("record_id");
      run.has_record = true;
      run.source = cells.Text("source_id");
      run.platform = cells.Text("platform");
      run.tables.push_back({view.name(), {row}, false});
      const auto targets =
          targets_.find(view.Find("record_id")->strings.ids()[row]);
      if (targets != targets_.end()) {
        for (const RunId& target : targets->second) {
          AddRows({target, ""}, run);
          records_of_runs_.emplace(index_.Run(target), run.name);
        }
      }
      runs.push_back(std::move(run));
    }
  }

  void AddOthers(std::vector<LinkedRun>& runs) {
    std::vector<LinkedRun> others;
    for (const RunId& id : index_.runs()) {
      if (linked_.contains(id)) continue;
      for (PlacedRun& placed : Placed(id)) {
        LinkedRun run;
        run.name = index_.Run(id);
        run.source = index_.Source(id);
        run.platform = placed.platform;
        AddRows(placed, run);
        others.push_back(std::move(run));
      }
    }
    NameApart(others);
    std::move(others.begin(), others.end(), std::back_inserter(runs));
  }

  // The run once for each platform that its tables state.
  std::vector<PlacedRun> Placed(const RunId& id) const {
    std::vector<PlacedRun> placed;
    for (const RunIndex::Table& table : index_.tables()) {
      const auto rows = table.rows.find(id);
      const StringColumn* platform = FindTexts(*table.view, "platform");
      if (rows == table.rows.end() || platform == nullptr) continue;
      for (const size_t row : rows->second) {
        const std::string name((*platform)[row]);
        const bool known =
            std::any_of(placed.begin(), placed.end(),
                        [&](const PlacedRun& p) { return p.platform == name; });
        if (!known) placed.push_back({id, name});
      }
    }
    if (placed.empty()) placed.push_back({id, ""});
    return placed;
  }

  // Adds the rows of every table with this source and run, and those to which
  // rows of `linked_runs` point.
  void AddRows(const PlacedRun& placed, LinkedRun& run) const {
    for (const RunIndex::Table& table : index_.tables()) {
      const auto found = table.rows.find(placed.id);
      if (found == table.rows.end()) continue;
      std::vector<size_t> rows = found->second;
      const StringColumn* platform = FindTexts(*table.view, "platform");
      if (!placed.platform.empty() && platform != nullptr) {
        rows.erase(std::remove_if(rows.begin(), rows.end(),
                                  [&](size_t row) {
                                    return (*platform)[row] != placed.platform;
                                  }),
                   rows.end());
      }
      Add(table.view->name(), rows, false, run);
      if (table.view->name() != "linked_runs") continue;
      for (const size_t row : rows) {
        AddOtherLevels(ViewRow(*table.view, row), run);
      }
    }
  }

  void AddOtherLevels(const ViewRow& linked_run, LinkedRun& run) const {
    const OtherLevels levels =
        ReadOtherLevels(linked_run.Text("where_other_levels"));
    const std::string platform = linked_run.Text("platform");
    for (const std::string& name : levels.tables) {
      const ProfileView& view = bundle_.ViewOrEmpty(name);
      const StringColumn* source = FindTexts(view, "source_id");
      const StringColumn* notes = FindTexts(view, "notes");
      const StringColumn* its_platform = FindTexts(view, "platform");
      // Tables with a run of their own are joined by it.
      if (source == nullptr || notes == nullptr || its_platform == nullptr ||
          view.Find("run") != nullptr) {
        continue;
      }
      std::vector<size_t> rows;
      for (size_t row = 0; row < view.rows(); ++row) {
        if ((*source)[row] != levels.source) continue;
        const bool of_run =
            levels.run.empty() || ((*its_platform)[row] == platform &&
                                   NotesNameRun((*notes)[row], levels.run));
        if (of_run) rows.push_back(row);
      }
      Add(name, rows, levels.run.empty(), run);
    }
  }

  static void Add(const std::string& table, const std::vector<size_t>& rows,
                  bool shared, LinkedRun& run) {
    if (!rows.empty()) run.tables.push_back({table, rows, shared});
  }

  // Appends source and platform to the names that several runs have.
  void NameApart(std::vector<LinkedRun>& runs) {
    absl::flat_hash_map<std::string, int> by_run, by_source;
    for (const LinkedRun& run : runs) {
      ++by_run[run.name];
      ++by_source[run.name + "@" + run.source];
    }
    for (LinkedRun& run : runs) {
      if (by_run[run.name] == 1) continue;
      const std::string plain = run.name;
      run.name += "@" + run.source;
      if (by_source[run.name] > 1) run.name += "@" + run.platform;
      several_[plain].push_back(run.name);
    }
  }

  const Bundle& bundle_;
  const RunIndex index_;
  absl::flat_hash_map<uint32_t, std::vector<RunId>> targets_;
  absl::flat_hash_set<RunId> linked_;
  absl::flat_hash_map<std::string, std::string> records_of_runs_;
  absl::flat_hash_map<std::string, std::vector<std::string>> several_;
};

const char* LevelOf(const std::string& table) {
  for (const char* level :
       {"memory", "ranks", "operators", "collectives", "gemms"}) {
    if (table == level) return level;
  }
  if (table == "stage_times") return "ranks";
  if (table == "iterations" || table == "linked_runs" ||
      table == "stage_runs") {
    return "iterations";
  }
  return "";
}

}  // namespace

std::vector<LinkedRun> LinkedRuns(const Bundle& bundle) {
  return Linker(bundle).All();
}

absl::StatusOr<LinkedRun> FindLinkedRun(const Bundle& bundle,
                                        absl::string_view name) {
  Linker linker(bundle);
  std::vector<LinkedRun> runs = linker.All();
  const std::string asked(name);
  const auto several = linker.several().find(asked);
  if (several != linker.several().end()) {
    return absl::InvalidArgumentError(
        fmt::format("several runs are called '{}': {}", asked,
                    fmt::join(several->second, ", ")));
  }
  const auto record = linker.records_of_runs().find(asked);
  const std::string& wanted =
      record == linker.records_of_runs().end() ? asked : record->second;
  std::vector<std::string> names;
  for (LinkedRun& run : runs) {
    if (run.name == wanted) return std::move(run);
    names.push_back(run.name);
  }
  const std::string nearest = NearestName(asked, names);
  return absl::NotFoundError(fmt::format(
      "no run is called '{}'{}", asked,
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

std::vector<std::string> LevelsOf(const LinkedRun& run, bool with_shared) {
  std::vector<std::string> levels;
  for (const std::string level :
       {"iterations", "memory", "ranks", "operators", "collectives", "gemms"}) {
    for (const LinkedRows& rows : run.tables) {
      if (LevelOf(rows.table) != level || (rows.shared && !with_shared)) {
        continue;
      }
      levels.push_back(level);
      break;
    }
  }
  return levels;
}

}  // namespace lmsimbench
