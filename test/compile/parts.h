#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/program.h"

/// \file
/// Parts of a program, for tests that ask for them.

namespace lmsimbench {

inline const Operator& TheOperator(const Program& program, OperatorKind kind,
                                   OperatorPass pass = OperatorPass::kForward) {
  const auto is = [&](const Operator& op) {
    return op.kind == kind && op.pass == pass;
  };
  REQUIRE(std::count_if(program.operators.begin(), program.operators.end(),
                        is) == 1);
  return *std::find_if(program.operators.begin(), program.operators.end(), is);
}

/// Bytes of the collectives of a kind over a group in one direction of a block.
inline std::vector<int64_t> Sent(const Program& program,
                                 absl::Span<const Step> steps,
                                 CollectiveKind kind, Group group) {
  std::vector<int64_t> bytes;
  for (const Step& step : steps) {
    if (!step.is_collective) continue;
    const Collective& collective = program.collectives[step.id];
    if (collective.kind == kind && collective.group == group) {
      bytes.push_back(collective.bytes);
    }
  }
  return bytes;
}

/// The last block of layers of the program: one with experts, if there are any.
inline const Block& LastLayers(const Program& program) {
  const auto last = std::find_if(
      program.blocks.rbegin(), program.blocks.rend(),
      [](const Block& block) { return block.kind == BlockKind::kLayers; });
  REQUIRE(last != program.blocks.rend());
  return *last;
}

inline int64_t BytesOf(const Program& program, const Block& block,
                       const std::string& name) {
  for (int32_t i = block.begin_tensor; i < block.end_tensor; ++i) {
    if (program.tensors[i].name == name) return program.tensors[i].bytes;
  }
  return -1;
}

}  // namespace lmsimbench
