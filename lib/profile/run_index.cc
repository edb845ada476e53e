#include "lib/profile/run_index.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace lmsimbench {

const StringColumn* FindTexts(const ProfileView& view,
                              absl::string_view column) {
  const ProfileColumn* found = view.Find(column);
  return found != nullptr && found->type == ColumnType::kString
             ? &found->strings
             : nullptr;
}

RunIndex::RunIndex(const Bundle& bundle) {
  absl::flat_hash_set<RunId> seen;
  for (const ProfileView& view : bundle.views()) {
    const StringColumn* source = FindTexts(view, "source_id");
    const StringColumn* run = FindTexts(view, "run");
    // `links` names runs, too, but holds nothing of them.
    if (source == nullptr || run == nullptr || view.name() == "links") continue;
    pool_ = *run;
    Table table;
    table.view = &view;
    for (size_t row = 0; row < view.rows(); ++row) {
      const RunId id(source->ids()[row], run->ids()[row]);
      table.rows[id].push_back(row);
      if (seen.insert(id).second) runs_.push_back(id);
    }
    tables_.push_back(std::move(table));
  }
}

OtherLevels ReadOtherLevels(const std::string& text) {
  OtherLevels levels;
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" ,;:()"), absl::SkipEmpty());
  for (const std::string& word : words) {
    absl::string_view rest = word;
    if (absl::ConsumeSuffix(&rest, ".csv")) {
      levels.tables.emplace_back(rest);
    } else if (absl::ConsumePrefix(&rest, "source_id=")) {
      levels.source = std::string(rest);
    } else if (absl::ConsumePrefix(&rest, "run=")) {
      levels.run = std::string(rest);
    }
  }
  if (levels.source.empty() && !words.empty()) levels.source = words.front();
  return levels;
}

}  // namespace lmsimbench
