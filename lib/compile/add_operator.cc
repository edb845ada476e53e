#include "lib/compile/add_operator.h"

#include <cmath>

namespace lmsimbench::compile {

OperatorId Add(Program& program, const Operator& op) {
  program.operators.push_back(op);
  return static_cast<OperatorId>(program.operators.size()) - 1;
}

OperatorId AddMatrix(const Sizes& sizes, OperatorKind kind, OperatorPass pass,
                     MatrixShape shape, int64_t input_bytes,
                     double output_bytes, Program& program) {
  Operator op;
  op.kind = kind;
  op.pass = pass;
  op.computation = Computation::kMatrixMultiplication;
  op.precision = input_bytes == sizes.matrix_bytes ? sizes.matrix_precision
                                                   : sizes.precision;
  op.batch = shape.batch;
  op.m = shape.m;
  op.n = shape.n;
  op.k = shape.k;
  const auto batch = static_cast<double>(shape.batch);
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  op.flops = 2 * batch * m * n * k;
  op.bytes = batch * (static_cast<double>(input_bytes) * (m * k + k * n) +
                      output_bytes * m * n);
  return Add(program, op);
}

Linear AddLinear(const Sizes& sizes, OperatorKind kind, int64_t tokens,
                 int64_t in, int64_t out, Program& program) {
  const auto activation_bytes = static_cast<double>(sizes.bytes);
  const auto gradient_bytes = static_cast<double>(2 * sizes.gradient_bytes);
  Linear linear;
  linear.forward =
      AddMatrix(sizes, kind, OperatorPass::kForward, {1, tokens, out, in},
                sizes.matrix_bytes, activation_bytes, program);
  linear.input_gradient =
      AddMatrix(sizes, kind, OperatorPass::kInputGradient, {1, tokens, in, out},
                sizes.matrix_bytes, activation_bytes, program);
  linear.weight_gradient = AddMatrix(sizes, kind, OperatorPass::kWeightGradient,
                                     {1, out, in, tokens}, sizes.matrix_bytes,
                                     gradient_bytes, program);
  linear.parameters = in * out;
  return linear;
}

Linear AddGroupedLinear(const Sizes& sizes, OperatorKind kind, int64_t experts,
                        double tokens, int64_t in, int64_t out,
                        Program& program) {
  const auto each = static_cast<int64_t>(
      std::ceil(tokens / static_cast<double>(experts) - 1e-9));
  Linear linear = AddLinear(sizes, kind, each, in, out, program);
  const auto inputs = static_cast<double>(in);
  const auto outputs = static_cast<double>(out);
  const double weights = static_cast<double>(experts) * inputs * outputs;
  const auto matrix_bytes = static_cast<double>(sizes.matrix_bytes);
  const auto bytes = static_cast<double>(sizes.bytes);
  const auto gradient_bytes = static_cast<double>(2 * sizes.gradient_bytes);
  // Experts need not have a whole number of tokens each.
  const auto set = [&](OperatorId id, double moved) {
    Operator& op = program.operators[id];
    op.batch = experts;
    op.flops = 2 * tokens * inputs * outputs;
    op.bytes = moved;
  };
  set(linear.forward,
      matrix_bytes * (tokens * inputs + weights) + bytes * tokens * outputs);
  set(linear.input_gradient,
      matrix_bytes * (tokens * outputs + weights) + bytes * tokens * inputs);
  set(linear.weight_gradient,
      matrix_bytes * tokens * (inputs + outputs) + gradient_bytes * weights);
  linear.parameters *= experts;
  return linear;
}

OperatorId AddElementwise(const Sizes& sizes, OperatorKind kind,
                          OperatorPass pass, int64_t rows, int64_t width,
                          double bytes_an_element, double flops_an_element,
                          Program& program) {
  Operator op;
  op.kind = kind;
  op.pass = pass;
  op.computation = Computation::kElementwise;
  op.precision = sizes.precision;
  op.rows = rows;
  op.width = width;
  const double elements =
      static_cast<double>(rows) * static_cast<double>(width);
  op.bytes = bytes_an_element * elements;
  op.flops = flops_an_element * elements;
  return Add(program, op);
}

Elementwise AddBoth(const Sizes& sizes, OperatorKind kind, int64_t rows,
                    int64_t width, Traffic traffic, double flops,
                    Program& program) {
  const auto bytes = static_cast<double>(sizes.bytes);
  return {
      AddElementwise(sizes, kind, OperatorPass::kForward, rows, width,
                     traffic.forward * bytes + traffic.mask, flops, program),
      AddElementwise(sizes, kind, OperatorPass::kInputGradient, rows, width,
                     traffic.backward * bytes + traffic.mask, 2 * flops,
                     program)};
}

}  // namespace lmsimbench::compile
