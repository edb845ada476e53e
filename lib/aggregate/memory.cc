#include "lib/aggregate/memory.h"

#include <algorithm>
#include <array>

#include "absl/container/inlined_vector.h"
#include "lib/aggregate/fold_units.h"

namespace lmsimbench::aggregate {
namespace {

using BytesByKind = std::array<int64_t, kTensorKinds>;

void Add(const Tensor& tensor, int64_t count, BytesByKind& bytes) {
  bytes[static_cast<size_t>(tensor.kind)] += count * tensor.bytes;
}

// The steps of one direction of a block, counted from the block's first step.
struct StepRange {
  int32_t begin = 0;
  int32_t end = 0;
  bool holds(int32_t step) const { return step >= begin && step < end; }
};
StepRange RangeOf(const Block& block, Direction direction) {
  const int32_t backward = block.backward_step - block.begin_step;
  const int32_t weight = block.weight_step - block.begin_step;
  switch (direction) {
    case Direction::kForward:
      return {0, backward};
    case Direction::kBackward:
      return {backward, weight};
    case Direction::kWeight:
      break;
  }
  return {weight, block.end_step - block.begin_step};
}

// What one direction of a block leaves: made in it and not freed, or freed and
// not made.
void AddLeft(const Program& program, const Block& block, Direction direction,
             int64_t count, BytesByKind& bytes) {
  const StepRange range = RangeOf(block, direction);
  for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
    const Tensor& tensor = program.tensors[i];
    if (range.holds(tensor.first_step)) Add(tensor, count, bytes);
    if (range.holds(tensor.last_step)) Add(tensor, -count, bytes);
  }
}

// What the first `blocks` repeated blocks of a pass have left.
void AddLeft(const Program& program, const Chunk& chunk, Direction direction,
             int64_t blocks, int64_t times, BytesByKind& bytes) {
  if (times == 0) return;
  VisitRuns(program, chunk, direction, [&](const BlockRun& run) {
    const int64_t count = std::min<int64_t>(run.count, blocks);
    blocks -= count;
    if (count == 0) return;
    AddLeft(program, program.blocks[run.block], direction, count * times,
            bytes);
  });
}

// What is alive within one direction of a block at its peak, above what was
// there at its begin.
void AddAtPeak(const Program& program, const Block& block, Direction direction,
               const FoldedBlock::Progress& progress, BytesByKind& bytes) {
  const StepRange range = RangeOf(block, direction);
  // How many steps of either stream lie before each step.
  absl::InlinedVector<int32_t, 256> position(
      static_cast<size_t>(range.end - range.begin));
  int32_t computations = 0;
  int32_t collectives = 0;
  for (int32_t s = range.begin; s < range.end; ++s) {
    position[s - range.begin] =
        program.steps[block.begin_step + s].is_collective ? collectives++
                                                          : computations++;
  }
  const auto is_behind = [&](int32_t step, int32_t of_computations,
                             int32_t of_collectives) {
    if (!range.holds(step)) return false;
    const bool collective =
        program.steps[block.begin_step + step].is_collective;
    return position[step - range.begin] <
           (collective ? of_collectives : of_computations);
  };
  for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
    const Tensor& tensor = program.tensors[i];
    if (is_behind(tensor.first_step, progress.computations_taken,
                  progress.collectives_taken)) {
      Add(tensor, 1, bytes);
    }
    if (is_behind(tensor.last_step, progress.computations_returned,
                  progress.collectives_returned)) {
      Add(tensor, -1, bytes);
    }
  }
}

// Of the passes of a chunk in one direction.
struct PassBytes {
  int64_t peak = 0;
  int64_t left = 0;
};

// The highest level, above that at the begin, and the pass that reaches it
// first; as many as there are where none is above.
struct PeakOfPasses {
  int64_t bytes = 0;
  size_t pass = 0;
};
template <typename BytesOf>
PeakOfPasses FindPeak(size_t passes, const SteadyState& steady,
                      BytesOf&& bytes_of) {
  PeakOfPasses peak{0, passes};
  int64_t level = 0;
  const auto go_through = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const PassBytes& bytes = bytes_of(i);
      if (level + bytes.peak > peak.bytes) {
        peak = {level + bytes.peak, i};
      }
      level += bytes.left;
    }
  };
  size_t at = 0;
  if (steady.repeats > 0) {
    const size_t last_period = steady.end_pass - steady.passes;
    go_through(0, last_period);
    const int64_t before = level;
    go_through(last_period, steady.end_pass);
    // A period that leaves nothing is as high every time.
    at = level == before ? steady.end_left_out() : steady.end_pass;
  }
  go_through(at, passes);
  return peak;
}

// The pass of a class's schedule that reaches highest.
PeakOfPasses FindPeak(const ExecutionGraph& graph, const Folds& folds,
                      const SteadyState& steady, int64_t rank_class) {
  const int64_t rank = graph.placement.classes[rank_class].pipeline_rank;
  // Of the passes of each chunk in each direction, for each variant.
  absl::InlinedVector<PassBytes, 48> all;
  const bool varies = !folds.pass_variant.empty();
  const int32_t variants = varies ? folds.variants : 1;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    const int32_t kind = graph.chunks[rank * graph.chunks_per_rank + c].kind;
    for (int d = 0; d < kDirections; ++d) {
      for (int32_t v = 0; v < variants; ++v) {
        all.emplace_back();
        if (d >= folds.directions) continue;
        const FoldedPass& pass =
            folds.pass(kind, static_cast<Direction>(d),
                       varies ? v : VariantOf(folds, rank_class));
        all.back() = {pass.peak_bytes, pass.left_bytes};
      }
    }
  }
  const auto passes = Passes(graph, rank);
  const auto place_of = [&](size_t i) {
    return static_cast<size_t>(passes[i].chunk) * kDirections +
           static_cast<size_t>(passes[i].direction);
  };
  if (!varies) {
    return FindPeak(passes.size(), steady,
                    [&](size_t i) { return all[place_of(i)]; });
  }
  return FindPeak(passes.size(), steady, [&](size_t i) {
    return all[place_of(i) * static_cast<size_t>(variants) +
               static_cast<size_t>(VariantOf(folds, rank_class, i))];
  });
}

// Where in a class's schedule the peak is.
struct PeakPlace {
  size_t pass = 0;
  int32_t kind = 0;
  Direction direction = Direction::kForward;
  BlockAt block;
};

// When a repeated block of a pass starts.
double BlockStart(const IterationTimes& times, size_t rank_class,
                  const PeakPlace& place, int32_t block_index) {
  const ClassTimes& mine = times.classes[rank_class];
  const double start = PassStart(times, rank_class, place.pass);
  const auto blockwise = std::lower_bound(
      mine.blockwise.begin(), mine.blockwise.end(), place.pass,
      [](const BlockwisePass& b, size_t pass) { return b.pass < pass; });
  if (blockwise == mine.blockwise.end() || blockwise->pass != place.pass) {
    return start + place.block.start;
  }
  const Segment* segment = mine.segments.data() + blockwise->segment;
  for (; segment->what == Segment::What::kDelay || block_index-- > 0;
       ++segment) {
  }
  // Passes behind what was left out run later than they were simulated.
  return segment->start + (start - mine.pass_start[place.pass]);
}

}  // namespace

ClassPeak PeakOfClass(const CostedGraph& costed, const Folds& folds,
                      const SteadyState& steady, int64_t rank_class) {
  const ExecutionGraph& graph = costed.graph;
  const Program& program = graph.program;
  const int64_t rank = graph.placement.classes[rank_class].pipeline_rank;
  const Stage& stage = program.stages[rank];
  const PeakOfPasses highest = FindPeak(graph, folds, steady, rank_class);
  return {stage.weights_bytes + stage.gradients_bytes + stage.optimizer_bytes +
              program.framework_bytes + highest.bytes,
          highest.pass};
}

ClassMemory MeasureMemory(const CostedGraph& costed, const Folds& folds,
                          const IterationTimes& times, int64_t rank_class) {
  const ExecutionGraph& graph = costed.graph;
  const Program& program = graph.program;
  const int64_t rank = graph.placement.classes[rank_class].pipeline_rank;
  const auto passes = Passes(graph, rank);
  const Stage& stage = program.stages[rank];

  const auto [peak_bytes, peak_pass] =
      PeakOfClass(costed, folds, times.steady, rank_class);
  ClassMemory memory;
  memory.peak_bytes = peak_bytes;
  BytesByKind bytes = {};
  if (peak_pass < passes.size()) {
    for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
      std::array<int64_t, kDirections> done = {};
      for (size_t i = 0; i < peak_pass; ++i) {
        if (passes[i].chunk == c) {
          ++done[static_cast<size_t>(passes[i].direction)];
        }
      }
      const Chunk& chunk =
          program.chunks[graph.chunks[rank * graph.chunks_per_rank + c].kind];
      for (size_t d = 0; d < done.size(); ++d) {
        AddLeft(program, chunk, static_cast<Direction>(d), INT32_MAX, done[d],
                bytes);
      }
    }
    const Pass& pass = passes[peak_pass];
    const int32_t variant = VariantOf(folds, rank_class, peak_pass);
    PeakPlace place;
    place.pass = peak_pass;
    place.kind = ChunkOf(graph, rank, pass).kind;
    place.direction = pass.direction;
    const FoldedPass& folded_pass =
        folds.pass(place.kind, pass.direction, variant);
    const int32_t block_index = folded_pass.peak_block;
    bytes[static_cast<size_t>(TensorKind::kBuffer)] +=
        HeldBytes(folds, folded_pass, block_index);
    place.block = FindBlock(program, folds, place.kind, pass.direction, variant,
                            block_index);
    const FoldedBlock& folded =
        folds.block(place.block.block, pass.direction, variant);
    AddLeft(program, program.chunks[place.kind], pass.direction, block_index, 1,
            bytes);
    AddAtPeak(program, program.blocks[place.block.block], pass.direction,
              folded.at_peak, bytes);
    memory.peak_time =
        BlockStart(times, static_cast<size_t>(rank_class), place, block_index) +
        folded.peak_time;
  }
  memory.parts.weights_bytes = static_cast<double>(stage.weights_bytes);
  memory.parts.gradients_bytes = static_cast<double>(stage.gradients_bytes);
  memory.parts.optimizer_bytes = static_cast<double>(stage.optimizer_bytes);
  memory.parts.framework_bytes = static_cast<double>(program.framework_bytes);
  const auto of = [&](TensorKind tensor) {
    return static_cast<double>(bytes[static_cast<size_t>(tensor)]);
  };
  memory.parts.activations_bytes = of(TensorKind::kActivation);
  memory.parts.logits_bytes = of(TensorKind::kLogits);
  memory.parts.buffers_bytes =
      of(TensorKind::kTemporary) + of(TensorKind::kBuffer);
  return memory;
}

}  // namespace lmsimbench::aggregate
