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
/// form a ring; the chunk of the result may be outside the rank's chunks.
inline ChunkPlace Behind(ChunkPlace place, int64_t pp) {
  if (place.rank + 1 < pp) return {place.rank + 1, place.chunk};
  return {0, place.chunk + 1};
}
inline ChunkPlace Before(ChunkPlace place, int64_t pp) {
  if (place.rank > 0) return {place.rank - 1, place.chunk};
  return {pp - 1, place.chunk - 1};
}
/// \}

/// Where the output of a pass goes, and where its input comes from.
inline ChunkPlace Receiver(ChunkPlace place, Direction direction, int64_t pp) {
  return direction == Direction::kForward ? Behind(place, pp)
                                          : Before(place, pp);
}
inline ChunkPlace Sender(ChunkPlace place, Direction direction, int64_t pp) {
  return direction == Direction::kForward ? Before(place, pp)
                                          : Behind(place, pp);
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
