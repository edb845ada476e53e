#include "lib/lower/schedule.h"

#include <algorithm>

namespace lmsimbench::lower {
namespace {

// Goes through the passes of one direction: group by group of micro-batches,
// through every chunk in turn. With one chunk that is micro-batch by
// micro-batch. The last group may be smaller.
class Cursor {
 public:
  Cursor(const ScheduleShape& shape, Direction direction)
      : shape_(shape), direction_(direction) {
    StartGroup(0);
  }

  Pass Next() {
    const int64_t chunk =
        direction_ == Direction::kForward ? chunk_ : shape_.chunks - 1 - chunk_;
    const Pass pass{static_cast<int32_t>(micro_batch_),
                    static_cast<int16_t>(chunk), direction_};
    if (++micro_batch_ == group_end_) {
      micro_batch_ = group_begin_;
      if (++chunk_ == shape_.chunks) StartGroup(group_end_);
    }
    return pass;
  }

 private:
  void StartGroup(int64_t begin) {
    chunk_ = 0;
    group_begin_ = micro_batch_ = begin;
    group_end_ = std::min(begin + shape_.group, shape_.micro_batches);
  }

  const ScheduleShape& shape_;
  const Direction direction_;
  int64_t chunk_ = 0;
  int64_t micro_batch_ = 0;
  int64_t group_begin_ = 0;
  int64_t group_end_ = 0;
};

// Forward passes before the first backward one. Megatron-LM's counts: each
// later rank needs one less; with several chunks a rank first runs a group
// through all but its last chunk, and the way to the end of the pipeline and
// back is taken twice. Where a forward pass goes together with the backward
// pass behind it, it is one of a later micro-batch.
int64_t WarmUp(const ScheduleShape& shape, int64_t pipeline_rank) {
  const int64_t passes = shape.micro_batches * shape.chunks;
  const int64_t to_the_end = shape.pp - 1 - pipeline_rank;
  switch (shape.schedule) {
    case Schedule::kGPipe:
      return passes;
    case Schedule::kInterleaved1F1B:
      return std::min(passes, 2 * to_the_end +
                                  (shape.chunks - 1) * shape.group +
                                  (shape.overlaps_experts ? 1 : 0));
    default:
      return std::min(passes, to_the_end);
  }
}

}  // namespace

Pass* WriteSchedule(const ScheduleShape& shape, int64_t pipeline_rank,
                    Pass* passes) {
  if (SplitsBackward(shape.schedule)) {
    return WriteSplitSchedule(shape, pipeline_rank, passes);
  }
  const int64_t count = shape.micro_batches * shape.chunks;
  const int64_t warm_up = WarmUp(shape, pipeline_rank);
  Pass* next = passes;
  Cursor forward(shape, Direction::kForward);
  Cursor backward(shape, Direction::kBackward);
  for (int64_t i = 0; i < warm_up; ++i) *next++ = forward.Next();
  for (int64_t i = warm_up; i < count; ++i) {
    *next = forward.Next();
    next++->with_next = shape.overlaps_experts;
    *next++ = backward.Next();
  }
  for (int64_t i = 0; i < warm_up; ++i) *next++ = backward.Next();
  return next;
}

}  // namespace lmsimbench::lower
