#include "lmsimbench/lookup.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "fmt/format.h"
#include "lib/profile/files.h"
#include "lib/profile/run_cells.h"
#include "lib/profile/view_row.h"
#include "lmsimbench/json.h"
#include "lmsimbench/measured_run.h"

namespace lmsimbench {
namespace {

bool IsPath(const std::string& name) {
  return absl::EndsWith(name, ".json") || absl::StrContains(name, '/');
}

template <typename T>
absl::StatusOr<T> ReadJsonFile(const std::string& path) {
  absl::StatusOr<std::string> text = ReadWholeFile(path);
  // No file is no unknown name: NOT_FOUND speaks of names only.
  if (!text.ok()) {
    return absl::InvalidArgumentError(std::string(text.status().message()));
  }
  absl::StatusOr<T> value = FromJson<T>(*text);
  if (value.ok()) return value;
  return absl::Status(
      value.status().code(),
      fmt::format("{}: {}", path, std::string(value.status().message())));
}

absl::Status NotKnown(const char* what, const std::string& name,
                      const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  return absl::NotFoundError(fmt::format(
      "no {} is called '{}'{}", what, name,
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

// A switched fabric may reach beyond the node, as "NVLink 5 + NVSwitch (72-GPU
// domain)" does: then its nodes are joined by a level of the same link. Jobs
// are given nodes of a domain by powers of two, 16 of the 18 of 72 GPUs, so
// that no group straddles domains that it could lie within.
void AddDomain(System& system) {
  const NetworkLevel& node = system.network.front();
  const size_t word = node.link.find("PU domain");
  if (word == std::string::npos || word < 2 || node.size < 1) return;
  const size_t end = word - 2;  // "-G", "-N"
  size_t begin = end;
  while (begin > 0 && absl::ascii_isdigit(node.link[begin - 1])) --begin;
  int64_t devices = 0;
  if (!absl::SimpleAtoi(absl::string_view(node.link).substr(begin, end - begin),
                        &devices) ||
      devices <= node.size || devices % node.size != 0) {
    return;
  }
  NetworkLevel domain = node;
  domain.name = "domain";
  domain.size = 1;
  while (2 * domain.size <= devices / node.size) domain.size *= 2;
  system.network.push_back(std::move(domain));
}

System ReadSystem(const ViewRow& row) {
  System system;
  system.name = row.Text("platform_id");
  Accelerator& accelerator = system.accelerator;
  accelerator.name = row.Text("device");
  accelerator.vendor = row.Text("vendor");
  accelerator.memory_bytes = row.Number("memory_gib") * 1073741824.0;
  accelerator.memory_bandwidth = row.Number("hbm_bandwidth_GBps") * 1e9;
  accelerator.fp32_flops = row.Number("peak_fp32_tflops") * 1e12;
  accelerator.tf32_flops = row.Number("peak_tf32_tflops") * 1e12;
  accelerator.fp16_flops = row.Number("peak_fp16_tflops_dense") * 1e12;
  accelerator.bf16_flops = row.Number("peak_bf16_tflops_dense") * 1e12;
  accelerator.fp8_flops = row.Number("peak_fp8_tflops_dense") * 1e12;
  accelerator.cache_bytes = row.Number("l2_mib") * 1048576.0;
  accelerator.cores = row.Count("sm_or_core_count");
  accelerator.clock_hz = row.Number("boost_clock_mhz") * 1e6;

  NetworkLevel node;
  node.name = "node";
  node.size = row.Count("devices_per_node");
  node.link = row.Text("intra_node_link");
  node.bandwidth =
      row.Number("intra_node_bandwidth_GBps_per_device_unidirectional") * 1e9;
  NetworkLevel cluster;
  cluster.name = "cluster";
  cluster.link = row.Text("inter_node_link");
  cluster.bandwidth =
      row.Number("inter_node_bandwidth_GBps_per_device_unidirectional") * 1e9;
  system.network.push_back(std::move(node));
  AddDomain(system);
  system.network.push_back(std::move(cluster));
  return system;
}

}  // namespace

std::vector<std::string> PlatformNames(const Bundle& bundle) {
  std::vector<std::string> names;
  const ProfileView& platforms = bundle.ViewOrEmpty("platforms");
  for (size_t row = 0; row < platforms.rows(); ++row) {
    names.push_back(ViewRow(platforms, row).Text("platform_id"));
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<ModelSpec> FindModel(const Bundle& bundle,
                                    const std::string& name_or_path) {
  if (IsPath(name_or_path)) return ReadJsonFile<ModelSpec>(name_or_path);
  absl::StatusOr<std::vector<NamedModel>> models = NamedModels(bundle);
  if (!models.ok()) return models.status();
  std::vector<std::string> names;
  std::vector<std::string> of_several;
  for (const NamedModel& model : *models) {
    const std::vector<std::string>& also = model.also_called;
    if (model.name == name_or_path ||
        std::find(also.begin(), also.end(), name_or_path) != also.end()) {
      return model.model;
    }
    // The plain name, or the name with a source that has several of it.
    if (absl::StartsWith(model.name, name_or_path + "@") ||
        absl::StartsWith(model.name, name_or_path + ",")) {
      of_several.push_back(model.name);
    }
    names.push_back(model.name);
  }
  if (of_several.empty()) return NotKnown("model", name_or_path, names);
  return absl::InvalidArgumentError(
      fmt::format("several models are called '{}': {}", name_or_path,
                  fmt::join(of_several, " ")));
}

absl::StatusOr<System> FindPlatform(const Bundle& bundle,
                                    const std::string& name_or_path) {
  if (IsPath(name_or_path)) return ReadJsonFile<System>(name_or_path);
  const ProfileView& platforms = bundle.ViewOrEmpty("platforms");
  for (size_t i = 0; i < platforms.rows(); ++i) {
    const ViewRow row(platforms, i);
    if (row.Text("platform_id") == name_or_path) return ReadSystem(row);
  }
  return NotKnown("platform", name_or_path, PlatformNames(bundle));
}

absl::StatusOr<ParallelConfig> FindConfig(const Bundle& bundle,
                                          const std::string& record_or_path) {
  if (IsPath(record_or_path)) {
    return ReadJsonFile<ParallelConfig>(record_or_path);
  }
  std::vector<std::string> names;
  for (const auto& read : {ReadRuns(bundle), ReadFailedRuns(bundle)}) {
    if (!read.ok()) return read.status();
    for (const MeasuredRun& run : *read) {
      if (run.record_id == record_or_path) return run.config;
      names.push_back(run.record_id);
    }
  }
  return NotKnown("run", record_or_path, names);
}

}  // namespace lmsimbench
