#include "lib/compile/block_builder.h"
#include "lib/compile/blocks.h"

namespace lmsimbench::compile {

int32_t AddEmbeddingBlock(const Sizes& sizes, const EmbeddingOperators& ops,
                          Program& program) {
  // Token ids are 64-bit numbers.
  constexpr int64_t kTokenBytes = 8;
  const int64_t full_bytes = sizes.tokens * sizes.hidden * sizes.bytes;
  const int64_t stream_bytes = sizes.region_tokens * sizes.hidden * sizes.bytes;
  BlockBuilder builder(BlockKind::kEmbedding, 0, program);

  const TensorId ids = builder.Arrives("token ids", TensorKind::kTemporary,
                                       kTokenBytes * sizes.tokens);
  builder.Compute(ops.embedding.forward);
  builder.Read(ids);
  TensorId stream =
      builder.Make("embedded", TensorKind::kTemporary, full_bytes);
  if (sizes.tp > 1) {
    builder.Communicate(ReduceActivations(sizes, sizes.hidden));
    builder.Read(stream);
    if (sizes.sequence_parallel) {
      stream = builder.Make("scattered", TensorKind::kBuffer, stream_bytes);
    }
    // The pass goes on, in whatever block, when the reduction has ended.
  }
  TensorId mask = kNoTensor;
  if (sizes.positions > 0) {
    builder.Compute(ops.positions.forward);
    builder.Read(stream);
  }
  if (sizes.dropout) {
    builder.Compute(ops.dropout.forward);
    builder.Read(stream);
    mask = builder.Make("dropout mask", TensorKind::kTemporary,
                        sizes.region_tokens * sizes.hidden);
  }

  builder.BeginBackward();
  TensorId gradient =
      builder.Arrives("output gradient", TensorKind::kTemporary, stream_bytes);
  if (sizes.dropout) {
    builder.Compute(ops.dropout.backward);
    builder.Read(gradient);
    builder.Read(mask);
  }
  if (sizes.positions > 0) {
    builder.Compute(ops.positions.backward);
    builder.Read(gradient);
    const int64_t parameters = sizes.positions * sizes.hidden;
    builder.Completes(parameters, parameters);
  }
  if (sizes.sequence_parallel) {
    builder.Communicate(GatherActivations(sizes, sizes.hidden));
    builder.Read(gradient);
    gradient =
        builder.Make("gathered gradient", TensorKind::kBuffer, full_bytes);
  }
  builder.Compute(ops.embedding.backward);
  builder.Read(gradient);
  builder.Read(ids);
  builder.Completes(sizes.vocab * sizes.hidden, 0);
  return builder.Finish();
}

}  // namespace lmsimbench::compile
