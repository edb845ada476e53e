#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "capi/bundle.h"
#include "capi/conformance.h"
#include "capi/simulator.h"
#include "capi/values.h"
#include "fmt/format.h"

namespace lmsimbench::capi {
namespace {

struct Reply {
  Outcome outcome;
  Prediction prediction;
  std::string refused_field;
};

Reply Ask(const lmsb_simulator_functions& functions, const Case& of) {
  Reply reply;
  const lmsb_workload workload(&of.workload);
  const lmsb_system system(&of.system);
  const lmsb_config config(&of.config);
  lmsb_prediction prediction(&reply.prediction);
  reply.outcome = Call([&](lmsb_error* error) {
    return functions.predict(functions.user, &workload, &system, &config,
                             &prediction, error);
  });
  reply.refused_field = prediction.refused;
  if (!reply.outcome.ok()) reply.prediction.Clear();
  return reply;
}

// The first field in which two predictions differ, with both of its values.
struct Difference {
  std::string field;
  std::string first;
  std::string second;

  template <typename Field>
  void operator()(const char* name, const Field& a, const Field& b) {
    if (!field.empty() || SameField(a, b)) return;
    if constexpr (std::is_same_v<Field, double>) {
      Set(name, fmt::format("{}", a), fmt::format("{}", b));
    } else if constexpr (std::is_same_v<Field, TimeParts> ||
                         std::is_same_v<Field, MemoryParts> ||
                         std::is_same_v<Field, EvidenceShares>) {
      Difference part;
      Field::VisitFields(part, a, b);
      Set(fmt::format("{}.{}", name, part.field), part.first, part.second);
    } else if constexpr (std::is_same_v<Field, Verdict>) {
      Set(name, std::string(Name(a)), std::string(Name(b)));
    } else {
      Set(name, "one value", "another");
    }
  }
  void Set(const std::string& name, const std::string& a,
           const std::string& b) {
    field = name;
    first = a;
    second = b;
  }
};

std::string EndOf(const Outcome& outcome) {
  return outcome.thrown.empty() ? lmsb_code_name(outcome.code) : outcome.thrown;
}

// How two replies to the same question differ; no field if they do not.
Difference DifferenceOf(const Reply& a, const Reply& b) {
  Difference difference;
  if (EndOf(a.outcome) != EndOf(b.outcome)) {
    difference.Set("the code", EndOf(a.outcome), EndOf(b.outcome));
  } else {
    Prediction::VisitFields(difference, a.prediction, b.prediction);
  }
  return difference;
}

// Numbers of an answer that are negative or infinite, by the names of their
// fields.
class NumberCheck {
 public:
  NumberCheck(const Prediction& prediction, std::string question,
              FaultReport& report)
      : margin_(&prediction.memory_margin_bytes),
        question_(std::move(question)),
        report_(report) {}

  template <typename Field>
  void operator()(const char* name, const Field& field) {
    if constexpr (std::is_same_v<Field, double>) {
      if (!IsStated(field)) return;
      const bool negative = field < 0 && &field != margin_;
      if (!negative && !std::isinf(field)) return;
      const std::string path = prefix_ + name;
      report_.Add("number " + path,
                  fmt::format("predict answers {} = {}; it is neither negative "
                              "nor infinite, for {}",
                              path, field, question_));
    } else {
      VisitPart(name, field);
    }
  }

 private:
  template <typename Part>
  void VisitPart(const char* name, const Part& part) {
    if constexpr (std::is_class_v<Part> && !std::is_same_v<Part, std::string> &&
                  !std::is_same_v<Part, std::vector<std::string>>) {
      const std::string before = prefix_;
      if constexpr (std::is_same_v<Part, TimeParts> ||
                    std::is_same_v<Part, MemoryParts> ||
                    std::is_same_v<Part, EvidenceShares>) {
        prefix_ += std::string(name) + ".";
        Part::VisitFields(*this, part);
      } else {
        prefix_ += std::string(name) + "[].";
        for (const auto& entry : part) {
          std::decay_t<decltype(entry)>::VisitFields(*this, entry);
        }
      }
      prefix_ = before;
    }
  }

  const double* margin_;
  std::string question_;
  FaultReport& report_;
  std::string prefix_;
};

// Sum of the parts that are stated, and whether all are.
struct PartSum {
  double sum = 0;
  bool any = false;
  bool all = true;

  void operator()(const char*, double part) {
    any = any || IsStated(part);
    all = all && IsStated(part);
    if (IsStated(part)) sum += part;
  }
};

template <typename Parts>
PartSum SumOf(const Parts& parts) {
  PartSum sum;
  Parts::VisitFields([&sum](const char* name, double part) { sum(name, part); },
                     parts);
  return sum;
}

// Parts may be rounded, by this share at most.
constexpr double kRounding = 0.01;

class Checker {
 public:
  Checker(const lmsb_simulator_functions& functions, FaultReport& report)
      : functions_(functions), report_(report) {}

  void CheckAll(const std::vector<Case>& cases) {
    std::vector<Reply> first;
    for (const Case& of : cases) {
      first.push_back(Ask(functions_, of));
      CheckReply(of, first.back());
    }
    for (size_t i = 0; i < cases.size(); ++i) {
      // The same question twice in a row.
      const Reply once = Ask(functions_, cases[i]);
      const Reply again = Ask(functions_, cases[i]);
      const Difference difference = DifferenceOf(once, again);
      if (difference.field.empty()) continue;
      report_.Add("repeat",
                  fmt::format("predict is not deterministic: asked twice the "
                              "same it answers {} {}, then {}, for {}",
                              difference.field, difference.first,
                              difference.second, cases[i].name));
      return;  // all else would tell the same
    }
    CheckOrder(cases, first);
    CheckUnits();
    if (answered_ == 0 && report_.empty()) {
      report_.Add("nothing", fmt::format("predict answers none of {} questions",
                                         cases.size()));
    }
  }

  absl::Status CheckThreads(const std::vector<Case>& cases) {
    if (functions_.thread_safe != 1) return absl::OkStatus();
    std::vector<Reply> alone;
    for (const Case& of : cases) alone.push_back(Ask(functions_, of));
    constexpr size_t kRounds = 2;
    std::array<std::vector<std::pair<size_t, Difference>>, kThreads> found;
    absl::Status status = OnThreads(kThreads, [&](int thread) {
      for (size_t i = 0; i < kRounds * cases.size(); ++i) {
        // Each thread begins with another case.
        const size_t at = (i + thread * cases.size() / kThreads) % cases.size();
        Difference difference =
            DifferenceOf(alone[at], Ask(functions_, cases[at]));
        if (!difference.field.empty()) {
          found[thread].emplace_back(at, std::move(difference));
        }
      }
    });
    if (!status.ok()) return status;
    for (const auto& of_thread : found) {
      for (const auto& [at, difference] : of_thread) {
        report_.Add(
            "threads",
            fmt::format("predict is declared thread_safe and is not: asked by "
                        "one thread it answers {} {}, among {} threads {}, for "
                        "{}",
                        difference.field, difference.first,
                        static_cast<int>(kThreads), difference.second,
                        cases[at].name));
      }
    }
    return absl::OkStatus();
  }

 private:
  void CheckReply(const Case& of, const Reply& reply) {
    CheckOutcome(reply.outcome, "predict", of.name, report_);
    if (!reply.outcome.ok()) return;
    if (!reply.refused_field.empty()) {
      report_.Add("set", fmt::format("predict returns OK though the library "
                                     "refused a field that it set ({}), for {}",
                                     reply.refused_field, of.name));
    }
    const Prediction& prediction = reply.prediction;
    NumberCheck numbers(prediction, of.name, report_);
    Prediction::VisitFields(numbers, prediction);
    const double time = prediction.iteration_time_s;
    const double memory = prediction.peak_memory_bytes;
    if (time == 0) {
      report_.Add("time",
                  "predict answers an iteration time of 0, for " + of.name);
    }
    if (!IsStated(time) && !IsStated(memory) &&
        prediction.verdict == Verdict::kNotAnswered) {
      report_.Add("empty",
                  fmt::format("predict returns OK and answers neither "
                              "iteration_time_s nor peak_memory_bytes nor "
                              "verdict, for {}",
                              of.name));
      return;
    }
    ++answered_;
    if (time > 0 && of.iteration_time_s > 0) {
      times_.push_back(time / of.iteration_time_s);
    }
    if (memory > 0 && of.peak_memory_bytes > 0) {
      memories_.push_back(memory / of.peak_memory_bytes);
    }
    CheckParts(of, prediction);
    CheckRanks(of, prediction);
    CheckVerdict(of, prediction);
  }

  void CheckParts(const Case& of, const Prediction& prediction) {
    CheckSum(of, "iteration_time_s", prediction.iteration_time_s, "time",
             SumOf(prediction.time));
    CheckSum(of, "peak_memory_bytes", prediction.peak_memory_bytes, "memory",
             SumOf(prediction.memory));
    const PartSum shares = SumOf(prediction.evidence);
    if (shares.all) CheckSum(of, "1", 1, "evidence", shares);
  }

  void CheckSum(const Case& of, const std::string& whole_name, double whole,
                const std::string& parts, const PartSum& sum) {
    if (!IsStated(whole) || !sum.any) return;
    const bool too_much = sum.sum > whole * (1 + kRounding);
    const bool too_little = sum.all && sum.sum < whole * (1 - kRounding);
    if (!too_much && !too_little) return;
    report_.Add("sum " + parts,
                fmt::format("predict answers parts of {} that sum to {}, where "
                            "{} is {}, for {}",
                            parts, sum.sum, whole_name, whole, of.name));
  }

  void CheckRanks(const Case& of, const Prediction& prediction) {
    for (const RankPrediction& rank : prediction.ranks) {
      const double sum = rank.compute_s + rank.exposed_communication_s +
                         rank.bubble_s + rank.idle_s;
      const double time = prediction.iteration_time_s;
      if (!(std::abs(sum - time) > kRounding * time)) continue;
      report_.Add("sum ranks",
                  fmt::format("predict answers ranks[] whose compute, exposed "
                              "communication, bubble and idle sum to {}, where "
                              "iteration_time_s is {}, for {}",
                              sum, time, of.name));
    }
  }

  void CheckVerdict(const Case& of, const Prediction& prediction) {
    const double memory = prediction.peak_memory_bytes;
    const double capacity = of.system.accelerator.memory_bytes;
    // Some count a GiB as a GB.
    constexpr double kUnitsOfMemory = 1.1;
    const bool fits = prediction.verdict == Verdict::kFits;
    const bool does_not_fit = prediction.verdict == Verdict::kDoesNotFit;
    if (fits && prediction.memory_margin_bytes < 0) {
      report_.Add("margin",
                  fmt::format("predict answers 'fits' with memory_margin_bytes "
                              "of {}, for {}",
                              prediction.memory_margin_bytes, of.name));
    }
    if (fits && memory > kUnitsOfMemory * capacity) {
      report_.Add(
          "fits",
          fmt::format("predict answers 'fits', though its peak of {} "
                      "bytes is more than the {} bytes of a device, for "
                      "{}",
                      memory, capacity, of.name));
    }
    // What a framework keeps back and loses to fragments is less than half.
    if (does_not_fit && memory < capacity / 2) {
      report_.Add("does not fit",
                  fmt::format("predict answers 'does not fit', though its peak "
                              "of {} bytes is less than half of the {} bytes "
                              "of a device, for {}",
                              memory, capacity, of.name));
    }
    constexpr double kLeastMemory = 1 << 20;
    if (of.is_real && memory < kLeastMemory) {
      report_.Add(
          "small memory",
          fmt::format("predict answers peak_memory_bytes = {}, which "
                      "looks like GiB or MiB where bytes are meant, for "
                      "{}",
                      memory, of.name));
    }
  }

  void CheckOrder(const std::vector<Case>& cases,
                  const std::vector<Reply>& first) {
    const Reply* before = nullptr;
    Reply last;
    for (size_t i = cases.size(); i-- > 0;) {
      Reply reply = Ask(functions_, cases[i]);
      const Difference difference = DifferenceOf(first[i], reply);
      if (!difference.field.empty()) {
        report_.Add(
            "order",
            fmt::format("predict answers depend on what was asked before: {} "
                        "is {}, in the reverse order {}{}, for {}",
                        difference.field, difference.first, difference.second,
                        IsLeftOver(difference, before, first[i])
                            ? " (left from the question before)"
                            : "",
                        cases[i].name));
      }
      last = std::move(reply);
      before = &last;
    }
  }

  // True if what differs is what the question before was answered.
  static bool IsLeftOver(const Difference& difference, const Reply* before,
                         const Reply& right) {
    if (before == nullptr) return false;
    const Difference to_before = DifferenceOf(right, *before);
    return to_before.field == difference.field &&
           to_before.second == difference.second;
  }

  void CheckUnits() {
    const double time = Median(times_);
    const double memory = Median(memories_);
    const auto tell = [this](const char* kind, const std::string& looks,
                             double median, size_t count) {
      report_.Add(kind, fmt::format("{}: {:.3g} times what was measured, by "
                                    "the median over {} runs",
                                    looks, median, count));
    };
    if (time > kWrongUnit) {
      const char* const unit = time > 1e3 * kWrongUnit * kWrongUnit
                                   ? "nanoseconds"
                               : time > 1e2 * kWrongUnit ? "microseconds"
                                                         : "milliseconds";
      tell("unit time",
           fmt::format("iteration_time_s looks like {} where seconds are meant",
                       unit),
           time, times_.size());
    } else if (time < 1 / kWrongUnit) {
      tell("unit time",
           fmt::format("iteration_time_s is too small, as if seconds were "
                       "divided by {}",
                       time < 1e-2 / kWrongUnit ? "1,000,000" : "1,000"),
           time, times_.size());
    }
    if (memory > kWrongUnit) {
      tell("unit memory",
           "peak_memory_bytes is too large, as if bytes were multiplied by "
           "1,000 or more",
           memory, memories_.size());
    } else if (memory < 1 / kWrongUnit) {
      const char* const unit = memory < 1e-6 / kWrongUnit   ? "GiB"
                               : memory < 1e-3 / kWrongUnit ? "MiB"
                                                            : "KiB";
      tell("unit memory",
           fmt::format("peak_memory_bytes looks like {} where bytes are meant",
                       unit),
           memory, memories_.size());
    }
  }

  const lmsb_simulator_functions& functions_;
  FaultReport& report_;
  int64_t answered_ = 0;
  // Answers over what was measured.
  std::vector<double> times_;
  std::vector<double> memories_;
};

// Questions that nobody measured: sizes at the edge, a configuration that no
// framework could run, and one that states nothing.
void AddEdgeCases(std::vector<Case>& cases) {
  if (cases.empty()) return;
  const Case base = cases.front();
  const auto add = [&](const char* name) -> Case& {
    cases.push_back(base);
    Case& of = cases.back();
    of.name = name;
    of.is_real = false;
    of.iteration_time_s = of.peak_memory_bytes = kNoNumber;
    of.system.devices = kNoCount;
    return of;
  };
  const auto on_one_device = [](Case& of) {
    of.config = ParallelConfig();
    of.config.tp = of.config.pp = of.config.dp = of.config.micro_batch = 1;
    of.workload.global_batch = 1;
  };
  Case& smallest = add("the smallest model on one device");
  on_one_device(smallest);
  smallest.workload.seq_len = 1;
  smallest.workload.model = ModelSpec();
  smallest.workload.model.name = "smallest";
  smallest.workload.model.layers = smallest.workload.model.heads = 1;
  smallest.workload.model.hidden = smallest.workload.model.ffn = 1;
  smallest.workload.model.vocab = 1;
  Case& longest = add("a sequence of 2^24 tokens");
  on_one_device(longest);
  longest.workload.seq_len = int64_t{1} << 24;
  Case& illegal = add("a tensor parallel size of 999,983, a prime number");
  illegal.config.tp = 999983;
  Case& empty = add("a question that states nothing");
  empty.workload = Workload();
  empty.system = System();
  empty.config = ParallelConfig();
  // Without this the answers would only be compared with questions of the other
  // end of the list.
  cases.push_back(base);
}

absl::Status Check(lmsb_text** out, const Bundle& bundle,
                   const lmsb_simulator_functions& functions) {
  FaultReport report;
  absl::Status status = CheckFunctions(&functions);
  if (!status.ok()) {
    report.Add("functions", std::string(status.message()));
    return report.Finish("unnamed", out);
  }
  CheckDeclaration(functions.struct_size, sizeof(functions),
                   functions.thread_safe, functions.reserved, report);
  auto cases = CasesOf(bundle);
  if (!cases.ok()) return cases.status();
  if (cases->empty()) {
    return absl::FailedPreconditionError("the bundle has no run to ask about");
  }
  AddEdgeCases(*cases);
  Checker checker(functions, report);
  checker.CheckAll(*cases);
  status = checker.CheckThreads(*cases);
  if (!status.ok()) return status;
  return report.Finish(functions.name, out);
}

}  // namespace
}  // namespace lmsimbench::capi

lmsb_code lmsb_simulator_check(lmsb_text** out, const lmsb_bundle* bundle,
                               const lmsb_simulator_functions* functions) {
  namespace capi = lmsimbench::capi;
  return capi::Guarded([&]() -> absl::Status {
    absl::Status status = capi::CheckPointer(out, "out");
    if (!status.ok()) return status;
    *out = nullptr;
    status = capi::CheckHandle(bundle, "bundle");
    if (status.ok()) status = capi::CheckPointer(functions, "functions");
    if (!status.ok()) return status;
    return capi::Check(out, bundle->bundle, *functions);
  });
}
