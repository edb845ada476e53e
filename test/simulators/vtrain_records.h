#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/simulators/vtrain/config.h"
#include "lib/simulators/vtrain/kernel_table.h"
#include "test/simulators/calculon_records.h"

namespace lmsimbench::vtrain {

using Json = nlohmann::ordered_json;

/// The lines of a file, which may be compressed with gzip; false if it cannot
/// be read to its end.
using calculon::ReadLines;

/// The committed golden file.
std::string GoldenRecordsPath();

/// The member `kernels` of a record; false if it is not one.
bool ReadKernels(const Json& value, std::vector<NamedKernels>& profile);

/// A record of a simulation, ready to be simulated.
struct SimulationRecord {
  std::string id;
  Config config;  ///< as read, not resolved
  KernelTable kernels;
};

/// The simulations of the committed file that are to succeed.
std::vector<SimulationRecord> ReadSimulationRecords();

}  // namespace lmsimbench::vtrain
