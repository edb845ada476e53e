// Compares the model with outputs of the original, record by record.
//
//   calculon_golden [--applications FILE] [--systems FILE] FILE...
//
// A FILE holds one JSON object a line, as described in test/golden/README.md,
// and may be compressed with gzip. Statistics and layers agree within 1e-9 of
// the expected value, failures by code and kind, and the two failures that
// print sizes also by message. The last line is "N passed, N failed"; the exit
// code is 0 if there were records and all passed, 1 otherwise, 2 for a wrong
// command line.

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "lib/simulators/calculon/evaluate.h"
#include "lib/simulators/calculon/explain.h"
#include "lib/simulators/calculon/layer_report.h"
#include "test/simulators/calculon_records.h"

namespace lmsimbench::calculon {
namespace {

constexpr double kTolerance = 1e-9;

struct Options {
  std::string applications = GoldenPath("applications.json");
  std::string systems = GoldenPath("systems.json");
  std::vector<std::string> files;
};

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

  void Compare(const std::string& name, const Json& expected, double got) {
    double value = 0;
    if (expected.is_null()) {
      value = std::nan("");
    } else if (expected.is_number()) {
      value = expected.get<double>();
    } else if (expected == "Infinity" || expected == "-Infinity") {
      value = expected == "Infinity" ? HUGE_VAL : -HUGE_VAL;
    } else if (expected != "NaN") {
      Add(fmt::format("{}: expected {}, which is no number", name,
                      expected.dump()));
      return;
    } else {
      value = std::nan("");
    }
    ++tally_.values;
    if (value == got || (std::isnan(value) && std::isnan(got))) {
      ++tally_.identical;
      return;
    }
    if (!(std::fabs(got - value) <= kTolerance * std::fabs(value)) ||
        std::isinf(value)) {
      Add(fmt::format("{}: expected {}, got {}", name, expected.dump(), got));
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

// One member of an expected layer and what we say of it.
void CompareLayer(const Json& expected, const LayerReport& got,
                  const std::string& place, Differences& differences) {
  const auto& stages = got.stages;
  std::map<std::string, double> values = {
      {"inputs_size", got.inputs_size},
      {"outputs_size", got.outputs_size},
      {"weight", got.weight},
      {"activation", got.activation},
      {"weight_grad", got.weight_grad},
      {"activation_grad", got.activation_grad},
      {"optimizer", got.optimizer}};
  const auto add_work = [&](const std::string& prefix,
                            const StageReport& stage) {
    values[prefix + "_flops"] = stage.flops;
    values[prefix + "_mem_accessed"] = stage.mem_accessed;
    values[prefix + "_arithmetic_intensity"] = stage.arithmetic_intensity;
    values[prefix + "_processing_time"] = stage.processing_time;
  };
  add_work("fw", stages[kForward]);
  add_work("agrad", stages[kActivationGrad]);
  add_work("wgrad", stages[kWeightGrad]);
  add_work("optim", stages[kOptimizer]);
  const auto add_comm = [&](const std::string& stem, const StageReport& stage) {
    for (const BlockKind kind : {kBase, kEdge}) {
      const std::string prefix =
          (kind == kBase ? "baseblock_" : "edgeblock_") + stem;
      values[prefix + "_tile"] = stage.comm_tile[kind];
      values[prefix + "_size"] = stage.comm_size[kind];
      values[prefix + "_time"] = stage.comm_time[kind];
      values[prefix + "_time_exposed"] = stage.comm_time_exposed[kind];
    }
  };
  add_comm("fw_tp_comm", stages[kForward]);
  add_comm("bw_tp_comm", stages[kActivationGrad]);
  add_comm("recomm", stages[kWeightGrad]);

  for (const auto& [key, value] : expected.items()) {
    if (key == "name") {
      if (value != std::string(got.name)) {
        differences.Add(fmt::format("{}: expected {}, got {}", place,
                                    value.dump(), got.name));
      }
      continue;
    }
    const auto found = values.find(key);
    if (found == values.end()) {
      differences.Add(fmt::format("{}.{} is unknown", place, key));
    } else {
      differences.Compare(place + "." + key, value, found->second);
    }
  }
}

void CompareLayers(const Json& expected, const Workspace& workspace,
                   Differences& differences) {
  std::vector<LayerReport> layers;
  ReportLayers(workspace, layers);
  if (!expected.is_array() || expected.size() != layers.size()) {
    differences.Add(fmt::format("expected {} layers, got {}", expected.size(),
                                layers.size()));
    return;
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    CompareLayer(expected[i], layers[i],
                 fmt::format("layers[{}] {}", i, layers[i].name), differences);
  }
}

void CompareStatistics(const Json& expected, const Statistics& got,
                       Differences& differences) {
  std::map<std::string_view, double Statistics::*> members;
  for (const StatisticField& field : StatisticFields())
    members[field.name] = field.member;
  for (const auto& [name, value] : expected.items()) {
    const auto found = members.find(name);
    if (found == members.end()) {
      differences.Add(fmt::format("statistic {} is unknown", name));
    } else {
      differences.Compare("statistic " + name, value, got.*found->second);
    }
  }
}

void CompareFailure(const Json& record, ErrorCode code,
                    const std::string& message, Differences& differences) {
  const std::string expected = record.value("code", std::string());
  if (expected != ErrorName(code)) {
    differences.Add(fmt::format("expected error {} ({}), got {} ({})", expected,
                                record.value("msg", std::string()),
                                ErrorName(code), message));
    return;
  }
  const std::string kind = record.value("kind", std::string(ErrorKind(code)));
  if (kind != ErrorKind(code)) {
    differences.Add(
        fmt::format("expected kind {}, got {}", kind, ErrorKind(code)));
  }
  const bool prints_sizes =
      code == ErrorCode::kMem1 || code == ErrorCode::kMem2;
  if (prints_sizes && record.value("msg", message) != message) {
    differences.Add(fmt::format("expected message '{}', got '{}'",
                                record.value("msg", message), message));
  }
}

void CheckRecord(const Json& record, RecordReader& reader, Workspace& workspace,
                 Differences& differences) {
  RecordInputs inputs;
  std::string message;
  if (!reader.Read(record, inputs, message)) {
    differences.Add(message);
    return;
  }
  ErrorCode code = inputs.result.code;
  Statistics statistics = {};
  if (code == ErrorCode::kNone) {
    code = Evaluate(inputs.application, *inputs.system, inputs.execution,
                    workspace, statistics);
    message = Explain(code, inputs.application, *inputs.system,
                      inputs.execution, statistics);
  } else {
    message = inputs.result.message;
  }

  const Json status = record.value("status", Json());
  if (status != "ok") {
    CompareFailure(record, code, message, differences);
    return;
  }
  if (code != ErrorCode::kNone) {
    differences.Add(fmt::format("expected statistics, got error {}", message));
    return;
  }
  if (!record.contains("stats") || !record["stats"].is_object()) {
    differences.Add("the record has no 'stats'");
    return;
  }
  CompareStatistics(record["stats"], statistics, differences);
  if (record.contains("params")) {
    differences.Compare("params", record["params"],
                        ParameterCount(inputs.application));
  }
  if (record.contains("layers"))
    CompareLayers(record["layers"], workspace, differences);
}

bool CheckFile(const std::string& path, RecordReader& reader,
               Workspace& workspace, Tally& tally) {
  std::vector<std::string> lines;
  const bool complete = ReadLines(path, lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json record = ParsePythonJson(lines[i]);
    const std::string place = fmt::format("{}:{}", path, i + 1);
    if (!record.is_object()) {
      Differences differences(place, tally);
      differences.Add("no JSON object");
      differences.Finish();
      continue;
    }
    const Json id = record.value("id", Json(place));
    Differences differences(id.is_string() ? id.get<std::string>() : id.dump(),
                            tally);
    CheckRecord(record, reader, workspace, differences);
    differences.Finish();
  }
  if (!complete) fmt::print(stderr, "{} cannot be read to its end\n", path);
  return complete;
}

bool ParseCommandLine(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--applications" || argument == "--systems") {
      if (++i == count) return false;
      (argument == "--systems" ? options.systems : options.applications) =
          arguments[i];
    } else if (argument.rfind("--", 0) == 0) {
      return false;
    } else {
      options.files.push_back(argument);
    }
  }
  return !options.files.empty();
}

int Run(int count, char** arguments) {
  Options options;
  if (!ParseCommandLine(count, arguments, options)) {
    fmt::print(stderr,
               "usage: calculon_golden [--applications FILE] [--systems FILE] "
               "FILE...\n");
    return 2;
  }
  RecordReader reader;
  std::string message;
  if (!reader.Load(options.applications, options.systems, message)) {
    fmt::print(stderr, "{}\n", message);
    return 1;
  }
  Tally tally;
  Workspace workspace;
  bool complete = true;
  for (const std::string& file : options.files) {
    complete = CheckFile(file, reader, workspace, tally) && complete;
  }
  fmt::print("{} of {} numbers are bit-identical\n", tally.identical,
             tally.values);
  fmt::print("{} passed, {} failed\n", tally.passed, tally.failed);
  return complete && tally.failed == 0 && tally.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace lmsimbench::calculon

int main(int argc, char** argv) {
  return lmsimbench::calculon::Run(argc, argv);
}
