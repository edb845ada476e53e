#include "lib/aggregate/fold_units.h"

#include <algorithm>

namespace lmsimbench::aggregate {
namespace {

constexpr int32_t kNoBlock = -1;

// What the units of one direction take, in the spans of one variant.
class Units {
 public:
  Units(const CostedGraph& costed, Direction direction, int64_t rank_class)
      : costed_(costed),
        units_(costed.graph.units),
        backward_(direction == Direction::kBackward),
        rank_class_(rank_class) {}

  bool backward() const { return backward_; }

  /// \{ Of a block at its place in the pass; nothing where there is no block,
  /// or where the unit stays. What goes beside another block is appended to
  /// what is there.
  double GatherSeconds(int32_t block) const {
    return IsThere(block) ? GatherOf(units_[block]) : 0;
  }
  void AppendGather(int32_t block, Beside& beside) const {
    if (!IsThere(block) || !Gathers(units_[block])) return;
    Append(units_[block].gather, beside);
    Append(units_[block].gather_experts, beside);
  }
  int64_t WeightsBytes(int32_t block) const {
    return IsThere(block) ? units_[block].weights_bytes : 0;
  }
  int64_t GradientsBytes(int32_t block) const {
    return backward_ && IsThere(block) ? units_[block].gradients_bytes : 0;
  }
  /// \}
  double ReduceSeconds(int32_t block) const {
    Beside reduction;
    AppendReduction(block, reduction);
    return reduction.data;
  }
  void AppendReduction(int32_t block, Beside& beside) const {
    if (!backward_ || block == kNoBlock) return;
    Append(units_[block].reduce, beside);
    Append(units_[block].reduce_replicas, beside);
    Append(units_[block].reduce_experts, beside);
  }
  /// \{ Of a unit that stays, from the start of the pass to its end; nothing of
  /// others.
  double StayingSeconds(int32_t block) const {
    return units_[block].stays ? GatherOf(units_[block]) : 0;
  }
  int64_t StayingBytes(int32_t block) const {
    const Unit& unit = units_[block];
    if (!unit.stays) return 0;
    return unit.weights_bytes + (backward_ ? unit.gradients_bytes : 0);
  }
  /// \}

 private:
  bool IsThere(int32_t block) const {
    return block != kNoBlock && !units_[block].stays;
  }
  bool Gathers(const Unit& unit) const {
    return !backward_ || unit.is_gathered_again;
  }
  double GatherOf(const Unit& unit) const {
    if (!Gathers(unit)) return 0;
    return Seconds(unit.gather) + Seconds(unit.gather_experts);
  }
  double Seconds(int32_t collective) const {
    return CollectiveSeconds(costed_, collective, rank_class_);
  }
  void Append(int32_t collective, Beside& beside) const {
    beside.data += Seconds(collective);
    if (LeavesNode(costed_, collective, rank_class_)) {
      beside.links = beside.data;
    }
  }

  const CostedGraph& costed_;
  const std::vector<Unit>& units_;
  const bool backward_;
  const int64_t rank_class_;
};

bool Same(const Stretch& a, const Stretch& b) {
  return a.block == b.block && a.beside.data == b.beside.data &&
         a.beside.links == b.beside.links && a.behind == b.behind &&
         a.held_bytes == b.held_bytes;
}

// Goes through the blocks of a pass with their neighbours.
class StretchBuilder {
 public:
  StretchBuilder(const Units& units, const Overlaps& overlaps,
                 int64_t staying_bytes, int32_t begin, Folds& folds)
      : units_(units),
        ahead_(overlaps.param_gather),
        reduces_beside_(overlaps.param_gather && overlaps.grad_reduce),
        staying_bytes_(staying_bytes),
        begin_(begin),
        folds_(folds) {}

  void Add(const BlockRun& run, int32_t before, int32_t behind) {
    const int32_t block = run.block;
    if (run.count == 1) return AddOne(block, before, behind, 1);
    AddOne(block, before, block, 1);
    if (run.count > 2) AddOne(block, block, block, run.count - 2);
    AddOne(block, block, behind, 1);
  }

 private:
  void AddOne(int32_t block, int32_t before, int32_t behind, int32_t count) {
    Stretch stretch;
    stretch.block = block;
    stretch.count = count;
    if (reduces_beside_) units_.AppendReduction(before, stretch.beside);
    if (ahead_) {
      units_.AppendGather(behind, stretch.beside);
    } else {
      stretch.behind += units_.GatherSeconds(behind);
    }
    if (!reduces_beside_ || behind == kNoBlock) {
      stretch.behind += units_.ReduceSeconds(block);
    }
    stretch.held_bytes = staying_bytes_ + units_.WeightsBytes(block) +
                         units_.GradientsBytes(block);
    if (ahead_) stretch.held_bytes += units_.WeightsBytes(behind);
    if (reduces_beside_) stretch.held_bytes += units_.GradientsBytes(before);
    auto& all = folds_.stretches;
    if (static_cast<int32_t>(all.size()) > begin_ &&
        Same(all.back(), stretch)) {
      all.back().count += count;
    } else {
      all.push_back(stretch);
    }
  }

  const Units& units_;
  const bool ahead_;
  const bool reduces_beside_;
  const int64_t staying_bytes_;
  const int32_t begin_;
  Folds& folds_;
};

// A block of a stretch, and from its start to that of the next.
double Lasting(const FoldedBlock& block, const Stretch& stretch) {
  return block.duration + stretch.slowed;
}
double Period(const FoldedBlock& block, const Stretch& stretch) {
  return std::max(Lasting(block, stretch), stretch.beside.data) +
         stretch.behind;
}

// Lone computation in the first `seconds` of a block of a stretch: it catches
// up at its end on what it was slowed by.
double LoneWithin(const Folds& folds, const FoldedBlock& block,
                  const Stretch& stretch, double seconds) {
  const double behind = std::max(0.0, seconds - block.duration);
  return LoneWithin(folds, block, seconds) + std::min(behind, stretch.slowed);
}

// How many whole periods lie within `seconds`.
int32_t WholePeriods(double seconds, double period, int32_t count) {
  if (period <= 0) return count;
  if (seconds >= count * period) return count;
  auto whole = static_cast<int32_t>(seconds / period);
  // The quotient may have been rounded up to the next whole number.
  while (whole > 0 && whole * period > seconds) --whole;
  return whole;
}

// Sums over the first `seconds` of a pass: `of_block(block, stretch, seconds)`
// of the first `seconds` of each repeated block and of what is behind it.
template <typename OfBlock>
double SumWithin(const Folds& folds, const FoldedPass& pass,
                 Direction direction, int32_t variant, double seconds,
                 OfBlock&& of_block) {
  double sum = 0;
  seconds -= pass.lead;
  for (int32_t i = pass.begin_stretch; i < pass.end_stretch && seconds > 0;
       ++i) {
    const Stretch& stretch = folds.stretches[i];
    const FoldedBlock& block = folds.block(stretch.block, direction, variant);
    const double period = Period(block, stretch);
    const int32_t whole = WholePeriods(seconds, period, stretch.count);
    if (whole > 0) sum += whole * of_block(block, stretch, period);
    seconds -= whole * period;
    if (whole == stretch.count) continue;
    return sum + of_block(block, stretch, seconds);
  }
  return sum;
}

}  // namespace

FoldedPass FoldUnitPass(const CostedGraph& costed, Folds& folds, int32_t chunk,
                        Direction direction, int32_t variant) {
  const Program& program = costed.graph.program;
  const Chunk& blocks = program.chunks[chunk];
  const Units units(costed, direction, folds.class_of_variant[variant]);
  FoldedPass pass;
  pass.begin_stretch = pass.end_stretch =
      static_cast<int32_t>(folds.stretches.size());
  const int32_t runs = blocks.end_run - blocks.begin_run;
  if (runs == 0) return pass;
  const auto run_at = [&](int32_t i) -> const BlockRun& {
    return program
        .runs[direction == Direction::kForward ? blocks.begin_run + i
                                               : blocks.end_run - 1 - i];
  };
  int64_t staying_bytes = 0;
  for (int32_t i = 0; i < runs; ++i) {
    const BlockRun& run = run_at(i);
    pass.lead += run.count * units.StayingSeconds(run.block);
    staying_bytes += run.count * units.StayingBytes(run.block);
  }
  pass.lead += units.GatherSeconds(run_at(0).block);
  StretchBuilder builder(units, costed.graph.overlaps, staying_bytes,
                         pass.begin_stretch, folds);
  for (int32_t i = 0; i < runs; ++i) {
    builder.Add(run_at(i), i > 0 ? run_at(i - 1).block : kNoBlock,
                i + 1 < runs ? run_at(i + 1).block : kNoBlock);
  }
  pass.end_stretch = static_cast<int32_t>(folds.stretches.size());

  for (int32_t i = pass.begin_stretch; i < pass.end_stretch; ++i) {
    Stretch& stretch = folds.stretches[i];
    stretch.slowed = SlowedSeconds(
        costed.contention, folds,
        folds.block(stretch.block, direction, variant), stretch.beside);
  }

  pass.duration = pass.waits = pass.lead;
  int32_t index = 0;
  int64_t level = 0;
  for (int32_t i = pass.begin_stretch; i < pass.end_stretch; ++i) {
    const Stretch& stretch = folds.stretches[i];
    const FoldedBlock& block = folds.block(stretch.block, direction, variant);
    const double count = stretch.count;
    const double period = Period(block, stretch);
    pass.duration += count * period;
    pass.waits += count * (period - Lasting(block, stretch));
    pass.compute += count * (block.compute + stretch.slowed);
    pass.overlapped +=
        count * (block.overlapped +
                 LoneWithin(folds, block, stretch, stretch.beside.data));
    pass.recomputed += count * block.recomputed;
    pass.hidden += count * block.hidden;
    pass.delay += count * (block.delay() + stretch.slowed);
    // As in other passes.
    const int32_t highest = block.left_bytes > 0 ? stretch.count - 1 : 0;
    const int64_t reached = level + highest * block.left_bytes +
                            stretch.held_bytes + block.peak_bytes;
    if (reached > pass.peak_bytes) {
      pass.peak_bytes = reached;
      pass.peak_block = index + highest;
    }
    level += stretch.count * block.left_bytes;
    index += stretch.count;
  }
  pass.left_bytes = level;
  return pass;
}

BlockAt FindUnitBlock(const Folds& folds, const FoldedPass& pass,
                      Direction direction, int32_t variant, int32_t index) {
  BlockAt at;
  at.start = pass.lead;
  for (int32_t i = pass.begin_stretch; i < pass.end_stretch; ++i) {
    const Stretch& stretch = folds.stretches[i];
    const double period =
        Period(folds.block(stretch.block, direction, variant), stretch);
    if (index < stretch.count) {
      at.block = stretch.block;
      at.start += index * period;
      break;
    }
    index -= stretch.count;
    at.start += stretch.count * period;
  }
  return at;
}

double LoneWithinUnits(const Folds& folds, const FoldedPass& pass,
                       Direction direction, int32_t variant, double seconds) {
  if (seconds >= pass.duration) return pass.lone();
  return SumWithin(
      folds, pass, direction, variant, seconds,
      [&](const FoldedBlock& block, const Stretch& stretch, double within) {
        return LoneWithin(folds, block, stretch, within) -
               LoneWithin(folds, block, stretch,
                          std::min(within, stretch.beside.data));
      });
}

double WaitsWithin(const Folds& folds, const FoldedPass& pass,
                   Direction direction, int32_t variant, double seconds) {
  if (seconds >= pass.duration) return pass.waits;
  return std::min(seconds, pass.lead) +
         SumWithin(folds, pass, direction, variant, seconds,
                   [](const FoldedBlock& block, const Stretch& stretch,
                      double within) {
                     return std::max(0.0, within - Lasting(block, stretch));
                   });
}

int64_t HeldBytes(const Folds& folds, const FoldedPass& pass, int32_t index) {
  for (int32_t i = pass.begin_stretch; i < pass.end_stretch; ++i) {
    const Stretch& stretch = folds.stretches[i];
    if (index < stretch.count) return stretch.held_bytes;
    index -= stretch.count;
  }
  return 0;
}

}  // namespace lmsimbench::aggregate
