#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "lib/simulators/calculon/inputs.h"

namespace lmsimbench::calculon {

/// The four things done with a layer: forward, gradients of activations,
/// gradients of weights and the optimizer's step.
enum Stage { kForward, kActivationGrad, kWeightGrad, kOptimizer };
inline constexpr int kStageCount = 4;

/// What one stage of a layer does and how long it takes.
struct Cost {
  double flops = 0;
  double flops_time = 0;
  double bytes = 0;  ///< moved to and from the first memory tier
  double memory_time = 0;
  double time = 0;  ///< of both together

  Cost& operator+=(const Cost& other) {
    flops += other.flops;
    flops_time += other.flops_time;
    bytes += other.bytes;
    memory_time += other.memory_time;
    time += other.time;
    return *this;
  }
};

/// What belongs to the weights of a layer.
struct Weights {
  Cost gradient;   ///< of the weights
  Cost optimizer;  ///< step
  // Bytes:
  double weight = 0;
  double grad = 0;       ///< in the datatype, sharded with the optimizer
  double grad_full = 0;  ///< 32 bit, not sharded
  double state =
      0;  ///< of the optimizer: moments and 32-bit master copy, sharded
};

/// A layer, priced. Layers are values: two of the same kind and shape are
/// priced once and named twice.
struct Layer {
  Cost forward;
  Cost activation_grad;
  double inputs = 0;   ///< elements
  double outputs = 0;  ///< elements
  // Bytes:
  double activation = 0;
  double output = 0;
  double activation_grad_space = 0;

  double backward_flops = 0;  ///< of gradients and optimizer

  bool has_weights = false;  ///< where not, `weights` means nothing
  Weights weights;
};

/// What pricing needs to know.
struct Pricing {
  const RateTable* matrix = nullptr;
  const RateTable* vector = nullptr;
  const RateTable* memory = nullptr;
  bool roofline = false;
  double element_bytes = 0;  ///< b
  double master_bytes =
      0;  ///< of the optimizer's copy of a weight: 4, or 0 where b is 4
  double shards = 1;  ///< S, parts into which the optimizer is divided
};

/// Time of computing and memory accesses together.
inline double Combine(const Pricing& pricing, double flops_time,
                      double memory_time) {
  return pricing.roofline ? std::max(flops_time, memory_time)
                          : flops_time + memory_time;
}

inline double TimeOf(const RateTable& table, double amount) {
  return amount / table.Rate(amount);
}

inline Cost CostOf(const Pricing& pricing, double flops, double flops_time,
                   double bytes, double memory_time) {
  return {flops, flops_time, bytes, memory_time,
          Combine(pricing, flops_time, memory_time)};
}

inline Cost Price(const Pricing& pricing, const RateTable& engine, double flops,
                  double bytes) {
  return CostOf(pricing, flops, TimeOf(engine, flops), bytes,
                TimeOf(*pricing.memory, bytes));
}

// The kinds of layer. Sizes are elements and whole numbers; every function
// fills the whole layer.

/// The bytes that a layer's elements take, by the general rule.
inline void SetSpaces(const Pricing& pricing, double inputs, double outputs,
                      double activation, double activation_grad, Layer& layer) {
  layer.inputs = inputs;
  layer.outputs = outputs;
  layer.activation = activation * pricing.element_bytes;
  layer.output = outputs * pricing.element_bytes;
  layer.activation_grad_space = activation_grad * pricing.element_bytes;
}

/// Ends a layer without weights.
inline void SetNoWeights(Layer& layer) {
  layer.has_weights = false;
  layer.backward_flops = layer.activation_grad.flops;
}

/// Ends a layer with weights, whose other passes are priced. The optimizer
/// (Adam) has two moments and does 11 operations a weight, on the vector engine
/// also for matrices.
inline void SetWeights(const Pricing& pricing, double count, Layer& layer) {
  layer.has_weights = true;
  Weights& weights = layer.weights;
  weights.weight = count * pricing.element_bytes;
  weights.grad = count * pricing.element_bytes / pricing.shards;
  weights.grad_full = count * 4;
  const double moments = 2 * count;
  weights.state = (count * pricing.master_bytes + moments * 4) / pricing.shards;
  weights.optimizer = Price(pricing, *pricing.vector,
                            count / pricing.shards * 11, weights.state);
  layer.backward_flops = layer.activation_grad.flops + weights.gradient.flops +
                         weights.optimizer.flops;
}

/// A product of m x n activations with n x k weights. Its three passes do the
/// same work and move the same three matrices.
inline void Linear(const Pricing& pricing, double m, double n, double k,
                   Layer& layer) {
  SetSpaces(pricing, m * n, m * k, m * n, m * k, layer);
  const double moved =
      (layer.inputs + layer.outputs + n * k) * pricing.element_bytes;
  const Cost pass = Price(pricing, *pricing.matrix, 2 * m * n * k, moved);
  layer.forward = pass;
  layer.activation_grad = pass;
  layer.weights.gradient = pass;
  SetWeights(pricing, n * k, layer);
}

/// Linear(m, k, n) from Linear(m, n, k): the same work and bytes, with inputs
/// and outputs exchanged.
inline void ReversedLinear(const Layer& linear, Layer& layer) {
  layer = linear;
  std::swap(layer.inputs, layer.outputs);
  layer.activation = linear.output;
  layer.output = linear.activation;
  layer.activation_grad_space = linear.activation;
}

/// `batch` products of m x n with n x k, both activations.
inline void BatchMatMul(const Pricing& pricing, double batch, double m,
                        double n, double k, Layer& layer) {
  SetSpaces(pricing, batch * (m * n + n * k), batch * m * k,
            batch * (m * n + n * k), batch * m * k, layer);
  const double flops = batch * 2 * m * n * k;
  const double moved = (layer.inputs + layer.outputs) * pricing.element_bytes;
  layer.forward = Price(pricing, *pricing.matrix, flops, moved);
  const Cost& forward = layer.forward;
  layer.activation_grad =
      CostOf(pricing, 2 * flops, TimeOf(*pricing.matrix, 2 * flops), moved,
             forward.memory_time);
  SetNoWeights(layer);
}

/// The second product of attention, scores (s x s) times values (s x d), from
/// the first one, queries (s x d) times keys (d x s): the same work on the same
/// three matrices, one of which was the result.
inline void ContextOfScores(const Pricing& pricing, double batch, double s,
                            double d, const Layer& scores, Layer& layer) {
  layer = scores;
  SetSpaces(pricing, batch * (s * s + s * d), batch * s * d,
            batch * (s * s + s * d), batch * s * d, layer);
}

/// Layer normalisation of x elements with 2 x hidden weights.
inline void LayerNorm(const Pricing& pricing, double x, double hidden,
                      Layer& layer) {
  SetSpaces(pricing, x, x, x, x, layer);
  const double weights = 2 * hidden;
  const double moved = (x + x + weights) * pricing.element_bytes;
  layer.forward = Price(pricing, *pricing.vector, 9 * x, moved);
  const double memory_time = layer.forward.memory_time;
  layer.activation_grad = CostOf(
      pricing, 14 * x, TimeOf(*pricing.vector, 14 * x), moved, memory_time);
  layer.weights.gradient = CostOf(
      pricing, 7 * x, TimeOf(*pricing.vector, 7 * x), moved, memory_time);
  SetWeights(pricing, weights, layer);
}

/// A layer on x elements whose two passes move the same bytes: SoftMax, GeLU.
inline void Pointwise(const Pricing& pricing, double x, double forward_flops,
                      double backward_flops, double stored, Layer& layer) {
  SetSpaces(pricing, x, x, stored, stored, layer);
  const double moved = (x + x) * pricing.element_bytes;
  layer.forward = Price(pricing, *pricing.vector, forward_flops, moved);
  layer.activation_grad =
      CostOf(pricing, backward_flops, TimeOf(*pricing.vector, backward_flops),
             moved, layer.forward.memory_time);
  SetNoWeights(layer);
}

inline void SoftMax(const Pricing& pricing, double x, Layer& layer) {
  Pointwise(pricing, x, 5 * x, 8 * x, x, layer);
}

/// Fused with the product before it, the activation function stores nothing.
inline void GeLU(const Pricing& pricing, double x, bool fused, Layer& layer) {
  Pointwise(pricing, x, 8 * x, 13 * x, fused ? 0 : x, layer);
}

/// Drops elements by a mask of one byte each, which is all that is stored.
inline void DropOut(const Pricing& pricing, double x, Layer& layer) {
  SetSpaces(pricing, x, x, x, x, layer);
  layer.activation = x;
  layer.activation_grad_space = x;
  layer.forward =
      Price(pricing, *pricing.vector, x, (x + x) * pricing.element_bytes + x);
  layer.activation_grad = layer.forward;
  SetNoWeights(layer);
}

/// The sum of two operands of x elements.
inline void ElementWise(const Pricing& pricing, double x, Layer& layer) {
  SetSpaces(pricing, x + x, x, x + x, x, layer);
  const double moved = (x + x + x) * pricing.element_bytes;
  layer.forward = Price(pricing, *pricing.vector, x, moved);
  layer.activation_grad = CostOf(pricing, x + x, TimeOf(*pricing.vector, x + x),
                                 moved, layer.forward.memory_time);
  SetNoWeights(layer);
}

/// x elements with several users: nothing forward, the sum of the gradients
/// backward.
inline void Fork(const Pricing& pricing, double x, double users, Layer& layer) {
  SetSpaces(pricing, x, 0, x, 0, layer);
  layer.forward = Cost();
  layer.activation_grad = Price(pricing, *pricing.vector, users * x,
                                x * pricing.element_bytes * (users + 1));
  SetNoWeights(layer);
}

}  // namespace lmsimbench::calculon
