#include "lmsimbench/lookup.h"

#include <algorithm>
#include <set>

#include "catch2/catch.hpp"
#include "lmsimbench/json.h"
#include "lmsimbench/measured_run.h"
#include "test/profile/temporary_folder.h"

namespace lmsimbench {
namespace {

const Bundle& Embedded() {
  static const Bundle bundle = [] {
    auto opened = Bundle::Embedded();
    REQUIRE(opened.ok());
    return *opened;
  }();
  return bundle;
}

std::vector<NamedModel> Models() {
  auto models = NamedModels(Embedded());
  REQUIRE(models.ok());
  return *std::move(models);
}

TEST_CASE("models are sorted by name, and no two are the same") {
  const std::vector<NamedModel> models = Models();
  CHECK(models.size() > 200);
  std::set<std::string> seen;
  for (size_t i = 0; i < models.size(); ++i) {
    INFO(models[i].name);
    if (i > 0) CHECK(models[i - 1].name < models[i].name);
    CHECK(seen.insert(ToJson(models[i].model)).second);
  }
}

TEST_CASE("a listed model is found by each of its names") {
  const std::vector<NamedModel> models = Models();
  // Looking one up reads all runs, so only some are tried: plain names, names
  // with a source, and names with facts.
  for (size_t i = 0; i < models.size(); i += 23) {
    std::vector<std::string> names = models[i].also_called;
    names.push_back(models[i].name);
    for (const std::string& name : names) {
      INFO(name);
      const auto model = FindModel(Embedded(), name);
      REQUIRE(model.ok());
      CHECK(*model == models[i].model);
    }
  }
}

TEST_CASE("the model of every run is listed") {
  const auto runs = ReadRuns(Embedded());
  REQUIRE(runs.ok());
  std::set<std::string> listed;
  for (const NamedModel& named : Models()) {
    listed.insert(ToJson(named.model));
  }
  for (const MeasuredRun& run : *runs) {
    CHECK(listed.count(ToJson(run.workload.model)) == 1);
  }
}

TEST_CASE("a model of the table has its architecture") {
  const auto model = FindModel(Embedded(), "gemma2_27b_8k");
  REQUIRE(model.ok());
  CHECK(model->hidden == 4608);
  CHECK(model->layers == 46);
  CHECK(model->kv_heads == 16);
  CHECK(model->attention == AttentionKind::kGroupedQuery);
  CHECK(model->norm == NormKind::kRmsNorm);
  CHECK(model->norms_per_layer == 4);
  CHECK(model->sliding_window == 4096);
  CHECK(model->sliding_window_period == 2);
  CHECK(model->tied_embeddings == YesNo::kYes);
  CHECK(model->qkv_bias == YesNo::kNo);
  CHECK(model->linear_bias == YesNo::kNotStated);
  CHECK(model->experts == 0);
}

TEST_CASE("a name of several architectures asks which") {
  // In iterations.csv BigScience-182B-h13312 has rows with 64 and 128 heads.
  CHECK(FindModel(Embedded(), "BigScience-182B-h13312").status().message() ==
        "several models are called 'BigScience-182B-h13312': "
        "BigScience-182B-h13312@bigscience,heads=128 "
        "BigScience-182B-h13312@bigscience,heads=64");
  CHECK(FindModel(Embedded(), "BigScience-182B-h13312@bigscience,heads=64")
            ->kv_heads == 64);
  CHECK(absl::IsInvalidArgument(
      FindModel(Embedded(), "BigScience-182B-h13312@bigscience").status()));
  // GPT-5B has another shape in each of two sources.
  CHECK(FindModel(Embedded(), "GPT-5B@jax-toolbox-pax").ok());
  CHECK(FindModel(Embedded(), "GPT-5B@dgxc-benchmarking").ok());
}

TEST_CASE("an unknown name comes with the nearest") {
  CHECK(FindModel(Embedded(), "gema2_27b_8k").status().message() ==
        "no model is called 'gema2_27b_8k'; did you mean 'gemma2_27b_8k'?");
  CHECK(absl::IsNotFound(FindPlatform(Embedded(), "h100-sxm5-80").status()));
  CHECK(FindPlatform(Embedded(), "h100-sxm5-80").status().message() ==
        "no platform is called 'h100-sxm5-80'; did you mean 'h100-sxm5-80g'?");
  CHECK(
      absl::IsNotFound(FindConfig(Embedded(), "nanotron-playbook-1").status()));
}

TEST_CASE("a platform is a system in bytes, operations and bytes per second") {
  // Cells of platforms.csv: 16 GiB, 125 TFLOP/s, 900 GB/s, 6 MiB, 1530 MHz, 8 a
  // node with 150 GB/s, 6.25 GB/s between nodes.
  const auto system = FindPlatform(Embedded(), "v100-sxm2-16g");
  REQUIRE(system.ok());
  CHECK(system->name == "v100-sxm2-16g");
  CHECK(system->accelerator.vendor == "NVIDIA");
  CHECK(system->accelerator.memory_bytes == 16 * 1073741824.0);
  CHECK(system->accelerator.fp16_flops == 125e12);
  CHECK_FALSE(IsStated(system->accelerator.bf16_flops));
  CHECK(system->accelerator.memory_bandwidth == 900e9);
  CHECK(system->accelerator.cache_bytes == 6 * 1048576.0);
  CHECK(system->accelerator.cores == 80);
  CHECK(system->accelerator.clock_hz == 1530e6);
  CHECK(system->devices == kNoCount);
  REQUIRE(system->network.size() == 2);
  CHECK(DevicesPerNode(*system) == 8);
  CHECK(system->network[0].bandwidth == 150e9);
  CHECK(system->network[1].bandwidth == 6.25e9);
  CHECK_FALSE(IsStated(system->network[1].latency_s));
}

TEST_CASE("a fabric beyond the node is a level of the same link") {
  // "NVLink 5 + NVSwitch (72-GPU domain)": 18 trays of 4, of which jobs get 16.
  const auto system = FindPlatform(Embedded(), "gb200");
  REQUIRE(system.ok());
  REQUIRE(system->network.size() == 3);
  CHECK(system->network[0].size == 4);
  CHECK(system->network[1].name == "domain");
  CHECK(system->network[1].size == 16);
  CHECK(system->network[1].bandwidth == system->network[0].bandwidth);
  CHECK(system->network[1].link == system->network[0].link);
  CHECK(system->network[2].name == "cluster");
}

TEST_CASE("every listed platform is found") {
  const std::vector<std::string> names = PlatformNames(Embedded());
  CHECK(names.size() == Embedded().ViewOrEmpty("platforms").rows());
  for (const std::string& name : names) {
    CHECK(FindPlatform(Embedded(), name)->name == name);
  }
}

TEST_CASE("a path to JSON stands for a name") {
  const TemporaryFolder folder;
  const auto platform = FindPlatform(Embedded(), "v100-sxm2-16g");
  const auto model = FindModel(Embedded(), "gemma2_27b_8k");
  const auto config = FindConfig(Embedded(), "nanotron-playbook-0001");
  REQUIRE(platform.ok());
  REQUIRE(model.ok());
  REQUIRE(config.ok());
  CHECK(config->dp == 8);
  folder.Write("p.json", ToJson(*platform));
  folder.Write("m.json", ToJson(*model));
  folder.Write("c.json", ToJson(*config));
  CHECK(*FindPlatform(Embedded(), folder.path("p.json")) == *platform);
  CHECK(*FindModel(Embedded(), folder.path("m.json")) == *model);
  CHECK(*FindConfig(Embedded(), folder.path("c.json")) == *config);
}

TEST_CASE("an error in a JSON file names the file") {
  const TemporaryFolder folder;
  folder.Write("m.json", "{\"hiden\": 1}");
  const absl::Status status =
      FindModel(Embedded(), folder.path("m.json")).status();
  CHECK(absl::IsInvalidArgument(status));
  CHECK(std::string(status.message()).find(folder.path("m.json") + ": ") == 0);
  CHECK(std::string(status.message()).find("'hidden'") != std::string::npos);
  CHECK(absl::IsInvalidArgument(FindModel(Embedded(), "none.json").status()));
}

}  // namespace
}  // namespace lmsimbench
