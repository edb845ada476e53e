#include "lmsimbench/profile_view.h"

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lmsimbench/nearest_name.h"

namespace lmsimbench {
namespace {

const char* NameOf(ColumnType type) {
  switch (type) {
    case ColumnType::kF64:
      return "numbers";
    case ColumnType::kI64:
      return "whole numbers";
    case ColumnType::kString:
      return "texts";
  }
  return "an unknown type";
}

absl::StatusOr<const ProfileColumn*> FindTyped(const ProfileView& view,
                                               absl::string_view name,
                                               ColumnType type) {
  const ProfileColumn* column = view.Find(name);
  if (column == nullptr) {
    std::vector<std::string> names;
    for (const ProfileColumn& other : view.columns()) {
      names.push_back(other.name);
    }
    const std::string nearest = NearestName(name, names);
    return absl::NotFoundError(fmt::format(
        "table '{}' has no column '{}'{}", view.name(), std::string(name),
        nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
  }
  if (column->type != type) {
    return absl::InvalidArgumentError(fmt::format(
        "column '{}' of table '{}' holds {}, not {}", std::string(name),
        view.name(), NameOf(column->type), NameOf(type)));
  }
  return column;
}

}  // namespace

absl::StatusOr<absl::Span<const double>> ProfileView::F64(
    absl::string_view column) const {
  const auto found = FindTyped(*this, column, ColumnType::kF64);
  if (!found.ok()) return found.status();
  return (*found)->f64;
}

absl::StatusOr<absl::Span<const int64_t>> ProfileView::I64(
    absl::string_view column) const {
  const auto found = FindTyped(*this, column, ColumnType::kI64);
  if (!found.ok()) return found.status();
  return (*found)->i64;
}

absl::StatusOr<StringColumn> ProfileView::Strings(
    absl::string_view column) const {
  const auto found = FindTyped(*this, column, ColumnType::kString);
  if (!found.ok()) return found.status();
  return (*found)->strings;
}

}  // namespace lmsimbench
