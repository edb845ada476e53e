#include "lmsimbench/linked_rows.h"

#include "catch2/catch.hpp"
#include "lib/profile/run_index.h"
#include "lmsimbench/measured_run.h"

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

size_t Rows(const LinkedRun& run, const std::string& table) {
  for (const LinkedRows& rows : run.tables) {
    if (rows.table == table) return rows.rows.size();
  }
  return 0;
}

LinkedRun Find(const std::string& name) {
  const auto run = FindLinkedRun(Embedded(), name);
  INFO(run.status().ToString());
  REQUIRE(run.ok());
  return *run;
}

TEST_CASE("the four-rank Ascend run joins iteration, ranks and memory") {
  const LinkedRun run = Find("ascend-megatron-4rank-0001");
  CHECK(run.has_record);
  CHECK(Rows(run, "iterations") == 1);
  CHECK(Rows(run, "ranks") == 4);
  CHECK(Rows(run, "memory") == 2);
  CHECK(LevelsOf(run, false) ==
        std::vector<std::string>{"iterations", "memory", "ranks"});

  // Figures of the profile: the slowest rank's stage is the iteration, and of
  // each rank computing, communication and idle time are all of it.
  const auto runs = ReadRuns(Embedded());
  REQUIRE(runs.ok());
  for (const MeasuredRun& measured : *runs) {
    if (measured.record_id != run.name) continue;
    CHECK(measured.iteration_time_s == Approx(0.81015025).epsilon(1e-12));
    CHECK(measured.peak_memory_bytes == Approx(10818.1 * 1048576));
    CHECK(measured.memory_scope == MemoryScope::kAllocated);
    CHECK(measured.split == "demo");
  }
  const ProfileView& ranks = Embedded().ViewOrEmpty("ranks");
  for (const LinkedRows& rows : run.tables) {
    if (rows.table != "ranks") continue;
    for (const size_t row : rows.rows) {
      const double parts = (*ranks.F64("compute_us"))[row] +
                           (*ranks.F64("exposed_comm_us"))[row] +
                           (*ranks.F64("idle_us"))[row];
      CHECK(parts == Approx((*ranks.F64("total_us"))[row]).margin(0.2));
    }
  }
}

TEST_CASE("a record joins its pipeline run with the ranks of every stage") {
  // links.csv leads from mist-aceso-0010 to a run of 16 stages, 8 ranks logged.
  const LinkedRun run = Find("mist-aceso-0010");
  CHECK(Rows(run, "stage_runs") == 1);
  CHECK(Rows(run, "stage_times") == 8);
  CHECK(Rows(run, "ranks") == 8);
  CHECK(Rows(run, "memory") == 8);
  // Its run id leads to the same run.
  CHECK(Find("mist-aceso-l4-gpt_13B_16stages_2024-5-7-16-26-6").name ==
        "mist-aceso-0010");
}

TEST_CASE("a run without an iteration row is a run of its own") {
  const LinkedRun run = Find("vision_transformer");
  CHECK_FALSE(run.has_record);
  CHECK(run.source == "hta_vit8");
  CHECK(Rows(run, "linked_runs") == 1);
  CHECK(Rows(run, "ranks") == 8);
}

TEST_CASE("a run of one id on several platforms is several runs") {
  CHECK(absl::IsInvalidArgument(
      FindLinkedRun(Embedded(), "gpt3_27-train-2048-1").status()));
  // The traced operators of that run on that platform, and of no other.
  const LinkedRun run = Find("gpt3_27-train-2048-1@neusight_e2e@h100-sxm5-80g");
  CHECK(run.platform == "h100-sxm5-80g");
  CHECK(Rows(run, "linked_runs") == 1);
  CHECK(Rows(run, "operators") == 40);
}

TEST_CASE("kernels measured once for all runs of a source are shared") {
  const LinkedRun run = Find("simumax-b200-0004");
  CHECK(Rows(run, "linked_runs") == 1);
  CHECK(Rows(run, "gemms") > 0);
  CHECK(LevelsOf(run, false) == std::vector<std::string>{"iterations"});
  CHECK(LevelsOf(run, true) ==
        std::vector<std::string>{"iterations", "operators", "gemms"});
}

TEST_CASE("names of runs are unique, and each is found") {
  const std::vector<LinkedRun> runs = LinkedRuns(Embedded());
  std::vector<std::string> names;
  for (const LinkedRun& run : runs) {
    names.push_back(run.name);
    CHECK_FALSE(run.tables.empty());
    for (const LinkedRows& rows : run.tables) CHECK_FALSE(rows.rows.empty());
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(Find(runs.back().name).name == runs.back().name);
  CHECK(FindLinkedRun(Embedded(), "mist-aceso-010").status().message() ==
        "no run is called 'mist-aceso-010'; did you mean 'mist-aceso-0010'?");
}

TEST_CASE("no row of a lower table is lost from all runs") {
  for (const char* table :
       {"memory", "ranks", "stage_runs", "stage_times", "linked_runs"}) {
    std::vector<int> seen(Embedded().ViewOrEmpty(table).rows());
    for (const LinkedRun& run : LinkedRuns(Embedded())) {
      for (const LinkedRows& rows : run.tables) {
        if (rows.table != table) continue;
        for (const size_t row : rows.rows) ++seen[row];
      }
    }
    INFO(table);
    CHECK(std::count(seen.begin(), seen.end(), 0) == 0);
  }
}

TEST_CASE("the number of runs measured at several levels does not fall") {
  // Levels that a run reaches, with its own rows and with shared ones.
  const auto runs_with = [](size_t levels, bool with_shared) {
    size_t count = 0;
    for (const LinkedRun& run : LinkedRuns(Embedded())) {
      if (LevelsOf(run, with_shared).size() >= levels) ++count;
    }
    return count;
  };
  CHECK(runs_with(1, false) >= 4103);
  CHECK(runs_with(2, false) >= 97);
  CHECK(runs_with(3, false) >= 28);
  CHECK(runs_with(2, true) >= 151);
  CHECK(runs_with(3, true) >= 71);
}

TEST_CASE("where the other levels of a run are is read from its text") {
  const OtherLevels by_run = ReadOtherLevels(
      "operators.csv source_id=neusight_ops notes run=gpt2-train-1");
  CHECK(by_run.tables == std::vector<std::string>{"operators"});
  CHECK(by_run.source == "neusight_ops");
  CHECK(by_run.run == "gpt2-train-1");
  const OtherLevels by_source = ReadOtherLevels(
      "simumax_b200 (gemms.csv, operators.csv: TE GEMM, grouped GEMM)");
  CHECK(by_source.tables == std::vector<std::string>{"gemms", "operators"});
  CHECK(by_source.source == "simumax_b200");
  CHECK(by_source.run.empty());
  CHECK(ReadOtherLevels("").tables.empty());
}

}  // namespace
}  // namespace lmsimbench
