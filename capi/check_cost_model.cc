#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "capi/bundle.h"
#include "capi/conformance.h"
#include "capi/cost_ask.h"
#include "capi/cost_model.h"
#include "capi/cost_questions.h"
#include "fmt/format.h"
#include "lmsimbench/cost_models.h"

namespace lmsimbench::capi {
namespace {

// One way of asking some of the questions of a batch.
struct Asked {
  std::string how;
  /// Which questions, in the order in which they were asked.
  std::vector<size_t> order;
  Reply reply;
};

bool Answered(const Reply& reply, size_t i) {
  return reply.evidence[i] != LMSB_EVIDENCE_NOT_ANSWERED;
}

std::string AnswerText(const Reply& reply, size_t i) {
  if (!Answered(reply, i)) return "nothing";
  return fmt::format("{} s (evidence {})", reply.seconds[i], reply.evidence[i]);
}

bool SameAnswer(const Reply& a, size_t i, const Reply& b, size_t j) {
  if (!Answered(a, i) || !Answered(b, j))
    return Answered(a, i) == Answered(b, j);
  return a.evidence[i] == b.evidence[j] &&
         SameField(a.seconds[i], b.seconds[j]);
}

bool SameReply(const Reply& a, const Reply& b) {
  if (a.outcome.ok() != b.outcome.ok()) return false;
  if (!a.outcome.ok()) return a.outcome.code == b.outcome.code;
  for (size_t i = 0; i < a.seconds.size(); ++i) {
    if (!SameAnswer(a, i, b, i)) return false;
  }
  return true;
}

// Answers of one kind of question, against those of the library.
struct Ratios {
  std::vector<double> all;
  std::string example;
};

class Checker {
 public:
  Checker(const lmsb_cost_model_functions& functions,
          const CostModel& reference, FaultReport& report)
      : functions_(functions), reference_(reference), report_(report) {}

  void CheckAll(const std::vector<CostCase>& cases) {
    for (const CostCase& of : cases) {
      CheckBatch(of, of.operators);
      CheckBatch(of, of.collectives);
    }
    if (asked_ > 0 && answered_ == 0 && report_.empty()) {
      report_.Add("nothing",
                  fmt::format("answers none of {} questions", asked_));
    }
    CheckUnits();
  }

  absl::Status CheckThreads(const std::vector<CostCase>& cases) {
    if (functions_.thread_safe != 1) return absl::OkStatus();
    absl::Status status = CheckThreadsOf(cases, &CostCase::operators);
    if (!status.ok()) return status;
    return CheckThreadsOf(cases, &CostCase::collectives);
  }

 private:
  template <typename Question>
  void CheckBatch(const CostCase& of, const std::vector<Question>& questions) {
    if (Asks<Question>::Function(functions_) == nullptr) return;
    if (questions.empty()) return;
    std::vector<size_t> all(questions.size());
    std::iota(all.begin(), all.end(), 0);
    const auto ask = [&](std::string how, std::vector<size_t> order,
                         Layout layout = Layout::kRows) {
      std::vector<Question> some;
      for (size_t i : order) some.push_back(questions[i]);
      Asked asked{std::move(how), std::move(order),
                  Ask(functions_, of.system, some, layout)};
      CheckReply(of, questions, asked);
      return asked;
    };
    std::vector<Asked> asks;
    asks.push_back(ask("in one batch", all));
    asks.push_back(ask("in the same batch again", all));
    asked_ += static_cast<int64_t>(questions.size());
    if (!SameReply(asks[0].reply, asks[1].reply)) {
      NotDeterministic(of, questions, asks[0], asks[1]);
      return;
    }
    asks.push_back(ask("in the reverse order", {all.rbegin(), all.rend()}));
    asks.push_back(ask("with every column packed", all, Layout::kPacked));
    asks.push_back(
        ask("in a batch struct of a later version", all, Layout::kLonger));
    constexpr size_t kFew = 7;
    for (size_t begin = 0; begin < all.size(); begin += kFew) {
      const auto first = all.begin() + begin;
      asks.push_back(ask("in a batch of 7",
                         {first, first + std::min(kFew, all.size() - begin)}));
    }
    for (size_t i : all) asks.push_back(ask("alone", {i}));
    // Of a batch that is refused nothing has been answered twice.
    for (size_t i : all) {
      if (asks[0].reply.outcome.ok()) break;
      const Asked again = ask("alone", {i});
      const Asked& once = asks[asks.size() - all.size() + i];
      if (SameReply(once.reply, again.reply)) continue;
      NotDeterministic(of, questions, once, again);
      return;
    }
    Compare(of, questions, asks);
  }

  // What one reply alone shows to be wrong.
  template <typename Question>
  void CheckReply(const CostCase& of, const std::vector<Question>& questions,
                  const Asked& asked) {
    const std::string function = Asks<Question>::kFunction;
    const Reply& reply = asked.reply;
    const std::string batch =
        asked.order.size() == 1
            ? Words(of, questions[asked.order[0]])
            : fmt::format("a batch of {} of {}", asked.order.size(), of.name);
    CheckOutcome(reply.outcome, function, batch, report_);
    if (reply.wrote_behind) {
      report_.Add(function + " behind",
                  fmt::format("{} writes behind the end of its arrays, for {}",
                              function, batch));
    }
    if (reply.wrote_in_front) {
      report_.Add(function + " in front",
                  fmt::format("{} writes in front of its arrays, for {}",
                              function, batch));
    }
    if (reply.changed_questions) {
      report_.Add(function + " changes",
                  fmt::format("{} changes the questions, which are const, of "
                              "{}",
                              function, batch));
    }
    if (!reply.outcome.ok()) return;
    for (size_t i = 0; i < asked.order.size(); ++i) {
      if (IsSound(reply.seconds[i], reply.evidence[i])) continue;
      CheckAnswer(function, Words(of, questions[asked.order[i]]),
                  reply.seconds[i], reply.evidence[i]);
    }
  }

  static bool IsSound(double seconds, int32_t evidence) {
    if (evidence == LMSB_EVIDENCE_NOT_ANSWERED) return !(seconds > 0);
    return evidence > 0 && evidence < kEvidences && std::isfinite(seconds) &&
           seconds >= 0;
  }

  void CheckAnswer(const std::string& function, const std::string& question,
                   double seconds, int32_t evidence) {
    const auto add = [&](const char* kind, const std::string& what) {
      report_.Add(function + kind,
                  fmt::format("{} {}, for {}", function, what, question));
    };
    if (evidence < 0 || evidence >= kEvidences) {
      add(" evidence",
          fmt::format("gives evidence {}, which is none", evidence));
    } else if (evidence == LMSB_EVIDENCE_NOT_ANSWERED) {
      if (seconds > 0) {
        add(" no evidence",
            fmt::format("writes {} seconds without evidence, which counts as "
                        "not answered",
                        seconds));
      }
    } else if (std::isnan(seconds)) {
      add(" nan", "answers NaN seconds (or leaves them unwritten)");
    } else if (std::isinf(seconds)) {
      add(" infinite", "answers infinite seconds");
    } else if (seconds < 0) {
      add(" negative",
          fmt::format("answers {} seconds, which is negative", seconds));
    }
  }

  template <typename Question>
  void NotDeterministic(const CostCase& of,
                        const std::vector<Question>& questions,
                        const Asked& first, const Asked& second) {
    const std::string function = Asks<Question>::kFunction;
    std::string what = fmt::format("a batch of {}", of.name);
    std::string once = lmsb_code_name(first.reply.outcome.code);
    std::string then = lmsb_code_name(second.reply.outcome.code);
    if (first.reply.outcome.ok() && second.reply.outcome.ok()) {
      size_t i = 0;
      while (SameAnswer(first.reply, i, second.reply, i)) ++i;
      what = Words(of, questions[first.order[i]]);
      once = AnswerText(first.reply, i);
      then = AnswerText(second.reply, i);
    }
    report_.Add(function + " repeat",
                fmt::format("{} is not deterministic: asked twice the same it "
                            "answers {}, then {}, for {}",
                            function, once, then, what));
  }

  // The answers to each question, however it was asked.
  template <typename Question>
  void Compare(const CostCase& of, const std::vector<Question>& questions,
               const std::vector<Asked>& asks) {
    const bool refuses_one =
        std::any_of(asks.begin(), asks.end(), [](const Asked& asked) {
          return asked.order.size() == 1 && !asked.reply.outcome.ok();
        });
    struct First {
      const Asked* asked = nullptr;
      size_t at = 0;
    };
    std::vector<First> firsts(questions.size());
    for (const Asked& asked : asks) {
      if (!asked.reply.outcome.ok()) {
        if (!refuses_one) BatchFails<Question>(of, asked);
        continue;
      }
      for (size_t i = 0; i < asked.order.size(); ++i) {
        First& first = firsts[asked.order[i]];
        if (first.asked == nullptr && Answered(asked.reply, i)) {
          first = {&asked, i};
        }
      }
    }
    for (const Asked& asked : asks) {
      if (!asked.reply.outcome.ok()) continue;
      size_t unanswered = 0;
      size_t unanswered_at_the_end = 0;
      size_t example = 0;
      for (size_t i = 0; i < asked.order.size(); ++i) {
        const First& first = firsts[asked.order[i]];
        if (first.asked == nullptr) continue;
        if (Answered(asked.reply, i)) {
          unanswered_at_the_end = 0;
          if (!SameAnswer(asked.reply, i, first.asked->reply, first.at)) {
            Depends(Words(of, questions[asked.order[i]]),
                    Asks<Question>::kFunction, *first.asked, first.at, asked,
                    i);
          }
          continue;
        }
        ++unanswered;
        ++unanswered_at_the_end;
        example = i;
      }
      if (unanswered == 0) continue;
      const First& first = firsts[asked.order[example]];
      const std::string question = Words(of, questions[asked.order[example]]);
      const bool at_the_end = unanswered == unanswered_at_the_end &&
                              !Answered(asked.reply, asked.order.size() - 1);
      if (at_the_end) {
        ShortWrite(question, Asks<Question>::kFunction, *first.asked, asked,
                   unanswered);
      } else {
        Depends(question, Asks<Question>::kFunction, *first.asked, first.at,
                asked, example);
      }
    }
    for (size_t i = 0; i < questions.size(); ++i) {
      if (firsts[i].asked == nullptr) continue;
      ++answered_;
      Weigh(of, questions[i], firsts[i].asked->reply.seconds[firsts[i].at]);
    }
  }

  template <typename Question>
  void BatchFails(const CostCase& of, const Asked& asked) {
    const std::string function = Asks<Question>::kFunction;
    if (!asked.reply.outcome.thrown.empty()) return;  // told already
    report_.Add(function + " batch fails" + asked.how,
                fmt::format("{} fails for {} questions of {} asked {} ({}), "
                            "though it answers each alone",
                            function, asked.order.size(), of.name, asked.how,
                            asked.reply.outcome.text));
  }

  void ShortWrite(const std::string& question, const std::string& function,
                  const Asked& first, const Asked& asked, size_t unanswered) {
    report_.Add(function + " short",
                fmt::format("{} leaves the last {} of {} questions {} without "
                            "an answer (a short write), though asked {} it "
                            "answers, for {}",
                            function, unanswered, asked.order.size(), asked.how,
                            first.how, question));
  }

  void Depends(const std::string& question, const std::string& function,
               const Asked& first, size_t at, const Asked& asked, size_t i) {
    // All sizes of a batch are one fault.
    const bool size = asked.how == "alone" || asked.how == "in a batch of 7";
    report_.Add(
        function + " depends " + (size ? "size" : asked.how),
        fmt::format("{} answers {} asked {} among {} questions and {} asked {} "
                    "among {}; the answer has to depend on the question alone, "
                    "for {}",
                    function, AnswerText(first.reply, at), first.how,
                    first.order.size(), AnswerText(asked.reply, i), asked.how,
                    asked.order.size(), question));
  }

  // Compares an answer with what is physically possible, and keeps it to be
  // compared with the library's.
  void Weigh(const CostCase& of, const Operator& op, double seconds) {
    const Accelerator& device = of.system.accelerator;
    double least = 0;
    const double peak = PeakFlops(device, op.precision);
    if (op.computation != Computation::kElementwise && peak > 0) {
      least = op.flops / peak;
    }
    if (device.memory_bandwidth > 0) {
      least = std::max(least, op.bytes / device.memory_bandwidth);
    }
    // Caches and formats of fewer bits make up for less than this.
    constexpr double kImpossible = 100;
    if (seconds >= 0 && seconds < least / kImpossible) {
      report_.Add(
          "operator_costs impossible",
          fmt::format("operator_costs answers {} seconds, though at the "
                      "published peaks of '{}' it takes {} at least (seconds "
                      "divided by 1,000 or 1,000,000?), for {}",
                      seconds, of.system.name, least, Words(of, op)));
    }
    Keep(of, op, seconds, std::string(Name(op.computation)));
  }
  void Weigh(const CostCase& of, const SpannedCollective& collective,
             double seconds) {
    Keep(of, collective, seconds, "collective");
  }

  template <typename Question>
  void Keep(const CostCase& of, const Question& question, double seconds,
            const std::string& kind) {
    if (!of.is_real || !std::isfinite(seconds) || seconds < 0) return;
    Cost right;
    const absl::Status status =
        reference_.Costs(of.system, absl::MakeConstSpan(&question, 1),
                         absl::MakeSpan(&right, 1));
    if (!status.ok() || right.evidence == Evidence::kNotAnswered) return;
    if (right.seconds <= 0) return;
    Ratios& ratios = ratios_[kind];
    ratios.all.push_back(seconds / right.seconds);
    if (ratios.example.empty()) {
      ratios.example =
          fmt::format("{} s where the library answers {} s, for {}", seconds,
                      right.seconds, Words(of, question));
    }
  }

  void CheckUnits() {
    for (const auto& [kind, ratios] : ratios_) {
      const double median = Median(ratios.all);
      const char* unit = nullptr;
      if (median > 1e3 * kWrongUnit * kWrongUnit) {
        unit = "nanoseconds";
      } else if (median > 1e2 * kWrongUnit) {
        unit = "microseconds";
      } else if (median > kWrongUnit) {
        unit = "milliseconds";
      }
      if (unit != nullptr) {
        report_.Add(
            "unit " + kind,
            fmt::format("the answers look like {} where seconds are "
                        "meant: {:.3g} times the library's own by the "
                        "median over {} questions of the kind {}: {}",
                        unit, median, ratios.all.size(), kind, ratios.example));
      } else if (median < 1 / kWrongUnit) {
        report_.Add(
            "unit " + kind,
            fmt::format("the answers are too small, as if seconds were "
                        "divided by {}: {:.3g} times the library's own "
                        "by the median over {} questions of the kind "
                        "{}: {}",
                        median < 1e-2 / kWrongUnit ? "1,000,000" : "1,000",
                        median, ratios.all.size(), kind, ratios.example));
      }
    }
  }

  template <typename Question>
  absl::Status CheckThreadsOf(const std::vector<CostCase>& cases,
                              std::vector<Question> CostCase::*questions) {
    if (Asks<Question>::Function(functions_) == nullptr) {
      return absl::OkStatus();
    }
    std::vector<Reply> alone;
    for (const CostCase& of : cases) {
      alone.push_back(Ask(functions_, of.system, of.*questions, Layout::kRows));
    }
    // Many short questions: calls that meet by chance meet often.
    constexpr size_t kRounds = 8;
    std::array<std::vector<std::pair<size_t, Reply>>, kThreads> replies;
    absl::Status status = OnThreads(kThreads, [&](int thread) {
      for (size_t i = 0; i < kRounds * cases.size(); ++i) {
        // Each thread begins with another case.
        const size_t at = (i + thread * cases.size() / kThreads) % cases.size();
        if ((cases[at].*questions).empty()) continue;
        Reply reply = Ask(functions_, cases[at].system, cases[at].*questions,
                          Layout::kRows);
        if (!SameReply(reply, alone[at]) || reply.wrote_behind) {
          replies[thread].emplace_back(at, std::move(reply));
        }
      }
    });
    if (!status.ok()) return status;
    for (const auto& of_thread : replies) {
      for (const auto& [at, reply] : of_thread) {
        NotThreadSafe(cases[at], cases[at].*questions, alone[at], reply);
      }
    }
    return absl::OkStatus();
  }

  template <typename Question>
  void NotThreadSafe(const CostCase& of, const std::vector<Question>& questions,
                     const Reply& alone, const Reply& reply) {
    const std::string function = Asks<Question>::kFunction;
    std::string what = fmt::format("a batch of {}", of.name);
    std::string once = lmsb_code_name(alone.outcome.code);
    std::string then = reply.outcome.thrown.empty()
                           ? lmsb_code_name(reply.outcome.code)
                           : reply.outcome.thrown;
    if (alone.outcome.ok() && reply.outcome.ok()) {
      for (size_t i = 0; i < questions.size(); ++i) {
        if (SameAnswer(alone, i, reply, i)) continue;
        what = Words(of, questions[i]);
        once = AnswerText(alone, i);
        then = AnswerText(reply, i);
        break;
      }
    }
    report_.Add(
        function + " threads",
        fmt::format("{} is declared thread_safe and is not: asked by one "
                    "thread it answers {}, among {} threads {}, for {}",
                    function, once, static_cast<int>(kThreads), then, what));
  }

  template <typename Question>
  static std::string Words(const CostCase& of, const Question& question) {
    return fmt::format("{} ({}, '{}')", Describe(question), of.name,
                       of.system.name);
  }

  const lmsb_cost_model_functions& functions_;
  const CostModel& reference_;
  FaultReport& report_;
  std::map<std::string, Ratios> ratios_;
  int64_t asked_ = 0;
  int64_t answered_ = 0;
};

// The library's own answers: formulas, which answer everything and are far
// closer than what is looked for.
std::unique_ptr<CostModel> Formulas() {
  std::vector<std::unique_ptr<CostModel>> parts;
  parts.push_back(MakeRooflineModel());
  parts.push_back(MakeCollectiveModel());
  return MakeCompositeModel("formulas", std::move(parts));
}

absl::Status Check(lmsb_text** out, const Bundle& bundle,
                   const lmsb_cost_model_functions& functions) {
  FaultReport report;
  absl::Status status = CheckFunctions(&functions);
  if (!status.ok()) {
    report.Add("functions", std::string(status.message()));
    return report.Finish("unnamed", out);
  }
  CheckDeclaration(functions.struct_size, sizeof(functions),
                   functions.thread_safe, functions.reserved, report);
  auto cases = CostCasesOf(bundle);
  if (!cases.ok()) return cases.status();
  const auto reference = Formulas();
  Checker checker(functions, *reference, report);
  checker.CheckAll(*cases);
  status = checker.CheckThreads(*cases);
  if (!status.ok()) return status;
  return report.Finish(functions.name, out);
}

}  // namespace
}  // namespace lmsimbench::capi

lmsb_code lmsb_cost_model_check(lmsb_text** out, const lmsb_bundle* bundle,
                                const lmsb_cost_model_functions* functions) {
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
