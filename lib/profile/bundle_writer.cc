#include "lib/profile/bundle_writer.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lib/profile/bundle_format.h"
#include "lib/profile/bundle_generated.h"

namespace lmsimbench {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

template <typename T>
Offset<flatbuffers::Vector<T>> AddVector(const std::vector<T>& values,
                                         FlatBufferBuilder& builder) {
  builder.ForceVectorAlignment(values.size(), sizeof(T), kBundleAlignment);
  return builder.CreateVector(values);
}

Offset<format::Column> AddColumn(const ColumnSpec& spec,
                                 const ColumnData& column,
                                 const std::vector<uint32_t>& sorted_ids,
                                 FlatBufferBuilder& builder) {
  Offset<flatbuffers::Vector<double>> f64;
  Offset<flatbuffers::Vector<int64_t>> i64;
  Offset<flatbuffers::Vector<uint32_t>> ids;
  format::ColumnKind kind = format::ColumnKind::F64;
  switch (TypeOf(spec.rule)) {
    case ColumnType::kF64:
      f64 = AddVector(column.f64, builder);
      break;
    case ColumnType::kI64:
      kind = format::ColumnKind::I64;
      i64 = AddVector(column.i64, builder);
      break;
    case ColumnType::kString: {
      kind = format::ColumnKind::Text;
      std::vector<uint32_t> sorted;
      sorted.reserve(column.ids.size());
      for (const uint32_t id : column.ids) sorted.push_back(sorted_ids[id]);
      ids = AddVector(sorted, builder);
      break;
    }
  }
  const auto name = builder.CreateString(spec.name);
  return format::CreateColumn(builder, name, kind, f64, i64, ids);
}

size_t ApproximateBytes(const BundleData& data) {
  size_t bytes = 0;
  for (const std::string& text : data.pool.texts()) bytes += text.size() + 5;
  for (const TableData& table : data.tables) {
    bytes += 100 + table.columns.size() * (100 + 8 * table.rows);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> WriteBundle(const BundleData& data) {
  const size_t bytes = ApproximateBytes(data);
  if (bytes > kMaxBundleBytes) {
    return absl::InvalidArgumentError(
        fmt::format("the tables need {} bytes, but a bundle holds at most {}",
                    bytes, kMaxBundleBytes));
  }
  FlatBufferBuilder builder(bytes);

  // Sorted, so that the pool does not depend on the order of the rows and a
  // reader can see that its texts are distinct.
  const std::vector<std::string>& texts = data.pool.texts();
  std::vector<uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&texts](uint32_t a, uint32_t b) { return texts[a] < texts[b]; });
  std::vector<uint32_t> sorted_ids(texts.size());
  std::vector<uint8_t> text;
  std::vector<uint32_t> ends;
  for (const uint32_t id : order) {
    sorted_ids[id] = static_cast<uint32_t>(ends.size());
    text.insert(text.end(), texts[id].begin(), texts[id].end());
    ends.push_back(static_cast<uint32_t>(text.size()));
    text.push_back(0);
  }

  std::vector<Offset<format::View>> tables;
  for (const TableData& table : data.tables) {
    std::vector<Offset<format::Column>> columns;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      columns.push_back(AddColumn(table.spec->columns[i], table.columns[i],
                                  sorted_ids, builder));
    }
    const auto column_list = builder.CreateVector(columns);
    const auto name = builder.CreateString(table.spec->name);
    tables.push_back(
        format::CreateView(builder, name, table.rows, column_list));
  }
  const auto table_list = builder.CreateVector(tables);
  const auto text_vector = AddVector(text, builder);
  const auto ends_vector = AddVector(ends, builder);
  format::FinishBundleBuffer(
      builder, format::CreateBundle(builder, kBundleVersion, kBundleByteOrder,
                                    1, text_vector, ends_vector, table_list));
  // Known only now; the 1 above keeps its place.
  format::GetMutableBundle(builder.GetBufferPointer())
      ->mutate_bytes(builder.GetSize());
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                     builder.GetSize());
}

}  // namespace lmsimbench
