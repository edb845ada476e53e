#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lmsimbench/evidence.h"
#include "lmsimbench/operator.h"
#include "lmsimbench/placement.h"
#include "lmsimbench/system.h"

namespace lmsimbench {

/// The cost of one operator or collective.
struct Cost {
  double seconds = 0;
  Evidence evidence = Evidence::kNotAnswered;
  /// Seconds in which the host does nothing but start it. The host is ahead of
  /// the device within a block of the network, which lasts at least as long as
  /// its starts (execution_graph.h).
  double host_s = 0;
};

/// A collective with the span of the group that runs it.
struct SpannedCollective {
  Collective collective;
  Span span;
  /// Ranks of the pipeline that the group stands in.
  int64_t pipeline_ranks = 1;
};

/// How communication slows what a device does beside it (8. of the head comment
/// of execution_graph.h). By default it does not.
struct Contention {
  /// Seconds that a second of computation takes more while its device
  /// communicates, at least 0: kernels of communication take processors and
  /// memory bandwidth from it.
  double compute = 0;
  /// What leaves the node shares links with what does on the data stream.
  bool links = false;

  bool any() const { return compute > 0 || links; }
};

/// Maps operators and collectives to seconds. Meant to be derived from.
///
/// Const methods may be called by several threads at once. The same question
/// gets the same answer.
class CostModel {
 public:
  virtual ~CostModel() = default;

  /// Name in messages and in print.
  const std::string& name() const { return name_; }

  /// \{ Seconds of each operator or collective on one device of the system.
  /// `costs` has as many entries; all are set to 'not answered' first, so what
  /// the model does not touch it does not answer. Seconds that are NaN,
  /// negative or infinite where it says 'answered' are INTERNAL, naming the
  /// model, the operator and the number.
  absl::Status Costs(const System& system, absl::Span<const Operator> operators,
                     absl::Span<Cost> costs) const;
  absl::Status Costs(const System& system,
                     absl::Span<const SpannedCollective> collectives,
                     absl::Span<Cost> costs) const;
  /// \}

  /// How communication on a device of the system slows what runs beside it.
  /// INTERNAL if the factor is NaN, negative or infinite.
  absl::StatusOr<Contention> ContentionOn(const System& system) const;

 protected:
  explicit CostModel(std::string name) : name_(std::move(name)) {}
  CostModel(const CostModel&) = default;

 private:
  /// \{ Fill `costs`, which arrive 'not answered'. By default nothing is
  /// answered.
  virtual absl::Status DoOperatorCosts(const System& system,
                                       absl::Span<const Operator> operators,
                                       absl::Span<Cost> costs) const;
  virtual absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const;
  /// \}
  /// By default there is none.
  virtual Contention DoContentionOn(const System& system) const;

  std::string name_;
};

/// One line that names an operator with its shape: "qkv projection, forward,
/// bf16, 4096 x 12288 x 4096".
std::string Describe(const Operator& op);
/// One line that names a collective with its span: "all_reduce of 33554432
/// bytes over 8 tensor ranks in 1 node".
std::string Describe(const SpannedCollective& collective);

}  // namespace lmsimbench
