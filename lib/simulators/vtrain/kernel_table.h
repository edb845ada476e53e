#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace lmsimbench::vtrain {

/// A layer in one of its passes: what is profiled under one name. Those that
/// stand here are simulated.
enum class LayerPass : uint8_t {
  kFwdEmbeddings,
  kFwdTransformer,
  kFwdLogit,
  kFwdLoss,
  kBwdEmbeddings,
  kBwdTransformer,
  kBwdLogit,
  kWuEmbeddings,  ///< weight update
  kWuTransformer,
  kWuLogit,
};
inline constexpr int kLayerPasses = 10;

/// vTrain's name of it: "Fwd_embeddings".
const char* PassName(LayerPass pass);

/// True for a forward pass, the loss included.
inline bool IsForward(LayerPass pass) { return pass <= LayerPass::kFwdLoss; }

/// A kernel and the idle time of the device behind it, in nanoseconds. The gap
/// may be negative where kernels overlap.
struct Kernel {
  double duration_ns = 0;
  double gap_ns = 0;
};

/// Kernels that belong to a name of the profile.
struct NamedKernels {
  std::string name;
  std::vector<Kernel> kernels;
};

/// The kernels of every layer and pass, in the order in which they run. One
/// without kernels takes no time.
struct KernelTable {
  std::array<std::vector<Kernel>, kLayerPasses> passes;

  std::vector<Kernel>& operator[](LayerPass pass) {
    return passes[static_cast<size_t>(pass)];
  }
  const std::vector<Kernel>& operator[](LayerPass pass) const {
    return passes[static_cast<size_t>(pass)];
  }
};

/// What of a profile is simulated; other names are dropped.
KernelTable MakeKernelTable(const std::vector<NamedKernels>& profile);

/// Adds an update of the output layer where the table has none, as vTrain's
/// profile never has: that of the embeddings, of which the output layer has
/// `share` of the parameters.
void AddOutputUpdate(double share, KernelTable& table);

/// A layer's pass without its single kernels: the gap behind the last one is
/// dropped, as the simulation drops it.
struct FoldedPass {
  double length_ns = 0;
  double compute_ns = 0;
  double gap_ns = 0;
  /// From the start to the start of the last kernel.
  double last_start_ns = 0;
  /// At least 1: a layer without kernels is a task of no length.
  int64_t tasks = 1;
};

struct FoldedTable {
  std::array<FoldedPass, kLayerPasses> passes;
  /// No kernel ends, with its gap, before it starts. Where one does, ends do
  /// not grow along a rank, and only the simulation of every kernel is right.
  bool foldable = true;

  const FoldedPass& operator[](LayerPass pass) const {
    return passes[static_cast<size_t>(pass)];
  }
};

void Fold(const KernelTable& table, FoldedTable& folded);

}  // namespace lmsimbench::vtrain
