#include "lib/lower/check_graph.h"

#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "fmt/format.h"
#include "lib/lower/pass_notation.h"
#include "lib/lower/transfer_way.h"

namespace lmsimbench::lower {
namespace {

template <typename... Args>
absl::Status Unsound(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InvalidArgumentError(
      "the graph is not sound: " +
      fmt::format(format, std::forward<Args>(args)...));
}

absl::Status CheckShape(const ExecutionGraph& graph) {
  const int64_t pp = graph.placement.pp;
  if (pp < 1 || graph.chunks_per_rank < 1 ||
      static_cast<int64_t>(graph.chunks.size()) != pp * graph.chunks_per_rank) {
    return Unsound("{} chunks for {} pipeline ranks of {} chunks",
                   graph.chunks.size(), pp, graph.chunks_per_rank);
  }
  if (graph.program.splits_backward && !graph.units.empty()) {
    return Unsound(
        "parameters are sharded in {} units, and backward passes are split",
        graph.units.size());
  }
  if (graph.turns_back && graph.chunks_per_rank != 2) {
    return Unsound("the way turns back, and pipeline ranks have {} chunks",
                   graph.chunks_per_rank);
  }
  if (graph.bidirectional &&
      (!graph.turns_back || pp % 2 != 0 ||
       graph.program.micro_batches % 2 != 0 ||
       static_cast<int64_t>(graph.copied_gradients.size()) != pp)) {
    return Unsound(
        "{} pipeline ranks with {} micro-batches and copied gradients of {} do "
        "not form pairs that work from both ends",
        pp, graph.program.micro_batches, graph.copied_gradients.size());
  }
  if (static_cast<int64_t>(graph.schedule_begin.size()) != pp + 1 ||
      graph.schedule_begin.front() != 0 ||
      graph.schedule_begin.back() !=
          static_cast<int64_t>(graph.passes.size())) {
    return Unsound("the schedules of {} pipeline ranks do not hold {} passes",
                   pp, graph.passes.size());
  }
  for (int64_t rank = 0; rank < pp; ++rank) {
    if (graph.schedule_begin[rank] <= graph.schedule_begin[rank + 1]) continue;
    return Unsound("the schedule of pipeline rank {} ends before it begins",
                   rank);
  }
  return absl::OkStatus();
}

// Every pass of a rank is there once, forward, backward and weight pass of a
// micro-batch in this order.
absl::Status CheckOrder(const ExecutionGraph& graph, int64_t rank) {
  const int64_t micro_batches = graph.program.micro_batches;
  const auto passes = Passes(graph, rank);
  const int64_t all = micro_batches * graph.chunks_per_rank;
  // How many of the three passes have been seen.
  absl::InlinedVector<uint8_t, 1024> seen(static_cast<size_t>(all), 0);
  for (const Pass& pass : passes) {
    uint8_t& done = seen[pass.chunk * micro_batches + pass.micro_batch];
    const auto direction = static_cast<uint8_t>(pass.direction);
    if (direction < done) {
      return Unsound("pipeline rank {} has the pass {} twice", rank,
                     PassNotation(pass));
    }
    if (direction > done) {
      Pass before = pass;
      before.direction = static_cast<Direction>(direction - 1);
      return Unsound("pipeline rank {} has the pass {} before {}", rank,
                     PassNotation(pass), PassNotation(before));
    }
    ++done;
  }
  int64_t complete = 0;
  for (int32_t c = 0; c < graph.chunks_per_rank; ++c) {
    complete += EndMicroBatch(graph, c) - FirstMicroBatch(graph, c);
  }
  complete *= kDirections;
  if (static_cast<int64_t>(passes.size()) == complete) return absl::OkStatus();
  return Unsound(
      "pipeline rank {} has {} passes; {} micro-batches through {} chunks in "
      "{} directions are {}",
      rank, passes.size(), micro_batches, graph.chunks_per_rank, kDirections,
      complete);
}

absl::Status CheckPasses(const ExecutionGraph& graph, int64_t rank) {
  const int64_t micro_batches = graph.program.micro_batches;
  for (const Pass& pass : Passes(graph, rank)) {
    if (pass.micro_batch < 0 || pass.micro_batch >= micro_batches ||
        pass.chunk < 0 || pass.chunk >= graph.chunks_per_rank) {
      return Unsound(
          "pipeline rank {} has a pass of micro-batch {} through chunk {}; "
          "there are {} micro-batches and {} chunks",
          rank, pass.micro_batch, pass.chunk, micro_batches,
          graph.chunks_per_rank);
    }
    if (pass.micro_batch < FirstMicroBatch(graph, pass.chunk) ||
        pass.micro_batch >= EndMicroBatch(graph, pass.chunk)) {
      return Unsound(
          "pipeline rank {} has the pass {}; its chunk takes micro-batches {} "
          "to {}",
          rank, PassNotation(pass), FirstMicroBatch(graph, pass.chunk),
          EndMicroBatch(graph, pass.chunk) - 1);
    }
    if (pass.with_next && !graph.turns_back && !graph.overlaps.experts) {
      return Unsound(
          "pipeline rank {} has the pass {} in a chain, which chunks that go "
          "round the ring do not have",
          rank, PassNotation(pass));
    }
    if (pass.direction > LastDirection(graph.program)) {
      return Unsound(
          "pipeline rank {} has the weight pass {}, and backward passes are "
          "not split",
          rank, PassNotation(pass));
    }
  }
  const auto passes = Passes(graph, rank);
  for (size_t i = 1; i < passes.size(); ++i) {
    if (!passes[i - 1].with_next) continue;
    for (size_t j = i; j > 0 && passes[j - 1].with_next; --j) {
      if (passes[j - 1].micro_batch != passes[i].micro_batch ||
          passes[j - 1].chunk != passes[i].chunk ||
          passes[i].direction == Direction::kForward ||
          passes[j - 1].direction != Direction::kForward) {
        continue;
      }
      return Unsound(
          "pipeline rank {} has {} and {} in one chain, which waits for itself",
          rank, PassNotation(passes[j - 1]), PassNotation(passes[i]));
    }
  }
  if (!passes.empty() && passes.back().with_next) {
    return Unsound("pipeline rank {} ends its schedule within a chain, with {}",
                   rank, PassNotation(passes.back()));
  }
  return graph.program.splits_backward ? CheckOrder(graph, rank)
                                       : absl::OkStatus();
}

// Goes through the passes of a rank that send in one direction, or through
// those that receive; of one chunk where each has a link of its own.
class LinkEnd {
 public:
  static constexpr int32_t kAllChunks = -1;

  LinkEnd(const ExecutionGraph& graph, int64_t rank, Direction direction,
          bool sends, int32_t chunk = kAllChunks)
      : passes_(Passes(graph, rank)),
        chunks_(graph.chunks.data() + rank * graph.chunks_per_rank),
        direction_(direction),
        before_(sends == (direction == Direction::kBackward)),
        chunk_(chunk) {
    Skip();
  }

  bool done() const { return at_ == passes_.size(); }
  const Pass& pass() const { return passes_[at_]; }
  void Next() {
    ++at_;
    Skip();
  }

 private:
  // Whether the pass goes over the link: with the chunk before, or with the one
  // behind.
  bool Goes(const Pass& pass) const {
    const PlacedChunk& chunk = chunks_[pass.chunk];
    return pass.direction == direction_ &&
           (chunk_ == kAllChunks || pass.chunk == chunk_) &&
           !(before_ ? chunk.is_first : chunk.is_last);
  }
  void Skip() {
    while (!done() && !Goes(passes_[at_])) ++at_;
  }

  absl::Span<const Pass> passes_;
  const PlacedChunk* chunks_;
  Direction direction_;
  bool before_;
  int32_t chunk_;
  size_t at_ = 0;
};

std::string NotationOf(const LinkEnd& end) {
  return end.done() ? "no further pass" : PassNotation(end.pass());
}

// Where the way turns back each chunk has links of its own, and the two chunks
// of the last rank have one between them.
absl::Status CheckTurningLink(const ExecutionGraph& graph, int64_t sender,
                              int32_t chunk, Direction direction) {
  const Way way = OutputWay(graph, sender, chunk, direction);
  if (way == Way::kNone) return absl::OkStatus();
  const int64_t receiver = sender + (way == Way::kToNext       ? 1
                                     : way == Way::kToPrevious ? -1
                                                               : 0);
  const int32_t taken_by = way == Way::kStays ? 1 - chunk : chunk;
  LinkEnd sent(graph, sender, direction, true, chunk);
  LinkEnd received(graph, receiver, direction, false, taken_by);
  while (!sent.done() && !received.done() &&
         sent.pass().micro_batch == received.pass().micro_batch) {
    sent.Next();
    received.Next();
  }
  if (sent.done() && received.done()) return absl::OkStatus();
  return Unsound(
      "pipeline rank {} sends the output of {} where rank {} takes the input "
      "of {}",
      sender, NotationOf(sent), receiver, NotationOf(received));
}

// Transfers carry no name: the receiver takes them as they come.
absl::Status CheckLink(const ExecutionGraph& graph, int64_t sender,
                       Direction direction) {
  const int64_t pp = graph.placement.pp;
  const bool forward = direction == Direction::kForward;
  const int64_t receiver = (sender + (forward ? 1 : pp - 1)) % pp;
  // Along the ring the link from the last rank to the first leads to the next
  // chunk.
  const int64_t turn = receiver == (forward ? 0 : pp - 1) ? 1 : 0;
  const int64_t step = forward ? turn : -turn;
  LinkEnd sent(graph, sender, direction, true);
  LinkEnd received(graph, receiver, direction, false);
  for (; !sent.done() && !received.done(); sent.Next(), received.Next()) {
    if (sent.pass().micro_batch != received.pass().micro_batch ||
        sent.pass().chunk + step != received.pass().chunk) {
      break;
    }
  }
  if (sent.done() && received.done()) return absl::OkStatus();
  return Unsound(
      "pipeline rank {} sends the output of {} where rank {} takes the input "
      "of {}",
      sender, NotationOf(sent), receiver, NotationOf(received));
}

}  // namespace

absl::Status CheckGraph(const ExecutionGraph& graph) {
  absl::Status status = CheckShape(graph);
  const int64_t pp = graph.placement.pp;
  for (int64_t rank = 0; status.ok() && rank < pp; ++rank) {
    status = CheckPasses(graph, rank);
  }
  for (int64_t rank = 0; status.ok() && rank < pp; ++rank) {
    for (const Direction direction :
         {Direction::kForward, Direction::kBackward}) {
      if (!graph.turns_back) {
        if (status.ok()) status = CheckLink(graph, rank, direction);
        continue;
      }
      for (const int32_t chunk : {0, 1}) {
        if (status.ok()) {
          status = CheckTurningLink(graph, rank, chunk, direction);
        }
      }
    }
  }
  return status;
}

}  // namespace lmsimbench::lower
