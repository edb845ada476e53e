#include "test/simulators/vtrain_compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace lmsimbench::vtrain {
namespace {

bool Same(double a, double b, double allowed) {
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         std::fabs(a - b) <= allowed;
}

class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}

  void operator()(const std::string& name, double a, double b,
                  double slack = 0) {
    const double size = std::max(std::fabs(a), std::fabs(b));
    if (!Same(a, b, tolerance_ * std::max(size, slack)) &&
        difference_.empty()) {
      difference_ = fmt::format("{}: {} and {}", name, a, b);
    }
  }

  void operator()(const std::string& name, int64_t a, int64_t b) {
    if (a != b && difference_.empty()) {
      difference_ = fmt::format("{}: {} and {}", name, a, b);
    }
  }

  const std::string& difference() const { return difference_; }

 private:
  double tolerance_;
  std::string difference_;
};

}  // namespace

std::string Difference(const Outputs& a, const Outputs& b, double tolerance) {
  Comparison compare(tolerance);
  compare("iteration", a.iteration_ns, b.iteration_ns);
  compare("communication finish", a.communication_finish_ns,
          b.communication_finish_ns);
  compare("communication", a.communication_ns, b.communication_ns);
  compare("communication nodes", a.communication_nodes, b.communication_nodes);
  compare("micro-batches", a.micro_batches, b.micro_batches);
  compare("ranks", static_cast<int64_t>(a.ranks.size()),
          static_cast<int64_t>(b.ranks.size()));
  for (size_t r = 0; r < std::min(a.ranks.size(), b.ranks.size()); ++r) {
    const RankOutputs& x = a.ranks[r];
    const RankOutputs& y = b.ranks[r];
    const auto member = [&](const char* name, auto field) {
      compare(fmt::format("rank {} {}", r, name), x.*field, y.*field);
    };
    member("finish", &RankOutputs::finish_ns);
    member("compute", &RankOutputs::compute_ns);
    member("tensor", &RankOutputs::tensor_communication_ns);
    member("data", &RankOutputs::data_communication_ns);
    member("gap", &RankOutputs::gap_ns);
    member("end", &RankOutputs::end_ns);
    member("backward end", &RankOutputs::backward_end_ns);
    member("gradients start", &RankOutputs::gradients_start_ns);
    member("update start", &RankOutputs::update_start_ns);
    member("last forward start", &RankOutputs::last_forward_start_ns);
    member("layer nodes", &RankOutputs::layer_nodes);
    member("task nodes", &RankOutputs::task_nodes);
    compare(fmt::format("rank {} exposed", r), x.exposed_communication_ns,
            y.exposed_communication_ns, x.end_ns);
    compare(fmt::format("rank {} idle", r), x.idle_ns, y.idle_ns, x.end_ns);
  }
  return compare.difference();
}

std::string Difference(const std::vector<RankTasks>& a,
                       const std::vector<RankTasks>& b, double tolerance) {
  Comparison compare(tolerance);
  compare("ranks", static_cast<int64_t>(a.size()),
          static_cast<int64_t>(b.size()));
  for (size_t r = 0; r < std::min(a.size(), b.size()); ++r) {
    compare(fmt::format("rank {} tasks", r),
            static_cast<int64_t>(a[r].name.size()),
            static_cast<int64_t>(b[r].name.size()));
    const size_t count = std::min(a[r].name.size(), b[r].name.size());
    for (size_t i = 0; i < count; ++i) {
      const std::string place = fmt::format("rank {} task {} ", r, i);
      compare(place + "name", int64_t{a[r].name[i]}, int64_t{b[r].name[i]});
      compare(place + "start", a[r].start_ns[i], b[r].start_ns[i]);
      compare(place + "duration", a[r].duration_ns[i], b[r].duration_ns[i]);
      compare(place + "gap", a[r].gap_ns[i], b[r].gap_ns[i]);
      if (!compare.difference().empty()) return compare.difference();
    }
  }
  return compare.difference();
}

}  // namespace lmsimbench::vtrain
