#include "lib/lower/check_graph.h"

#include <string>
#include <utility>

#include "fmt/format.h"
#include "lib/lower/pass_notation.h"

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
  }
  return absl::OkStatus();
}

// Goes through the passes of a rank that send in one direction, or through
// those that receive.
class LinkEnd {
 public:
  LinkEnd(const ExecutionGraph& graph, int64_t rank, Direction direction,
          bool sends)
      : passes_(Passes(graph, rank)),
        chunks_(graph.chunks.data() + rank * graph.chunks_per_rank),
        direction_(direction),
        before_(sends == (direction == Direction::kBackward)) {
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
           !(before_ ? chunk.is_first : chunk.is_last);
  }
  void Skip() {
    while (!done() && !Goes(passes_[at_])) ++at_;
  }

  absl::Span<const Pass> passes_;
  const PlacedChunk* chunks_;
  Direction direction_;
  bool before_;
  size_t at_ = 0;
};

std::string NotationOf(const LinkEnd& end) {
  return end.done() ? "no further pass" : PassNotation(end.pass());
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
    status = CheckLink(graph, rank, Direction::kForward);
    if (status.ok()) status = CheckLink(graph, rank, Direction::kBackward);
  }
  return status;
}

}  // namespace lmsimbench::lower
