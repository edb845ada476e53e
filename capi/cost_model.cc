#include "capi/cost_model.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "capi/bundle.h"
#include "capi/callback.h"
#include "capi/make.h"
#include "capi/values.h"
#include "fmt/format.h"
#include "lmsimbench/cost_models.h"
#include "lmsimbench/staged.h"

namespace lmsimbench::capi {
namespace {

// What is handed to a callback at once. Answers of so many lie on the stack.
constexpr size_t kMostQuestions = 256;

// Where a callback writes.
struct Answers {
  double seconds[kMostQuestions];
  int32_t evidence[kMostQuestions];

  // Nothing is answered. In blocks of a fixed size, which are a few wide stores
  // each: for a length that it does not know the compiler writes a loop that
  // costs as much as all the rest.
  void Clear(size_t count) {
    constexpr size_t kBlock = 8;
    static_assert(kMostQuestions % kBlock == 0);
    static constexpr double kNone[kBlock] = {kNoNumber, kNoNumber, kNoNumber,
                                             kNoNumber, kNoNumber, kNoNumber,
                                             kNoNumber, kNoNumber};
    static_assert(LMSB_EVIDENCE_NOT_ANSWERED == 0);
    for (size_t begin = 0; begin < count; begin += kBlock) {
      std::memcpy(seconds + begin, kNone, sizeof(kNone));
      std::memset(evidence + begin, 0, kBlock * sizeof(int32_t));
    }
  }
};

// A number that is no evidence stays one: the check of every cost model's
// answers names it.
Evidence EvidenceOf(int32_t evidence) {
  return static_cast<Evidence>(
      std::min(static_cast<uint32_t>(evidence), uint32_t{255}));
}

class CallbackModel final : public CostModel {
 public:
  CallbackModel(const lmsb_cost_model_functions& functions, bool calls_destroy,
                std::shared_ptr<void> library)
      : CostModel(functions.name),
        functions_(functions),
        calls_destroy_(calls_destroy),
        library_(std::move(library)) {}
  ~CallbackModel() override {
    if (!calls_destroy_ || functions_.destroy == nullptr) return;
    CallQuietly([this] { functions_.destroy(functions_.user); });
  }

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    return Ask(functions_.operator_costs, "operator_costs", system, operators,
               costs);
  }
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    return Ask(functions_.collective_costs, "collective_costs", system,
               collectives, costs);
  }

  template <typename Function, typename Question>
  absl::Status Ask(Function function, const char* name, const System& system,
                   absl::Span<const Question> questions,
                   absl::Span<Cost> costs) const {
    if (function == nullptr) return absl::OkStatus();
    const lmsb_system handle(&system);
    Answers answers;
    for (size_t begin = 0; begin < questions.size(); begin += kMostQuestions) {
      const size_t count = std::min(questions.size() - begin, kMostQuestions);
      answers.Clear(count);
      const auto batch = BatchOf(questions.subspan(begin, count));
      absl::Status status = CallBack(name, [&](lmsb_error* error) {
        return function(functions_.user, &handle, &batch, answers.seconds,
                        answers.evidence, error);
      });
      if (!status.ok()) return status;
      Cost* const out = costs.data() + begin;
      for (size_t i = 0; i < count; ++i) {
        out[i] = {answers.seconds[i], EvidenceOf(answers.evidence[i])};
      }
    }
    return absl::OkStatus();
  }

  const lmsb_cost_model_functions functions_;
  const bool calls_destroy_;
  const std::shared_ptr<void> library_;
};

// A model that somebody else owns too.
class SharedModel final : public CostModel {
 public:
  explicit SharedModel(std::shared_ptr<const CostModel> model)
      : CostModel(model->name()), model_(std::move(model)) {}

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    return model_->Costs(system, operators, costs);
  }
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    return model_->Costs(system, collectives, costs);
  }

  std::shared_ptr<const CostModel> model_;
};

absl::StatusOr<std::unique_ptr<CostModel>> BuiltIn(absl::string_view name,
                                                   const Bundle& bundle) {
  if (name == "default") return MakeDefaultCostModel(bundle);
  if (name == "staged") return MakeStagedCostModel(bundle);
  if (name == "tables") return MakeTableModel(bundle);
  if (name == "roofline") return MakeRooflineModel();
  if (name == "collectives") return MakeCollectiveModel();
  return absl::NotFoundError(fmt::format(
      "no built-in cost model '{}'; there are default, staged, roofline, "
      "collectives, tables{}",
      std::string(name),
      DidYouMean(name,
                 {"default", "staged", "roofline", "collectives", "tables"})));
}

// Entry `i` of a column; a column that is not there holds nothing that is
// known.
template <typename T, typename Column>
T At(const Column& column, size_t i, T missing) {
  if (column.first == nullptr) return missing;
  T value;
  std::memcpy(&value,
              reinterpret_cast<const char*>(column.first) + i * column.stride,
              sizeof(value));
  return value;
}

template <typename Enum>
absl::Status ReadEnum(const lmsb_u8_column& column, size_t i, const char* name,
                      Enum& value) {
  const auto number = At<uint8_t>(column, i, 0);
  if (number >= std::size(EnumNames<Enum>::kNames)) {
    return absl::InvalidArgumentError(
        fmt::format("entry {} has {} {}, which there is not", i, name, number));
  }
  value = static_cast<Enum>(number);
  return absl::OkStatus();
}

absl::Status ReadQuestion(const lmsb_operator_batch& batch, size_t i,
                          Operator& op) {
  absl::Status status = ReadEnum(batch.kind, i, "kind", op.kind);
  if (status.ok()) status = ReadEnum(batch.pass, i, "pass", op.pass);
  if (status.ok()) {
    status = ReadEnum(batch.computation, i, "computation", op.computation);
  }
  if (status.ok()) {
    status = ReadEnum(batch.precision, i, "precision", op.precision);
  }
  if (!status.ok()) return status;
  op.batch = At(batch.batch, i, kNoCount);
  op.m = At(batch.m, i, kNoCount);
  op.n = At(batch.n, i, kNoCount);
  op.k = At(batch.k, i, kNoCount);
  op.query_tokens = At(batch.query_tokens, i, kNoCount);
  op.key_tokens = At(batch.key_tokens, i, kNoCount);
  op.heads = At(batch.heads, i, kNoCount);
  op.kv_heads = At(batch.kv_heads, i, kNoCount);
  op.head_dim = At(batch.head_dim, i, kNoCount);
  op.causal = At<uint8_t>(batch.causal, i, 0) != 0;
  op.window = At(batch.window, i, int64_t{0});
  op.rows = At(batch.rows, i, kNoCount);
  op.width = At(batch.width, i, kNoCount);
  op.flops = At(batch.flops, i, 0.0);
  op.bytes = At(batch.bytes, i, 0.0);
  op.value_head_dim = At(batch.value_head_dim, i, kNoCount);
  return absl::OkStatus();
}

absl::Status ReadQuestion(const lmsb_collective_batch& batch, size_t i,
                          SpannedCollective& question) {
  Collective& collective = question.collective;
  absl::Status status = ReadEnum(batch.kind, i, "kind", collective.kind);
  if (status.ok()) status = ReadEnum(batch.group, i, "group", collective.group);
  if (!status.ok()) return status;
  collective.bytes = At(batch.bytes, i, int64_t{0});
  question.span.members = At(batch.members, i, int64_t{1});
  question.span.nodes = At(batch.nodes, i, int64_t{1});
  question.span.members_per_node =
      At(batch.members_per_node, i, question.span.members);
  question.span.level = At(batch.level, i, int32_t{0});
  return absl::OkStatus();
}

// What a batch of the first version of the interface held.
constexpr size_t FirstSize(const lmsb_operator_batch&) {
  return offsetof(lmsb_operator_batch, value_head_dim);
}
constexpr size_t FirstSize(const lmsb_collective_batch&) {
  return sizeof(lmsb_collective_batch);
}

// The batch, of this version or of the first: then what came later is not
// there.
template <typename Batch>
absl::Status ReadBatch(const Batch* batch, const char* name, Batch& read) {
  absl::Status status = CheckPointer(batch, name);
  if (status.ok()) {
    status = CheckSize(batch->struct_size, FirstSize(read), name);
  }
  if (!status.ok()) return status;
  read = {};
  const bool is_whole = batch->struct_size >= sizeof(Batch);
  std::memcpy(&read, batch, is_whole ? sizeof(Batch) : FirstSize(read));
  return CheckCount(read.count, name);
}

template <typename Question, typename Batch>
lmsb_code AskModel(const lmsb_cost_model* model, const lmsb_system* system,
                   const Batch* batch, const char* name, double* seconds,
                   int32_t* evidence) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckHandle(model, "model");
    if (status.ok()) status = CheckHandle(system, "system");
    Batch read;
    if (status.ok()) status = ReadBatch(batch, name, read);
    if (!status.ok() || read.count == 0) return status;
    status = CheckPointer(seconds, "seconds");
    if (status.ok()) status = CheckPointer(evidence, "evidence");
    if (!status.ok()) return status;
    std::vector<Question> questions(read.count);
    for (size_t i = 0; i < questions.size() && status.ok(); ++i) {
      status = ReadQuestion(read, i, questions[i]);
    }
    if (!status.ok()) return status;
    std::vector<Cost> costs(questions.size());
    status = model->model->Costs(*system->value, absl::MakeConstSpan(questions),
                                 absl::MakeSpan(costs));
    if (!status.ok()) return status;
    for (size_t i = 0; i < costs.size(); ++i) {
      const bool answered = costs[i].evidence != Evidence::kNotAnswered;
      seconds[i] = answered ? costs[i].seconds : kNoNumber;
      evidence[i] = static_cast<int32_t>(costs[i].evidence);
    }
    return absl::OkStatus();
  });
}

}  // namespace

lmsb_operator_batch BatchOf(absl::Span<const Operator> operators) {
  constexpr size_t kStride = sizeof(Operator);
  // A field of no operator has no address.
  static const Operator kNone;
  const Operator* const first = operators.empty() ? &kNone : operators.data();
  const auto byte = [](const void* field) {
    return lmsb_u8_column{static_cast<const uint8_t*>(field), kStride};
  };
  const auto count = [](const int64_t* field) {
    return lmsb_i64_column{field, kStride};
  };
  const auto number = [](const double* field) {
    return lmsb_f64_column{field, kStride};
  };
  return {sizeof(lmsb_operator_batch),
          operators.size(),
          byte(&first->kind),
          byte(&first->pass),
          byte(&first->computation),
          byte(&first->precision),
          count(&first->batch),
          count(&first->m),
          count(&first->n),
          count(&first->k),
          count(&first->query_tokens),
          count(&first->key_tokens),
          count(&first->heads),
          count(&first->kv_heads),
          count(&first->head_dim),
          byte(&first->causal),
          count(&first->window),
          count(&first->rows),
          count(&first->width),
          number(&first->flops),
          number(&first->bytes),
          count(&first->value_head_dim)};
}

lmsb_collective_batch BatchOf(absl::Span<const SpannedCollective> collectives) {
  constexpr size_t kStride = sizeof(SpannedCollective);
  const SpannedCollective* const first = collectives.data();
  const auto byte = [](const void* field) {
    return lmsb_u8_column{static_cast<const uint8_t*>(field), kStride};
  };
  const auto count = [](const int64_t* field) {
    return lmsb_i64_column{field, kStride};
  };
  lmsb_collective_batch batch = {};
  batch.struct_size = sizeof(batch);
  batch.count = collectives.size();
  if (collectives.empty()) return batch;
  batch.kind = byte(&first->collective.kind);
  batch.group = byte(&first->collective.group);
  batch.bytes = count(&first->collective.bytes);
  batch.members = count(&first->span.members);
  batch.nodes = count(&first->span.nodes);
  batch.members_per_node = count(&first->span.members_per_node);
  batch.level = {&first->span.level, kStride};
  return batch;
}

absl::Status CheckFunctions(const lmsb_cost_model_functions* functions) {
  absl::Status status = CheckPointer(functions, "functions");
  if (status.ok()) {
    status = CheckSize(functions->struct_size,
                       sizeof(lmsb_cost_model_functions), "functions");
  }
  if (status.ok()) status = CheckName(functions->name);
  if (!status.ok()) return status;
  if (functions->operator_costs == nullptr &&
      functions->collective_costs == nullptr) {
    return absl::InvalidArgumentError(fmt::format(
        "cost model '{}' has neither operator_costs nor collective_costs",
        functions->name));
  }
  return absl::OkStatus();
}

std::shared_ptr<const CostModel> WrapCostModel(
    const lmsb_cost_model_functions& functions, bool calls_destroy,
    std::shared_ptr<void> library) {
  return std::make_shared<CallbackModel>(functions, calls_destroy,
                                         std::move(library));
}

}  // namespace lmsimbench::capi

namespace capi = lmsimbench::capi;

lmsb_code lmsb_cost_model_new(lmsb_cost_model** out,
                              const lmsb_cost_model_functions* functions) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_cost_model*> {
    absl::Status status = capi::CheckFunctions(functions);
    if (!status.ok()) return status;
    // The handle first: nothing may fail once the model would destroy.
    auto handle =
        std::make_unique<lmsb_cost_model>(nullptr, functions->thread_safe == 1);
    handle->model = capi::WrapCostModel(*functions, true);
    return handle.release();
  });
}

lmsb_code lmsb_cost_model_built_in(lmsb_cost_model** out,
                                   const lmsb_bundle* bundle, const char* name,
                                   size_t name_length) {
  return capi::MakeFrom(
      bundle, "bundle", out, [&]() -> absl::StatusOr<lmsb_cost_model*> {
        absl::string_view wanted;
        absl::Status status = capi::ReadText(name, name_length, "name", wanted);
        if (!status.ok()) return status;
        auto model = capi::BuiltIn(wanted, bundle->bundle);
        if (!model.ok()) return model.status();
        return new lmsb_cost_model(*std::move(model), true);
      });
}

lmsb_code lmsb_cost_model_composite(lmsb_cost_model** out, const char* name,
                                    size_t name_length,
                                    const lmsb_cost_model* const* parts,
                                    size_t part_count) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_cost_model*> {
    absl::string_view text;
    absl::Status status = capi::ReadText(name, name_length, "name", text);
    if (status.ok()) status = capi::CheckCount(part_count, "parts");
    if (status.ok() && part_count > 0) {
      status = capi::CheckPointer(parts, "parts");
    }
    if (!status.ok()) return status;
    if (part_count == 0) {
      return absl::InvalidArgumentError("a composite of no parts");
    }
    bool thread_safe = true;
    std::vector<std::unique_ptr<lmsimbench::CostModel>> models;
    for (size_t i = 0; i < part_count; ++i) {
      status = capi::CheckHandle(parts[i], "a part");
      if (!status.ok()) return status;
      thread_safe = thread_safe && parts[i]->thread_safe;
      models.push_back(std::make_unique<capi::SharedModel>(parts[i]->model));
    }
    return new lmsb_cost_model(
        lmsimbench::MakeCompositeModel(std::string(text), std::move(models)),
        thread_safe);
  });
}

void lmsb_cost_model_free(lmsb_cost_model* model) {
  capi::Free(model, "lmsb_cost_model_free");
}

const char* lmsb_cost_model_name(const lmsb_cost_model* model) {
  return capi::IsHandle(model) ? model->model->name().c_str() : "";
}

lmsb_code lmsb_cost_model_operators(const lmsb_cost_model* model,
                                    const lmsb_system* system,
                                    const lmsb_operator_batch* operators,
                                    double* seconds, int32_t* evidence) {
  return capi::AskModel<lmsimbench::Operator>(model, system, operators,
                                              "operators", seconds, evidence);
}

lmsb_code lmsb_cost_model_collectives(const lmsb_cost_model* model,
                                      const lmsb_system* system,
                                      const lmsb_collective_batch* collectives,
                                      double* seconds, int32_t* evidence) {
  return capi::AskModel<lmsimbench::SpannedCollective>(
      model, system, collectives, "collectives", seconds, evidence);
}
