#include "lib/simulators/vtrain/kernel_table.h"

namespace lmsimbench::vtrain {
namespace {

constexpr const char* kPassNames[kLayerPasses] = {
    "Fwd_embeddings", "Fwd_transformer", "Fwd_logit", "Fwd_loss",
    "Bwd_embeddings", "Bwd_transformer", "Bwd_logit", "WU_embeddings",
    "WU_transformer", "WU_logit"};

}  // namespace

const char* PassName(LayerPass pass) {
  return kPassNames[static_cast<size_t>(pass)];
}

KernelTable MakeKernelTable(const std::vector<NamedKernels>& profile) {
  KernelTable table;
  for (const NamedKernels& entry : profile) {
    for (size_t pass = 0; pass < kLayerPasses; ++pass) {
      if (entry.name == kPassNames[pass]) table.passes[pass] = entry.kernels;
    }
  }
  return table;
}

void AddOutputUpdate(double share, KernelTable& table) {
  std::vector<Kernel>& update = table[LayerPass::kWuLogit];
  if (!update.empty()) return;
  update = table[LayerPass::kWuEmbeddings];
  for (Kernel& kernel : update) {
    kernel.duration_ns *= share;
    kernel.gap_ns *= share;
  }
}

void Fold(const KernelTable& table, FoldedTable& folded) {
  folded.foldable = true;
  for (size_t i = 0; i < kLayerPasses; ++i) {
    const std::vector<Kernel>& kernels = table.passes[i];
    FoldedPass pass;
    double gap_before = 0;
    for (size_t k = 0; k < kernels.size(); ++k) {
      const Kernel& kernel = kernels[k];
      const bool last = k + 1 == kernels.size();
      pass.length_ns += gap_before;
      pass.gap_ns += gap_before;
      pass.last_start_ns = pass.length_ns;
      pass.length_ns += kernel.duration_ns;
      pass.compute_ns += kernel.duration_ns;
      gap_before = kernel.gap_ns;
      const double reach =
          last ? kernel.duration_ns : kernel.duration_ns + kernel.gap_ns;
      if (!(reach >= 0)) folded.foldable = false;
    }
    if (!kernels.empty()) pass.tasks = static_cast<int64_t>(kernels.size());
    folded.passes[i] = pass;
  }
}

}  // namespace lmsimbench::vtrain
