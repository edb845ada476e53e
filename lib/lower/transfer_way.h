#pragma once

#include <cstdint>

#include "lmsimbench/execution_graph.h"

namespace lmsimbench::lower {

/// Which way a pass's input comes, or its output goes.
enum class Way : uint8_t {
  kToNext,      ///< from a rank to the next one
  kToPrevious,  ///< from a rank to the previous one
  kStays,       ///< from a chunk of the rank to the other, without a transfer
  kNone,        ///< from nowhere, or nowhere
};

/// Along a ring activations go to the next rank and gradients to the previous
/// one. Where the way turns back, chunk 1 does the opposite.
inline Way WayOf(const ExecutionGraph& graph, int32_t chunk,
                 Direction direction) {
  const bool opposite = graph.turns_back && chunk != 0;
  return (direction == Direction::kForward) != opposite ? Way::kToNext
                                                        : Way::kToPrevious;
}

/// Way of what the pass of a chunk of this rank computes.
inline Way OutputWay(const ExecutionGraph& graph, int64_t rank, int32_t chunk,
                     Direction direction) {
  const PlacedChunk& placed =
      graph.chunks[rank * graph.chunks_per_rank + chunk];
  if (direction == Direction::kWeight) return Way::kNone;
  if (direction == Direction::kForward ? placed.is_last : placed.is_first) {
    return Way::kNone;
  }
  const Way way = WayOf(graph, chunk, direction);
  const int64_t end = way == Way::kToNext ? graph.placement.pp - 1 : 0;
  return graph.turns_back && rank == end ? Way::kStays : way;
}

/// Way of what the pass needs.
inline Way InputWay(const ExecutionGraph& graph, int64_t rank, int32_t chunk,
                    Direction direction) {
  const PlacedChunk& placed =
      graph.chunks[rank * graph.chunks_per_rank + chunk];
  if (direction == Direction::kWeight) return Way::kNone;
  if (direction == Direction::kForward ? placed.is_first : placed.is_last) {
    return Way::kNone;
  }
  const Way way = WayOf(graph, chunk, direction);
  const int64_t begin = way == Way::kToNext ? 0 : graph.placement.pp - 1;
  return graph.turns_back && rank == begin ? Way::kStays : way;
}

/// The pass that completes the gradients of a chunk.
inline Direction LastDirection(const Program& program) {
  return program.splits_backward ? Direction::kWeight : Direction::kBackward;
}

}  // namespace lmsimbench::lower
