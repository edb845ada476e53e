#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "fmt/format.h"
#include "lib/cost/measured_row.h"
#include "lib/testing/error_figures.h"
#include "lib/testing/row_text.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/simulator.h"
#include "lmsimbench/testing.h"

namespace lmsimbench {
namespace {

constexpr char kGemms[] = "gemms";
constexpr char kOperators[] = "operators";
constexpr char kCollectives[] = "collectives";

// True if nothing is asked for, or this is among it.
template <typename T>
bool Admits(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() ||
         std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool AdmitsLibrary(const std::vector<std::string>& parts,
                   const std::string& library) {
  return parts.empty() ||
         std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
           return absl::StrContains(library, part);
         });
}

bool Admits(const MeasuredFilter& filter, const Operator& op) {
  return filter.collective_kinds.empty() && filter.group_sizes.empty() &&
         filter.nodes.empty() && Admits(filter.computations, op.computation) &&
         Admits(filter.operator_kinds, op.kind) &&
         Admits(filter.passes, op.pass) &&
         Admits(filter.precisions, op.precision);
}

bool Admits(const MeasuredFilter& filter, const SpannedCollective& spanned) {
  return filter.computations.empty() && filter.operator_kinds.empty() &&
         filter.passes.empty() && filter.precisions.empty() &&
         Admits(filter.collective_kinds, spanned.collective.kind) &&
         Admits(filter.group_sizes, spanned.span.members) &&
         Admits(filter.nodes, spanned.span.nodes);
}

// What makes two questions to one platform the same. Elementwise kernels of one
// kind and shape may move different bytes.
std::string KeyOf(const std::string& platform, const Operator& op) {
  return fmt::format("{}\n{}\n{}", platform, Describe(op), op.bytes);
}
std::string KeyOf(const std::string& platform,
                  const SpannedCollective& spanned) {
  return fmt::format("{}\n{}", platform, Describe(spanned));
}

// Rows by why they ask nothing.
class Reasons {
 public:
  void Add(std::string reason, size_t row) {
    CountedReason& counted = by_reason_[reason];
    if (counted.rows++ > 0) return;
    counted.reason = std::move(reason);
    counted.first_row = row;
  }

  std::vector<CountedReason> Sorted() const {
    std::vector<CountedReason> all;
    for (const auto& [text, counted] : by_reason_) all.push_back(counted);
    std::stable_sort(all.begin(), all.end(),
                     [](const CountedReason& a, const CountedReason& b) {
                       return a.rows > b.rows;
                     });
    return all;
  }

 private:
  std::map<std::string, CountedReason> by_reason_;
};

// Every value that is asked for is one of the column.
absl::Status CheckNames(const ProfileView& view, const char* column,
                        const std::vector<std::string>& wanted) {
  if (wanted.empty()) return absl::OkStatus();
  std::vector<std::string> known;
  for (size_t i = 0; i < view.rows(); ++i) {
    known.push_back(ViewRow(view, i).Text(column));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& name : wanted) {
    if (std::binary_search(known.begin(), known.end(), name)) continue;
    const std::string nearest = NearestName(name, known);
    return absl::NotFoundError(fmt::format(
        "view '{}' has no row whose {} is '{}'{}", view.name(), column, name,
        nearest.empty() ? "" : "; nearest: '" + nearest + "'"));
  }
  return absl::OkStatus();
}

class Asking {
 public:
  Asking(const ProfileView& view, absl::Span<const System> platforms,
         const MeasuredFilter& filter, const CostModel& model)
      : view_(view), platforms_(platforms), filter_(filter), model_(model) {
    errors_.model = model.name();
    errors_.view = view.name();
    errors_.view_rows = static_cast<int64_t>(view.rows());
  }

  template <typename Question, typename QuestionOf>
  absl::StatusOr<CostErrors> Run(QuestionOf question_of) {
    const std::pair<const char*, const std::vector<std::string>*> names[] = {
        {"source_id", &filter_.sources},
        {"platform", &filter_.platforms},
        {"split", &filter_.splits}};
    for (const auto& [column, wanted] : names) {
      absl::Status status = CheckNames(view_, column, *wanted);
      if (!status.ok()) return status;
    }
    for (size_t i = 0; i < view_.rows(); ++i) Read<Question>(i, question_of);
    errors_.unusable = reasons_.Sorted();
    if (errors_.rows.empty()) return NothingToAsk();
    for (const auto& [platform, rows] : by_platform_) {
      absl::Status status = Ask<Question>(*platform, rows);
      if (!status.ok()) return status;
    }
    SetFigures(errors_);
    return std::move(errors_);
  }

 private:
  template <typename Question, typename QuestionOf>
  void Read(size_t index, QuestionOf question_of) {
    const ViewRow row(view_, index);
    MeasuredRow measured;
    measured.row = index;
    measured.source = row.Text("source_id");
    measured.platform = row.Text("platform");
    measured.split = row.Text("split");
    measured.library = row.Text("library");
    if (!Admits(filter_.sources, measured.source) ||
        !Admits(filter_.platforms, measured.platform) ||
        !Admits(filter_.splits, measured.split) ||
        !AdmitsLibrary(filter_.libraries, measured.library)) {
      ++errors_.left_out;
      return;
    }
    measured.measured_s = row.Number("latency_us") * 1e-6;
    if (!IsStated(measured.measured_s)) {
      return reasons_.Add("no latency", index);
    }
    if (!(measured.measured_s > 0)) {
      return reasons_.Add("a latency that is not positive", index);
    }
    if (!filter_.with_flagged && IsFlagged(row)) {
      return reasons_.Add("flagged as doubtful in its notes", index);
    }
    const System* const platform = Platform(measured.platform);
    if (platform == nullptr) {
      return reasons_.Add(
          fmt::format("unknown platform '{}'", measured.platform), index);
    }
    const absl::StatusOr<Question> question = question_of(row, *platform);
    if (!question.ok()) {
      return reasons_.Add(std::string(question.status().message()), index);
    }
    measured.notes = row.Text("notes");
    measured.question = *question;
    measured.category = CategoryOf(measured.question);
    measured.shape = ShapeOf(measured.question);
    measured.repeats =
        keys_.try_emplace(KeyOf(measured.platform, *question), keys_.size())
            .first->second;
    if (!Admits(filter_, *question) ||
        (filter_.where && !filter_.where(measured))) {
      ++errors_.left_out;
      return;
    }
    if (filter_.category) measured.category = filter_.category(measured);
    by_platform_[platform].push_back(errors_.rows.size());
    errors_.rows.push_back(std::move(measured));
  }

  const System* Platform(const std::string& name) const {
    for (const System& platform : platforms_) {
      if (platform.name == name) return &platform;
    }
    return nullptr;
  }

  absl::Status NothingToAsk() const {
    std::string message = fmt::format(
        "no row of view '{}' is left to ask cost model '{}': of {} rows the "
        "filter leaves out {}",
        view_.name(), model_.name(), errors_.view_rows, errors_.left_out);
    for (const CountedReason& reason : errors_.unusable) {
      message += fmt::format("; {} row{}: {}", reason.rows,
                             reason.rows == 1 ? "" : "s", reason.reason);
    }
    return absl::NotFoundError(message);
  }

  template <typename Question>
  absl::Status Ask(const System& platform, const std::vector<size_t>& rows) {
    std::vector<Question> questions;
    questions.reserve(rows.size());
    for (size_t row : rows) {
      questions.push_back(std::get<Question>(errors_.rows[row].question));
    }
    std::vector<Cost> costs(rows.size());
    const absl::Status whole = model_.Costs(
        platform, absl::MakeConstSpan(questions), absl::MakeSpan(costs));
    bool one_failed = false;
    for (size_t i = 0; i < rows.size(); ++i) {
      MeasuredRow& row = errors_.rows[rows[i]];
      if (!whole.ok()) {
        const absl::Status alone =
            model_.Costs(platform, absl::MakeConstSpan(&questions[i], 1),
                         absl::MakeSpan(&costs[i], 1));
        if (!alone.ok()) {
          one_failed = true;
          if (!IsRefusal(alone)) return Failure(row, alone);
          row.refusal = std::string(alone.message());
          continue;
        }
      }
      row.evidence = costs[i].evidence;
      if (row.answered()) row.predicted_s = costs[i].seconds;
    }
    if (whole.ok() || one_failed) return absl::OkStatus();
    return absl::InternalError(fmt::format(
        "cost model '{}' fails where it is asked {} rows of platform '{}' at "
        "once and answers each alone: {}",
        model_.name(), rows.size(), platform.name,
        std::string(whole.message())));
  }

  absl::Status Failure(const MeasuredRow& row, const absl::Status& why) const {
    return absl::Status(
        why.code(),
        fmt::format("row {} of view '{}' (source '{}', platform '{}', {} {}): "
                    "{}",
                    row.row, view_.name(), row.source, row.platform,
                    row.category, row.shape, std::string(why.message())));
  }

  const ProfileView& view_;
  const absl::Span<const System> platforms_;
  const MeasuredFilter& filter_;
  const CostModel& model_;
  CostErrors errors_;
  Reasons reasons_;
  std::map<std::string, size_t> keys_;
  // Indices into `errors_.rows`, in the order of the platforms.
  std::map<const System*, std::vector<size_t>> by_platform_;
};

}  // namespace

absl::StatusOr<CostErrors> ForEachMeasured(const ProfileView& view,
                                           absl::Span<const System> platforms,
                                           const MeasuredFilter& filter,
                                           const CostModel& model) {
  Asking asking(view, platforms, filter, model);
  if (view.name() == kGemms) {
    return asking.Run<Operator>(
        [](const ViewRow& row, const System&) { return GemmQuestion(row); });
  }
  if (view.name() == kOperators) {
    return asking.Run<Operator>([](const ViewRow& row, const System&) {
      return OperatorQuestion(row);
    });
  }
  if (view.name() == kCollectives) {
    return asking.Run<SpannedCollective>(CollectiveQuestion);
  }
  return absl::InvalidArgumentError(
      fmt::format("view '{}' has no rows that ask a cost model; those that do "
                  "are '{}', '{}' and '{}'",
                  view.name(), kGemms, kOperators, kCollectives));
}

absl::StatusOr<CostErrors> ForEachMeasured(const Bundle& bundle,
                                           absl::string_view view,
                                           const MeasuredFilter& filter,
                                           const CostModel& model) {
  const absl::StatusOr<ProfileView> found = bundle.View(view);
  if (!found.ok()) return found.status();
  std::vector<System> platforms;
  for (const std::string& name : PlatformNames(bundle)) {
    absl::StatusOr<System> platform = FindPlatform(bundle, name);
    if (!platform.ok()) return platform.status();
    platforms.push_back(*std::move(platform));
  }
  return ForEachMeasured(*found, platforms, filter, model);
}

absl::StatusOr<CostErrors> ForEachMeasured(absl::string_view view,
                                           const MeasuredFilter& filter,
                                           const CostModel& model) {
  const absl::StatusOr<Bundle> bundle = Bundle::Embedded();
  if (!bundle.ok()) return bundle.status();
  return ForEachMeasured(*bundle, view, filter, model);
}

}  // namespace lmsimbench
