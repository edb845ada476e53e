#include "lib/aggregate/covered_passes.h"

#include <algorithm>

namespace lmsimbench::aggregate {
namespace {

// What a pass computes, and what its experts communicate.
struct PassSeconds {
  double computed = 0;
  double of_experts = 0;
};

class CoveredPasses {
 public:
  CoveredPasses(const CostedGraph& costed, Folds& folds)
      : costed_(costed),
        graph_(costed.graph),
        program_(graph_.program),
        folds_(folds),
        spans_(folds.variants),
        seconds_(program_.chunks.size() * kDirections *
                 static_cast<size_t>(spans_)) {}

  void Find() {
    for (size_t chunk = 0; chunk < program_.chunks.size(); ++chunk) {
      for (int d = 0; d < kDirections; ++d) {
        for (int32_t v = 0; v < spans_; ++v) SumPass(chunk, d, v);
      }
    }
    const auto& classes = graph_.placement.classes;
    for (size_t c = 0; c < classes.size(); ++c) {
      folds_.begin_pass.push_back(folds_.pass_variant.size());
      const int64_t rank = classes[c].pipeline_rank;
      const auto passes = Passes(graph_, rank);
      size_t begin = 0;
      while (begin < passes.size()) {
        size_t end = begin + 1;
        while (passes[end - 1].with_next) ++end;
        AddChain(passes.subspan(begin, end - begin), rank,
                 VariantOf(folds_, static_cast<int64_t>(c)));
        begin = end;
      }
    }
    folds_.variants = static_cast<int32_t>(folds_.class_of_variant.size());
  }

 private:
  PassSeconds& Of(size_t chunk, int direction, int32_t variant) {
    return seconds_[(chunk * kDirections + static_cast<size_t>(direction)) *
                        static_cast<size_t>(spans_) +
                    static_cast<size_t>(variant)];
  }

  void SumPass(size_t chunk, int direction, int32_t variant) {
    PassSeconds& sum = Of(chunk, direction, variant);
    for (const BlockRun& run : Runs(program_, program_.chunks[chunk])) {
      const Block& block = program_.blocks[run.block];
      const absl::Span<const Step> steps[] = {ForwardSteps(program_, block),
                                              BackwardSteps(program_, block),
                                              WeightSteps(program_, block)};
      for (const Step& step : steps[direction]) {
        if (!step.is_collective) {
          sum.computed += run.count * costed_.operators[step.id].seconds;
        } else if (IsOfExperts(program_.collectives[step.id].group)) {
          sum.of_experts += run.count * Seconds(step.id, variant);
        }
      }
    }
  }

  double Seconds(int32_t collective, int32_t variant) const {
    return folds_.collective_seconds[static_cast<size_t>(variant) *
                                         program_.collectives.size() +
                                     static_cast<size_t>(collective)];
  }

  // All forward passes of a chain are one side of it, all gradients the other.
  void AddChain(absl::Span<const Pass> chain, int64_t rank, int32_t spans) {
    PassSeconds forward;
    PassSeconds gradients;
    for (const Pass& pass : chain) {
      const PassSeconds& of =
          Of(static_cast<size_t>(ChunkOf(graph_, rank, pass).kind),
             static_cast<int>(pass.direction), spans);
      PassSeconds& side =
          pass.direction == Direction::kForward ? forward : gradients;
      side.computed += of.computed;
      side.of_experts += of.of_experts;
    }
    const int32_t of_forward =
        Variant(spans, ExposedShare(forward.of_experts, gradients.computed));
    const int32_t of_gradients =
        Variant(spans, ExposedShare(gradients.of_experts, forward.computed));
    for (const Pass& pass : chain) {
      folds_.pass_variant.push_back(
          pass.direction == Direction::kForward ? of_forward : of_gradients);
    }
  }

  // The variant of these spans whose experts communicate for this share of
  // their time.
  int32_t Variant(int32_t spans, double share) {
    if (share == 1) return spans;
    for (size_t i = 0; i < added_.size(); ++i) {
      if (added_[i].spans == spans && added_[i].share == share) {
        return spans_ + static_cast<int32_t>(i);
      }
    }
    added_.push_back({spans, share});
    const size_t count = program_.collectives.size();
    const size_t first = static_cast<size_t>(spans) * count;
    folds_.class_of_variant.push_back(folds_.class_of_variant[spans]);
    for (size_t i = 0; i < count; ++i) {
      const double whole = folds_.collective_seconds[first + i];
      const double left = IsOfExperts(program_.collectives[i].group)
                              ? WholeTicks(whole * share)
                              : whole;
      folds_.collective_seconds.push_back(left);
      folds_.collective_hidden.push_back(whole - left);
      folds_.collective_host.push_back(folds_.collective_host[first + i]);
      folds_.collective_leaves.push_back(folds_.collective_leaves[first + i]);
    }
    return spans_ + static_cast<int32_t>(added_.size()) - 1;
  }

  struct Added {
    int32_t spans = 0;
    double share = 0;
  };

  const CostedGraph& costed_;
  const ExecutionGraph& graph_;
  const Program& program_;
  Folds& folds_;
  // Variants that spans make.
  const int32_t spans_;
  std::vector<PassSeconds> seconds_;
  std::vector<Added> added_;
};

}  // namespace

void FindCoveredPasses(const CostedGraph& costed, Folds& folds) {
  folds.begin_pass.clear();
  folds.pass_variant.clear();
  if (!costed.graph.overlaps.experts) return;
  CoveredPasses(costed, folds).Find();
}

}  // namespace lmsimbench::aggregate
