#include "lib/cost/measured_row.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "lib/cost/roofline.h"

namespace lmsimbench {
namespace {

absl::Status AsksNothing(const std::string& why) {
  return absl::InvalidArgumentError(why);
}

// The key=value pairs of a shape.
class Shape {
 public:
  explicit Shape(const std::string& text) {
    for (absl::string_view part : absl::StrSplit(text, ';')) {
      const std::pair<absl::string_view, absl::string_view> pair =
          absl::StrSplit(part, absl::MaxSplits('=', 1));
      pairs_.emplace_back(pair.first, pair.second);
    }
  }

  // The text of a key; empty if it is not there.
  std::string Text(absl::string_view key) const {
    for (const auto& pair : pairs_) {
      if (pair.first == key) return pair.second;
    }
    return {};
  }
  int64_t Count(absl::string_view key) const {
    int64_t count = kNoCount;
    return absl::SimpleAtoi(Text(key), &count) ? count : kNoCount;
  }
  // The first of the keys that is there.
  int64_t Count(absl::string_view key, absl::string_view other) const {
    const int64_t count = Count(key);
    return IsStated(count) ? count : Count(other);
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

bool AllPositive(std::initializer_list<int64_t> counts) {
  return std::all_of(counts.begin(), counts.end(),
                     [](int64_t count) { return count > 0; });
}

absl::Status ReadPrecision(const ViewRow& row, Operator& op) {
  const std::string name = row.Text("dtype");
  if (ParseName(name, op.precision) && op.precision != Precision::kNotStated) {
    return absl::OkStatus();
  }
  return AsksNothing(name.empty() || name == "unstated"
                         ? "no precision"
                         : fmt::format("unknown precision '{}'", name));
}

// Sets what a matrix multiplication of `batch`, m, n and k works and moves.
absl::Status SetMatrix(Operator& op) {
  op.computation = Computation::kMatrixMultiplication;
  if (!AllPositive({op.batch, op.m, op.n, op.k})) {
    return AsksNothing("no m, n and k");
  }
  const auto batch = static_cast<double>(op.batch);
  const auto m = static_cast<double>(op.m);
  const auto n = static_cast<double>(op.n);
  const auto k = static_cast<double>(op.k);
  op.flops = 2 * batch * m * n * k;
  op.bytes = batch * MatrixBytes(op.precision, m, n, k);
  return absl::OkStatus();
}

// The operators that are matrix multiplications, in the words of the sources.
absl::Status ReadMatrix(const std::string& name, const Shape& shape,
                        Operator& op) {
  op.batch = 1;
  if (name == "attention_score_bmm" || name == "attention_context_bmm") {
    const bool scores = name == "attention_score_bmm";
    op.kind = scores ? OperatorKind::kAttentionScores
                     : OperatorKind::kAttentionValues;
    op.batch = shape.Count("b") * shape.Count("h");
    const int64_t tokens = shape.Count("s");
    const int64_t head_dim = shape.Count("d");
    op.m = tokens;
    op.n = scores ? tokens : head_dim;
    op.k = scores ? head_dim : tokens;
  } else if (name == "grouped_gemm") {
    // The shape is that of the forward pass.
    const std::string stage = shape.Text("stage");
    op.kind = OperatorKind::kExpertUp;
    op.batch = shape.Count("groups");
    op.m = shape.Count("m");
    op.n = shape.Count("n");
    op.k = shape.Count("k");
    if (stage == "bwd_grad_act") {
      std::swap(op.n, op.k);
    } else if (stage == "bwd_grad_w") {
      op.pass = OperatorPass::kWeightGradient;
      const int64_t tokens = op.m;
      op.m = op.n;
      op.n = op.k;
      op.k = tokens;
    } else if (stage != "fwd") {
      return AsksNothing("no stage of a grouped matrix multiplication");
    }
  } else {
    if (name == "batched_matmul") op.batch = shape.Count("batch");
    op.m = shape.Count("m", "tokens");
    op.n = shape.Count("n", "out");
    op.k = shape.Count("k", "in");
  }
  return SetMatrix(op);
}

absl::Status ReadAttention(const Shape& shape, Operator& op) {
  op.kind = OperatorKind::kAttention;
  op.computation = Computation::kAttention;
  op.batch = shape.Count("b");
  op.query_tokens = shape.Count("s_q");
  op.key_tokens = shape.Count("s_kv");
  op.heads = shape.Count("h_q");
  op.kv_heads = shape.Count("h_kv");
  op.head_dim = shape.Count("d", "d_qk");
  op.causal = shape.Count("causal") == 1;
  if (!AllPositive(
          {op.batch, op.query_tokens, op.heads, op.kv_heads, op.head_dim})) {
    return AsksNothing("no sequences, tokens and heads");
  }
  if (op.key_tokens != op.query_tokens) {
    return AsksNothing("other lengths of queries than of keys");
  }
  const int64_t value_dim = shape.Count("d", "d_v");
  if (value_dim != op.head_dim) op.value_head_dim = value_dim;
  if (value_dim <= 0) return AsksNothing("no width of a value head");
  const auto sequences = static_cast<double>(op.batch);
  const auto tokens = static_cast<double>(op.query_tokens);
  const auto heads = static_cast<double>(op.heads);
  // Of a head of keys and one of values the mean.
  const double mean =
      (static_cast<double>(op.head_dim) + static_cast<double>(value_dim)) / 2;
  const double width = heads * mean;
  const double kv_width = static_cast<double>(op.kv_heads) * mean;
  const double pairs = tokens * tokens * (op.causal ? 0.5 : 1);
  const bool forward = op.pass == OperatorPass::kForward;
  // Backward three products over the width of keys, two over that of values.
  const double backward = 2 * heads *
                          (3 * static_cast<double>(op.head_dim) +
                           2 * static_cast<double>(value_dim));
  op.flops = sequences * pairs * (forward ? 4 * width : backward);
  op.bytes = sequences * tokens *
             (ElementBytes(op.precision) * (width + kv_width) + 2 * heads) *
             (forward ? 2 : 4);
  return absl::OkStatus();
}

// What an elementwise kernel is in the pipeline, and what it moves.
struct ElementwiseKernel {
  const char* op;
  OperatorKind kind;
  // Tensors read and written, forward and backward; 0: that pass is not one of
  // the pipeline's.
  double forward;
  double backward;
  // Bytes of a mask an element.
  double mask;
};

constexpr ElementwiseKernel kElementwiseKernels[] = {
    {"layernorm", OperatorKind::kNorm, 2, 3, 0},
    {"layernorm_final", OperatorKind::kNorm, 2, 3, 0},
    {"rmsnorm", OperatorKind::kNorm, 2, 3, 0},
    {"softmax", OperatorKind::kSoftmax, 2, 3, 0},
    {"rope", OperatorKind::kRotary, 2, 2, 0},
    {"silu_mul", OperatorKind::kMlpActivation, 3, 5, 0},
    {"gelu", OperatorKind::kMlpActivation, 2, 3, 0},
    {"residual_add", OperatorKind::kResidual, 3, 2, 0},
    {"bias_dropout_add", OperatorKind::kResidual, 3, 2, 1},
    {"dropout", OperatorKind::kAttentionDropout, 2, 2, 1},
    // Its backward pass writes the gradient of the whole table, the pipeline's
    // only that of the tokens.
    {"embedding", OperatorKind::kEmbedding, 2, 0, 0},
};

// Rows and width of a shape, in the words that the sources use.
bool ReadExtent(const Shape& shape, Operator& op) {
  op.rows = shape.Count("tokens", "rows");
  op.width = shape.Count("hidden", "cols");
  if (!IsStated(op.width)) op.width = shape.Count("inter");
  const int64_t head_dim = shape.Count("head_dim");
  if (IsStated(head_dim)) {
    op.width = (shape.Count("heads") + shape.Count("kv_heads")) * head_dim;
  }
  if (IsStated(shape.Count("s_q"))) {
    op.rows = shape.Count("b") * shape.Count("h") * shape.Count("s_q");
    op.width = shape.Count("s_kv");
  }
  if (IsStated(shape.Count("elements"))) {
    op.rows = shape.Count("elements");
    op.width = 1;
  }
  const std::string tensor = shape.Text("out") + shape.Text("in");
  if (!tensor.empty()) {
    op.rows = 1;
    op.width = 1;
    for (absl::string_view part : absl::StrSplit(tensor, 'x')) {
      int64_t length = 0;
      if (!absl::SimpleAtoi(part, &length)) return false;
      op.rows *= length;
    }
  }
  return AllPositive({op.rows, op.width});
}

bool IsMatrixName(const std::string& name) {
  return name == "linear_fwd" || name == "batched_matmul" ||
         name == "grouped_gemm" || name == "attention_score_bmm" ||
         name == "attention_context_bmm";
}

const ElementwiseKernel* FindElementwise(const std::string& name) {
  for (const ElementwiseKernel& kernel : kElementwiseKernels) {
    if (name == kernel.op) return &kernel;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Operator> GemmQuestion(const ViewRow& row) {
  Operator op;
  if (absl::Status status = ReadPrecision(row, op); !status.ok()) return status;
  op.pass = row.Count("trans_a") == 1 ? OperatorPass::kWeightGradient
                                      : OperatorPass::kForward;
  op.batch = std::max<int64_t>(1, row.Count("batch"));
  op.m = row.Count("m");
  op.n = row.Count("n");
  op.k = row.Count("k");
  if (absl::Status status = SetMatrix(op); !status.ok()) return status;
  return op;
}

absl::StatusOr<Operator> OperatorQuestion(const ViewRow& row) {
  const std::string name = row.Text("op");
  const std::string pass = row.Text("pass");
  const auto no_operator = [&] {
    return AsksNothing(fmt::format(
        "no operator of the pipeline: '{}', pass '{}'", name, pass));
  };
  Operator op;
  if (pass == "fwd") {
    op.pass = OperatorPass::kForward;
  } else if (pass == "bwd") {
    op.pass = OperatorPass::kInputGradient;
  } else {
    return no_operator();
  }
  const bool attention = name == "attention_fwd" || name == "attention_bwd";
  // Backward passes of products join both gradients.
  const bool matrix =
      IsMatrixName(name) &&
      (op.pass == OperatorPass::kForward || name == "grouped_gemm");
  const ElementwiseKernel* const kernel = FindElementwise(name);
  double tensors = 0;
  if (kernel != nullptr) {
    tensors =
        op.pass == OperatorPass::kForward ? kernel->forward : kernel->backward;
  }
  if (!attention && !matrix && tensors == 0) return no_operator();
  if (absl::Status status = ReadPrecision(row, op); !status.ok()) return status;

  const Shape shape(row.Text("shape"));
  absl::Status status;
  if (attention) {
    status = ReadAttention(shape, op);
  } else if (matrix) {
    status = ReadMatrix(name, shape, op);
  } else {
    op.kind = kernel->kind;
    op.computation = Computation::kElementwise;
    if (!ReadExtent(shape, op)) {
      return AsksNothing("no rows and width of one tensor");
    }
    op.bytes = (tensors * ElementBytes(op.precision) + kernel->mask) *
               static_cast<double>(op.rows) * static_cast<double>(op.width);
  }
  if (!status.ok()) return status;
  return op;
}

absl::StatusOr<SpannedCollective> CollectiveQuestion(const ViewRow& row,
                                                     const System& platform) {
  SpannedCollective spanned;
  const std::string kind = row.Text("collective");
  if (!ParseName(kind, spanned.collective.kind) ||
      spanned.collective.kind == CollectiveKind::kNotStated) {
    return AsksNothing(fmt::format("no collective: '{}'", kind));
  }
  spanned.collective.bytes = row.Count("bytes");
  if (spanned.collective.bytes <= 0) return AsksNothing("no bytes");
  Span& span = spanned.span;
  span.members = row.Count("group_size");
  if (span.members <= 1) {
    return AsksNothing("no group of two or more members");
  }
  span.nodes = row.Count("nodes");
  if (span.nodes <= 0) return AsksNothing("no number of nodes");
  if (span.members % span.nodes != 0) {
    return AsksNothing("nodes with unequal numbers of members");
  }
  span.members_per_node = span.members / span.nodes;
  if (span.nodes == 1) return spanned;

  // The innermost level that joins as many nodes.
  int64_t joined = 1;
  for (size_t level = 1; level < platform.network.size(); ++level) {
    const int64_t size = platform.network[level].size;
    joined =
        IsStated(size) && joined <= span.nodes ? joined * size : span.nodes;
    if (joined >= span.nodes) {
      span.level = static_cast<int32_t>(level);
      return spanned;
    }
  }
  return AsksNothing(
      fmt::format("no level of the network of '{}' joins {} nodes",
                  platform.name, span.nodes));
}

bool IsFlagged(const ViewRow& row) {
  return absl::StrContains(row.Text("notes"), "FLAG");
}

}  // namespace lmsimbench
