#pragma once

#include <cstdint>
#include <vector>

#include "lmsimbench/costed_graph.h"

namespace lmsimbench::hand_made {

/// \file
/// Costed graphs made by hand, for what runs them. Whole seconds and binary
/// fractions of a second keep sums exact.

/// A computation or a collective of a block.
Step Compute(int32_t op, bool joins = false);
Step Communicate(int32_t collective);
/// The same, run a second time.
Step Again(Step step);
/// The same, with memory that it takes and gives back.
Step WithMemory(Step step, int64_t allocated_bytes, int64_t freed_bytes);

/// A graph of `pp` ranks in each of `kinds` kinds of pipeline, with
/// `chunks_per_rank` chunks and everything overlapped: no operators, no blocks,
/// no schedule yet. All members may be changed afterwards.
CostedGraph Pipelines(int64_t pp, int64_t kinds, int32_t chunks_per_rank,
                      int64_t micro_batches);

/// Adds an operator; returns its index.
int32_t AddOperator(CostedGraph& costed, OperatorKind kind, OperatorPass pass,
                    double seconds);

/// Adds a collective with its seconds for each distinct span; returns its
/// index. `UseSpan` gives a class another span than the first.
int32_t AddCollective(CostedGraph& costed, CollectiveKind kind, Group group,
                      const std::vector<double>& seconds);
void UseSpan(CostedGraph& costed, int64_t rank_class, Group group,
             int32_t ordinal);

/// Adds a block; returns its index. Weight steps want `splits_backward`.
int32_t AddBlock(CostedGraph& costed, const std::vector<Step>& forward,
                 const std::vector<Step>& backward, int64_t parameters = 1,
                 const std::vector<Step>& weight = {});

/// Adds a kind of chunk made of these blocks; returns its index.
int32_t AddChunk(CostedGraph& costed, const std::vector<BlockRun>& runs);

/// Puts a kind of chunk, with its buckets, at chunk `chunk` of a pipeline rank.
/// To be called rank by rank, chunk by chunk.
void PlaceChunk(CostedGraph& costed, int32_t kind,
                const std::vector<Bucket>& buckets = {});

/// Adds the schedule of the next pipeline rank: "F0 F1 B0 B1", and with chunks
/// "F0.1" for micro-batch 0, chunk 1; weight passes are "W0.1", and
/// "F0+" forms a chain with the pass behind it.
void AddSchedule(CostedGraph& costed, const char* passes);

/// Sets operators that follow the last pass, for all ranks; -1: nothing.
void SetTail(CostedGraph& costed, int32_t gradient_norm, int32_t optimizer);

/// One forward operator of 1 s and one backward operator of 2 s a pass, two
/// ranks, two micro-batches, 1F1B; a transfer takes 1/4 s. Behind it a gradient
/// norm of 1/2 s with a collective of 1/4 s and an optimizer step of 1 s.
CostedGraph TwoStages();

}  // namespace lmsimbench::hand_made
