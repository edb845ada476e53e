#include "lib/aggregate/execute_steps.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "lib/aggregate/fold.h"

namespace lmsimbench {
namespace {

using aggregate::IsOfExperts;

void FlattenTimes(const CostedGraph& costed, int64_t rank_class,
                  FlatStep* steps) {
  const ExecutionGraph& graph = costed.graph;
  for (size_t s = 0; s < graph.program.steps.size(); ++s) {
    const Step& step = graph.program.steps[s];
    const Cost& cost =
        step.is_collective
            ? costed.collectives[SpannedIndex(costed, step.id, rank_class)]
            : costed.operators[step.id];
    steps[s].seconds = cost.seconds;
    steps[s].host_s = cost.host_s;
    steps[s].leaves_node =
        step.is_collective && LeavesNode(costed, step.id, rank_class);
  }
}

void FlattenMarks(const ExecutionGraph& graph, FlatStep* steps) {
  for (size_t s = 0; s < graph.program.steps.size(); ++s) {
    const Step& step = graph.program.steps[s];
    FlatStep& flat = steps[s];
    flat.allocated_bytes = step.allocated_bytes;
    flat.freed_bytes = step.freed_bytes;
    flat.is_collective = step.is_collective;
    flat.joins = step.joins;
    flat.is_of_experts =
        step.is_collective && IsOfExperts(graph.collectives[step.id].group);
    flat.slot = step.is_collective
                    ? CollectiveSlot(graph, step.id, step.recomputed)
                    : OperatorSlot(step.id, step.recomputed);
  }
}

absl::Status FlattenTensors(const Program& program, FlatStep* steps) {
  for (const Block& block : program.blocks) {
    const int32_t length = block.end_step - block.begin_step;
    for (int32_t t = block.begin_tensor; t < block.end_tensor; ++t) {
      const Tensor& tensor = program.tensors[t];
      if (tensor.first_step < 0 || tensor.last_step < tensor.first_step ||
          tensor.last_step >= length) {
        return absl::InvalidArgumentError(fmt::format(
            "tensor '{}' lives from step {} to step {} of a block of {} steps",
            tensor.name, tensor.first_step, tensor.last_step, length));
      }
      const auto kind = static_cast<size_t>(tensor.kind);
      steps[block.begin_step + tensor.first_step].allocated[kind] +=
          tensor.bytes;
      steps[block.begin_step + tensor.last_step].freed[kind] += tensor.bytes;
    }
  }
  return absl::OkStatus();
}

// True if every collective of a step has the same span in both classes.
bool SameSpans(const CostedGraph& costed, uint32_t groups, int64_t a,
               int64_t b) {
  for (int group = 0; group < kGroups; ++group) {
    if ((groups >> group & 1) && costed.span_ordinal[a * kGroups + group] !=
                                     costed.span_ordinal[b * kGroups + group])
      return false;
  }
  return true;
}

}  // namespace

absl::Status FlattenSteps(const CostedGraph& costed, FlatSteps& flat) {
  const ExecutionGraph& graph = costed.graph;
  const Program& program = graph.program;
  const size_t count = program.steps.size();
  const size_t classes = graph.placement.classes.size();
  flat.steps.assign(count, FlatStep());
  flat.class_begin.assign(classes, 0);
  flat.longest_block = 0;
  for (const Block& block : program.blocks) {
    flat.longest_block =
        std::max({flat.longest_block, ForwardSteps(program, block).size(),
                  BackwardSteps(program, block).size(),
                  WeightSteps(program, block).size()});
  }
  FlattenMarks(graph, flat.steps.data());
  absl::Status status = FlattenTensors(program, flat.steps.data());
  if (!status.ok()) return status;

  uint32_t groups = 0;
  for (const Step& step : program.steps) {
    if (step.is_collective)
      groups |= 1u << static_cast<int>(graph.collectives[step.id].group);
  }
  for (size_t c = 0; c < classes; ++c) {
    size_t same = 0;
    while (same < c && !SameSpans(costed, groups, same, c)) ++same;
    if (same < c) {
      flat.class_begin[c] = flat.class_begin[same];
      continue;
    }
    if (c > 0) {
      flat.class_begin[c] = flat.steps.size();
      flat.steps.resize(flat.steps.size() + count);
      std::copy_n(flat.steps.begin(), count, flat.steps.end() - count);
    }
    FlattenTimes(costed, c, flat.steps.data() + flat.class_begin[c]);
  }
  return absl::OkStatus();
}

}  // namespace lmsimbench
