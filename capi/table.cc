#include "capi/table.h"

#include <utility>

#include "absl/status/status.h"
#include "capi/error.h"
#include "fmt/format.h"

namespace capi = lmsimbench::capi;
using capi::CheckHandle;
using capi::CheckPointer;
using capi::Guarded;
using capi::IsHandle;
using lmsimbench::ColumnType;
using lmsimbench::ProfileColumn;
using lmsimbench::ProfileView;

lmsb_view::lmsb_view(ProfileView of) : view(std::move(of)) {
  columns.reserve(view.columns().size());
  for (const ProfileColumn& column : view.columns()) {
    columns.emplace_back(column);
  }
}

namespace lmsimbench::capi {
namespace {

// The view of a builder's entries, which stay where they are.
ProfileView ViewOf(std::string name, size_t rows,
                   std::vector<ProfileColumn> columns,
                   const std::deque<std::vector<uint32_t>>& ids,
                   const std::vector<uint32_t>& ends, const std::string& text) {
  auto next_ids = ids.begin();
  for (ProfileColumn& column : columns) {
    if (column.type != ColumnType::kString) continue;
    column.strings = StringColumn(*next_ids++, ends, text.data());
  }
  return ProfileView(std::move(name), rows, std::move(columns));
}

absl::Status CheckType(const lmsb_column& column, ColumnType type,
                       const char* what) {
  if (column.column->type == type) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("column '{}' does not hold {}", column.column->name, what));
}

}  // namespace

ProfileColumn& TableBuilder::Add(std::string name, ColumnType type) {
  ProfileColumn& column = columns_.emplace_back();
  column.name = std::move(name);
  column.type = type;
  return column;
}

uint32_t TableBuilder::Intern(absl::string_view text) {
  const auto [at, is_new] = interned_.try_emplace(
      std::string(text), static_cast<uint32_t>(ends_.size()));
  if (is_new) {
    text_.append(text.data(), text.size());
    ends_.push_back(static_cast<uint32_t>(text_.size()));
    text_.push_back('\0');
  }
  return at->second;
}

lmsb_table* TableBuilder::Finish() && {
  return new lmsb_table(std::move(*this));
}

}  // namespace lmsimbench::capi

lmsb_table::lmsb_table(capi::TableBuilder&& of)
    : entries(std::move(of)),
      view(capi::ViewOf(entries.name_, entries.rows_,
                        std::move(entries.columns_), entries.ids_,
                        entries.ends_, entries.text_)) {}

const lmsb_view* lmsb_table_view(const lmsb_table* table) {
  return IsHandle(table) ? &table->view : nullptr;
}

void lmsb_table_free(lmsb_table* table) {
  capi::Free(table, "lmsb_table_free");
}

const char* lmsb_view_name(const lmsb_view* view) {
  return IsHandle(view) ? view->view.name().c_str() : "";
}

size_t lmsb_view_rows(const lmsb_view* view) {
  return IsHandle(view) ? view->view.rows() : 0;
}

size_t lmsb_view_column_count(const lmsb_view* view) {
  return IsHandle(view) ? view->columns.size() : 0;
}

const lmsb_column* lmsb_view_column_at(const lmsb_view* view, size_t index) {
  return IsHandle(view) && index < view->columns.size() ? &view->columns[index]
                                                        : nullptr;
}

lmsb_code lmsb_view_column(const lmsb_view* view, const char* name,
                           size_t name_length, const lmsb_column** column) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckPointer(column, "column");
    if (!status.ok()) return status;
    *column = nullptr;
    status = CheckHandle(view, "view");
    if (!status.ok()) return status;
    absl::string_view wanted;
    status = capi::ReadText(name, name_length, "name", wanted);
    if (!status.ok()) return status;
    std::vector<std::string> known;
    for (const lmsb_column& candidate : view->columns) {
      if (candidate.column->name == wanted) {
        *column = &candidate;
        return absl::OkStatus();
      }
      known.push_back(candidate.column->name);
    }
    return absl::NotFoundError(
        fmt::format("view '{}' has no column '{}'{}", view->view.name(),
                    std::string(wanted), capi::DidYouMean(wanted, known)));
  });
}

const char* lmsb_column_name(const lmsb_column* column) {
  return IsHandle(column) ? column->column->name.c_str() : "";
}

int32_t lmsb_column_type(const lmsb_column* column) {
  return IsHandle(column) ? static_cast<int32_t>(column->column->type) : -1;
}

namespace {

// Hands out the entries of a column of one type.
template <typename T, typename Entries>
lmsb_code Hand(const lmsb_column* column, ColumnType type, const char* what,
               const T** entries, size_t* count, Entries&& of) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckPointer(entries, "entries");
    if (status.ok()) status = CheckPointer(count, "count");
    if (!status.ok()) return status;
    *entries = nullptr;
    *count = 0;
    status = CheckHandle(column, "column");
    if (status.ok()) status = capi::CheckType(*column, type, what);
    if (!status.ok()) return status;
    const absl::Span<const T> found = of(*column->column);
    *entries = found.data();
    *count = found.size();
    return absl::OkStatus();
  });
}

}  // namespace

lmsb_code lmsb_column_f64(const lmsb_column* column, const double** entries,
                          size_t* count) {
  return Hand(column, ColumnType::kF64, "numbers", entries, count,
              [](const ProfileColumn& c) { return c.f64; });
}

lmsb_code lmsb_column_i64(const lmsb_column* column, const int64_t** entries,
                          size_t* count) {
  return Hand(column, ColumnType::kI64, "whole numbers", entries, count,
              [](const ProfileColumn& c) { return c.i64; });
}

lmsb_code lmsb_column_strings(const lmsb_column* column,
                              const uint32_t** entries, size_t* count) {
  return Hand(column, ColumnType::kString, "strings", entries, count,
              [](const ProfileColumn& c) { return c.strings.ids(); });
}

const char* lmsb_column_string(const lmsb_column* column, uint32_t entry,
                               size_t* length) {
  if (length != nullptr) *length = 0;
  if (!IsHandle(column) || column->column->type != ColumnType::kString ||
      entry >= column->column->strings.strings()) {
    return nullptr;
  }
  const absl::string_view text = column->column->strings.Text(entry);
  if (length != nullptr) *length = text.size();
  return text.data();
}

static_assert(static_cast<int>(ColumnType::kF64) == LMSB_COLUMN_F64);
static_assert(static_cast<int>(ColumnType::kI64) == LMSB_COLUMN_I64);
static_assert(static_cast<int>(ColumnType::kString) == LMSB_COLUMN_STRING);
