#include "lib/testing/row_text.h"

#include "catch2/catch.hpp"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

TEST_CASE("Times have three digits and the unit that suits them") {
  CHECK(SecondsText(1.234e-3) == "1.23 ms");
  CHECK(SecondsText(12.34e-6) == "12.3 us");
  CHECK(SecondsText(615.4e-6) == "615 us");
  CHECK(SecondsText(7e-9) == "7.00 ns");
  CHECK(SecondsText(2.5) == "2.50 s");
  CHECK(SecondsText(4321) == "4321 s");
  CHECK(SecondsText(0) == "0 s");
  CHECK(SecondsText(kNoNumber) == "-");
}

TEST_CASE("A time that three digits round up takes the next unit") {
  CHECK(SecondsText(999.4e-6) == "999 us");
  CHECK(SecondsText(999.6e-6) == "1.00 ms");
  CHECK(SecondsText(9.996e-3) == "10.0 ms");
  CHECK(SecondsText(99.96e-3) == "100 ms");
}

TEST_CASE("Sizes keep every byte") {
  CHECK(BytesText(64 << 20) == "64 MiB");
  CHECK(BytesText(1536) == "1536 B");
  CHECK(BytesText(1024) == "1 KiB");
  CHECK(BytesText(int64_t{3} << 40) == "3072 GiB");
  CHECK(BytesText(0) == "0 B");
}

TEST_CASE("Categories and shapes are words of the field") {
  Operator batched = Matmul(128, 64, 32);
  batched.kind = OperatorKind::kNotStated;
  CHECK(CategoryOf(batched) == "matmul bf16");
  CHECK(ShapeOf(batched) == "128 x 64 x 32");
  batched.batch = 12;
  CHECK(CategoryOf(batched) == "batched matmul bf16");
  CHECK(ShapeOf(batched) == "12 times 128 x 64 x 32");

  Operator attention = Attention(2, 4096, 32, 128);
  attention.kv_heads = 8;
  CHECK(CategoryOf(attention) == "attention forward");
  CHECK(ShapeOf(attention) ==
        "bf16 2 x 4096 tokens, 32 heads (8 kv) of 128, causal");

  const Operator norm = Elementwise(OperatorKind::kNorm, 4096, 1024);
  CHECK(CategoryOf(norm) == "norm forward");
  CHECK(ShapeOf(norm) == "bf16 4096 x 1024");

  const auto inside = Spanned(CollectiveKind::kAllReduce, 64 << 20, 8);
  CHECK(CategoryOf(inside) == "all_reduce in a node");
  CHECK(ShapeOf(inside) == "64 MiB, 8 ranks");
  const auto across = Spanned(CollectiveKind::kAllToAll, 1 << 20, 8, 2);
  CHECK(CategoryOf(across) == "all_to_all between nodes");
  CHECK(ShapeOf(across) == "1 MiB, 16 ranks on 2 nodes");
}

}  // namespace
}  // namespace lmsimbench
