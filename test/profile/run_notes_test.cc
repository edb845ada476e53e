#include "lib/profile/run_notes.h"

#include <catch2/catch.hpp>

namespace lmsimbench {
namespace {

struct Noted {
  Workload workload;
  ParallelConfig config;
};

Noted Read(const std::string& notes, Noted known = {}) {
  ReadNotes(notes, known.workload, known.config);
  return known;
}

Noted Sparse() {
  Noted known;
  known.workload.model.experts = 256;
  known.workload.model.attention = AttentionKind::kLatent;
  return known;
}

TEST_CASE("Notes say whether embeddings are tied") {
  const auto tied = [](const std::string& notes) {
    return Read(notes).workload.model.tied_embeddings;
  };
  CHECK(tied("1f1b; grads accumulated fp32; embeddings tied; tp_mode") ==
        YesNo::kYes);
  CHECK(tied("embeddings untied; nodes=2") == YesNo::kNo);
  CHECK(tied("untied? no (tied embeddings)") == YesNo::kYes);
  CHECK(tied("flags: use-flash-attn untie-embeddings-and-output-weights") ==
        YesNo::kNo);
  CHECK(tied("step time averaged") == YesNo::kNotStated);
}

TEST_CASE("Notes say in which format gradients are accumulated") {
  const auto gradients = [](const std::string& notes) {
    return Read(notes).workload.gradient_precision;
  };
  CHECK(gradients("grads accumulated fp32") == Precision::kFp32);
  CHECK(gradients("MP mode DEFAULT") == Precision::kFp32);
  CHECK(gradients("MP mode PURE") == Precision::kBf16);
  CHECK(gradients("grade=A") == Precision::kNotStated);
}

TEST_CASE("Notes say what experts and latent attention have no column for") {
  const ModelSpec model =
      Read(
          "q_lora 1536 kv_lora 512 qk 128+64 v 128; 1 shared expert; first 3 "
          "layers dense ffn 18432",
          Sparse())
          .workload.model;
  CHECK(model.q_lora_rank == 1536);
  CHECK(model.kv_lora_rank == 512);
  CHECK(model.qk_nope_head_dim == 128);
  CHECK(model.qk_rope_head_dim == 64);
  CHECK(model.v_head_dim == 128);
  CHECK(model.shared_experts == 1);
  CHECK_FALSE(IsStated(model.shared_expert_ffn));
  CHECK(model.dense_first_layers == 3);
  CHECK(model.ffn == 18432);

  const ModelSpec two =
      Read("first layer dense ffn 12288; 2 shared experts (3072)", Sparse())
          .workload.model;
  CHECK(two.dense_first_layers == 1);
  CHECK(two.ffn == 12288);
  CHECK(two.shared_experts == 2);
  CHECK(two.shared_expert_ffn == 1536);

  // Of a dense model the same words say nothing.
  CHECK(Read("1 shared expert; first 3 layers dense ffn 18432").workload ==
        Workload());
}

TEST_CASE("Notes name the flags of a launch script") {
  const Noted noted = Read(
      "flags: use-flash-attn overlap-grad-reduce overlap-param-gather; 910B");
  CHECK(noted.workload.attention_impl == AttentionImpl::kFlash);
  CHECK(noted.config.overlap_grad_reduce == YesNo::kYes);
  CHECK(noted.config.overlap_param_gather == YesNo::kYes);
  // Prose that speaks of a flag is not one.
  CHECK(Read("overlap-grad-reduce/param-gather on where it is written")
            .config.overlap_grad_reduce == YesNo::kNotStated);
}

TEST_CASE("Notes do not overrule what a column states") {
  Noted known = Sparse();
  known.workload.model.tied_embeddings = YesNo::kNo;
  known.workload.model.shared_experts = 2;
  known.workload.gradient_precision = Precision::kBf16;
  const Noted noted =
      Read("embeddings tied; 1 shared expert; grads accumulated fp32", known);
  CHECK(noted.workload == known.workload);
  CHECK(noted.config == known.config);
}

}  // namespace
}  // namespace lmsimbench
