#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/simulators/calculon/inputs.h"
#include "lib/simulators/calculon/read.h"
#include "lib/simulators/calculon/statistics.h"

namespace lmsimbench::calculon {

using Json = nlohmann::ordered_json;

/// Parses what Python's json module writes: JSON with the words Infinity,
/// -Infinity and NaN, which become strings. Discarded (`is_discarded()`) if it
/// is not that.
Json ParsePythonJson(const std::string& text);

/// The lines of a file, which may be compressed with gzip; false if it cannot
/// be read to its end.
bool ReadLines(const std::string& path, std::vector<std::string>& lines);

/// Inputs of a record, read in the order of the original: application,
/// execution, system.
struct RecordInputs {
  ReadResult result;
  Application application;
  Execution execution;
  const System* system = nullptr;  ///< null where the record is refused before
};

/// The named applications and systems, each read once.
class RecordReader {
 public:
  /// False, with a message, if a file is no object of documents.
  bool Load(const std::string& applications_path,
            const std::string& systems_path, std::string& message);

  /// `record` holds `app` and `sys` as names or as documents, and the document
  /// `exe`. False, with a message, if it does not.
  bool Read(const Json& record, RecordInputs& inputs, std::string& message);

 private:
  struct SystemEntry {
    ReadResult result;
    System system;
  };

  Json applications_;
  Json systems_;
  std::map<std::string, SystemEntry> read_systems_;
};

/// The committed golden files.
std::string GoldenPath(const std::string& name);

}  // namespace lmsimbench::calculon
