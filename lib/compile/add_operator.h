#pragma once

#include <cstdint>

#include "lib/compile/operators.h"

/// \file
/// How single operators are added to a program.

namespace lmsimbench::compile {

OperatorId Add(Program& program, const Operator& op);

/// `batch` products C[m, n] = A[m, k] B[k, n].
struct MatrixShape {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};
OperatorId AddMatrix(const Sizes& sizes, OperatorKind kind, OperatorPass pass,
                     MatrixShape shape, int64_t input_bytes,
                     double output_bytes, Program& program);

/// y[tokens, out] = x[tokens, in] W. The weight gradient is added to what other
/// micro-batches have left, so it is read and written.
Linear AddLinear(const Sizes& sizes, OperatorKind kind, int64_t tokens,
                 int64_t in, int64_t out, Program& program);

/// The same for `experts` of them at once, which `tokens` tokens come to
/// together; parameters are those of all.
Linear AddGroupedLinear(const Sizes& sizes, OperatorKind kind, int64_t experts,
                        double tokens, int64_t in, int64_t out,
                        Program& program);

OperatorId AddElementwise(const Sizes& sizes, OperatorKind kind,
                          OperatorPass pass, int64_t rows, int64_t width,
                          double bytes_an_element, double flops_an_element,
                          Program& program);

/// Bytes of an element: tensors read and written in forward and backward, and
/// bytes of a mask.
struct Traffic {
  double forward = 0;
  double backward = 0;
  double mask = 0;
};
Elementwise AddBoth(const Sizes& sizes, OperatorKind kind, int64_t rows,
                    int64_t width, Traffic traffic, double flops,
                    Program& program);

}  // namespace lmsimbench::compile
