#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "lib/simulators/vtrain/kernel_simulation.h"
#include "lib/simulators/vtrain/plan.h"
#include "test/simulators/vtrain_compare.h"
#include "test/simulators/vtrain_records.h"

namespace lmsimbench::vtrain {
namespace {

constexpr int64_t kMebibyte = 1048576;

// A golden record, resolved and planned as the original does.
struct Case {
  const SimulationRecord* record = nullptr;
  Config config;
  Plan plan;
  Outputs outputs;

  int64_t stage() const { return plan.tensor * plan.data; }
  // All members of a data-parallel group stand in one node.
  bool DataGroupInNode() const {
    const int64_t node = config.node_size;
    return stage() * plan.pipeline <= node ||
           (stage() <= node && node % stage() == 0);
  }
  bool UsesTables() const { return plan.tensor < config.node_size; }
};

// The answer with repairs; why there is none.
Error Run(const SimulationRecord& record, const VtrainRepairs& repairs,
          Case& result) {
  result.record = &record;
  result.config = record.config;
  Error error = Resolve(repairs, result.config);
  if (!error.ok()) return error;
  PlanOptions options;
  options.repairs = repairs;
  error = MakePlan(result.config, options, result.plan);
  if (!error.ok()) return error;
  KernelWorkspace workspace;
  SimulateKernels(result.plan, record.kernels, workspace, result.outputs);
  return {};
}

// Rounds to no entry of a table.
bool IsOnCliff(int64_t bytes, int64_t members) {
  if (members < 2 || members > 8 || bytes == 0) return false;
  const double mebibytes =
      std::nearbyint(static_cast<double>(bytes) / kMebibyte);
  return mebibytes < 1 || mebibytes > 1024;
}

int64_t RankGradientBytes(const Case& c, RankKind kind) {
  return c.plan.layers * TransformerGradientBytes(c.config) +
         (HasEmbeddings(kind) ? EmbeddingGradientBytes(c.config) : 0) +
         (HasOutput(kind) ? OutputGradientBytes(c.config) : 0);
}

bool KeepsOther(const Case& c) {
  const auto& stated = c.record->config.micro_batch;
  return c.plan.pipeline == 1 && stated.has_value() &&
         *stated != *c.config.micro_batch;
}

bool Checkpoints(const Case& c) {
  return c.config.use_checkpoint && c.config.num_layers > 0;
}

bool MeetsCliff(const Case& c) {
  if (c.plan.tensor > 1 && c.plan.layers > 0 &&
      IsOnCliff(ActivationBytes(c.config), c.plan.tensor)) {
    return true;
  }
  if (c.plan.data == 1 || !c.UsesTables()) return false;
  for (int64_t r = 0; r < c.plan.pipeline; ++r) {
    if (IsOnCliff(RankGradientBytes(c, KindOf(c.plan, r)), c.plan.data)) {
      return true;
    }
  }
  return false;
}

// A node of one device shares its links with nobody. Groups without a table
// have a bandwidth that may be the very same.
bool LeavesNode(const Case& c) {
  if (c.plan.data == 1 || c.DataGroupInNode()) return false;
  const int64_t node = c.config.node_size;
  if (!c.UsesTables()) return node > 1;
  const int64_t in_group =
      std::min(c.plan.data, std::max<int64_t>(1, node / c.plan.tensor));
  return c.plan.data <= kLargestGroup ||
         c.config.intra_node_bandwidth != c.config.inter_node_bandwidth / 8 *
                                              static_cast<double>(in_group) /
                                              static_cast<double>(node);
}

// One bucket of the only stage is what the original reduces.
bool ReducesElsewhere(const Case& c) {
  if (c.plan.data == 1) return false;
  if (c.plan.pipeline > 1) return true;
  int64_t buckets = 0;
  int64_t gathered = 0;
  const int64_t wanted = c.config.ddp_bucket_size.value_or(0) * kMebibyte;
  for (int64_t i = 0; i < c.plan.layers + 1; ++i) {
    gathered += i == 0 ? OutputGradientBytes(c.config)
                       : TransformerGradientBytes(c.config);
    if (gathered >= wanted) {
      ++buckets;
      gathered = 0;
    }
  }
  return buckets > 0;
}

// With one stage the shared matrix is reduced once instead of twice.
bool HasOutputToCount(const Case& c) {
  const AllReduceTable& table = *FindAllReduceTable(c.config.gpu_name);
  const auto reduce = [&](int64_t bytes, int64_t members) {
    return c.UsesTables()
               ? AllReduceNs(table, c.config.intra_node_bandwidth, bytes,
                             members, false)
               : RingNs(bytes, members,
                        NodeBandwidth(c.config.inter_node_bandwidth));
  };
  const int64_t output = OutputGradientBytes(c.config);
  if (c.plan.pipeline == 1) {
    const int64_t bytes = RankGradientBytes(c, kOnly);
    return c.plan.data > 1 &&
           reduce(bytes, c.plan.data) != reduce(bytes - output, c.plan.data);
  }
  return reduce(output, 2) > 0 ||
         (output > 0 && !c.record->kernels[LayerPass::kWuEmbeddings].empty());
}

// Between nodes eight senders take what the original takes: an eighth of the
// links, for the message once, is a quarter for it twice. So is a link inside
// the node that has a sixty-fourth in GB/s of what the node has in Gbit/s.
bool HasOtherLink(const Case& c) {
  for (int64_t r = 0; r + 1 < c.plan.pipeline; ++r) {
    const int64_t node = c.config.node_size;
    const bool in_node =
        r * c.stage() / node == ((r + 2) * c.stage() - 1) / node;
    if (in_node ? c.config.intra_node_bandwidth !=
                      c.config.inter_node_bandwidth / 64
                : std::min(c.stage(), node) != 8) {
      return true;
    }
  }
  return false;
}

struct Repair {
  const char* name;
  bool VtrainRepairs::*member;
  std::function<bool(const Case&)> changes;
  /// Of the 369 golden simulations.
  int changed;
};

TEST_CASE("each repair changes the golden records that it should, no other") {
  const Repair repairs[] = {
      {"keep_micro_batches", &VtrainRepairs::keep_micro_batches, KeepsOther,
       67},
      {"recompute_everywhere", &VtrainRepairs::recompute_everywhere,
       Checkpoints, 272},
      {"smooth_all_reduce", &VtrainRepairs::smooth_all_reduce, MeetsCliff, 25},
      {"place_data_groups", &VtrainRepairs::place_data_groups, LeavesNode, 147},
      {"overlap_gradients", &VtrainRepairs::overlap_gradients, ReducesElsewhere,
       292},
      {"count_output_layer", &VtrainRepairs::count_output_layer,
       HasOutputToCount, 348},
      {"hop_by_link", &VtrainRepairs::hop_by_link, HasOtherLink, 221},
      // All golden simulations are of devices with tables.
      {"model_other_devices", &VtrainRepairs::model_other_devices,
       [](const Case&) { return false; }, 0},
  };
  const auto records = ReadSimulationRecords();
  REQUIRE(records.size() == 369);
  for (const Repair& repair : repairs) {
    VtrainRepairs only;
    only.*repair.member = true;
    int changed = 0;
    for (const SimulationRecord& record : records) {
      Case original;
      REQUIRE(Run(record, VtrainRepairs::None(), original).ok());
      Case repaired;
      const bool differs =
          !Run(record, only, repaired).ok() ||
          !Difference(original.outputs, repaired.outputs, 0).empty();
      INFO(repair.name << " on " << record.id);
      CHECK(differs == repair.changes(original));
      changed += differs ? 1 : 0;
    }
    INFO(repair.name);
    CHECK(changed == repair.changed);
  }
}

Config PlainConfig(int64_t t, int64_t d, int64_t p) {
  Config config;
  config.tensor_parallel = t;
  config.data_parallel = d;
  config.pipeline_parallel = p;
  config.global_batch = 8 * d;
  config.micro_batch = 1;
  config.num_layers = 8;
  config.hidden = 1024;
  config.num_heads = 16;
  config.max_length = 1024;
  return config;
}

Plan PlanOf(Config config, const VtrainRepairs& repairs) {
  REQUIRE(Resolve(repairs, config).ok());
  PlanOptions options;
  options.repairs = repairs;
  Plan plan;
  REQUIRE(MakePlan(config, options, plan).ok());
  return plan;
}

TEST_CASE("smooth all-reduces have no cliff") {
  const AllReduceTable& table = *FindAllReduceTable("a100");
  const auto time = [&table](int64_t bytes) {
    return AllReduceNs(table, 150, bytes, 8, true);
  };
  CHECK(time(0) == 0);
  CHECK(time(1) > 0);
  CHECK(time(kMebibyte / 2) <= time(kMebibyte));
  // Half to even: 1024.5 MiB is still in the table, 1025 MiB is not.
  const int64_t last = 1024 * kMebibyte;
  CHECK(time(last + kMebibyte) == Approx(time(last) * 1025 / 1024));
  CHECK(AllReduceNs(table, 150, last + kMebibyte, 8, false) < 0.6 * time(last));
}

TEST_CASE("one stage keeps its micro-batches") {
  Config config = PlainConfig(2, 2, 1);
  config.micro_batch = 2;
  CHECK(PlanOf(config, VtrainRepairs::None()).micro_batches == 1);
  CHECK(PlanOf(config, VtrainRepairs::All()).micro_batches == 4);
}

TEST_CASE("groups of four in two nodes share the links with one another") {
  VtrainRepairs place;
  place.place_data_groups = true;
  // Stride 4 in nodes of 8: two members in a node, four groups a node.
  const Config config = PlainConfig(4, 4, 1);
  const Plan plan = PlanOf(config, place);
  const int64_t bytes = 8 * TransformerGradientBytes(config) +
                        EmbeddingGradientBytes(config) +
                        OutputGradientBytes(config);
  CHECK(plan.data_all_reduce_ns[kOnly] ==
        Approx(RingNs(bytes, 4, NodeBandwidth(800) / 4)));
}

TEST_CASE("a transfer inside a node goes over its links, once") {
  VtrainRepairs hop;
  hop.hop_by_link = true;
  // Stages of two: 0 and 1, 2 and 3 inside the node of 4, 1 to 2 leaves it.
  Config config = PlainConfig(2, 1, 4);
  config.node_size = 4;
  const Plan plan = PlanOf(config, hop);
  const auto bytes = static_cast<double>(ActivationBytes(config));
  REQUIRE(plan.hops_ns.size() == 3);
  CHECK(plan.hops_ns[0] == Approx(bytes / (150.0 * 1073741824) * 1e9));
  CHECK(plan.hops_ns[1] == Approx(bytes / (NodeBandwidth(800) / 2) * 1e9));
  CHECK(plan.hops_ns[2] == plan.hops_ns[0]);
}

TEST_CASE("buckets hold the size asked for, and all gradients together") {
  VtrainRepairs overlap;
  overlap.overlap_gradients = true;
  Config config = PlainConfig(1, 2, 1);
  CHECK(PlanOf(config, overlap).buckets[kOnly].size() == 10);
  // A layer has 24.03 MiB, embeddings and output layer 98 MiB and more.
  config.ddp_bucket_size = 48;
  const Plan plan = PlanOf(config, overlap);
  REQUIRE(plan.buckets[kOnly].size() == 6);
  CHECK(plan.buckets[kOnly][0].after_layer == 0);
  CHECK(plan.buckets[kOnly][1].after_layer == 2);
  CHECK(plan.buckets[kOnly].back().after_layer == 9);
}

}  // namespace
}  // namespace lmsimbench::vtrain
