#include "lmsimbench/measured_run.h"

#include <map>
#include <set>

#include "catch2/catch.hpp"
#include "lib/profile/run_cells.h"
#include "test/profile/temporary_folder.h"

namespace lmsimbench {
namespace {

const std::vector<MeasuredRun>& Runs() {
  static const std::vector<MeasuredRun> runs = [] {
    const auto bundle = Bundle::Embedded();
    REQUIRE(bundle.ok());
    const auto read = ReadRuns(*bundle);
    REQUIRE(read.ok());
    return *read;
  }();
  return runs;
}

const MeasuredRun& Run(const std::string& record) {
  for (const MeasuredRun& run : Runs()) {
    if (run.record_id == record) return run;
  }
  FAIL("no run " << record);
  return Runs().front();
}

// What the reader says of options.
struct Options {
  explicit Options(const std::string& text)
      : status(ReadOptions(text, workload, config)) {}
  Workload workload;
  ParallelConfig config;
  absl::Status status;
};

std::string Complaint(const std::string& options) {
  return std::string(Options(options).status.message());
}

TEST_CASE("every row of the tables is read") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  CHECK(Runs().size() == bundle->ViewOrEmpty("iterations").rows());
  const auto failed = ReadFailedRuns(*bundle);
  REQUIRE(failed.ok());
  CHECK(failed->size() == bundle->ViewOrEmpty("failed_configurations").rows());
}

TEST_CASE("a row becomes workload, configuration and measurement") {
  // Cells as lib/measurements/iterations.csv has them.
  const MeasuredRun& run = Run("nanotron-playbook-0001");
  CHECK(run.source == "nanotron-playbook");
  CHECK(run.platform == "h100-sxm5-80g");
  CHECK(run.platform_as_stated == "H100-80GB");
  CHECK(run.split == "fit");
  CHECK(run.grade == "A-");
  CHECK(run.ran);
  CHECK(run.devices == 8);
  CHECK(run.workload.model.name == "nanotron-1B");
  CHECK(run.workload.model.attention == AttentionKind::kMultiHead);
  CHECK(run.workload.model.hidden == 2048);
  CHECK(run.workload.model.ffn == 8192);
  CHECK(run.workload.model.gated_mlp == YesNo::kYes);
  CHECK(run.workload.model.experts == 0);
  CHECK(run.workload.seq_len == 4096);
  CHECK(run.workload.global_batch == 256);
  CHECK(run.workload.precision == Precision::kBf16);
  CHECK(run.workload.attention_impl == AttentionImpl::kFlash);
  CHECK(run.config.dp == 8);
  CHECK(run.config.etp == kNoCount);
  CHECK(run.config.micro_batch == 2);
  CHECK(run.config.grad_accumulation == 16);
  CHECK(run.config.zero == ZeroStage::kNone);
  CHECK(run.config.recompute == Recompute::kNone);
  CHECK(run.iteration_time_s == Approx(3.26456).epsilon(1e-15));
  CHECK(run.tokens_per_s_per_device == 40150);
  CHECK(run.model_flops_utilisation == Approx(0.392).epsilon(1e-15));
  CHECK_FALSE(IsStated(run.model_flops_per_device));
  CHECK(run.peak_memory_bytes == 50.2 * 1073741824);
  CHECK(run.memory_scope == MemoryScope::kAllocated);
}

TEST_CASE("a mixture of experts states the width of an expert") {
  // DeepSeek-V3 has routed experts of width 2048.
  for (const MeasuredRun& run : Runs()) {
    if (run.workload.model.name != "DeepSeek-V3") continue;
    CHECK(run.workload.model.experts == 256);
    CHECK(run.workload.model.top_k == 8);
    CHECK(run.workload.model.expert_ffn == 2048);
    // That of the dense layers stands in the notes of some.
    CHECK((run.workload.model.ffn == 18432) ==
          (run.workload.model.dense_first_layers > 0));
  }
}

TEST_CASE("each option of the tables reaches its field") {
  const Options o(
      "attention_impl=flash;cp_algorithm=ulysses_cp_algo;deterministic=True;"
      "fused_norm=False;grad_accumulation=3;head_dim=64;kv_lora_rank=512;"
      "moe_dense_first_layers=1;moe_dispatcher=alltoall_seq;"
      "moe_grouped_gemm=True;mtp_layers=1;overlap_grad_reduce=True;"
      "overlap_param_gather=False;packed=True;q_lora_rank=1536;"
      "qk_nope_head_dim=128;qk_rope_head_dim=64;recompute_layers=7;"
      "recompute_method=block;schedule=dualpipev;shared_experts=2;"
      "stage_layers=17,20,22,21;v_head_dim=128;zero_group=8");
  REQUIRE(o.status.ok());
  CHECK(o.workload.attention_impl == AttentionImpl::kFlash);
  CHECK(o.workload.deterministic == YesNo::kYes);
  CHECK(o.workload.fused_norm == YesNo::kNo);
  CHECK(o.workload.grouped_gemm == YesNo::kYes);
  CHECK(o.workload.packed == YesNo::kYes);
  CHECK(o.workload.model.head_dim == 64);
  CHECK(o.workload.model.kv_lora_rank == 512);
  CHECK(o.workload.model.q_lora_rank == 1536);
  CHECK(o.workload.model.qk_nope_head_dim == 128);
  CHECK(o.workload.model.qk_rope_head_dim == 64);
  CHECK(o.workload.model.v_head_dim == 128);
  CHECK(o.workload.model.dense_first_layers == 1);
  CHECK(o.workload.model.shared_experts == 2);
  CHECK(o.workload.model.mtp_layers == 1);
  CHECK(o.config.context_algorithm == ContextAlgorithm::kUlysses);
  CHECK(o.config.grad_accumulation == 3);
  CHECK(o.config.expert_dispatch == ExpertDispatch::kAllToAllSequence);
  CHECK(o.config.overlap_grad_reduce == YesNo::kYes);
  CHECK(o.config.overlap_param_gather == YesNo::kNo);
  CHECK(o.config.recompute_layers == 7);
  CHECK(o.config.recompute_method == RecomputeMethod::kBlock);
  CHECK(o.config.schedule == Schedule::kDualPipeV);
  CHECK(o.config.stage_layers == std::vector<int64_t>{17, 20, 22, 21});
  CHECK(o.config.zero_group == 8);
}

TEST_CASE("the sources' own words are understood") {
  CHECK(Options("cp_algorithm=megatron_cp_algo").config.context_algorithm ==
        ContextAlgorithm::kRing);
  CHECK(Options("cp_algorithm=hybrid_cp_algo").config.context_algorithm ==
        ContextAlgorithm::kHybrid);
  CHECK(Options("flash_attention=True").workload.flash_attention ==
        YesNo::kYes);
  CHECK(Options("flash_attention=False").workload.flash_attention ==
        YesNo::kNo);
  CHECK(
      Options("moe_dense_first_layers=-1").workload.model.dense_first_layers ==
      0);
  CHECK(Options("zero_group=-1").config.zero_group == kNoCount);
}

TEST_CASE("an option without a field is refused with the nearest key") {
  CHECK(Complaint("zero_grup=8") ==
        "\"zero_grup\" is no option; did you mean \"zero_group\"?");
  CHECK(Complaint("schedule=dualpip") ==
        "option 'schedule': \"dualpip\" is no known value; did you mean "
        "\"dualpipe\"?");
  CHECK(Complaint("packed=yes") ==
        "option 'packed': \"yes\" is neither True nor False");
  CHECK(Complaint("zero_group=-2") ==
        "option 'zero_group': \"-2\" is neither a count nor -1 for 'not "
        "stated'");
  CHECK(Complaint("stage_layers=1,x") ==
        "option 'stage_layers': \"x\" is neither a count nor -1 for 'not "
        "stated'");
  CHECK(Complaint("dp=2") == "option 'dp': the table has a column for it");
  CHECK(Complaint("packed") == "\"packed\" is not of the form key=value");
  CHECK(Complaint("packed=") == "option 'packed' has no value");
  CHECK(Complaint("packed=1;packed=1") == "option 'packed' is there twice");
}

TEST_CASE("recomputation is read from its text") {
  const auto read = [](const std::string& text) {
    ParallelConfig config;
    REQUIRE(ReadRecompute(text, config).ok());
    return config;
  };
  CHECK(read("").recompute == Recompute::kNotStated);
  CHECK(read("none").recompute == Recompute::kNone);
  CHECK(read("selective").recompute == Recompute::kSelective);
  CHECK(read("full").recompute == Recompute::kFull);
  CHECK(read("op-level partial").recompute == Recompute::kOperators);
  CHECK(read("layers:70").recompute == Recompute::kLayers);
  CHECK(read("layers:70").recompute_layers == 70);
  ParallelConfig config;
  CHECK_FALSE(ReadRecompute("layers:0", config).ok());
  CHECK_FALSE(ReadRecompute("layers:", config).ok());
}

TEST_CASE("a memory scope is what its words name") {
  CHECK(ReadMemoryScope(
            "rank 0, torch peak (reads as rank 0, not the maximum)") ==
        MemoryScope::kAllocated);
  CHECK(ReadMemoryScope("allocated, rank unstated") == MemoryScope::kAllocated);
  CHECK(ReadMemoryScope("first or last stage, process, whole GB") ==
        MemoryScope::kProcess);
  CHECK(ReadMemoryScope("reserved") == MemoryScope::kReserved);
  CHECK(ReadMemoryScope("as stated") == MemoryScope::kNotStated);
  CHECK(ReadMemoryScope("") == MemoryScope::kNotStated);
}

TEST_CASE("a configuration is its text, the number of micro-batches aside") {
  CHECK(
      OptionsWithoutAccumulation("grad_accumulation=16;attention_impl=flash") ==
      "attention_impl=flash");
  CHECK(OptionsWithoutAccumulation("packed=True;grad_accumulation=16") ==
        "packed=True");
  CHECK(OptionsWithoutAccumulation("").empty());
  // An empty field is not a field of one.
  CHECK(Run("nanotron-playbook-0001").configuration_key ==
        "8|1|1|1|1|1||2|1|0|none|attention_impl=flash");
  // Not stating the number of micro-batches never joins two configurations.
  std::map<std::pair<std::string, std::string>, std::set<int64_t>> seen;
  for (const MeasuredRun& run : Runs()) {
    seen[{run.workload_id, run.configuration_key}].insert(
        run.config.grad_accumulation);
  }
  for (const auto& [key, counts] : seen) {
    INFO(key.first << " " << key.second);
    CHECK(counts.size() == 1);
  }
}

TEST_CASE("a failed run has the key of the measured one, if there is one") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto failed = ReadFailedRuns(*bundle);
  REQUIRE(failed.ok());
  std::set<std::pair<std::string, std::string>> measured;
  for (const MeasuredRun& run : Runs()) {
    measured.insert({run.workload_id, run.configuration_key});
  }
  std::set<std::pair<std::string, std::string>> also_measured;
  for (const MeasuredRun& run : *failed) {
    CHECK_FALSE(run.ran);
    CHECK(run.failure_cause_unknown);  // their one source does not separate
    CHECK(run.workload.model.attention == AttentionKind::kMultiHead);
    const auto key = std::make_pair(run.workload_id, run.configuration_key);
    if (measured.count(key) != 0) also_measured.insert(key);
  }
  // Counted in the tables with an independent script.
  CHECK(also_measured.size() == 17);
}

TEST_CASE("a failure's cause is known where the outcome names memory alone") {
  const TemporaryFolder folder;
  folder.Write("sources.csv", "source_id,where,license\nhere,x,MIT\n");
  const std::string cells = ",w,fit,here,p,1,m,1,1,1,1,";
  folder.Write("failed_configurations.csv",
               "record_id,workload_id,split,source_id,platform,devices_total,"
               "model,dp,tp,pp,cp,outcome\na" +
                   cells + "out of memory\nb" + cells + "crashed\nc" + cells +
                   "OOM or crashed\nd" + cells + "\n");
  REQUIRE(BuildBundle(folder.path(), folder.path("b")).ok());
  const auto bundle = Bundle::Open(folder.path("b"));
  REQUIRE(bundle.ok());
  const auto failed = ReadFailedRuns(*bundle);
  REQUIRE(failed.ok());
  CHECK_FALSE((*failed)[0].failure_cause_unknown);
  CHECK((*failed)[1].failure_cause_unknown);
  CHECK((*failed)[2].failure_cause_unknown);
  CHECK((*failed)[3].failure_cause_unknown);
}

TEST_CASE("a row that contradicts itself is refused by its record") {
  const TemporaryFolder folder;
  folder.Write("sources.csv", "source_id,where,license\nhere,x,MIT\n");
  folder.Write("iterations.csv",
               "record_id,workload_id,split,source_id,platform,devices_total,"
               "model,dp,tp,pp,cp,recompute,options\n"
               "a,w,fit,here,p,1,m,1,1,1,1,layers:2,recompute_layers=3\n");
  REQUIRE(BuildBundle(folder.path(), folder.path("b")).ok());
  const auto bundle = Bundle::Open(folder.path("b"));
  REQUIRE(bundle.ok());
  CHECK(ReadRuns(*bundle).status().message() ==
        "iterations, row 'a': recomputes layers:2, but its options say 3");
}

TEST_CASE("a run without a table of iterations is no error") {
  const TemporaryFolder folder;
  folder.Write("sources.csv", "source_id,where,license\nhere,x,MIT\n");
  REQUIRE(BuildBundle(folder.path(), folder.path("b")).ok());
  const auto bundle = Bundle::Open(folder.path("b"));
  REQUIRE(bundle.ok());
  CHECK(ReadRuns(*bundle)->empty());
  CHECK(ReadFailedRuns(*bundle)->empty());
}

}  // namespace
}  // namespace lmsimbench
