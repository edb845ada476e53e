#include "test/simulators/vtrain_records.h"

#include "lib/simulators/vtrain/read_config.h"

namespace lmsimbench::vtrain {

std::string GoldenRecordsPath() {
  return std::string(LMSIMBENCH_GOLDEN_DIR) + "/vtrain/golden_dev.jsonl.gz";
}

bool ReadKernels(const Json& value, std::vector<NamedKernels>& profile) {
  profile.clear();
  if (!value.is_object()) return false;
  for (const auto& [name, kernels] : value.items()) {
    NamedKernels entry{name, {}};
    if (!kernels.is_array()) return false;
    for (const Json& kernel : kernels) {
      if (!kernel.is_array() || kernel.size() != 2 || !kernel[0].is_number() ||
          !kernel[1].is_number()) {
        return false;
      }
      entry.kernels.push_back(
          {kernel[0].get<double>(), kernel[1].get<double>()});
    }
    profile.push_back(std::move(entry));
  }
  return true;
}

std::vector<SimulationRecord> ReadSimulationRecords() {
  std::vector<SimulationRecord> records;
  std::vector<std::string> lines;
  if (!ReadLines(GoldenRecordsPath(), lines)) return records;
  for (const std::string& line : lines) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("kind", "") != "sim") continue;
    SimulationRecord record;
    record.id = json.value("id", "");
    std::vector<NamedKernels> profile;
    if (!ReadConfig(json.value("config", Json()), record.config).ok() ||
        !ReadKernels(json.value("kernels", Json()), profile)) {
      continue;
    }
    record.kernels = MakeKernelTable(profile);
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace lmsimbench::vtrain
