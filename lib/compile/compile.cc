#include "fmt/format.h"
#include "lib/compile/chunks.h"
#include "lib/compile/sizes.h"
#include "lib/core/arithmetic.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/pipeline.h"

namespace lmsimbench {
namespace {

void Clear(Program& program) {
  program.operators.clear();
  program.collectives.clear();
  program.steps.clear();
  program.tensors.clear();
  program.blocks.clear();
  program.runs.clear();
  program.chunks.clear();
  program.chunk_kind.clear();
  program.chunk_layers.clear();
  program.stages.clear();
  program.framework_bytes = 0;
  program.shared_embedding_parameters = 0;
  program.tied_parameters = 0;
}

}  // namespace

absl::Status CompileInto(const Workload& workload, const ParallelConfig& config,
                         Program& program) {
  Clear(program);
  if (!IsLegal(workload, config, kNoCount)) {
    return CheckLegal(workload, config, kNoCount);
  }
  compile::Sizes sizes;
  absl::Status status = compile::MakeSizes(workload, config, sizes);
  if (!status.ok()) return status;
  status = ChunkLayersInto(workload.model, config, program.chunk_layers);
  if (!status.ok()) return status;

  program.micro_batches = MicroBatches(workload, config);
  program.transfer_bytes = CeilDivide(sizes.tokens * sizes.hidden * sizes.bytes,
                                      sizes.sequence_parallel ? sizes.tp : 1);
  program.weight_bytes = sizes.weight_bytes;
  program.gradient_bytes = sizes.gradient_bytes;
  program.state_table = sizes.state_table;
  program.assumptions = sizes.assumptions;
  program.sequence_parallel = sizes.sequence_parallel;
  program.splits_backward = SplitsBackward(config.schedule);
  compile::AddChunks(sizes, config, program);
  compile::AddStages(sizes, config, program);
  return absl::OkStatus();
}

absl::StatusOr<Program> Compile(const Workload& workload,
                                const ParallelConfig& config) {
  Program program;
  absl::Status status = CompileInto(workload, config, program);
  if (!status.ok()) return status;
  return program;
}

}  // namespace lmsimbench
