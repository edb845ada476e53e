#pragma once

#include <cstdint>
#include <string_view>

namespace lmsimbench::calculon {

/// Every way in which an evaluation can end without an answer, in the order in
/// which the causes are looked for: application, execution, system, placement
/// and division of the model, the run itself. The first cause met is the one
/// reported.
enum class ErrorCode : uint8_t {
  kNone,
  // Reading the application.
  kAppMissingKey,
  // The execution by itself.
  kExeKeys,
  kExeNumProcsPos,
  kExeTpPos,
  kExePpPos,
  kExeDpPos,
  kExeProduct,
  kExeBatchPos,
  kExeMbsPos,
  kExeBatchDivDp,
  kExeLocalDivMbs,
  kExeAttentionType,
  kExeRecomputeEnum,
  kExeRecomputeTraining,
  kExeInterleavePos,
  kExeInterleavePp1,
  kExeOptshardDp,
  kExeTpCommEnum,
  kExeTpOverlapEnum,
  kExeTpOverlapTp1,
  kExeAgredoRsag,
  kExeAgredoFull,
  kExeDpovlTraining,
  kExeDpovlDp1,
  kExeOptoffTraining,
  // The system by itself.
  kSysMissingKey,
  kProcEffRange,
  kProcEffOrder,
  kMemEffRange,
  kSysMode,
  kNetKeys,
  kNetBwPos,
  kNetEffRange,
  kNetSizeNegative,
  kNetOpName,
  kNetOpScalar,
  kNetOpNeedsOffset,
  kNetP2pOffset,
  kNetOpsSet,
  kNetUsageRange,
  // The execution on the system.
  kNetTpId,
  kNetPpId,
  kNetDpId,
  kNetIdBelow,
  kNetTooSmall,
  kNetNotFilled,
  kSysDatatype,
  kPpintTooBig,
  kPpintNotFactor,
  kOffloadFewBlocks,
  kSeqDivTp,
  kHiddenDivTp,
  kFfDivTp,
  kHeadsDivTp,
  // The run.
  kProcDatatype,
  kProcUncovered,
  kMemUncovered,
  kDiv0Mem2Bw,
  kDiv0Other,
  kTextRange,
  kMem1,
  kMem2,
  kSanity,
  kDiv0ActOffloadBw,
  kDiv0OffloadBw,
  // Any place: a value of a type or magnitude that has no meaning here.
  kValueType,
  kValueRange,
};

/// How many codes there are, kNone included.
inline constexpr int kErrorCodeCount =
    static_cast<int>(ErrorCode::kValueRange) + 1;

/// The name of a code as the golden vectors print it ("MEM1"); "NONE" for
/// kNone. Codes that the original ends in without a name (a bare exception)
/// have names of our own; `IsOurs` tells them.
std::string_view ErrorName(ErrorCode code);

/// The class of exception with which the original ends: "AssertionError",
/// "KeyError", "Error", "ZeroDivisionError", "IndexError", "TypeError"; "" for
/// kNone.
std::string_view ErrorKind(ErrorCode code);

/// The rule that is broken, in words, without numbers.
std::string_view ErrorRule(ErrorCode code);

/// Whether the code is not one of the original's documented failures: the
/// original fails there too, but in a way nobody has named.
bool IsOurs(ErrorCode code);

}  // namespace lmsimbench::calculon
