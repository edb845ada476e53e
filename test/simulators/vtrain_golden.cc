// Compares the model without repairs with outputs of the original, record by
// record.
//
//   vtrain_golden FILE...
//
// A FILE holds one JSON object a line, as described in test/golden/README.md,
// and may be compressed with gzip. Numbers agree within 1e-12 of the expected
// value (idle time, a difference, within 1e-12 of the end of its rank),
// failures by kind. Both simulations are compared: of every kernel, and
// folded. The last line is "N passed, N failed"; the exit code is 0 if there
// were records and all passed, 1 otherwise, 2 for a wrong command line.

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "lib/simulators/vtrain/folded_simulation.h"
#include "lib/simulators/vtrain/kernel_simulation.h"
#include "lib/simulators/vtrain/plan.h"
#include "lib/simulators/vtrain/read_config.h"
#include "lib/simulators/vtrain/task_timeline.h"
#include "lib/simulators/vtrain/trace.h"
#include "test/simulators/vtrain_records.h"

namespace lmsimbench::vtrain {
namespace {

constexpr double kTolerance = 1e-12;

struct Tally {
  int passed = 0;
  int failed = 0;
  int64_t values = 0;
  int64_t identical = 0;
};

// The differences of one record; the first few are printed.
class Differences {
 public:
  Differences(std::string id, Tally& tally)
      : id_(std::move(id)), tally_(tally) {}

  void Add(const std::string& what) {
    constexpr int kMostPrinted = 5;
    if (++count_ <= kMostPrinted) fmt::print("{}: {}\n", id_, what);
    if (count_ == kMostPrinted + 1) fmt::print("{}: and more\n", id_);
  }

  // `slack` is what the difference may be where that is more than the
  // tolerance of the value.
  void Compare(const std::string& name, const Json& expected, double got,
               double slack = 0) {
    if (!expected.is_number() && !expected.is_null()) {
      Add(fmt::format("{}: expected {}, which is no number", name,
                      expected.dump()));
      return;
    }
    const double value =
        expected.is_null() ? std::nan("") : expected.get<double>();
    ++tally_.values;
    if (value == got || (std::isnan(value) && std::isnan(got))) {
      ++tally_.identical;
      return;
    }
    const double allowed = std::max(kTolerance * std::fabs(value), slack);
    if (!(std::fabs(got - value) <= allowed)) {
      Add(fmt::format("{}: expected {}, got {}", name, expected.dump(), got));
    }
  }

  void Compare(const std::string& name, const Json& expected, int64_t got) {
    Compare(name, expected, static_cast<double>(got));
  }

  // Every member of `expected` is one of `values`, and the other way round.
  void CompareMembers(const std::string& name, const Json& expected,
                      const std::map<std::string, double>& values,
                      double idle_slack = 0) {
    if (!expected.is_object() || expected.size() != values.size()) {
      Add(fmt::format("{}: expected {} members, got {}", name, expected.size(),
                      values.size()));
      return;
    }
    for (const auto& [key, value] : expected.items()) {
      const auto found = values.find(key);
      if (found == values.end()) {
        Add(fmt::format("{}.{} is unknown", name, key));
      } else {
        Compare(name + "." + key, value, found->second,
                key == "idle_ns" ? idle_slack : 0);
      }
    }
  }

  bool Finish() {
    ++(count_ == 0 ? tally_.passed : tally_.failed);
    return count_ == 0;
  }

 private:
  std::string id_;
  Tally& tally_;
  int count_ = 0;
};

std::string StreamName(size_t rank) { return fmt::format("GPU{}", rank); }

void CompareResolved(const Json& expected, const Config& config,
                     Differences& differences) {
  Json got = {{"num_gpus", *config.num_gpus},
              {"gpu_name", config.gpu_name},
              {"tensor_parallel_size", *config.tensor_parallel},
              {"data_parallel_size", *config.data_parallel},
              {"pipeline_parallel_size", *config.pipeline_parallel},
              {"global_batch_size", config.global_batch},
              {"micro_batch_size", *config.micro_batch},
              {"num_layers", config.num_layers},
              {"hidden_size", config.hidden},
              {"num_attention_heads", config.num_heads},
              {"max_length", config.max_length},
              {"vocab_size", config.vocab},
              {"use_gradient_bucket", config.use_gradient_bucket},
              {"use_checkpoint", config.use_checkpoint},
              {"ddp_bucket_size", nullptr},
              {"pipeline_scheduling", config.pipeline_scheduling},
              {"inter_node_bandwidth", config.inter_node_bandwidth},
              {"intra_node_bandwidth", config.intra_node_bandwidth},
              {"node_size", config.node_size},
              {"model_arch", config.model_arch}};
  if (config.ddp_bucket_size.has_value()) {
    got["ddp_bucket_size"] = *config.ddp_bucket_size;
  }
  for (const auto& [key, value] : expected.items()) {
    if (!got.contains(key)) {
      differences.Add(fmt::format("resolved.{} is unknown", key));
    } else if (got[key] != value) {
      differences.Add(fmt::format("resolved.{}: expected {}, got {}", key,
                                  value.dump(), got[key].dump()));
    }
  }
  if (expected.size() != got.size()) {
    differences.Add(fmt::format("resolved: expected {} fields, got {}",
                                expected.size(), got.size()));
  }
}

void CompareOutputs(const std::string& how, const Json& expected,
                    const Outputs& got, Differences& differences) {
  std::map<std::string, double> finish = {
      {"Comm", got.communication_finish_ns}};
  std::map<std::string, double> layer_nodes = {
      {"Comm", static_cast<double>(got.communication_nodes)}};
  std::map<std::string, double> task_nodes = layer_nodes;
  for (size_t r = 0; r < got.ranks.size(); ++r) {
    const RankOutputs& rank = got.ranks[r];
    finish[StreamName(r)] = rank.finish_ns;
    layer_nodes[StreamName(r)] = static_cast<double>(rank.layer_nodes);
    task_nodes[StreamName(r)] = static_cast<double>(rank.task_nodes);
  }
  const auto member = [&expected](const char* name) {
    return expected.value(name, Json());
  };
  differences.Compare(how + "iteration_ns", member("iteration_ns"),
                      got.iteration_ns);
  differences.Compare(how + "num_microbatches", member("num_microbatches"),
                      got.micro_batches);
  differences.CompareMembers(how + "P", member("P"), finish);
  differences.CompareMembers(how + "layer_nodes", member("layer_nodes"),
                             layer_nodes);
  differences.CompareMembers(how + "task_nodes", member("task_nodes"),
                             task_nodes);

  const Json breakdown = member("breakdown");
  const Json ranks = member("ranks");
  if (breakdown.size() != got.ranks.size() + 1 ||
      ranks.size() != got.ranks.size()) {
    differences.Add(how + "another number of ranks");
    return;
  }
  differences.CompareMembers(how + "breakdown.Comm",
                             breakdown.value("Comm", Json()),
                             {{"compute", 0}, {"comm", got.communication_ns}});
  for (size_t r = 0; r < got.ranks.size(); ++r) {
    const RankOutputs& rank = got.ranks[r];
    const std::string name = StreamName(r);
    differences.CompareMembers(how + "breakdown." + name,
                               breakdown.value(name, Json()),
                               {{"compute", rank.compute_ns}, {"comm", 0}});
    differences.CompareMembers(
        fmt::format("{}ranks[{}]", how, r), ranks[r],
        {{"compute_ns", rank.compute_ns},
         {"tp_comm_ns", rank.tensor_communication_ns},
         {"dp_comm_ns", rank.data_communication_ns},
         {"gap_ns", rank.gap_ns},
         {"end_ns", rank.end_ns},
         {"bwd_end_ns", rank.backward_end_ns},
         {"dp_start_ns", rank.gradients_start_ns},
         {"wu_start_ns", rank.update_start_ns},
         {"last_fwd_start_ns", rank.last_forward_start_ns},
         {"idle_ns", rank.idle_ns},
         {"exposed_comm_ns", rank.exposed_communication_ns}},
        kTolerance * rank.end_ns);
  }
}

const char* TaskName(uint8_t name) {
  return name == kAllReduceTask ? "allreduce"
                                : PassName(static_cast<LayerPass>(name));
}

void CompareTimeline(const std::string& how, const Json& expected,
                     const std::vector<RankTasks>& got,
                     Differences& differences) {
  if (expected.size() != got.size()) {
    differences.Add(how + "timeline of another number of ranks");
    return;
  }
  for (size_t r = 0; r < got.size(); ++r) {
    const std::string place = fmt::format("{}timeline.GPU{}", how, r);
    const Json rows = expected.value(StreamName(r), Json());
    const RankTasks& tasks = got[r];
    if (rows.size() != tasks.name.size()) {
      differences.Add(fmt::format("{}: expected {} tasks, got {}", place,
                                  rows.size(), tasks.name.size()));
      continue;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string row = fmt::format("{}[{}]", place, i);
      if (rows[i].at(0) != TaskName(tasks.name[i])) {
        differences.Add(fmt::format("{}: expected {}, got {}", row,
                                    rows[i].at(0).dump(),
                                    TaskName(tasks.name[i])));
      }
      differences.Compare(row + " start", rows[i].at(1), tasks.start_ns[i]);
      differences.Compare(row + " duration", rows[i].at(2),
                          tasks.duration_ns[i]);
      differences.Compare(row + " gap", rows[i].at(3), tasks.gap_ns[i]);
    }
  }
}

void CompareTrace(const Json& record, const std::vector<NamedKernels>& expected,
                  Differences& differences) {
  std::vector<NamedKernels> read;
  const Error error =
      ReadTrace("trace", record["trace"].get<std::string>(), read);
  if (!error.ok()) {
    differences.Add(error.message);
    return;
  }
  std::map<std::string, std::vector<Kernel>> by_name;
  for (const NamedKernels& entry : read) by_name[entry.name] = entry.kernels;
  size_t matched = 0;
  for (const NamedKernels& entry : expected) {
    const auto& kernels = by_name[entry.name];
    bool same = kernels.size() == entry.kernels.size();
    for (size_t i = 0; same && i < kernels.size(); ++i) {
      same = kernels[i].duration_ns == entry.kernels[i].duration_ns &&
             kernels[i].gap_ns == entry.kernels[i].gap_ns;
    }
    if (!same) {
      differences.Add("the trace gives other kernels of " + entry.name);
    }
    ++matched;
  }
  if (by_name.size() != matched) {
    differences.Add("the trace gives kernels of other names");
  }
}

void CompareFailure(const Json& record, const Error& error,
                    Differences& differences) {
  const std::string expected =
      record.value("error", Json::object()).value("type", "");
  if (expected != ErrorName(error.kind)) {
    differences.Add(fmt::format("expected {}, got {} ({})", expected,
                                error.ok() ? "no error" : ErrorName(error.kind),
                                error.message));
  }
}

class Checker {
 public:
  void Check(const Json& record, Differences& differences) {
    const std::string kind = record.value("kind", "");
    if (kind == "comm_time") return CheckAllReduce(record, differences);
    if (kind == "p2p") return CheckHop(record, differences);
    if (kind != "sim" && kind != "config_error" && kind != "sim_error") {
      differences.Add(fmt::format("kind '{}' is unknown", kind));
      return;
    }
    Config config;
    Error error = ReadConfig(record.value("config", Json()), config);
    if (error.ok()) error = Resolve(VtrainRepairs::None(), config);
    if (kind == "config_error") {
      return CompareFailure(record, error, differences);
    }
    if (!error.ok()) {
      differences.Add(
          fmt::format("the configuration is refused: {}", error.message));
      return;
    }
    CompareResolved(record.value("resolved", Json()), config, differences);
    error = MakePlan(config, {}, plan_);
    if (kind == "sim_error") return CompareFailure(record, error, differences);
    if (!error.ok()) {
      differences.Add(fmt::format("the run is refused: {}", error.message));
      return;
    }
    CheckSimulation(record, differences);
  }

 private:
  void CheckSimulation(const Json& record, Differences& differences) {
    std::vector<NamedKernels> profile;
    if (!ReadKernels(record.value("kernels", Json()), profile)) {
      differences.Add("the record has no 'kernels'");
      return;
    }
    if (record.contains("trace")) CompareTrace(record, profile, differences);
    const KernelTable table = MakeKernelTable(profile);
    const Json expected = record.value("outputs", Json());
    std::vector<RankTasks> tasks;
    SimulateKernels(plan_, table, kernel_workspace_, outputs_, &tasks);
    CompareOutputs("", expected, outputs_, differences);
    if (record.contains("timeline")) {
      CompareTimeline("", record["timeline"], tasks, differences);
    }

    Fold(table, folded_);
    if (!folded_.foldable) return;
    FoldRanks(plan_, folded_, folded_ranks_);
    Simulate(plan_, folded_, folded_ranks_, workspace_, outputs_);
    CompareOutputs("folded ", expected, outputs_, differences);
    WriteTasks(plan_, table, workspace_, outputs_, timeline_);
    if (record.contains("timeline")) {
      SpellTasks(timeline_, tasks);
      CompareTimeline("folded ", record["timeline"], tasks, differences);
    }
  }

  void CheckAllReduce(const Json& record, Differences& differences) {
    const AllReduceTable* table =
        FindAllReduceTable(record.value("gpu_name", ""));
    if (table == nullptr) {
      differences.Add("no table of this device");
      return;
    }
    const double bandwidth = record.value("intra_node_bandwidth", 0.0);
    const int64_t members = record.value("group_size", int64_t{0});
    CompareTimes(record, differences, [&](int64_t bytes) {
      return AllReduceNs(*table, bandwidth, bytes, members, false);
    });
  }

  void CheckHop(const Json& record, Differences& differences) {
    const double bandwidth = record.value("inter_node_bandwidth", 0.0);
    CompareTimes(record, differences,
                 [&](int64_t bytes) { return HopNs(bytes, bandwidth); });
  }

  template <typename Time>
  void CompareTimes(const Json& record, Differences& differences, Time&& time) {
    const Json sizes = record.value("size_bytes", Json::array());
    const Json expected = record.value("time_ns", Json::array());
    if (sizes.empty() || sizes.size() != expected.size()) {
      differences.Add("as many sizes as times are needed");
      return;
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      differences.Compare(fmt::format("time_ns[{}]", i), expected[i],
                          time(sizes[i].get<int64_t>()));
    }
  }

  Plan plan_;
  Outputs outputs_;
  FoldedTable folded_;
  FoldedRanks folded_ranks_;
  KernelWorkspace kernel_workspace_;
  FoldedWorkspace workspace_;
  TaskTimeline timeline_;
};

bool CheckFile(const std::string& path, Checker& checker, Tally& tally) {
  std::vector<std::string> lines;
  const bool complete = ReadLines(path, lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json record = Json::parse(lines[i], nullptr, false);
    const std::string place = fmt::format("{}:{}", path, i + 1);
    if (record.is_object() && record.value("kind", "") == "header") continue;
    Differences differences(
        record.is_object() ? record.value("id", place) : place, tally);
    if (record.is_object()) {
      try {
        checker.Check(record, differences);
      } catch (const nlohmann::json::exception& bad) {
        differences.Add(bad.what());
      }
    } else {
      differences.Add("no JSON object");
    }
    differences.Finish();
  }
  if (!complete) fmt::print(stderr, "{} cannot be read to its end\n", path);
  return complete;
}

int Run(int count, char** arguments) {
  if (count < 2 || std::strncmp(arguments[1], "--", 2) == 0) {
    fmt::print(stderr, "usage: vtrain_golden FILE...\n");
    return 2;
  }
  Tally tally;
  Checker checker;
  bool complete = true;
  for (int i = 1; i < count; ++i) {
    complete = CheckFile(arguments[i], checker, tally) && complete;
  }
  fmt::print("{} of {} numbers are bit-identical\n", tally.identical,
             tally.values);
  fmt::print("{} passed, {} failed\n", tally.passed, tally.failed);
  return complete && tally.failed == 0 && tally.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace lmsimbench::vtrain

int main(int argc, char** argv) { return lmsimbench::vtrain::Run(argc, argv); }
