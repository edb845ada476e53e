#include "test/aggregate/execute_longest_path.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace lmsimbench {
namespace {

using Nodes = std::vector<int>;

struct Node {
  Nodes before;
  double seconds = 0;
  double end_s = -1;
};

// A pass of a class, by class, chunk, micro-batch and direction.
using PassKey = std::tuple<int64_t, int64_t, int64_t, Direction>;

class PathFinder {
 public:
  explicit PathFinder(const CostedGraph& costed)
      : costed_(costed), graph_(costed.graph), pp_(graph_.placement.pp) {}

  LongestPath Find() {
    const auto classes = static_cast<int64_t>(graph_.placement.classes.size());
    path_.memory.resize(classes);
    data_.resize(classes);
    buckets_.resize(classes);
    compute_free_.resize(classes);
    for (int64_t c = 0; c < classes; ++c) {
      compute_free_[c] = AddNode({}, 0);
      data_[c] = AddNode({}, 0);
      if (graph_.overlaps.param_gather) AddGathers(c);
    }
    for (int64_t c = 0; c < classes; ++c) AddPasses(c);
    for (const auto& [node, key] : inputs_)
      nodes_[node].before.push_back(transfers_.at(key));
    AddReductions();
    AddTail();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      Slice slice = tasks_[i].second;
      slice.end_s = End(tasks_[i].first);
      slice.start_s = slice.end_s - nodes_[tasks_[i].first].seconds;
      path_.slices.push_back(slice);
    }
    for (const auto& [c, node, step] : memory_) {
      const double end_s = End(node);
      path_.memory[c].push_back(
          {end_s - nodes_[node].seconds, step->allocated_bytes});
      path_.memory[c].push_back({end_s, -step->freed_bytes});
    }
    return std::move(path_);
  }

 private:
  int AddNode(Nodes before, double seconds) {
    nodes_.push_back({std::move(before), seconds, -1});
    return static_cast<int>(nodes_.size()) - 1;
  }

  void AddSlice(int node, int64_t c, Stream stream, int32_t id,
                const Pass& pass, bool recomputed = false) {
    Slice slice;
    slice.rank_class = static_cast<int32_t>(c);
    slice.stream = stream;
    slice.id = id;
    slice.pass = pass;
    slice.recomputed = recomputed;
    tasks_.emplace_back(node, slice);
  }

  // A collective on the data stream; also waits for the one before it there.
  void AddData(int64_t c, int32_t collective, Nodes before, const Pass& pass) {
    if (collective < 0) return;
    before.push_back(data_[c]);
    data_[c] =
        AddNode(std::move(before), CollectiveSeconds(costed_, collective, c));
    AddSlice(data_[c], c, Stream::kData, collective, pass);
  }

  int64_t RankOfClass(int64_t c) const { return c % pp_; }

  void AddGathers(int64_t c) {
    for (int32_t chunk = 0; chunk < graph_.chunks_per_rank; ++chunk) {
      Pass pass;
      pass.micro_batch = -1;
      pass.chunk = static_cast<int16_t>(chunk);
      const PlacedChunk& placed = ChunkOf(graph_, RankOfClass(c), pass);
      for (int32_t b = placed.end_bucket - 1; b >= placed.begin_bucket; --b) {
        AddData(c, graph_.buckets[b].gather, {}, pass);
        gathers_[{c, chunk, b}] = data_[c];
      }
    }
  }

  void AddPasses(int64_t c) {
    const int64_t rank = RankOfClass(c);
    const int64_t kind_begin = c - rank;
    int last_send[2] = {-1, -1};
    const auto passes = Passes(graph_, rank);
    for (size_t i = 0; i < passes.size(); ++i) {
      const Pass& pass = passes[i];
      const PlacedChunk& placed = ChunkOf(graph_, rank, pass);
      const bool forward = pass.direction == Direction::kForward;
      const int start = AddNode({compute_free_[c]}, 0);
      const bool weights = pass.direction == Direction::kWeight;
      if (!weights && !(forward ? placed.is_first : placed.is_last))
        inputs_[start] = {c, pass.chunk, pass.micro_batch, pass.direction};
      int end = AddBlocks(c, pass, placed, start);
      // A chain is a backward pass and its weight pass.
      if (pass.with_next) end = AddBlocks(c, passes[++i], placed, end);
      compute_free_[c] = end;
      if (weights || (forward ? placed.is_last : placed.is_first)) continue;
      const int64_t step =
          forward != (graph_.turns_back && pass.chunk == 1) ? 1 : -1;
      const bool beyond = rank + step == pp_ || rank + step < 0;
      if (graph_.turns_back && beyond) {
        transfers_[{c, 1 - pass.chunk, pass.micro_batch, pass.direction}] = end;
        continue;
      }
      const int64_t next_rank = (rank + step + pp_) % pp_;
      const int64_t next_chunk =
          pass.chunk + (beyond ? static_cast<int>(step) : 0);
      const int64_t receiver = kind_begin + next_rank;
      const bool to_next = step == 1;
      Nodes before = {end};
      int& last = last_send[to_next ? 0 : 1];
      if (last >= 0) before.push_back(last);
      last = AddNode(before, CollectiveSeconds(costed_, graph_.transfer,
                                               to_next ? c : receiver));
      transfers_[{receiver, next_chunk, pass.micro_batch, pass.direction}] =
          last;
      if (!graph_.overlaps.p2p) compute_free_[c] = last;
      if (graph_.transfer < 0) continue;
      AddSlice(last, c, to_next ? Stream::kSendForward : Stream::kSendBackward,
               graph_.transfer, pass);
      Pass received = pass;
      received.chunk = static_cast<int16_t>(next_chunk);
      AddSlice(last, receiver,
               to_next ? Stream::kReceiveForward : Stream::kReceiveBackward,
               graph_.transfer, received);
    }
  }

  // Adds the blocks of a pass; returns a node that ends when the pass does.
  int AddBlocks(int64_t c, const Pass& pass, const PlacedChunk& placed,
                int start) {
    const Program& program = graph_.program;
    const bool forward = pass.direction == Direction::kForward;
    std::vector<const Block*> blocks;
    for (const BlockRun& run : Runs(program, program.chunks[placed.kind]))
      blocks.insert(blocks.end(), run.count, &program.blocks[run.block]);
    if (!forward) std::reverse(blocks.begin(), blocks.end());
    const auto count = static_cast<int32_t>(blocks.size());
    for (int32_t i = 0; i < count; ++i) {
      const int32_t from_behind = forward ? count - 1 - i : i;
      if (forward && pass.micro_batch == 0 && graph_.overlaps.param_gather &&
          blocks[i]->parameters > 0) {
        // The first bucket, in backward order, that reaches this block.
        for (int32_t b = placed.begin_bucket; b < placed.end_bucket; ++b) {
          if (graph_.buckets[b].block < from_behind) continue;
          start = AddNode({start, gathers_.at({c, pass.chunk, b})}, 0);
          break;
        }
      }
      const bool weights = pass.direction == Direction::kWeight;
      const auto steps = forward   ? ForwardSteps(program, *blocks[i])
                         : weights ? WeightSteps(program, *blocks[i])
                                   : BackwardSteps(program, *blocks[i]);
      const Nodes ends = AddSteps(c, pass, steps, start);
      const bool completes = !forward && weights == program.splits_backward;
      if (completes && (graph_.reduces_every_backward ||
                        pass.micro_batch == program.micro_batches - 1)) {
        for (int32_t b = placed.begin_bucket; b < placed.end_bucket; ++b) {
          if (graph_.buckets[b].block == i)
            buckets_[c].push_back({b,
                                   graph_.buckets[b].step < 0
                                       ? start
                                       : ends[graph_.buckets[b].step],
                                   pass});
        }
      }
      Nodes before = ends;
      before.push_back(start);
      start = AddNode(before, 0);
    }
    return start;
  }

  Nodes AddSteps(int64_t c, const Pass& pass, absl::Span<const Step> steps,
                 int start) {
    Nodes ends;
    Nodes computations = {start};
    Nodes collectives = {start};
    for (const Step& step : steps) {
      Nodes before = step.is_collective ? collectives : computations;
      if (step.is_collective) {
        before.insert(before.end(), computations.begin(), computations.end());
      } else if (step.joins) {
        before.insert(before.end(), collectives.begin(), collectives.end());
      }
      const int node = AddNode(
          before, step.is_collective ? CollectiveSeconds(costed_, step.id, c)
                                     : costed_.operators[step.id].seconds);
      AddSlice(node, c, step.is_collective ? Stream::kTensor : Stream::kCompute,
               step.id, pass, step.recomputed);
      memory_.emplace_back(c, node, &step);
      (step.is_collective ? collectives : computations).push_back(node);
      ends.push_back(node);
    }
    return ends;
  }

  void AddReductions() {
    const auto classes = static_cast<int64_t>(data_.size());
    for (int64_t rank = 0; rank < pp_; ++rank) {
      for (size_t i = 0; i < buckets_[rank].size(); ++i) {
        const Bucket& bucket = graph_.buckets[buckets_[rank][i].bucket];
        for (int32_t collective : {bucket.reduce, bucket.reduce_replicas}) {
          Nodes before;
          for (int64_t c = rank; c < classes; c += pp_) {
            before.push_back(graph_.overlaps.grad_reduce ? buckets_[c][i].node
                                                         : compute_free_[c]);
            before.push_back(data_[c]);
          }
          for (int64_t c = rank; c < classes; c += pp_)
            AddData(c, collective, before, buckets_[c][i].pass);
        }
      }
    }
  }

  int AddOperator(int64_t c, int32_t op, int before) {
    const int node = AddNode({before}, costed_.operators[op].seconds);
    AddSlice(node, c, Stream::kCompute, op, kNoPass);
    return node;
  }

  void AddTail() {
    const auto classes = static_cast<int64_t>(data_.size());
    Nodes there(classes);
    for (int64_t c = 0; c < classes; ++c) {
      there[c] = AddNode({compute_free_[c], data_[c]}, 0);
      const int32_t replicated = graph_.replicated_gradients[RankOfClass(c)];
      if (replicated < 0) continue;
      there[c] = AddNode({there[c]}, CollectiveSeconds(costed_, replicated, c));
      AddSlice(there[c], c, Stream::kTensor, replicated, kNoPass);
    }
    data_ = there;
    Nodes norms(classes);
    for (int64_t c = 0; c < classes; ++c) {
      const int64_t rank = RankOfClass(c);
      const int64_t first = c - rank;
      if (rank == 0 || rank == pp_ - 1) {
        AddData(c, graph_.embedding_gradients,
                {there[first], there[first + pp_ - 1]}, kNoPass);
      }
      norms[c] =
          AddOperator(c, graph_.program.stages[rank].gradient_norm, data_[c]);
    }
    data_ = norms;
    for (int64_t c = 0; c < classes; ++c) {
      AddData(c, graph_.gradient_norm, norms, kNoPass);
      const Stage& stage = graph_.program.stages[RankOfClass(c)];
      for (const int32_t op : {stage.gradients_to_host, stage.optimizer,
                               stage.weights_to_device}) {
        if (op >= 0) data_[c] = AddOperator(c, op, data_[c]);
      }
      if (!graph_.overlaps.param_gather) AddGathers(c);
    }
  }

  double End(int node) {
    if (nodes_[node].end_s >= 0) return nodes_[node].end_s;
    double start_s = 0;
    for (int before : nodes_[node].before)
      start_s = std::max(start_s, End(before));
    return nodes_[node].end_s = start_s + nodes_[node].seconds;
  }

  struct ReadyNode {
    int32_t bucket = 0;
    int node = 0;
    Pass pass;
  };

  const CostedGraph& costed_;
  const ExecutionGraph& graph_;
  const int64_t pp_;
  const Pass kNoPass = {-1, 0, Direction::kForward};
  LongestPath path_;
  std::vector<Node> nodes_;
  std::vector<std::pair<int, Slice>> tasks_;
  std::vector<std::tuple<int64_t, int, const Step*>> memory_;
  // For each class the last node of its data stream, when its compute stream
  // is free, and its buckets in the order in which they are reduced.
  Nodes data_;
  Nodes compute_free_;
  std::vector<std::vector<ReadyNode>> buckets_;
  // By class, chunk and bucket: chunks may share their buckets.
  std::map<std::tuple<int64_t, int32_t, int32_t>, int> gathers_;
  // First nodes of passes that need an input, and the transfers that bring it.
  std::map<int, PassKey> inputs_;
  std::map<PassKey, int> transfers_;
};

}  // namespace

LongestPath FindLongestPath(const CostedGraph& costed) {
  return PathFinder(costed).Find();
}

}  // namespace lmsimbench
