#pragma once

#include <algorithm>
#include <cmath>

#include "lmsimbench/lmsimbench.h"

// A cost model as an engineer might have one: a roofline for what computes and
// a ring for all-reduce, with constants of its own for one kind of accelerator.
class MyCostModel : public lmsimbench::CostModel {
 public:
  MyCostModel() : CostModel("mine") {}

 protected:
  explicit MyCostModel(std::string name) : CostModel(std::move(name)) {}

  // Bytes that each member sends, of `bytes` that are reduced.
  virtual double SentBytes(double bytes, double members) const {
    return 2 * (members - 1) / members * bytes;
  }

 private:
  absl::Status DoOperatorCosts(
      const lmsimbench::System& system,
      absl::Span<const lmsimbench::Operator> operators,
      absl::Span<lmsimbench::Cost> costs) const override {
    using lmsimbench::Computation;
    const lmsimbench::Accelerator& device = system.accelerator;
    for (size_t i = 0; i < operators.size(); ++i) {
      const lmsimbench::Operator& op = operators[i];
      if (op.computation == Computation::kHost) continue;
      const double memory_s = op.bytes / (0.8 * device.memory_bandwidth);
      double compute_s = 0;
      if (op.computation == Computation::kMatrixMultiplication) {
        // Tiles that are not full, and a pipeline that has to be filled.
        const double full =
            Filled(op.m, 64) * Filled(op.n, 64) * Filled(op.k, 96);
        compute_s = op.flops / (0.8 * full * PeakFlops(device, op.precision));
      } else if (op.computation == Computation::kAttention) {
        const double full = Filled(op.key_tokens, 800);
        compute_s = op.flops / (0.58 * full * PeakFlops(device, op.precision));
      }
      costs[i].seconds = std::max(compute_s, memory_s) + kLaunch_s;
      costs[i].evidence = lmsimbench::Evidence::kAnalytic;
    }
    return absl::OkStatus();
  }

  absl::Status DoCollectiveCosts(
      const lmsimbench::System& system,
      absl::Span<const lmsimbench::SpannedCollective> collectives,
      absl::Span<lmsimbench::Cost> costs) const override {
    for (size_t i = 0; i < collectives.size(); ++i) {
      const lmsimbench::SpannedCollective& asked = collectives[i];
      // Only what this model knows: all else it does not answer.
      if (asked.collective.kind != lmsimbench::CollectiveKind::kAllReduce ||
          asked.span.nodes > 1) {
        continue;
      }
      const auto members = static_cast<double>(asked.span.members);
      const auto bytes = static_cast<double>(asked.collective.bytes);
      costs[i].seconds =
          kStart_s + 2 * (members - 1) * kStep_s +
          SentBytes(bytes, members) / (0.75 * system.network.front().bandwidth);
      costs[i].evidence = lmsimbench::Evidence::kAnalytic;
    }
    return absl::OkStatus();
  }

  static double Filled(int64_t length, double half) {
    return static_cast<double>(length) / (static_cast<double>(length) + half);
  }

  static constexpr double kLaunch_s = 5e-6;
  static constexpr double kStart_s = 15e-6;
  static constexpr double kStep_s = 1.5e-6;
};

// The same, with a mistake: it forgets that a ring passes everything round
// twice.
class WrongCostModel : public MyCostModel {
 public:
  WrongCostModel() : MyCostModel("wrong") {}

 private:
  double SentBytes(double bytes, double) const override { return bytes; }
};
