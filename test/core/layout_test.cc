#include "lmsimbench/layout.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "absl/strings/match.h"

namespace lmsimbench {
namespace {

using Layers = std::vector<int64_t>;

ModelSpec ModelOf(int64_t layers) {
  ModelSpec model;
  model.name = "m";
  model.layers = layers;
  return model;
}

ParallelConfig Stages(int64_t pp, StagePlacement placement) {
  ParallelConfig config;
  config.pp = pp;
  config.placement = placement;
  return config;
}

// The rows "vocabulary" of the collected cases.
TEST_CASE("a vocabulary is padded to a multiple of divisor times tp") {
  CHECK(PaddedVocab(50257, 1, 2) == 50258);
  CHECK(PaddedVocab(50257, 128, 1) == 50304);
  CHECK(PaddedVocab(50257, 128, 2) == 50432);
  CHECK(PaddedVocab(50257, 128, 4) == 50688);
  CHECK(PaddedVocab(50257, 128, 8) == 51200);
}

TEST_CASE("a vocabulary that already is a multiple is not padded again") {
  CHECK(PaddedVocab(151936, 1, 2) == 151936);
  CHECK(PaddedVocab(151936, 1, 2) / 2 == 75968);
  CHECK(PaddedVocab(PaddedVocab(50257, 128, 8), 128, 8) == 51200);
  // DeepSeek-V3 and Qwen: Megatron-LM's rule with divisor 128.
  CHECK(PaddedVocab(129280, 128, 2) == 129280);
  CHECK(PaddedVocab(129280, 128, 16) == 131072);
  CHECK(PaddedVocab(151936, 128, 8) == 152576);
}

TEST_CASE(
    "even placement refuses layers that do not divide and offers a list") {
  const auto layers =
      StageLayers(ModelOf(30), Stages(4, StagePlacement::kEven));
  CHECK(absl::IsInvalidArgument(layers.status()));
  CHECK(absl::StrContains(layers.status().message(), "30 layers"));
  CHECK(absl::StrContains(layers.status().message(), "[8,8,7,7]"));
  CHECK(*StageLayers(ModelOf(32), Stages(4, StagePlacement::kEven)) ==
        Layers{8, 8, 8, 8});
}

TEST_CASE("the policy says which stages take more") {
  CHECK(PlaceLayers(61, 4, StagePlacement::kRemainderFirst) ==
        Layers{16, 15, 15, 15});
  CHECK(PlaceLayers(61, 4, StagePlacement::kRemainderLast) ==
        Layers{15, 15, 15, 16});
  CHECK(PlaceLayers(61, 4, StagePlacement::kEven).empty());
}

TEST_CASE("balanced stages count embedding and output layer as layers") {
  CHECK(PlaceLayers(6, 4, StagePlacement::kBalanced) == Layers{1, 2, 2, 1});
  // 63 units on 4 stages: 16, 16, 16, 15.
  CHECK(PlaceLayers(61, 4, StagePlacement::kBalanced) ==
        Layers{15, 16, 16, 14});
  CHECK(PlaceLayers(7, 1, StagePlacement::kBalanced) == Layers{7});
  // The first and the last stage may hold no layer at all.
  CHECK(PlaceLayers(2, 4, StagePlacement::kBalanced) == Layers{0, 1, 1, 0});
  CHECK(PlaceLayers(1, 5, StagePlacement::kBalanced) == Layers{0, 1, 0, 0, 0});
}

TEST_CASE("every policy places every layer") {
  for (int64_t layers = 1; layers < 40; ++layers) {
    for (int64_t parts = 1; parts < 40; ++parts) {
      for (StagePlacement placement :
           {StagePlacement::kRemainderFirst, StagePlacement::kRemainderLast,
            StagePlacement::kBalanced}) {
        const Layers placed = PlaceLayers(layers, parts, placement);
        REQUIRE(placed.size() == static_cast<size_t>(parts));
        REQUIRE(std::accumulate(placed.begin(), placed.end(), int64_t{0}) ==
                layers);
        REQUIRE(*std::min_element(placed.begin(), placed.end()) >= 0);
      }
    }
  }
}

TEST_CASE("a placement that is not stated is even or not known") {
  CHECK(*StageLayers(ModelOf(8), Stages(4, StagePlacement::kNotStated)) ==
        Layers{2, 2, 2, 2});
  const auto unknown =
      StageLayers(ModelOf(9), Stages(4, StagePlacement::kNotStated));
  CHECK(absl::IsFailedPrecondition(unknown.status()));
  CHECK(absl::StrContains(unknown.status().message(), "[3,2,2,2]"));
}

TEST_CASE("an explicit list is taken as it is, and checked") {
  ParallelConfig config;
  config.pp = 4;
  config.stage_layers = {1, 2, 2, 3};
  CHECK(*StageLayers(ModelOf(8), config) == Layers{1, 2, 2, 3});
  CHECK(absl::StrContains(StageLayers(ModelOf(9), config).status().message(),
                          "sums to 8, the model has 9 layers"));
  config.stage_layers = {4, 5};
  CHECK(absl::StrContains(StageLayers(ModelOf(9), config).status().message(),
                          "2 entries for 4 stages"));
  config.stage_layers = {-1, 3, 3, 4};
  CHECK_FALSE(StageLayers(ModelOf(9), config).ok());
}

TEST_CASE("virtual stages go round the ranks") {
  ParallelConfig config = Stages(4, StagePlacement::kRemainderFirst);
  config.vpp = 2;
  CHECK(*ChunkLayers(ModelOf(62), config) == Layers{8, 8, 8, 8, 8, 8, 7, 7});
  CHECK(*StageLayers(ModelOf(62), config) == Layers{16, 16, 15, 15});
  config.stage_layers = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(*StageLayers(ModelOf(36), config) == Layers{6, 8, 10, 12});
  CHECK(RankOfChunk(config, 6) == 2);
}

TEST_CASE("a V-shaped schedule goes there and back") {
  ParallelConfig config;
  config.pp = 4;
  config.schedule = Schedule::kDualPipeV;
  config.stage_layers = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(ChunksPerRank(config) == 2);
  CHECK(*StageLayers(ModelOf(36), config) == Layers{9, 9, 9, 9});
  CHECK(RankOfChunk(config, 4) == 3);
  CHECK(RankOfChunk(config, 7) == 0);
}

TEST_CASE(
    "a list of stages is cut into equal chunks, or the chunks must be "
    "listed") {
  ParallelConfig config;
  config.pp = 2;
  config.vpp = 2;
  config.stage_layers = {6, 4};
  CHECK(*ChunkLayers(ModelOf(10), config) == Layers{3, 2, 3, 2});
  config.stage_layers = {5, 5};
  CHECK(*StageLayers(ModelOf(10), config) == Layers{5, 5});
  CHECK(absl::IsInvalidArgument(ChunkLayers(ModelOf(10), config).status()));
}

TEST_CASE("a model or a size that cannot be placed is an error, not a crash") {
  CHECK(absl::IsFailedPrecondition(
      StageLayers(ModelSpec(), ParallelConfig()).status()));
  ParallelConfig config;
  config.pp = 0;
  CHECK(absl::IsInvalidArgument(StageLayers(ModelOf(8), config).status()));
  config.pp = int64_t{1} << 40;
  CHECK(absl::IsInvalidArgument(
      StageLayers(ModelOf(int64_t{1} << 40), config).status()));
}

TEST_CASE("keys and values are copied where tensor ranks outnumber them") {
  CHECK(KvReplication(8, 4) == 1);
  CHECK(KvReplication(8, 8) == 1);
  CHECK(KvReplication(2, 8) == 4);
}

// 4 devices, TP 1, PP 2, CP 1, EP 2, ETP 1: a case with a known answer.
TEST_CASE("experts are divided over all ranks of a stage") {
  ParallelConfig config;
  config.dp = 2;
  config.pp = 2;
  config.ep = 2;
  config.etp = 1;
  CHECK(ExpertTensorParallel(config) == 1);
  CHECK(ExpertDataParallel(config) == 1);
}

TEST_CASE(
    "experts take the tensor parallelism of the other layers if it fits") {
  ParallelConfig config;
  config.tp = 2;
  config.dp = 4;
  config.ep = 4;
  CHECK(ExpertTensorParallel(config) == 2);
  CHECK(ExpertDataParallel(config) == 1);
  config.ep = 8;  // 2 * 8 does not divide 8 devices
  CHECK(ExpertTensorParallel(config) == 1);
  CHECK(ExpertDataParallel(config) == 1);
}

TEST_CASE("micro-batches follow from the batch, else they are as stated") {
  Workload workload;
  ParallelConfig config;
  CHECK(MicroBatches(workload, config) == kNoCount);
  config.grad_accumulation = 5;
  CHECK(MicroBatches(workload, config) == 5);
  workload.global_batch = 64;
  config.dp = 4;
  config.micro_batch = 2;
  CHECK(MicroBatches(workload, config) == 8);
  config.micro_batch = 3;
  CHECK(MicroBatches(workload, config) == kNoCount);
}

}  // namespace
}  // namespace lmsimbench
