#include "lib/profile/bundle_format.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "fmt/format.h"
#include "lib/profile/bundle_generated.h"
#include "lib/profile/tables.h"
#include "lib/profile/utf8.h"

// Columns are read in place, in the byte order of the file.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "bundles are read on little-endian hosts only");

namespace lmsimbench {
namespace {

// More than any real bundle has; what is checked pair by pair stays quick.
constexpr size_t kMaxTables = 256;
constexpr size_t kMaxColumns = 256;

absl::Status Wrong(const std::string& what) {
  return absl::DataLossError("the bundle is damaged: " + what);
}

// The distinct texts of a bundle.
struct Pool {
  absl::Span<const uint32_t> ends;
  const char* text = nullptr;

  absl::string_view operator[](uint32_t id) const {
    const uint32_t begin = id == 0 ? 0 : ends[id - 1] + 1;
    return absl::string_view(text + begin, ends[id] - begin);
  }
};

template <typename T>
absl::Span<const T> SpanOf(const flatbuffers::Vector<T>& vector) {
  return absl::MakeConstSpan(reinterpret_cast<const T*>(vector.Data()),
                             vector.size());
}

// Nothing is read from an empty vector, wherever it is.
template <typename T>
bool IsAligned(const flatbuffers::Vector<T>& vector) {
  return vector.size() == 0 ||
         reinterpret_cast<uintptr_t>(vector.Data()) % kBundleAlignment == 0;
}

absl::StatusOr<Pool> ReadPool(const format::Bundle& bundle) {
  const auto& text = *bundle.text();
  const auto& ends = *bundle.ends();
  if (!IsAligned(text) || !IsAligned(ends)) {
    return Wrong("its pool of texts is not aligned");
  }
  Pool pool;
  pool.ends = SpanOf(ends);
  pool.text = reinterpret_cast<const char*>(text.Data());
  if (pool.ends.empty() || pool.ends.front() != 0) {
    return Wrong("its pool of texts does not begin with the empty text");
  }
  // Each text ends behind the end of the one before; the last zero byte is the
  // last byte.
  for (size_t i = 1; i < pool.ends.size(); ++i) {
    if (pool.ends[i] <= pool.ends[i - 1]) {
      return Wrong(
          fmt::format("text {} ends at {}, before it begins", i, pool.ends[i]));
    }
  }
  if (pool.ends.back() != text.size() - 1) {
    return Wrong(fmt::format("its last text ends at {} of {} bytes",
                             pool.ends.back(), text.size()));
  }
  if (!IsUtf8(absl::string_view(pool.text, text.size()))) {
    return Wrong("its texts are not UTF-8");
  }
  absl::string_view previous;
  for (size_t i = 0; i < pool.ends.size(); ++i) {
    if (pool.text[pool.ends[i]] != '\0') {
      return Wrong(fmt::format("no zero byte ends text {}", i));
    }
    const absl::string_view current = pool[static_cast<uint32_t>(i)];
    if (i > 0 && current <= previous) {
      return Wrong(fmt::format("text {} is not in ascending order", i));
    }
    previous = current;
  }
  return pool;
}

// True if every id is below `size`, at most 2^31: neither the id nor its
// distance from the last has the highest bit. Without a branch, for speed.
bool AllBelow(absl::Span<const uint32_t> ids, size_t size) {
  const auto last = static_cast<uint32_t>(size - 1);
  uint32_t seen = 0;
  for (const uint32_t id : ids) seen |= id | (last - id);
  return (seen >> 31) == 0;
}

absl::Status ReadColumn(const format::Column& column, const format::View& table,
                        const Pool& pool, ProfileColumn& out) {
  const uint64_t rows = table.rows();
  const auto wrong = [&](const std::string& what) {
    return Wrong(fmt::format("column '{}' of table '{}' {}", out.name,
                             table.name()->str(), what));
  };
  const int vectors = (column.f64() != nullptr ? 1 : 0) +
                      (column.i64() != nullptr ? 1 : 0) +
                      (column.ids() != nullptr ? 1 : 0);
  if (vectors != 1) {
    return wrong(fmt::format("has {} vectors, not 1", vectors));
  }
  const auto take = [&](const auto* vector, const char* kind, auto& span) {
    if (vector == nullptr) {
      return wrong(fmt::format("holds no {}", kind));
    }
    if (vector->size() != rows) {
      return wrong(
          fmt::format("has {} entries for {} rows", vector->size(), rows));
    }
    if (!IsAligned(*vector)) {
      return wrong("is not aligned");
    }
    span = SpanOf(*vector);
    return absl::OkStatus();
  };
  switch (column.kind()) {
    case format::ColumnKind::F64:
      out.type = ColumnType::kF64;
      return take(column.f64(), "numbers", out.f64);
    case format::ColumnKind::I64:
      out.type = ColumnType::kI64;
      return take(column.i64(), "whole numbers", out.i64);
    case format::ColumnKind::Text: {
      out.type = ColumnType::kString;
      absl::Span<const uint32_t> ids;
      absl::Status status = take(column.ids(), "texts", ids);
      if (!status.ok()) return status;
      if (!AllBelow(ids, pool.ends.size())) {
        return wrong(fmt::format("names a text beyond the {} of the pool",
                                 pool.ends.size()));
      }
      out.strings = StringColumn(ids, pool.ends, pool.text);
      return absl::OkStatus();
    }
  }
  return wrong("is of an unknown kind");
}

// A table of a known name has every column of its specification.
absl::Status CheckColumns(const ProfileView& view) {
  const TableSpec* spec = FindTableSpec(view.name());
  if (spec == nullptr) return absl::OkStatus();
  for (size_t i = 0; i < spec->columns.size(); ++i) {
    const ColumnSpec& expected = spec->columns[i];
    if (i < view.columns().size() && view.columns()[i].name == expected.name &&
        view.columns()[i].type == TypeOf(expected.rule)) {
      continue;
    }
    return Wrong(
        fmt::format("table '{}' lacks the column '{}', or has it in "
                    "another place or type",
                    view.name(), expected.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<ProfileView> ReadTable(const format::View& table,
                                      const Pool& pool) {
  const std::string name = table.name()->str();
  if (table.columns()->size() > kMaxColumns) {
    return Wrong(fmt::format("table '{}' has {} columns, more than {}", name,
                             table.columns()->size(), kMaxColumns));
  }
  std::vector<ProfileColumn> columns(table.columns()->size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const format::Column& column =
        *table.columns()->Get(static_cast<flatbuffers::uoffset_t>(i));
    columns[i].name = column.name()->str();
    absl::Status status = ReadColumn(column, table, pool, columns[i]);
    if (!status.ok()) return status;
    for (size_t j = 0; j < i; ++j) {
      if (columns[j].name != columns[i].name) continue;
      return Wrong(fmt::format("table '{}' has two columns '{}'", name,
                               columns[i].name));
    }
  }
  if (columns.empty() && table.rows() != 0) {
    return Wrong(fmt::format("table '{}' has {} rows but no column", name,
                             table.rows()));
  }
  ProfileView view(name, table.rows(), std::move(columns));
  absl::Status status = CheckColumns(view);
  if (!status.ok()) return status;
  return view;
}

// Bytes of all columns. Columns that share bytes could make a small file
// arbitrarily long to check.
size_t ColumnBytes(const ProfileView& view) {
  size_t bytes = 0;
  for (const ProfileColumn& column : view.columns()) {
    bytes += view.rows() * (column.type == ColumnType::kString ? 4 : 8);
  }
  return bytes;
}

// Which texts of the pool stand in one of these columns.
class TextSet {
 public:
  explicit TextSet(size_t pool_size) : has_(pool_size, 0) {}

  void Add(const ProfileView* view, const char* column) {
    if (view == nullptr) return;
    for (const uint32_t id : view->Find(column)->strings.ids()) has_[id] = 1;
  }
  bool Contains(uint32_t id) const { return has_[id] != 0; }

 private:
  std::vector<uint8_t> has_;
};

using Run = std::pair<uint32_t, uint32_t>;  // source and run

std::vector<Run> SortedRuns(const ProfileView& view) {
  std::vector<Run> runs;
  const ProfileColumn* source = view.Find("source_id");
  const ProfileColumn* run = view.Find("run");
  if (source == nullptr || run == nullptr ||
      source->type != ColumnType::kString || run->type != ColumnType::kString) {
    return runs;
  }
  for (size_t row = 0; row < view.rows(); ++row) {
    runs.emplace_back(source->strings.ids()[row], run->strings.ids()[row]);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

// What the tables say of each other.
class References {
 public:
  References(const std::vector<ProfileView>& views, const Pool& pool)
      : views_(views), pool_(pool) {}

  absl::Status Check() const {
    absl::Status status = CheckSources();
    return status.ok() ? CheckLinks() : status;
  }

 private:
  const ProfileView* Find(absl::string_view name) const {
    for (const ProfileView& view : views_) {
      if (view.name() == name) return &view;
    }
    return nullptr;
  }

  absl::Status CheckSources() const {
    TextSet sources(pool_.ends.size());
    const ProfileView* table = Find("sources");
    sources.Add(table, "source_id");
    if (table != nullptr) {
      const absl::Span<const uint32_t> licences =
          table->Find("license")->strings.ids();
      for (size_t row = 0; row < table->rows(); ++row) {
        if (licences[row] != 0) continue;
        return Wrong(fmt::format("source {} has no licence", row));
      }
    }
    for (const ProfileView& view : views_) {
      const ProfileColumn* column = view.Find("source_id");
      if (column == nullptr || column->type != ColumnType::kString) continue;
      for (const uint32_t id : column->strings.ids()) {
        if (sources.Contains(id)) continue;
        return Wrong(fmt::format("table '{}' names the unknown source '{}'",
                                 view.name(), std::string(pool_[id])));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckLinks() const {
    const ProfileView* links = Find("links");
    if (links == nullptr) return absl::OkStatus();
    TextSet records(pool_.ends.size());
    records.Add(Find("iterations"), "record_id");
    records.Add(Find("failed_configurations"), "record_id");
    std::vector<std::vector<Run>> runs;
    for (const ProfileView& view : views_) {
      runs.push_back(&view == links ? std::vector<Run>() : SortedRuns(view));
    }
    const absl::Span<const uint32_t> record =
        links->Find("record_id")->strings.ids();
    const StringColumn table = links->Find("view")->strings;
    const absl::Span<const uint32_t> source =
        links->Find("source_id")->strings.ids();
    const absl::Span<const uint32_t> run = links->Find("run")->strings.ids();
    for (size_t row = 0; row < links->rows(); ++row) {
      const ProfileView* view = Find(table[row]);
      const Run target(source[row], run[row]);
      const bool leads =
          records.Contains(record[row]) && view != nullptr &&
          std::binary_search(runs[view - views_.data()].begin(),
                             runs[view - views_.data()].end(), target);
      if (leads) continue;
      return Wrong(fmt::format(
          "link {} leads from '{}' to no row of run '{}' in table '{}'", row,
          std::string(pool_[record[row]]), std::string(pool_[run[row]]),
          std::string(table[row])));
    }
    return absl::OkStatus();
  }

  const std::vector<ProfileView>& views_;
  const Pool& pool_;
};

}  // namespace

absl::StatusOr<std::vector<ProfileView>> ReadBundle(
    absl::Span<const uint8_t> bytes) {
  if (bytes.size() > kMaxBundleBytes) {
    return Wrong(fmt::format("{} bytes are more than the {} of a bundle",
                             bytes.size(), kMaxBundleBytes));
  }
  constexpr size_t kSmallest = 2 * sizeof(flatbuffers::uoffset_t);
  if (bytes.size() < kSmallest ||
      !format::BundleBufferHasIdentifier(bytes.data())) {
    return Wrong("it is not a bundle of measurements");
  }
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (!format::VerifyBundleBuffer(verifier)) {
    return Wrong("an offset leads out of it");
  }
  const format::Bundle& bundle = *format::GetBundle(bytes.data());
  if (bundle.byte_order() != kBundleByteOrder) {
    return Wrong("it was written in another byte order");
  }
  if (bundle.version() != kBundleVersion) {
    return Wrong(fmt::format("its format is version {}, this library reads {}",
                             bundle.version(), kBundleVersion));
  }
  if (bundle.bytes() != bytes.size()) {
    return Wrong(
        fmt::format("it has {} bytes of {}", bytes.size(), bundle.bytes()));
  }
  absl::StatusOr<Pool> pool = ReadPool(bundle);
  if (!pool.ok()) return pool.status();

  if (bundle.tables()->size() > kMaxTables) {
    return Wrong(fmt::format("it has {} tables, more than {}",
                             bundle.tables()->size(), kMaxTables));
  }
  std::vector<ProfileView> views;
  views.reserve(bundle.tables()->size());
  size_t column_bytes = 0;
  for (const format::View* table : *bundle.tables()) {
    absl::StatusOr<ProfileView> view = ReadTable(*table, *pool);
    if (!view.ok()) return view.status();
    column_bytes += ColumnBytes(*view);
    if (column_bytes > bytes.size()) return Wrong("its columns overlap");
    for (const ProfileView& other : views) {
      if (other.name() == view->name()) {
        return Wrong(fmt::format("it has two tables '{}'", view->name()));
      }
    }
    views.push_back(*std::move(view));
  }
  absl::Status status = References(views, *pool).Check();
  if (!status.ok()) return status;
  return views;
}

}  // namespace lmsimbench
