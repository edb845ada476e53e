#include "lib/compile/block_builder.h"
#include "lib/compile/blocks.h"
#include "lib/compile/layer_emitter.h"

namespace lmsimbench::compile {
namespace {

constexpr auto kTemporary = TensorKind::kTemporary;
constexpr auto kBuffer = TensorKind::kBuffer;

// What stands in front of the transformer layer: the embedding of the next
// token and the stream, each normed, and the projection of both.
class JoinEmitter : public StepEmitter {
 public:
  JoinEmitter(const Sizes& sizes, const LayerOperators& layer,
              const MultiTokenOperators& operators, BlockBuilder& builder)
      : StepEmitter(sizes, builder), norm_(layer.norm), ops_(operators) {}

  TensorId Forward(TensorId stream) {
    stream_ = stream;
    b_.Compute(ops_.embedding.forward);
    embedded_ = b_.Make("next embedded", kTemporary, FullBytes(s_.hidden));
    embedded_ = Reduce(embedded_, s_.hidden, "scattered");
    normed_ = Norm(norm_, "normed embedding", embedded_, s_.hidden);
    normed_stream_ = Norm(norm_, "normed stream", stream, s_.hidden);
    const TensorId joined = GatherBoth();
    b_.Compute(ops_.projection.forward, !s_.overlap_tensor);
    b_.Read(joined);
    b_.Read(normed_);
    b_.Read(normed_stream_);
    return GatherChannels("projected");
  }

  void Backward(TensorId gradient, bool owns_embedding) {
    const bool splits = b_.splits_backward();
    const TensorId whole = Gather(gradient, s_.hidden);
    TensorId joined = splits ? kNoTensor : GatherBoth();
    b_.Compute(ops_.projection.input_gradient);
    b_.Read(whole);
    TensorId inner =
        b_.Make("joined gradient", kTemporary, FullBytes(2 * s_.hidden));
    inner = Reduce(inner, 2 * s_.hidden, "scattered gradient");
    b_.Weight([&] {
      if (splits) joined = GatherBoth();
      b_.Compute(ops_.projection.weight_gradient);
      b_.Read(whole);
      b_.Read(joined);
      b_.Read(normed_);
      b_.Read(normed_stream_);
      b_.Completes(ops_.projection.parameters, 0);
    });
    NormBackward(norm_, stream_, inner, kNoTensor, s_.hidden);
    gradient = NormBackward(norm_, embedded_, inner, kNoTensor, s_.hidden);
    gradient = Gather(gradient, s_.hidden);
    b_.Compute(ops_.embedding.backward);
    b_.Read(gradient);
    b_.Completes(owns_embedding ? s_.vocab * s_.hidden : 0, 0);
  }

 private:
  TensorId GatherBoth() {
    if (!s_.sequence_parallel) return kNoTensor;
    b_.Communicate(GatherActivations(s_, 2 * s_.hidden));
    return b_.Make("joined", kBuffer, FullBytes(2 * s_.hidden));
  }
  // A tensor-parallel rank has projected to a part of the channels.
  TensorId GatherChannels(const char* name) {
    const TensorId part =
        b_.Make(name, kTemporary, FullBytes(s_.hidden) / s_.tp);
    if (s_.tp == 1) return part;
    b_.Communicate(GatherActivations(s_, s_.hidden));
    b_.Read(part);
    const TensorId whole =
        b_.Make("gathered channels", kTemporary, FullBytes(s_.hidden));
    if (!s_.sequence_parallel) return whole;
    return b_.Make(name, kTemporary, stream_bytes());
  }

  const Elementwise& norm_;
  const MultiTokenOperators& ops_;
  TensorId stream_ = kNoTensor;
  TensorId embedded_ = kNoTensor;
  TensorId normed_ = kNoTensor;
  TensorId normed_stream_ = kNoTensor;
};

}  // namespace

int32_t AddMultiTokenBlock(const Sizes& sizes, const LayerOperators& layer,
                           const HeadParts& head,
                           const MultiTokenOperators& operators,
                           const MultiTokenBlock& block, Program& program) {
  BlockBuilder builder(BlockKind::kMultiToken, 0, program);
  JoinEmitter join(sizes, layer, operators, builder);
  LayerEmitter transformer(sizes, layer, builder);
  HeadEmitter output(sizes, head, layer.norm, false, builder);
  const TensorId input =
      builder.Arrives("multi-token input", kTemporary, join.stream_bytes());
  const TensorId joined = join.Forward(input);
  LayerTensors kept = transformer.Forward(block.layer, joined);
  output.Forward(kept.output);

  builder.BeginBackward();
  TensorId gradient = output.Backward();
  if (block.recomputed) {
    builder.SetRecomputed(true);
    kept = transformer.Forward(block.layer, joined);
    builder.SetRecomputed(false);
  }
  gradient =
      transformer.Backward(block.layer, kept, gradient, block.recomputed);
  join.Backward(gradient, block.owns_embedding);
  return builder.Finish();
}

}  // namespace lmsimbench::compile
