#include "lib/aggregate/fold.h"

#include <algorithm>

#include "lib/aggregate/covered_passes.h"
#include "lib/aggregate/fold_units.h"
#include "lib/lower/transfer_way.h"

namespace lmsimbench::aggregate {
namespace {

// Appends computation [start, end), of which the part before `joined` runs
// beside collectives.
void AddLone(double start, double end, double joined, int32_t begin_lone,
             Folds& folds) {
  start = std::max(start, joined);
  if (start >= end) return;
  const bool first = static_cast<int32_t>(folds.lone.size()) == begin_lone;
  if (!first && folds.lone.back().end == start) {
    folds.lone.back().end = end;
    return;
  }
  const double before =
      first ? 0
            : folds.lone.back().before +
                  (folds.lone.back().end - folds.lone.back().start);
  folds.lone.push_back({start, end, before});
}

// Memory while the steps of a block run. Changes count in the order of time;
// those of one moment in the order in which their steps were issued. The tensor
// stream may be ahead of the compute stream or behind it.
class BlockMemory {
 public:
  BlockMemory(const Step* steps, int32_t begin_step, FoldedBlock& block)
      : steps_(steps), next_(begin_step), block_(block) {}

  // Collectives among the steps before `issued` that start or end up to
  // `until`.
  template <typename EndOf, typename SecondsOf>
  void Collectives(int32_t issued, double until, EndOf&& end_of,
                   SecondsOf&& seconds_of) {
    for (; next_ < issued; ++next_) {
      const Step& step = steps_[next_];
      if (!step.is_collective) continue;
      const double end = end_of(next_);
      if (!next_has_started_) {
        const double start = end - seconds_of(step.id);
        if (start > until) return;
        ++now_.collectives_taken;
        Take(step, start);
        next_has_started_ = true;
      }
      if (end > until) return;
      ++now_.collectives_returned;
      level_ -= step.freed_bytes;
      next_has_started_ = false;
    }
  }

  void TakeComputation(const Step& step, double time) {
    ++now_.computations_taken;
    Take(step, time);
  }
  void ReturnComputation(const Step& step) {
    ++now_.computations_returned;
    level_ -= step.freed_bytes;
  }
  void Finish() { block_.left_bytes = level_; }

 private:
  void Take(const Step& step, double time) {
    level_ += step.allocated_bytes;
    if (level_ <= block_.peak_bytes) return;
    block_.peak_bytes = level_;
    block_.peak_time = time;
    block_.at_peak = now_;
  }

  const Step* const steps_;
  int32_t next_;
  bool next_has_started_ = false;
  int64_t level_ = 0;
  FoldedBlock::Progress now_;
  FoldedBlock& block_;
};

// What a block loses to contention beside as much of its lone computation, and
// of the data stream where that leaves the node.
double LostSeconds(const Contention& contention, const FoldedBlock& block,
                   double lone, double links) {
  const double computing =
      contention.compute > 0
          ? WholeTicks(contention.compute * (block.overlapped + lone))
          : 0;
  return contention.links ? computing + std::min(block.on_links, links)
                          : computing;
}

FoldedBlock FoldBlock(const CostedGraph& costed, int32_t begin_step,
                      int32_t end_step, int32_t variant, Folds& folds) {
  const Step* const steps = costed.graph.program.steps.data();
  const Cost* const operators = costed.operators.data();
  const int32_t variants = folds.variants;
  double* const step_end = folds.step_end.data();
  const auto end_of = [&](int32_t step) {
    return step_end[step * variants + variant];
  };
  const double* const collectives =
      folds.collective_seconds.data() +
      variant * costed.graph.program.collectives.size();
  const auto seconds_of = [&](int32_t collective) {
    return collectives[collective];
  };
  const double* const collective_host =
      folds.collective_host.data() +
      variant * costed.graph.program.collectives.size();
  const double* const hidden =
      folds.collective_hidden.data() +
      variant * costed.graph.program.collectives.size();
  const char* const leaves = folds.collective_leaves.data() +
                             variant * costed.graph.program.collectives.size();
  FoldedBlock block;
  block.begin_lone = static_cast<int32_t>(folds.lone.size());
  BlockMemory memory(steps, begin_step, block);
  double compute_free = 0;
  double tensor_free = 0;
  for (int32_t i = begin_step; i < end_step; ++i) {
    const Step& step = steps[i];
    if (step.is_collective) {
      tensor_free = std::max(compute_free, tensor_free) + seconds_of(step.id);
      step_end[i * variants + variant] = tensor_free;
      block.host += collective_host[step.id];
      block.hidden += hidden[step.id];
      if (leaves[step.id] != 0) block.on_links += seconds_of(step.id);
      continue;
    }
    const double start =
        step.joins ? std::max(compute_free, tensor_free) : compute_free;
    const double seconds = operators[step.id].seconds;
    compute_free = start + seconds;
    block.host += operators[step.id].host_s;
    step_end[i * variants + variant] = compute_free;
    block.compute += seconds;
    block.overlapped +=
        std::max(0.0, std::min(compute_free, tensor_free) - start);
    if (step.recomputed) block.recomputed += seconds;
    AddLone(start, compute_free, tensor_free, block.begin_lone, folds);
    memory.Collectives(i, start, end_of, seconds_of);
    memory.TakeComputation(step, start);
    memory.Collectives(i, compute_free, end_of, seconds_of);
    memory.ReturnComputation(step);
  }
  memory.Collectives(end_step, tensor_free, end_of, seconds_of);
  memory.Finish();
  block.worked = std::max(compute_free, tensor_free);
  block.duration = std::max(
      block.worked + LostSeconds(costed.contention, block, 0, 0), block.host);
  block.compute += block.delay();
  AddLone(block.worked, block.duration, block.worked, block.begin_lone, folds);
  block.end_lone = static_cast<int32_t>(folds.lone.size());
  return block;
}

FoldedPass FoldPass(const Program& program, const Folds& folds, int32_t chunk,
                    Direction direction, int32_t variant) {
  FoldedPass pass;
  int32_t blocks = 0;
  int64_t level = 0;
  VisitRuns(
      program, program.chunks[chunk], direction, [&](const BlockRun& run) {
        const FoldedBlock& block = folds.block(run.block, direction, variant);
        const double count = run.count;
        pass.duration += count * block.duration;
        pass.compute += count * block.compute;
        pass.overlapped += count * block.overlapped;
        pass.recomputed += count * block.recomputed;
        pass.hidden += count * block.hidden;
        pass.delay += count * block.delay();
        // Blocks that leave something behind reach highest at the last of
        // them, others at the first.
        const int32_t highest = block.left_bytes > 0 ? run.count - 1 : 0;
        const int64_t reached =
            level + highest * block.left_bytes + block.peak_bytes;
        if (reached > pass.peak_bytes) {
          pass.peak_bytes = reached;
          pass.peak_block = blocks + highest;
        }
        level += run.count * block.left_bytes;
        blocks += run.count;
      });
  pass.left_bytes = level;
  return pass;
}

// How many whole blocks lie within `seconds`.
int32_t WholeBlocks(double seconds, const FoldedBlock& block, int32_t count) {
  if (block.duration <= 0) return 0;
  auto whole = static_cast<int32_t>(seconds / block.duration);
  // The quotient may have been rounded up to the next whole number.
  while (whole > 0 && whole * block.duration > seconds) --whole;
  return std::min(whole, count);
}

// Groups of the collectives within passes, as bits.
uint32_t GroupsWithin(const ExecutionGraph& graph) {
  uint32_t groups = 0;
  const auto add = [&](const Collective& collective) {
    groups |= uint32_t{1} << static_cast<int>(collective.group);
  };
  for (const Collective& collective : graph.program.collectives) {
    add(collective);
  }
  for (const Unit& unit : graph.units) {
    for (const int32_t id : {unit.gather, unit.gather_experts, unit.reduce,
                             unit.reduce_replicas, unit.reduce_experts}) {
      if (id >= 0) add(graph.collectives[id]);
    }
  }
  return groups;
}

bool SameSpans(const CostedGraph& costed, uint32_t groups, size_t a, size_t b) {
  for (int group = 0; group < kGroups; ++group) {
    if ((groups >> group & 1) != 0 &&
        costed.span_ordinal[a * kGroups + group] !=
            costed.span_ordinal[b * kGroups + group]) {
      return false;
    }
  }
  return true;
}

void FindVariants(const CostedGraph& costed, Folds& folds) {
  const Program& program = costed.graph.program;
  const uint32_t groups = GroupsWithin(costed.graph);
  const size_t classes = costed.graph.placement.classes.size();
  folds.variant_of_class.clear();
  folds.class_of_variant.clear();
  folds.collective_seconds.clear();
  folds.collective_host.clear();
  folds.collective_leaves.clear();
  folds.collective_hidden.clear();
  for (size_t c = 0; c < classes; ++c) {
    size_t variant = 0;
    while (variant < folds.class_of_variant.size() &&
           !SameSpans(costed, groups, c,
                      static_cast<size_t>(folds.class_of_variant[variant]))) {
      ++variant;
    }
    folds.variant_of_class.push_back(static_cast<int32_t>(variant));
    if (variant < folds.class_of_variant.size()) continue;
    folds.class_of_variant.push_back(static_cast<int32_t>(c));
    for (size_t i = 0; i < program.collectives.size(); ++i) {
      const int32_t spanned = SpannedIndex(costed, static_cast<int32_t>(i),
                                           static_cast<int64_t>(c));
      const Cost& cost = costed.collectives[spanned];
      folds.collective_seconds.push_back(cost.seconds);
      folds.collective_hidden.push_back(0);
      folds.collective_host.push_back(cost.host_s);
      folds.collective_leaves.push_back(
          static_cast<char>(costed.spanned[spanned].span.level > 0));
    }
  }
  folds.variants = static_cast<int32_t>(folds.class_of_variant.size());
}

}  // namespace

void Fold(const CostedGraph& costed, Folds& folds) {
  const Program& program = costed.graph.program;
  FindVariants(costed, folds);
  FindCoveredPasses(costed, folds);
  folds.directions = static_cast<int32_t>(lower::LastDirection(program)) + 1;
  folds.lone.clear();
  folds.stretches.clear();
  folds.blocks.clear();
  folds.passes.clear();
  folds.step_end.resize(program.steps.size() * folds.variants);
  for (const Block& block : program.blocks) {
    const int32_t begin[] = {block.begin_step, block.backward_step,
                             block.weight_step, block.end_step};
    for (int32_t d = 0; d < folds.directions; ++d) {
      for (int32_t v = 0; v < folds.variants; ++v) {
        folds.blocks.push_back(
            FoldBlock(costed, begin[d], begin[d + 1], v, folds));
      }
    }
  }
  for (size_t c = 0; c < program.chunks.size(); ++c) {
    for (int32_t d = 0; d < folds.directions; ++d) {
      for (int32_t v = 0; v < folds.variants; ++v) {
        const auto chunk = static_cast<int32_t>(c);
        const auto direction = static_cast<Direction>(d);
        folds.passes.push_back(
            costed.graph.units.empty()
                ? FoldPass(program, folds, chunk, direction, v)
                : FoldUnitPass(costed, folds, chunk, direction, v));
      }
    }
  }
}

double SlowedSeconds(const Contention& contention, const Folds& folds,
                     const FoldedBlock& block, const Beside& beside) {
  const double lone =
      contention.compute > 0
          ? LoneWithin(folds, block, std::min(beside.data, block.worked))
          : 0;
  const double worked =
      block.worked + LostSeconds(contention, block, lone, beside.links);
  return std::max(worked, block.host) - block.duration;
}

BlockAt FindBlock(const Program& program, const Folds& folds, int32_t chunk,
                  Direction direction, int32_t variant, int32_t index) {
  const FoldedPass& pass = folds.pass(chunk, direction, variant);
  if (pass.has_units()) {
    return FindUnitBlock(folds, pass, direction, variant, index);
  }
  BlockAt at;
  int32_t left = index;
  bool found = false;
  VisitRuns(program, program.chunks[chunk], direction,
            [&](const BlockRun& run) {
              if (found) return;
              const double duration =
                  folds.block(run.block, direction, variant).duration;
              if (left < run.count) {
                at.block = run.block;
                at.start += left * duration;
                found = true;
              } else {
                left -= run.count;
                at.start += run.count * duration;
              }
            });
  return at;
}

double LoneWithin(const Folds& folds, const FoldedBlock& block,
                  double seconds) {
  if (seconds >= block.duration) return block.lone();
  const LoneCompute* at = folds.lone.data() + block.begin_lone;
  int32_t count = block.end_lone - block.begin_lone;
  if (count == 0 || at->start >= seconds) return 0;
  // The last one that starts before; where it lies is not predictable, so
  // nothing branches on it.
  while (count > 1) {
    const int32_t half = count / 2;
    at += at[half].start < seconds ? half : 0;
    count -= half;
  }
  return at->before + std::min(seconds, at->end) - at->start;
}

double LoneWithin(const Program& program, const Folds& folds, int32_t chunk,
                  Direction direction, int32_t variant, double seconds) {
  const FoldedPass& pass = folds.pass(chunk, direction, variant);
  if (seconds >= pass.duration) return pass.lone();
  if (pass.has_units()) {
    return LoneWithinUnits(folds, pass, direction, variant, seconds);
  }
  const Chunk& blocks = program.chunks[chunk];
  const bool forward = direction == Direction::kForward;
  double lone = 0;
  for (int32_t i = 0; i < blocks.end_run - blocks.begin_run; ++i) {
    const BlockRun& run =
        program.runs[forward ? blocks.begin_run + i : blocks.end_run - 1 - i];
    const FoldedBlock& block = folds.block(run.block, direction, variant);
    const double duration = run.count * block.duration;
    if (seconds < duration) {
      const int32_t whole = WholeBlocks(seconds, block, run.count);
      return lone + whole * block.lone() +
             LoneWithin(folds, block, seconds - whole * block.duration);
    }
    lone += run.count * block.lone();
    seconds -= duration;
  }
  return lone;
}

}  // namespace lmsimbench::aggregate
