#include "lib/simulators/calculon/error.h"

#include <array>

namespace lmsimbench::calculon {
namespace {

struct Entry {
  ErrorCode code;
  std::string_view name;
  std::string_view kind;
  std::string_view rule;
  bool ours = false;
};

constexpr std::string_view kAssertion = "AssertionError";
constexpr std::string_view kKey = "KeyError";
constexpr std::string_view kLlmError = "Error";
constexpr std::string_view kZeroDivision = "ZeroDivisionError";
constexpr std::string_view kIndex = "IndexError";
constexpr std::string_view kType = "TypeError";

constexpr std::array<Entry, kErrorCodeCount> kEntries = {{
    {ErrorCode::kNone, "NONE", "", "nothing is wrong"},
    {ErrorCode::kAppMissingKey, "APP_MISSING_KEY", kKey,
     "an application has hidden, feedforward, seq_size, attn_heads, attn_size "
     "and num_blocks"},
    {ErrorCode::kExeKeys, "EXE_KEYS", kAssertion,
     "an execution has exactly its 23 keys, no more and no fewer"},
    {ErrorCode::kExeNumProcsPos, "EXE_NUM_PROCS_POS", kAssertion,
     "num_procs is positive"},
    {ErrorCode::kExeTpPos, "EXE_TP_POS", kAssertion, "tensor_par is positive"},
    {ErrorCode::kExePpPos, "EXE_PP_POS", kAssertion,
     "pipeline_par is positive"},
    {ErrorCode::kExeDpPos, "EXE_DP_POS", kAssertion, "data_par is positive"},
    {ErrorCode::kExeProduct, "EXE_PRODUCT", kAssertion,
     "tensor_par x pipeline_par x data_par equals num_procs"},
    {ErrorCode::kExeBatchPos, "EXE_BATCH_POS", kAssertion,
     "batch_size is positive"},
    {ErrorCode::kExeMbsPos, "EXE_MBS_POS", kAssertion,
     "microbatch_size is positive"},
    {ErrorCode::kExeBatchDivDp, "EXE_BATCH_DIV_DP", kAssertion,
     "data_par divides batch_size"},
    {ErrorCode::kExeLocalDivMbs, "EXE_LOCAL_DIV_MBS", kAssertion,
     "microbatch_size divides the batch of one data-parallel replica"},
    {ErrorCode::kExeAttentionType, "EXE_ATTENTION_TYPE", kAssertion,
     "attention_type is multihead or multiquery"},
    {ErrorCode::kExeRecomputeEnum, "EXE_RECOMPUTE_ENUM", kAssertion,
     "activation_recompute is none, attn_only or full"},
    {ErrorCode::kExeRecomputeTraining, "EXE_RECOMPUTE_TRAINING", kAssertion,
     "activations are recomputed in training only"},
    {ErrorCode::kExeInterleavePos, "EXE_INTERLEAVE_POS", kAssertion,
     "pipeline_interleaving is positive"},
    {ErrorCode::kExeInterleavePp1, "EXE_INTERLEAVE_PP1", kAssertion,
     "without a pipeline, pipeline_interleaving is 1"},
    {ErrorCode::kExeOptshardDp, "EXE_OPTSHARD_DP", kAssertion,
     "the optimizer is sharded over more than one data-parallel replica"},
    {ErrorCode::kExeTpCommEnum, "EXE_TP_COMM_ENUM", kAssertion,
     "tensor_par_comm_type is ar, p2p_rs_ag or rs_ag"},
    {ErrorCode::kExeTpOverlapEnum, "EXE_TP_OVERLAP_ENUM", kAssertion,
     "tensor_par_overlap is none, ring or pipe"},
    {ErrorCode::kExeTpOverlapTp1, "EXE_TP_OVERLAP_TP1", kAssertion,
     "tensor-parallel communication is overlapped only where tensor_par is "
     "above 1"},
    {ErrorCode::kExeAgredoRsag, "EXE_AGREDO_RSAG", kAssertion,
     "seq_par_ag_redo needs rs_ag"},
    {ErrorCode::kExeAgredoFull, "EXE_AGREDO_FULL", kAssertion,
     "seq_par_ag_redo excludes full recomputation"},
    {ErrorCode::kExeDpovlTraining, "EXE_DPOVL_TRAINING", kAssertion,
     "data_par_overlap is for training"},
    {ErrorCode::kExeDpovlDp1, "EXE_DPOVL_DP1", kAssertion,
     "data_par_overlap needs more than one data-parallel replica"},
    {ErrorCode::kExeOptoffTraining, "EXE_OPTOFF_TRAINING", kAssertion,
     "optimizer_offload is for training"},
    {ErrorCode::kSysMissingKey, "SYS_MISSING_KEY", kKey,
     "a system has matrix, vector, mem1, mem2, processing_mode and networks "
     "with their keys"},
    {ErrorCode::kProcEffRange, "PROC_EFF_RANGE", kAssertion,
     "the efficiency of an engine is above 0 and at most 1"},
    {ErrorCode::kProcEffOrder, "PROC_EFF_ORDER", kAssertion,
     "the thresholds of gflops_efficiency descend"},
    {ErrorCode::kMemEffRange, "MEM_EFF_RANGE", kAssertion,
     "the efficiency of a memory is above 0 and at most 1"},
    {ErrorCode::kSysMode, "SYS_MODE", kAssertion,
     "processing_mode is roofline or no_overlap"},
    {ErrorCode::kNetKeys, "NET_KEYS", kAssertion,
     "a network has exactly its 7 keys"},
    {ErrorCode::kNetBwPos, "NET_BW_POS", kAssertion,
     "the bandwidth of a network is positive"},
    {ErrorCode::kNetEffRange, "NET_EFF_RANGE", kAssertion,
     "the efficiency of a network is above 0 and at most 1"},
    {ErrorCode::kNetSizeNegative, "NET_SIZE_NEGATIVE", kAssertion,
     "the size of a network is not negative", true},
    {ErrorCode::kNetOpName, "NET_OP_NAME", kAssertion,
     "the ops of a network are p2p, reduce_scatter, all_gather and all_reduce",
     true},
    {ErrorCode::kNetOpScalar, "NET_OP_SCALAR", kAssertion,
     "the scalar of a network op is positive"},
    {ErrorCode::kNetOpNeedsOffset, "NET_OP_NEEDS_OFFSET", kAssertion,
     "a collective has an offset"},
    {ErrorCode::kNetP2pOffset, "NET_P2P_OFFSET", kAssertion,
     "the offset of p2p is null"},
    {ErrorCode::kNetOpsSet, "NET_OPS_SET", kAssertion,
     "a network has all four ops"},
    {ErrorCode::kNetUsageRange, "NET_USAGE_RANGE", kAssertion,
     "processor_usage is at least 0 and below 1"},
    {ErrorCode::kNetTpId, "NET_TP_ID", kAssertion,
     "tensor_par_net is the index of one of the networks"},
    {ErrorCode::kNetPpId, "NET_PP_ID", kAssertion,
     "pipeline_par_net is the index of one of the networks"},
    {ErrorCode::kNetDpId, "NET_DP_ID", kAssertion,
     "data_par_net is the index of one of the networks"},
    {ErrorCode::kNetIdBelow, "NET_ID_BELOW", kIndex,
     "a negative network index counts from the end of the list and not beyond "
     "its start",
     true},
    {ErrorCode::kNetTooSmall, "NET_TOO_SMALL", kLlmError,
     "the parallelism mapped to a network is at most its size"},
    {ErrorCode::kNetNotFilled, "NET_NOT_FILLED", kLlmError,
     "the parallelism mapped to a network that must be filled divides its "
     "size"},
    {ErrorCode::kSysDatatype, "SYS_DATATYPE", kAssertion,
     "datatype is float8, float16, bfloat16 or float32"},
    {ErrorCode::kPpintTooBig, "PPINT_TOO_BIG", kLlmError,
     "pipeline_interleaving is at most the number of blocks per processor"},
    {ErrorCode::kPpintNotFactor, "PPINT_NOT_FACTOR", kLlmError,
     "pipeline_interleaving divides the number of blocks per processor"},
    {ErrorCode::kOffloadFewBlocks, "OFFLOAD_FEW_BLOCKS", kLlmError,
     "offloading needs at least 3 blocks per processor"},
    {ErrorCode::kSeqDivTp, "SEQ_DIV_TP", kAssertion,
     "tensor_par divides microbatch_size x seq_size"},
    {ErrorCode::kHiddenDivTp, "HIDDEN_DIV_TP", kAssertion,
     "tensor_par divides hidden"},
    {ErrorCode::kFfDivTp, "FF_DIV_TP", kAssertion,
     "tensor_par divides feedforward"},
    {ErrorCode::kHeadsDivTp, "HEADS_DIV_TP", kAssertion,
     "tensor_par divides attn_heads"},
    {ErrorCode::kProcDatatype, "PROC_DATATYPE", kAssertion,
     "both engines know the datatype"},
    {ErrorCode::kProcUncovered, "PROC_UNCOVERED", kAssertion,
     "gflops_efficiency reaches down to every amount of work, also to none"},
    {ErrorCode::kMemUncovered, "MEM_UNCOVERED", kAssertion,
     "MB_efficiency reaches down to every amount of data, also to none"},
    {ErrorCode::kDiv0Mem2Bw, "DIV0_MEM2_BW", kZeroDivision,
     "the second memory tier has a bandwidth, also where nothing is offloaded"},
    {ErrorCode::kDiv0Other, "DIV0_OTHER", kZeroDivision,
     "no engine, memory or amount of work that others are divided by is zero",
     true},
    {ErrorCode::kTextRange, "TEXT_RANGE", kIndex,
     "the work of a layer is below 1e21 operations and every size below 2^70",
     true},
    {ErrorCode::kMem1, "MEM1", kLlmError,
     "what must be resident fits in the first memory tier"},
    {ErrorCode::kMem2, "MEM2", kLlmError,
     "what is offloaded fits in the second memory tier"},
    {ErrorCode::kSanity, "SANITY", kAssertion,
     "sums over the batch are at least those of a block, and what is not done "
     "takes no time",
     true},
    {ErrorCode::kDiv0ActOffloadBw, "DIV0_ACT_OFFLOAD_BW", kZeroDivision,
     "the forward pass of a block takes longer than its memory accesses"},
    {ErrorCode::kDiv0OffloadBw, "DIV0_OFFLOAD_BW", kZeroDivision,
     "the backward pass of a block takes longer than its memory accesses"},
    {ErrorCode::kValueType, "VALUE_TYPE", kType,
     "a value has the type of its key", true},
    {ErrorCode::kValueRange, "VALUE_RANGE", "OverflowError",
     "sizes and counts are not negative and below 2^31", true},
}};

constexpr bool InOrder() {
  for (int i = 0; i < kErrorCodeCount; ++i) {
    if (static_cast<int>(kEntries[i].code) != i) return false;
  }
  return true;
}
static_assert(InOrder(), "one entry a code, in the order of the enumeration");

const Entry& EntryOf(ErrorCode code) {
  return kEntries[static_cast<size_t>(code)];
}

}  // namespace

std::string_view ErrorName(ErrorCode code) { return EntryOf(code).name; }
std::string_view ErrorKind(ErrorCode code) { return EntryOf(code).kind; }
std::string_view ErrorRule(ErrorCode code) { return EntryOf(code).rule; }
bool IsOurs(ErrorCode code) { return EntryOf(code).ours; }

}  // namespace lmsimbench::calculon
