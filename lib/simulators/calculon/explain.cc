#include "lib/simulators/calculon/explain.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace lmsimbench::calculon {
namespace {

std::string Sentence(ErrorCode code, const std::string& numbers) {
  return fmt::format("{}: {} ({})", ErrorName(code), numbers, ErrorRule(code));
}

std::string Needs(int tier, double needed, double capacity) {
  return fmt::format("Mem tier{} needs {} but only has {}", tier,
                     FormatBytes(needed), FormatBytes(capacity));
}

std::string Parallelism(const Execution& e) {
  return fmt::format(
      "tensor_par {} on network {}, pipeline_par {} on network {}, data_par {} "
      "on network {}",
      e.tensor_par, e.tensor_par_net, e.pipeline_par, e.pipeline_par_net,
      e.data_par, e.data_par_net);
}

std::string Networks(const System& system) {
  std::string text;
  for (size_t tier = 0; tier < system.networks.size(); ++tier) {
    const Network& network = system.networks[tier];
    text += fmt::format("{}network {} has {}{}", tier == 0 ? "" : ", ", tier,
                        network.size,
                        network.must_be_filled ? " to be filled" : "");
  }
  return text;
}

std::string_view Name(Datatype datatype) {
  static constexpr std::array<std::string_view, kDatatypeCount + 1> kNames = {
      "float8", "float16", "bfloat16", "float32", "another datatype"};
  return kNames[static_cast<size_t>(datatype)];
}

std::string Blocks(const Application& app, const Execution& e) {
  const int64_t blocks = (app.num_blocks + e.pipeline_par - 1) / e.pipeline_par;
  return fmt::format(
      "pipeline_interleaving {}, {} blocks over pipeline_par {} are {} per "
      "processor",
      e.pipeline_interleaving, app.num_blocks, e.pipeline_par, blocks);
}

std::string Divides(const Execution& e, const char* name, int64_t value) {
  return fmt::format("tensor_par {} does not divide {} = {}", e.tensor_par,
                     name, value);
}

}  // namespace

std::string FormatBytes(double bytes) {
  static constexpr std::array<std::string_view, 7> kPrefixes = {
      "", "k", "M", "G", "T", "P", "E"};
  constexpr double kStep = 1024;
  size_t prefix = 0;
  while (bytes >= kStep && prefix + 1 < kPrefixes.size()) {
    bytes /= kStep;
    ++prefix;
  }
  return fmt::format("{:.3f} {}iB", bytes, kPrefixes[prefix]);
}

std::string ExplainExecution(ErrorCode code, const Execution& e) {
  switch (code) {
    case ErrorCode::kExeNumProcsPos:
      return Sentence(code, fmt::format("num_procs {}", e.num_procs));
    case ErrorCode::kExeTpPos:
      return Sentence(code, fmt::format("tensor_par {}", e.tensor_par));
    case ErrorCode::kExePpPos:
      return Sentence(code, fmt::format("pipeline_par {}", e.pipeline_par));
    case ErrorCode::kExeDpPos:
      return Sentence(code, fmt::format("data_par {}", e.data_par));
    case ErrorCode::kExeProduct:
      return Sentence(code,
                      fmt::format("{} x {} x {} is not {}", e.tensor_par,
                                  e.pipeline_par, e.data_par, e.num_procs));
    case ErrorCode::kExeBatchPos:
      return Sentence(code, fmt::format("batch_size {}", e.batch_size));
    case ErrorCode::kExeMbsPos:
      return Sentence(code,
                      fmt::format("microbatch_size {}", e.microbatch_size));
    case ErrorCode::kExeBatchDivDp:
      return Sentence(code,
                      fmt::format("data_par {} does not divide batch_size {}",
                                  e.data_par, e.batch_size));
    case ErrorCode::kExeLocalDivMbs:
      return Sentence(
          code, fmt::format("microbatch_size {} does not divide {} = {} / {}",
                            e.microbatch_size, e.batch_size / e.data_par,
                            e.batch_size, e.data_par));
    case ErrorCode::kExeInterleavePos:
    case ErrorCode::kExeInterleavePp1:
      return Sentence(
          code, fmt::format("pipeline_interleaving {} with pipeline_par {}",
                            e.pipeline_interleaving, e.pipeline_par));
    case ErrorCode::kExeOptshardDp:
    case ErrorCode::kExeDpovlDp1:
      return Sentence(code, fmt::format("data_par {}", e.data_par));
    case ErrorCode::kExeTpOverlapTp1:
      return Sentence(code, fmt::format("tensor_par {}", e.tensor_par));
    default:
      return fmt::format("{}: {}", ErrorName(code), ErrorRule(code));
  }
}

std::string Explain(ErrorCode code, const Application& app,
                    const System& system, const Execution& e,
                    const Statistics& s) {
  switch (code) {
    case ErrorCode::kMem1:
      return Needs(1, s.proc_mem_tier1_cap_req, system.mem1.capacity_bytes);
    case ErrorCode::kMem2:
      return Needs(2, s.proc_mem_tier2_cap_req, system.mem2.capacity_bytes);
    case ErrorCode::kNetTpId:
    case ErrorCode::kNetPpId:
    case ErrorCode::kNetDpId:
    case ErrorCode::kNetIdBelow:
      return Sentence(code, fmt::format("{}; {} networks", Parallelism(e),
                                        system.networks.size()));
    case ErrorCode::kNetTooSmall:
    case ErrorCode::kNetNotFilled:
      return Sentence(code,
                      fmt::format("{}; {}", Parallelism(e), Networks(system)));
    case ErrorCode::kProcDatatype:
      return Sentence(code, std::string(Name(e.datatype)));
    case ErrorCode::kPpintTooBig:
    case ErrorCode::kPpintNotFactor:
    case ErrorCode::kOffloadFewBlocks:
      return Sentence(code, Blocks(app, e));
    case ErrorCode::kSeqDivTp:
      return Sentence(
          code, fmt::format("tensor_par {} does not divide {} x {}",
                            e.tensor_par, e.microbatch_size, app.seq_size));
    case ErrorCode::kHiddenDivTp:
      return Sentence(code, Divides(e, "hidden", app.hidden));
    case ErrorCode::kFfDivTp:
      return Sentence(code, Divides(e, "feedforward", app.feedforward));
    case ErrorCode::kHeadsDivTp:
      return Sentence(code, Divides(e, "attn_heads", app.attn_heads));
    default:
      return ExplainExecution(code, e);
  }
}

}  // namespace lmsimbench::calculon
