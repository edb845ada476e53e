// SimGrid as a cost model of collectives, through the C interface alone.
//
// Scores it on measured collectives beside the library's own models, lets it
// compare two topologies, and runs it through the five stages.

#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "columns.h"
#include "fabric.h"
#include "handles.h"
#include "lmsimbench/c.h"
#include "measured_collectives.h"
#include "simgrid_model.h"

namespace {

using namespace embed;

CostModel ModelOf(SimgridModel& simgrid) {
  const lmsb_cost_model_functions functions = simgrid.Functions();
  return Make<CostModel>(lmsb_cost_model_new, &functions);
}

System Platform(const Bundle& bundle, const std::string& name) {
  return Make<System>(lmsb_system_find, bundle.get(), name.data(), name.size());
}

// A platform with its nodes joined by what the source of a row says. A machine
// is not a link: "a100_dgx" is what the platform describes.
System AsMeasured(const Bundle& bundle, const MeasuredCollective& row) {
  System system = Platform(bundle, row.platform);
  const std::string field = "network[1].link";
  if (row.asked.nodes > 1 && row.link.find("dgx") == std::string::npos) {
    Need(lmsb_system_set_text(system.get(), field.data(), field.size(),
                              row.link.data(), row.link.size()));
  }
  return system;
}

// Geometric mean of the factors by which predictions are off, minus 1.
class Gmae {
 public:
  void Add(double predicted, double measured) {
    if (std::isnan(predicted)) return;
    sum_ += std::abs(std::log(predicted / measured));
    ++count_;
  }
  int Count() const { return count_; }
  double Percent() const { return 100 * (std::exp(sum_ / count_) - 1); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

// What the rows of one line of the table have in common.
using Line = std::tuple<std::string, std::string, bool>;

std::string TopologyName(const MeasuredCollective& row) {
  if (row.asked.nodes == 1) return "NVSwitch node";
  return row.link.find("Slingshot") != std::string::npos ? "dragonfly"
                                                         : "fat tree";
}

void ScoreOnMeasured(const Bundle& bundle, const CostModel& simgrid,
                     const CostModel& on_fat_tree) {
  struct Errors {
    Gmae simgrid, collectives, standard;
  };
  std::map<Line, Errors> lines;
  Errors all;
  Gmae slingshot_dragonfly, slingshot_fat_tree;
  size_t not_answered = 0;

  const CostModel collectives = BuiltIn(bundle, "collectives");
  const CostModel standard = BuiltIn(bundle, "default");
  const std::vector<MeasuredCollective> rows = ReadMeasured(bundle);
  std::map<std::pair<std::string, std::string>,
           std::vector<const MeasuredCollective*>>
      systems;
  for (const MeasuredCollective& row : rows) {
    systems[{row.platform, row.asked.nodes > 1 ? row.link : ""}].push_back(
        &row);
  }
  for (const auto& [name, of_system] : systems) {
    std::vector<Asked> asked;
    for (const MeasuredCollective* row : of_system) asked.push_back(row->asked);
    const System platform = Platform(bundle, name.first);
    const System measured = AsMeasured(bundle, *of_system.front());
    const std::vector<double> by_simgrid = Ask(simgrid, measured, asked);
    const std::vector<double> by_collectives =
        Ask(collectives, platform, asked);
    const std::vector<double> by_standard = Ask(standard, platform, asked);
    const std::vector<double> as_fat_tree = Ask(on_fat_tree, measured, asked);
    for (size_t i = 0; i < asked.size(); ++i) {
      const MeasuredCollective& row = *of_system[i];
      if (std::isnan(by_simgrid[i])) {
        ++not_answered;
        continue;
      }
      const std::string topology = TopologyName(row);
      for (Errors* errors :
           {&lines[{topology, row.kind, row.asked.bytes >= 1 << 20}], &all}) {
        errors->simgrid.Add(by_simgrid[i], row.seconds);
        errors->collectives.Add(by_collectives[i], row.seconds);
        errors->standard.Add(by_standard[i], row.seconds);
      }
      if (topology == "dragonfly") {
        slingshot_dragonfly.Add(by_simgrid[i], row.seconds);
        slingshot_fat_tree.Add(as_fat_tree[i], row.seconds);
      }
    }
  }

  std::printf(
      "Collectives of NCCL, rows of split test: GMAE in %%\n"
      "%-14s  %-14s  %-8s  %4s  %8s  %11s  %7s\n",
      "topology", "collective", "size", "rows", "simgrid", "collectives",
      "default");
  for (const auto& [line, errors] : lines) {
    const auto& [topology, kind, large] = line;
    std::printf("%-14s  %-14s  %-8s  %4d  %8.1f  %11.1f  %7.1f\n",
                topology.c_str(), kind.c_str(), large ? ">= 1 MiB" : "< 1 MiB",
                errors.simgrid.Count(), errors.simgrid.Percent(),
                errors.collectives.Percent(), errors.standard.Percent());
  }
  std::printf("%-14s  %-14s  %-8s  %4d  %8.1f  %11.1f  %7.1f\n", "all", "", "",
              all.simgrid.Count(), all.simgrid.Percent(),
              all.collectives.Percent(), all.standard.Percent());
  std::printf(
      "Not answered: %zu of %zu rows, of whose topology or links nothing is "
      "stated\n",
      not_answered, rows.size());
  std::printf(
      "The rows on Slingshot as a dragonfly: %.1f %%; as a fat tree: %.1f "
      "%%\n\n",
      slingshot_dragonfly.Percent(), slingshot_fat_tree.Percent());
}

void CompareTopologies(const Bundle& bundle, const CostModel& fat_tree,
                       const CostModel& dragonfly) {
  const System system = Platform(bundle, "a100-sxm4-80g");
  std::printf(
      "256 MiB over nodes of eight a100-sxm4-80g, not measured: ms\n"
      "%-14s  %7s  %8s  %9s\n",
      "collective", "members", "fat tree", "dragonfly");
  struct Case {
    const char* name;
    uint8_t kind;
    int64_t nodes;
  };
  const Case cases[] = {
      {"all_gather", LMSB_COLLECTIVE_ALL_GATHER, 8},
      {"all_to_all", LMSB_COLLECTIVE_ALL_TO_ALL, 2},
      {"all_to_all", LMSB_COLLECTIVE_ALL_TO_ALL, 8},
  };
  for (const Case& of : cases) {
    Asked asked;
    asked.kind = of.kind;
    asked.level = 1;
    asked.bytes = 256 << 20;
    asked.nodes = of.nodes;
    asked.members_per_node = 8;
    asked.members = of.nodes * asked.members_per_node;
    std::printf("%-14s  %7d  %8.3f  %9.3f\n", of.name,
                static_cast<int>(asked.members),
                1e3 * Ask(fat_tree, system, {asked})[0],
                1e3 * Ask(dragonfly, system, {asked})[0]);
  }
  std::printf("\n");
}

double Field(const Prediction& prediction, const std::string& field) {
  double value = 0;
  Need(lmsb_prediction_f64(prediction.get(), field.data(), field.size(),
                           &value));
  return value;
}

// Seconds of communication that nothing hides, of the rank with most of it.
double Exposed(const Prediction& prediction) {
  const std::string list = "ranks";
  size_t ranks = 0;
  Need(lmsb_prediction_count(prediction.get(), list.data(), list.size(),
                             &ranks));
  double most = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    most = std::fmax(most, Field(prediction, "ranks[" + std::to_string(rank) +
                                                 "].exposed_communication_s"));
  }
  return most;
}

void PredictWith(const char* name, const CostModel& model,
                 const lmsb_workload* workload, const System& system,
                 const lmsb_config* config) {
  const std::string label = name;
  const Simulator simulator = Make<Simulator>(
      lmsb_simulator_staged, label.data(), label.size(), model.get());
  const Prediction prediction = Make<Prediction>(lmsb_prediction_new);
  Need(lmsb_simulator_predict(simulator.get(), workload, system.get(), config,
                              nullptr, prediction.get()));
  std::printf("%-20s  %10.1f  %21.1f\n", name,
              1e3 * Field(prediction, "iteration_time_s"),
              1e3 * Exposed(prediction));
}

// Asks the model questions of every kind and prints what it does wrong.
void Check(const Bundle& bundle, SimgridModel& simgrid) {
  const lmsb_cost_model_functions functions = simgrid.Functions();
  lmsb_text* made = nullptr;
  const lmsb_code code = lmsb_cost_model_check(&made, bundle.get(), &functions);
  const Text report(made);
  if (code != LMSB_OK && report == nullptr) Need(code);
  std::printf("Conformance: %s\n\n",
              code == LMSB_OK ? "no fault" : lmsb_text_data(report.get()));
}

// A measured run with its collectives simulated by SimGrid and its operators by
// the library.
void RunThroughStages(const Bundle& bundle, const CostModel& simgrid) {
  const std::string record = "korthikanti22-0006";
  const Measurements measurements =
      Make<Measurements>(lmsb_measurements_open, bundle.get());
  size_t run = 0;
  Need(lmsb_measurements_find(measurements.get(), record.data(), record.size(),
                              &run));
  const lmsb_workload* const workload =
      lmsb_measurements_run_workload(measurements.get(), run);
  const lmsb_config* const config =
      lmsb_measurements_run_config(measurements.get(), run);
  const System system =
      Make<System>(lmsb_measurements_run_system, measurements.get(), run);

  const CostModel standard = BuiltIn(bundle, "staged");
  const lmsb_cost_model* const parts[] = {simgrid.get(), standard.get()};
  const std::string name = "simgrid, staged";
  const CostModel both = Make<CostModel>(lmsb_cost_model_composite, name.data(),
                                         name.size(), parts, size_t{2});
  std::printf(
      "Run %s (GPT of 530e9 parameters on 280 A100) through the five stages: "
      "ms\n"
      "%-20s  %10s  %21s\n",
      record.c_str(), "collectives by", "iteration", "exposed communication");
  PredictWith("simgrid", both, workload, system, config);
  PredictWith("built-in", standard, workload, system, config);
  lmsb_table* made = nullptr;
  Need(lmsb_measurements_runs(measurements.get(), &made));
  const Table runs(made);
  const double* const measured_s =
      Numbers(lmsb_table_view(runs.get()), "iteration_time_s");
  std::printf("%-20s  %10.1f\n", "measured", 1e3 * measured_s[run]);
}

}  // namespace

int main() {
  const Bundle bundle = Make<Bundle>(lmsb_bundle_open_embedded);
  SimgridModel as_stated;
  SimgridModel fat_tree(Topology::kFatTree);
  SimgridModel dragonfly(Topology::kDragonfly);
  const CostModel simgrid = ModelOf(as_stated);
  const CostModel on_fat_tree = ModelOf(fat_tree);
  const CostModel on_dragonfly = ModelOf(dragonfly);

  Check(bundle, as_stated);
  ScoreOnMeasured(bundle, simgrid, on_fat_tree);
  CompareTopologies(bundle, on_fat_tree, on_dragonfly);
  RunThroughStages(bundle, simgrid);
}
