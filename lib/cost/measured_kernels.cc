#include "lib/cost/measured_kernels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "lib/cost/roofline.h"
#include "lib/profile/view_row.h"
#include "lmsimbench/lookup.h"

namespace lmsimbench {
namespace {

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

bool IsMatrix(const ViewRow& row, Operator& op) {
  op.computation = Computation::kMatrixMultiplication;
  op.pass = OperatorPass::kForward;
  op.batch = std::max<int64_t>(1, row.Count("batch"));
  op.m = row.Count("m");
  op.n = row.Count("n");
  op.k = row.Count("k");
  if (!AllPositive({op.m, op.n, op.k})) return false;
  // The product of two transposed activations is a weight gradient.
  if (row.Count("trans_a") == 1) op.pass = OperatorPass::kWeightGradient;
  const auto batch = static_cast<double>(op.batch);
  const auto m = static_cast<double>(op.m);
  const auto n = static_cast<double>(op.n);
  const auto k = static_cast<double>(op.k);
  op.flops = 2 * batch * m * n * k;
  op.bytes = batch * MatrixBytes(op.precision, m, n, k);
  return true;
}

bool IsAttention(const Shape& shape, Operator& op) {
  op.kind = OperatorKind::kAttention;
  op.computation = Computation::kAttention;
  op.batch = shape.Count("b");
  op.query_tokens = shape.Count("s_q");
  op.key_tokens = shape.Count("s_kv");
  op.heads = shape.Count("h_q");
  op.kv_heads = shape.Count("h_kv");
  op.head_dim = shape.Count("d", "d_qk");
  op.causal = shape.Count("causal") == 1;
  const int64_t value_dim = shape.Count("d", "d_v");
  if (!AllPositive(
          {op.batch, op.query_tokens, op.heads, op.kv_heads, op.head_dim}) ||
      op.key_tokens != op.query_tokens || value_dim != op.head_dim) {
    return false;
  }
  const auto sequences = static_cast<double>(op.batch);
  const auto tokens = static_cast<double>(op.query_tokens);
  const auto heads = static_cast<double>(op.heads);
  const double width = heads * static_cast<double>(op.head_dim);
  const double kv_width =
      static_cast<double>(op.kv_heads) * static_cast<double>(op.head_dim);
  const double pairs = tokens * tokens * (op.causal ? 0.5 : 1);
  const bool forward = op.pass == OperatorPass::kForward;
  op.flops = 4 * sequences * width * pairs * (forward ? 1 : 2.5);
  op.bytes = sequences * tokens *
             (ElementBytes(op.precision) * (width + kv_width) + 2 * heads) *
             (forward ? 2 : 4);
  return true;
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

bool IsElementwise(const std::string& name, const Shape& shape, Operator& op) {
  for (const ElementwiseKernel& kernel : kElementwiseKernels) {
    if (name != kernel.op) continue;
    op.kind = kernel.kind;
    op.computation = Computation::kElementwise;
    const double tensors =
        op.pass == OperatorPass::kForward ? kernel.forward : kernel.backward;
    if (tensors == 0 || !ReadExtent(shape, op)) return false;
    op.bytes = (tensors * ElementBytes(op.precision) + kernel.mask) *
               static_cast<double>(op.rows) * static_cast<double>(op.width);
    return true;
  }
  return false;
}

bool IsOperator(const ViewRow& row, Operator& op) {
  const std::string pass = row.Text("pass");
  if (pass == "fwd") {
    op.pass = OperatorPass::kForward;
  } else if (pass == "bwd") {
    op.pass = OperatorPass::kInputGradient;
  } else {
    return false;
  }
  const std::string name = row.Text("op");
  const Shape shape(row.Text("shape"));
  if (name == "attention_fwd" || name == "attention_bwd") {
    return IsAttention(shape, op);
  }
  return IsElementwise(name, shape, op);
}

bool IsCollective(const ViewRow& row, SpannedCollective& spanned) {
  const std::string library = row.Text("library");
  if (!absl::StrContains(library, "NCCL") &&
      !absl::StrContains(library, "RCCL") &&
      !absl::StrContains(library, "HCCL")) {
    return false;
  }
  spanned.collective.bytes = row.Count("bytes");
  spanned.span.members = row.Count("group_size");
  spanned.span.members_per_node = spanned.span.members;
  return ParseName(row.Text("collective"), spanned.collective.kind) &&
         row.Count("nodes") == 1 && spanned.span.members > 1 &&
         spanned.collective.bytes > 0 &&
         !absl::StrContains(row.Text("notes"), "FLAG");
}

class Reader {
 public:
  explicit Reader(const Bundle& bundle) : bundle_(bundle) {}

  absl::StatusOr<MeasuredKernels> Read() {
    for (const std::string& name : PlatformNames(bundle_)) {
      absl::StatusOr<System> platform = FindPlatform(bundle_, name);
      if (!platform.ok()) return platform.status();
      kernels_.platforms.push_back(*std::move(platform));
    }
    ReadView("gemms", kernels_.operators, [](const ViewRow& row, Operator& op) {
      return ParseName(row.Text("dtype"), op.precision) && IsMatrix(row, op);
    });
    ReadView("operators", kernels_.operators,
             [](const ViewRow& row, Operator& op) {
               return ParseName(row.Text("dtype"), op.precision) &&
                      IsOperator(row, op);
             });
    ReadView("collectives", kernels_.collectives, IsCollective);
    return std::move(kernels_);
  }

 private:
  template <typename Question, typename IsQuestion>
  void ReadView(absl::string_view name, std::vector<Measured<Question>>& out,
                IsQuestion is_question) {
    const ProfileView& view = bundle_.ViewOrEmpty(name);
    for (size_t i = 0; i < view.rows(); ++i) {
      const ViewRow row(view, i);
      Measured<Question> measured;
      measured.seconds = row.Number("latency_us") * 1e-6;
      const std::string split = row.Text("split");
      measured.is_fit = split == "fit";
      if (!(measured.seconds > 0) || (!measured.is_fit && split != "test") ||
          !PlatformOf(row.Text("platform"), measured.platform) ||
          !is_question(row, measured.question)) {
        continue;
      }
      measured.source_id = row.Text("source_id");
      out.push_back(std::move(measured));
    }
  }

  // The platforms are sorted by name.
  bool PlatformOf(const std::string& name, size_t& index) const {
    const auto found = std::lower_bound(
        kernels_.platforms.begin(), kernels_.platforms.end(), name,
        [](const System& system, const std::string& other) {
          return system.name < other;
        });
    if (found == kernels_.platforms.end() || found->name != name) return false;
    index = static_cast<size_t>(found - kernels_.platforms.begin());
    return true;
  }

  const Bundle& bundle_;
  MeasuredKernels kernels_;
};

}  // namespace

absl::StatusOr<MeasuredKernels> ReadMeasuredKernels(const Bundle& bundle) {
  return Reader(bundle).Read();
}

}  // namespace lmsimbench
