#include "lib/profile/bundle_data.h"

namespace lmsimbench {

uint32_t TextPool::Add(const std::string& text) {
  const auto [entry, added] =
      ids_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
  if (added) texts_.push_back(text);
  return entry->second;
}

const TableData* BundleData::Find(absl::string_view name) const {
  for (const TableData& table : tables) {
    if (name == table.spec->name) return &table;
  }
  return nullptr;
}

}  // namespace lmsimbench
