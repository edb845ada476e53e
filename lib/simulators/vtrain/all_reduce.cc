#include "lib/simulators/vtrain/all_reduce.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/ascii.h"
#include "lib/simulators/vtrain/measured_tables.h"

namespace lmsimbench::vtrain {
namespace {

constexpr double kMebibyte = 1048576.0;
constexpr double kGibi = 1073741824.0;

// A message that is too short for the table: the line through its first two
// entries, never above the first.
double ShortNs(const int32_t* time_ns, double mebibytes) {
  if (mebibytes == 0) return 0;
  const double first = time_ns[0];
  const double slope = std::max(0.0, time_ns[1] - first);
  return std::max(0.0, first - slope * (1 - mebibytes));
}

}  // namespace

const AllReduceTable* FindAllReduceTable(const std::string& gpu_name) {
  const std::string name = absl::AsciiStrToLower(gpu_name);
  for (const NamedAllReduceTable& entry : MeasuredAllReduceTables()) {
    if (name == entry.name) return entry.table;
  }
  return nullptr;
}

std::string AllReduceTableNames() {
  std::string names;
  for (const NamedAllReduceTable& entry : MeasuredAllReduceTables()) {
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  return names;
}

double AllReduceNs(const AllReduceTable& table, double intra_node_bandwidth,
                   int64_t bytes, int64_t members, bool smooth) {
  const auto size = static_cast<double>(bytes);
  if (members < kSmallestGroup || members > kLargestGroup) {
    const auto n = static_cast<double>(members);
    return size / (intra_node_bandwidth * kGibi) * (2 * (n - 1) / n) * 1e9;
  }
  const int64_t group = members - kSmallestGroup;
  const int32_t* time_ns = table.time_ns[group];
  // Half to even, as Python rounds.
  const double mebibytes = std::nearbyint(size / kMebibyte);
  if (mebibytes >= 1 && mebibytes <= kLargestMebibytes) {
    return time_ns[static_cast<int64_t>(mebibytes) - 1];
  }
  if (!smooth) {
    return mebibytes / (table.bus_bandwidth[group] * kLargestMebibytes) * 1e9;
  }
  if (mebibytes < 1) return ShortNs(time_ns, size / kMebibyte);
  return time_ns[kLargestMebibytes - 1] *
         (size / (kMebibyte * kLargestMebibytes));
}

double RingNs(int64_t bytes, int64_t members, double bandwidth) {
  const auto n = static_cast<double>(members);
  return static_cast<double>(bytes) / bandwidth * (2 * (n - 1) / n) * 1e9;
}

double HopNs(int64_t bytes, double inter_node_bandwidth) {
  return static_cast<double>(bytes) /
         (NodeBandwidth(inter_node_bandwidth) / 4) * 1e9;
}

double NodeBandwidth(double inter_node_bandwidth) {
  return inter_node_bandwidth * kGibi / 8;
}

}  // namespace lmsimbench::vtrain
