#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lmsimbench/costed_graph.h"

/// \file
/// Passes as single durations. What a block does depends only on when it
/// starts, because it starts when all before it has ended and joins all that it
/// issues; so it is timed once, and a pass is its blocks in a row.

namespace lmsimbench::aggregate {

/// A stretch of computation beside which no tensor collective runs.
struct LoneCompute {
  double start = 0;  ///< from the start of the block
  double end = 0;
  double before = 0;  ///< lone computation of the block before `start`
};

/// One direction of a block, timed with the spans of one variant.
struct FoldedBlock {
  double duration = 0;
  double compute = 0;
  /// Computation beside tensor collectives.
  double overlapped = 0;
  /// Computation that runs for the second time.
  double recomputed = 0;
  /// When its steps have ended. Until `duration`, and counted as computation,
  /// it makes up for what it lost to contention, and waits for the host.
  double worked = 0;
  /// Seconds of the host, and of collectives that leave the node.
  double host = 0;
  double on_links = 0;
  /// Collectives of experts behind the computation of another pass.
  double hidden = 0;
  /// Range of `Folds::lone`.
  int32_t begin_lone = 0;
  int32_t end_lone = 0;
  /// Memory above that at the start: the highest level, when it is reached
  /// first, how many steps have then taken their memory and given it back, and
  /// what the block leaves.
  int64_t peak_bytes = 0;
  double peak_time = 0;
  struct Progress {
    int32_t computations_taken = 0;
    int32_t computations_returned = 0;
    int32_t collectives_taken = 0;
    int32_t collectives_returned = 0;
  } at_peak;
  int64_t left_bytes = 0;

  double lone() const { return compute - overlapped; }
  double delay() const { return duration - worked; }
};

/// For how long, from its start, a block runs beside the data stream; of that,
/// until the last has ended that leaves the node.
struct Beside {
  double data = 0;
  double links = 0;
};

/// The same block several times in a row in a pass whose parameters are
/// sharded, with equal neighbours.
struct Stretch {
  int32_t block = 0;
  int32_t count = 0;
  /// How long the data stream runs from the start of each on, without a pause;
  /// and again, when that and the block have ended, before the next block
  /// starts or the pass ends.
  Beside beside;
  double behind = 0;
  /// What the block lasts longer than alone, beside the data stream.
  double slowed = 0;
  /// Whole weights and gradients that lie in memory while the block runs.
  int64_t held_bytes = 0;
};

/// One direction of a chunk.
struct FoldedPass {
  double duration = 0;
  double compute = 0;
  double overlapped = 0;
  double recomputed = 0;
  double hidden = 0;
  /// Of `compute`, contention and waiting for the host.
  double delay = 0;
  int64_t peak_bytes = 0;
  /// The repeated block, counted in the order of the pass, that reaches the
  /// peak.
  int32_t peak_block = 0;
  int64_t left_bytes = 0;
  /// Of sharded parameters: waiting for the data stream, of which `lead` before
  /// the first block; and a range of `Folds::stretches`. What runs beside that
  /// stream counts as overlapped.
  double waits = 0;
  double lead = 0;
  int32_t begin_stretch = 0;
  int32_t end_stretch = 0;

  bool has_units() const { return begin_stretch < end_stretch; }
  double lone() const { return compute - overlapped; }
};

/// Everything folded of a costed graph, for every combination of spans that a
/// rank class has of the groups that communicate within passes, and of what of
/// that communication is hidden behind other passes (a *variant*).
struct Folds {
  int32_t variants = 1;
  /// Of every rank class, where nothing is hidden; and of every variant the
  /// first class that has it.
  std::vector<int32_t> variant_of_class;
  std::vector<int32_t> class_of_variant;
  /// Seconds of the program's collectives: `variant * collectives + index`.
  std::vector<double> collective_seconds;
  /// What of them is hidden; seconds of the host for each, with the same
  /// indices.
  std::vector<double> collective_hidden;
  std::vector<double> collective_host;
  /// Whether each leaves the node, with the same indices.
  std::vector<char> collective_leaves;
  /// Where something may be hidden: the variant of every pass of the graph as a
  /// rank class runs it, class by class, and where each class begins.
  std::vector<int32_t> pass_variant;
  std::vector<size_t> begin_pass;
  /// Directions in which passes go: 3 where backward passes are split.
  int32_t directions = 2;
  /// `(block * directions + direction) * variants + variant`.
  std::vector<FoldedBlock> blocks;
  /// `(chunk * directions + direction) * variants + variant`.
  std::vector<FoldedPass> passes;
  std::vector<LoneCompute> lone;
  std::vector<Stretch> stretches;
  /// End of every step of the program from the start of its block's direction:
  /// `step * variants + variant`.
  std::vector<double> step_end;

  /// Index into `blocks` or `passes`.
  int32_t Index(int32_t block_or_chunk, Direction direction,
                int32_t variant) const {
    return (block_or_chunk * directions + static_cast<int32_t>(direction)) *
               variants +
           variant;
  }
  const FoldedBlock& block(int32_t index, Direction direction,
                           int32_t variant) const {
    return blocks[Index(index, direction, variant)];
  }
  const FoldedPass& pass(int32_t chunk, Direction direction,
                         int32_t variant) const {
    return passes[Index(chunk, direction, variant)];
  }
};

/// The variant of a rank class.
inline int32_t VariantOf(const Folds& folds, int64_t rank_class) {
  return folds.variant_of_class[static_cast<size_t>(rank_class)];
}

/// The variant of the pass at a place of a rank class's schedule.
inline int32_t VariantOf(const Folds& folds, int64_t rank_class, size_t pass) {
  return folds.pass_variant.empty()
             ? VariantOf(folds, rank_class)
             : folds.pass_variant
                   [folds.begin_pass[static_cast<size_t>(rank_class)] + pass];
}

/// True if what a collective over this group communicates is of experts.
inline bool IsOfExperts(Group group) {
  return group == Group::kExpert || group == Group::kExpertTensor ||
         group == Group::kExpertRegion;
}

/// Of communication that takes this long, the share that computation of the
/// other passes of a chain does not cover.
inline double ExposedShare(double communicated, double computed) {
  return computed < communicated ? 1 - computed / communicated
         : communicated > 0      ? 0
                                 : 1;
}

void Fold(const CostedGraph& costed, Folds& folds);

/// What a block lasts longer than alone where it runs beside the data stream.
double SlowedSeconds(const Contention& contention, const Folds& folds,
                     const FoldedBlock& block, const Beside& beside);

/// Blocks of a chunk, each counted as often as it is repeated.
inline int32_t RepeatedBlocks(const Program& program, const Chunk& chunk) {
  int32_t count = 0;
  for (const BlockRun& run : Runs(program, chunk)) count += run.count;
  return count;
}

/// A repeated block of a pass: which one, and when it starts from the start of
/// the pass.
struct BlockAt {
  int32_t block = 0;
  double start = 0;
};
/// The `index`th repeated block of a pass, in the order of the pass.
BlockAt FindBlock(const Program& program, const Folds& folds, int32_t chunk,
                  Direction direction, int32_t variant, int32_t index);

/// Lone computation in the first `seconds` of a block or of a pass, for
/// `seconds` within their duration.
double LoneWithin(const Folds& folds, const FoldedBlock& block, double seconds);
double LoneWithin(const Program& program, const Folds& folds, int32_t chunk,
                  Direction direction, int32_t variant, double seconds);

/// Calls `visit(run)` for the runs of a chunk in the order of a direction.
template <typename Visit>
void VisitRuns(const Program& program, const Chunk& chunk, Direction direction,
               Visit&& visit) {
  if (direction == Direction::kForward) {
    for (int32_t r = chunk.begin_run; r < chunk.end_run; ++r) {
      visit(program.runs[r]);
    }
  } else {
    for (int32_t r = chunk.end_run - 1; r >= chunk.begin_run; --r) {
      visit(program.runs[r]);
    }
  }
}

}  // namespace lmsimbench::aggregate
