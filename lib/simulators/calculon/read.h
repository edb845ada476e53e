#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lib/simulators/calculon/inputs.h"

namespace lmsimbench::calculon {

/// Why a document was refused: the code and a sentence with the place and the
/// value; kNone if it was read.
struct ReadResult {
  ErrorCode code = ErrorCode::kNone;
  std::string message;

  bool ok() const { return code == ErrorCode::kNone; }
};

/// Reads the three documents of an evaluation. Rules are checked in the order
/// of the original, and the first that is broken is reported; so the order of
/// the keys of a document matters, and documents are parsed into
/// `ordered_json`. Where the original takes any value for a truth value (0, "",
/// null are false), so is done here; numbers must be numbers (or truth values).
///
/// Other keys than the ones needed are ignored in an application and at the top
/// of a system, and are EXE_KEYS and NET_KEYS elsewhere.
ReadResult ReadApplication(const nlohmann::ordered_json& document,
                           Application& application);

/// Includes CheckExecution.
ReadResult ReadExecution(const nlohmann::ordered_json& document,
                         Execution& execution);

ReadResult ReadSystem(const nlohmann::ordered_json& document, System& system);

}  // namespace lmsimbench::calculon
