#include "lib/compile/block_builder.h"
#include "lib/compile/blocks.h"

namespace lmsimbench::compile {

int32_t AddHeadBlock(const Sizes& sizes, const HeadParts& parts,
                     const Elementwise& norm, bool owns_output,
                     Program& program) {
  BlockBuilder builder(BlockKind::kHead, 0, program);
  HeadEmitter head(sizes, parts, norm, owns_output, builder);
  head.Forward(builder.Arrives("head input", TensorKind::kTemporary,
                               head.stream_bytes()));
  builder.BeginBackward();
  head.Backward();
  return builder.Finish();
}

}  // namespace lmsimbench::compile
