#pragma once

#include <cstdint>

#include "lmsimbench/execution_graph.h"

namespace lmsimbench {

/// A chunk at its place in a pipeline.
struct ChunkPlace {
  int64_t rank = 0;
  int64_t chunk = 0;
};

/// \{ The place behind and the place before a chunk along the network. Ranks
/// form a ring, or the way turns back at the last one; the chunk of the result
/// may be outside the rank's chunks.
inline ChunkPlace Behind(ChunkPlace place, const ExecutionGraph& graph) {
  const int64_t pp = graph.placement.pp;
  if (graph.turns_back && place.chunk == 1) {
    return place.rank > 0 ? ChunkPlace{place.rank - 1, 1} : ChunkPlace{0, 2};
  }
  if (place.rank + 1 < pp) return {place.rank + 1, place.chunk};
  return {graph.turns_back ? place.rank : 0, place.chunk + 1};
}
inline ChunkPlace Before(ChunkPlace place, const ExecutionGraph& graph) {
  const int64_t pp = graph.placement.pp;
  if (graph.turns_back && place.chunk == 1) {
    return place.rank + 1 < pp ? ChunkPlace{place.rank + 1, 1}
                               : ChunkPlace{place.rank, 0};
  }
  if (place.rank > 0) return {place.rank - 1, place.chunk};
  return {graph.turns_back ? 0 : pp - 1, place.chunk - 1};
}
/// \}

/// Where the output of a pass goes, and where its input comes from.
inline ChunkPlace Receiver(ChunkPlace place, Direction direction,
                           const ExecutionGraph& graph) {
  return direction == Direction::kForward ? Behind(place, graph)
                                          : Before(place, graph);
}
inline ChunkPlace Sender(ChunkPlace place, Direction direction,
                         const ExecutionGraph& graph) {
  return direction == Direction::kForward ? Before(place, graph)
                                          : Behind(place, graph);
}

/// Whether a pass takes its input from another chunk, and hands on its output.
inline bool TakesInput(const PlacedChunk& placed, Direction direction) {
  return direction == Direction::kForward    ? !placed.is_first
         : direction == Direction::kBackward ? !placed.is_last
                                             : false;
}
inline bool HandsOn(const PlacedChunk& placed, Direction direction) {
  return direction == Direction::kForward    ? !placed.is_last
         : direction == Direction::kBackward ? !placed.is_first
                                             : false;
}

/// The class whose link to its next rank a transfer on this stream of a class
/// takes: the one of the two ranks whose next is the other.
inline int64_t LinkClass(const Placement& placement, int64_t rank_class,
                         Stream stream) {
  if (stream == Stream::kSendForward || stream == Stream::kReceiveBackward)
    return rank_class;
  const int64_t rank = placement.classes[rank_class].pipeline_rank;
  return rank_class + (rank > 0 ? -1 : placement.pp - 1);
}

}  // namespace lmsimbench
