#include <algorithm>
#include <array>
#include <deque>

#include "lib/lower/schedule.h"

// The schedules whose backward passes are split. Each rank counts the passes
// that it has begun, by chunk and direction: the next one of a kind is always
// that of the next micro-batch.

namespace lmsimbench::lower {
namespace {

class Appender {
 public:
  // Both chunks take all micro-batches, or either one half of them.
  Appender(const ScheduleShape& shape, Pass* passes)
      : halves_(shape.schedule == Schedule::kDualPipe ? 2 : 1),
        micro_batches_(shape.micro_batches / halves_),
        next_(passes) {}

  // What is behind all passes.
  Pass* end() const { return next_; }
  int64_t micro_batches() const { return micro_batches_; }
  int64_t Done(Direction direction, int chunk = 0) const {
    return done_[static_cast<size_t>(chunk)][static_cast<size_t>(direction)];
  }
  bool HasLeft(Direction direction, int chunk = 0) const {
    return Done(direction, chunk) < micro_batches_;
  }
  // Nothing where all micro-batches have been through.
  void Forward(int chunk = 0) { Append(Direction::kForward, chunk); }
  void Backward(int chunk = 0) { Append(Direction::kBackward, chunk); }
  void Weight(int chunk = 0) { Append(Direction::kWeight, chunk); }
  // Forms one chain of the passes that `append` appends.
  template <typename AppendPasses>
  void Chain(AppendPasses&& append) {
    in_chain_ = true;
    append();
    in_chain_ = false;
    next_[-1].with_next = false;
  }

 private:
  void Append(Direction direction, int chunk) {
    int64_t& done =
        done_[static_cast<size_t>(chunk)][static_cast<size_t>(direction)];
    if (done == micro_batches_) return;
    const int64_t first = halves_ == 2 && chunk == 1 ? micro_batches_ : 0;
    *next_++ = {static_cast<int32_t>(first + done++),
                static_cast<int16_t>(chunk), direction, in_chain_};
  }

  const int64_t halves_;
  const int64_t micro_batches_;
  Pass* next_;
  std::array<std::array<int64_t, kDirections>, 2> done_ = {};
  bool in_chain_ = false;
};

// ZB-H1 and ZB-H2 of "Zero Bubble Pipeline Parallelism" (arXiv 2401.10241):
// 1F1B, and a weight pass behind each backward pass once `behind` of them are
// left over. Every rank so has as many micro-batches between their forward and
// their weight passes as the first one: pp with H1, whose forward passes start
// as those of 1F1B do, and 2 pp - 1 with H2, which fills the time until the
// first gradient arrives with twice as many.
void AppendZeroBubble(const ScheduleShape& shape, int64_t rank, Appender& add) {
  const int64_t round_trips = shape.schedule == Schedule::kZeroBubbleH2 ? 2 : 1;
  const int64_t warm_up = round_trips * (shape.pp - 1 - rank);
  const int64_t behind = round_trips * rank;
  for (int64_t i = 0; i < warm_up; ++i) add.Forward();
  while (add.HasLeft(Direction::kBackward)) {
    add.Forward();
    add.Backward();
    if (add.Done(Direction::kBackward) - add.Done(Direction::kWeight) >
        behind) {
      add.Weight();
    }
  }
  while (add.HasLeft(Direction::kWeight)) add.Weight();
}

// ZB-V of the same paper's successor (arXiv 2405.15362): chunk 0 of a rank is
// as far from the begin of the network as chunk 1 from its end. Forward passes
// of chunk 0 fill the time until the first micro-batch is back from the turn;
// from then on all passes of both chunks take turns, at most 2 pp of them
// between their forward and their weight pass. Behind the last forward pass the
// ranks near the turn, to which gradients come first, leave weight passes for
// later.
void AppendZeroBubbleV(const ScheduleShape& shape, int64_t rank,
                       Appender& add) {
  const int64_t to_the_turn = shape.pp - rank;
  const auto gradients = [&add](int chunk) {
    add.Backward(chunk);
    add.Weight(chunk);
  };
  for (int64_t i = 0; i < 2 * to_the_turn - 1; ++i) add.Forward(0);
  for (int64_t i = 0; i < rank; ++i) {
    add.Forward(1);
    add.Forward(0);
  }
  for (int64_t i = 0; i < to_the_turn; ++i) {
    add.Forward(1);
    gradients(1);
  }
  while (add.HasLeft(Direction::kForward, 1)) {
    add.Forward(0);
    gradients(0);
    add.Forward(1);
    gradients(1);
  }
  for (int64_t i = 0; i < rank; ++i) {
    add.Backward(0);
    add.Backward(1);
  }
  while (add.HasLeft(Direction::kBackward, 0)) {
    add.Backward(0);
    add.Weight(0);
  }
  for (const int chunk : {1, 0}) {
    while (add.HasLeft(Direction::kWeight, chunk)) add.Weight(chunk);
  }
}

// The eight steps of DeepSeek's DualPipe. Under DualPipeV `there` and `back`
// are the two chunks of a rank, and the turn is at the last rank. Under
// DualPipe they are the chunk whose micro-batches come from the nearer end and
// the other one; the ranks of each half of the pipeline count from their end,
// and the two in the middle are at what is the turn of the other. A forward
// pass of one chunk and all gradients of a micro-batch of the other form a
// chain, as all gradients of a micro-batch alone do: what they give goes on
// when they have ended. Near the end gradients of inputs hurry on, and those of
// weights are left over in a queue.
class DualPipe {
 public:
  // `outer`: ranks in front of this one, of `ranks` on the way to the turn.
  DualPipe(int64_t ranks, int64_t outer, int there, Appender& add)
      : ranks_(ranks),
        inner_(ranks - 1 - outer),
        outer_(outer),
        there_(there),
        back_(1 - there),
        add_(add) {}

  void Append() {
    for (int64_t i = 0; i < 2 * inner_; ++i) add_.Forward(there_);
    for (int64_t i = 0; i <= outer_; ++i) {
      add_.Forward(there_);
      add_.Forward(back_);
    }
    for (int64_t i = 0; i < inner_; ++i) {
      add_.Backward(back_);
      add_.Weight(back_);
      add_.Forward(back_);
    }
    for (int64_t i = 0; i <= add_.micro_batches() - 2 * ranks_ + outer_; ++i) {
      if (i == 0 && inner_ == 0) {
        // At the turn the first gradients would wait for nothing.
        add_.Forward(there_);
        Gradients(back_);
      } else {
        ForwardAndGradients(there_, back_);
      }
      ForwardAndGradients(back_, there_);
    }
    for (int64_t i = 0; i < inner_; ++i) {
      Gradients(back_);
      ForwardAndGradients(back_, there_);
    }
    // The last passes left over are one for each rank up to this one.
    for (int64_t left = 2 * (outer_ + 1); left > 0; --left) {
      const int chunk = left % 2 == 0 ? back_ : there_;
      if (left > outer_ + 1) {
        Gradients(chunk);
      } else {
        BackwardAlone(chunk);
      }
    }
    for (int64_t i = 0; i < inner_; ++i) {
      WeightLeftOver();
      BackwardAlone(there_);
    }
    while (!left_over_.empty()) WeightLeftOver();
  }

 private:
  void Gradients(int chunk) {
    add_.Chain([&] {
      add_.Backward(chunk);
      add_.Weight(chunk);
    });
  }
  void ForwardAndGradients(int forward, int gradients) {
    add_.Chain([&] {
      add_.Forward(forward);
      add_.Backward(gradients);
      add_.Weight(gradients);
    });
  }
  void BackwardAlone(int chunk) {
    add_.Backward(chunk);
    left_over_.push_back(chunk);
  }
  void WeightLeftOver() {
    add_.Weight(left_over_.front());
    left_over_.pop_front();
  }

  const int64_t ranks_;
  const int64_t inner_;
  const int64_t outer_;
  const int there_;
  const int back_;
  Appender& add_;
  std::deque<int> left_over_;
};

void AppendDualPipe(const ScheduleShape& shape, int64_t rank, Appender& add) {
  if (shape.schedule == Schedule::kDualPipeV) {
    DualPipe(shape.pp, rank, 0, add).Append();
  } else {
    const int64_t half = shape.pp / 2;
    DualPipe(half, std::min(rank, shape.pp - 1 - rank), rank < half ? 0 : 1,
             add)
        .Append();
  }
}

}  // namespace

Pass* WriteSplitSchedule(const ScheduleShape& shape, int64_t pipeline_rank,
                         Pass* passes) {
  Appender add(shape, passes);
  if (shape.schedule == Schedule::kDualPipe ||
      shape.schedule == Schedule::kDualPipeV) {
    AppendDualPipe(shape, pipeline_rank, add);
  } else if (shape.schedule == Schedule::kZeroBubbleV) {
    AppendZeroBubbleV(shape, pipeline_rank, add);
  } else {
    AppendZeroBubble(shape, pipeline_rank, add);
  }
  return add.end();
}

}  // namespace lmsimbench::lower
