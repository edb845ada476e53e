#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <type_traits>
#include <vector>

#include "capi/conformance.h"
#include "capi/cost_model.h"
#include "capi/values.h"

/// \file
/// One call of a cost model's callback, with guards around what it may write.

namespace lmsimbench::capi {

/// \{ What differs between the questions about operators and collectives.
template <typename Question>
struct Asks;
template <>
struct Asks<Operator> {
  using Batch = lmsb_operator_batch;
  static constexpr const char* kFunction = "operator_costs";
  static auto Function(const lmsb_cost_model_functions& functions) {
    return functions.operator_costs;
  }
  template <typename Visit>
  static void VisitColumns(Batch& batch, Visit visit) {
    visit(batch.kind), visit(batch.pass), visit(batch.computation);
    visit(batch.precision), visit(batch.batch), visit(batch.m), visit(batch.n);
    visit(batch.k), visit(batch.query_tokens), visit(batch.key_tokens);
    visit(batch.heads), visit(batch.kv_heads), visit(batch.head_dim);
    visit(batch.causal), visit(batch.window), visit(batch.rows);
    visit(batch.width), visit(batch.flops), visit(batch.bytes);
  }
};
template <>
struct Asks<SpannedCollective> {
  using Batch = lmsb_collective_batch;
  static constexpr const char* kFunction = "collective_costs";
  static auto Function(const lmsb_cost_model_functions& functions) {
    return functions.collective_costs;
  }
  template <typename Visit>
  static void VisitColumns(Batch& batch, Visit visit) {
    visit(batch.kind), visit(batch.group), visit(batch.bytes);
    visit(batch.members), visit(batch.nodes), visit(batch.members_per_node);
    visit(batch.level);
  }
};
/// \}

/// How a batch is handed over.
enum class Layout {
  kRows,    ///< as the library lays it: one struct a question
  kPacked,  ///< every column on its own
  kLonger,  ///< as rows, in a batch struct of a later version
};

/// Entries in front of and behind what the function may write.
inline constexpr size_t kGuards = 16;
inline constexpr double kGuardSeconds = -1.25e300;
inline constexpr int32_t kGuardEvidence = -0x5afe5afe;

/// What a function answered, and what it wrote that it should not have.
struct Reply {
  Outcome outcome;
  std::vector<double> seconds;
  std::vector<int32_t> evidence;
  bool wrote_in_front = false;
  bool wrote_behind = false;
  bool changed_questions = false;
};

/// \{ Entries with guards around them, and whether guards are broken.
template <typename T>
std::vector<T> WithGuards(size_t count, T inside, T guard) {
  std::vector<T> entries(count + 2 * kGuards, guard);
  std::fill_n(entries.begin() + kGuards, count, inside);
  return entries;
}

template <typename T>
bool Broken(const T* begin, T guard) {
  return std::any_of(begin, begin + kGuards,
                     [guard](T entry) { return !(entry == guard); });
}

/// \}

/// Asks one batch.
template <typename Question>
Reply Ask(const lmsb_cost_model_functions& functions, const System& system,
          std::vector<Question> questions, Layout layout) {
  using Batch = typename Asks<Question>::Batch;
  const std::vector<Question> original = questions;
  const size_t count = questions.size();
  struct {
    Batch batch;
    unsigned char later_fields[64];
  } longer = {};
  longer.batch = BatchOf(absl::MakeConstSpan(questions));
  std::deque<std::vector<unsigned char>> packed;
  if (layout == Layout::kPacked) {
    Asks<Question>::VisitColumns(longer.batch, [&](auto& column) {
      using Entry = std::decay_t<decltype(*column.first)>;
      auto& bytes = packed.emplace_back(count * sizeof(Entry));
      for (size_t i = 0; i < count; ++i) {
        const void* const from =
            reinterpret_cast<const char*>(column.first) + i * column.stride;
        std::memcpy(bytes.data() + i * sizeof(Entry), from, sizeof(Entry));
      }
      const void* const first = bytes.data();
      column = {static_cast<const Entry*>(first), sizeof(Entry)};
    });
  }
  if (layout == Layout::kLonger) longer.batch.struct_size = sizeof(longer);
  auto seconds = WithGuards(count, kNoNumber, kGuardSeconds);
  auto evidence =
      WithGuards<int32_t>(count, LMSB_EVIDENCE_NOT_ANSWERED, kGuardEvidence);
  const lmsb_system handle(&system);
  Reply reply;
  reply.outcome = Call([&](lmsb_error* error) {
    return Asks<Question>::Function(functions)(
        functions.user, &handle, &longer.batch, seconds.data() + kGuards,
        evidence.data() + kGuards, error);
  });
  const size_t end = kGuards + count;
  reply.wrote_in_front = Broken(seconds.data(), kGuardSeconds) ||
                         Broken(evidence.data(), kGuardEvidence);
  reply.wrote_behind = Broken(seconds.data() + end, kGuardSeconds) ||
                       Broken(evidence.data() + end, kGuardEvidence);
  reply.seconds.assign(seconds.begin() + kGuards, seconds.begin() + end);
  reply.evidence.assign(evidence.begin() + kGuards, evidence.begin() + end);
  reply.changed_questions = std::memcmp(original.data(), questions.data(),
                                        count * sizeof(Question)) != 0;
  return reply;
}

}  // namespace lmsimbench::capi
