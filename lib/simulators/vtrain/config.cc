#include "lib/simulators/vtrain/config.h"

#include <fmt/core.h>

namespace lmsimbench::vtrain {
namespace {

Error Assertion(std::string message) {
  return {ErrorKind::kAssertion, std::move(message)};
}

Error DividedByZero(const char* divisor) {
  return {ErrorKind::kZeroDivision, fmt::format("{} is 0", divisor)};
}

// `value` has to be a multiple of `divisor`.
Error CheckDivides(const char* value_name, int64_t value,
                   const char* divisor_name, int64_t divisor) {
  if (divisor == 0) return DividedByZero(divisor_name);
  if (FloorModulo(value, divisor) == 0) return {};
  return Assertion(fmt::format("{} {} is not divisible by {} {}", value_name,
                               value, divisor_name, divisor));
}

// The one of the three sizes that is missing follows from the devices, rounded
// down; nothing checks that they then multiply to the devices.
Error CompleteParallelism(Config& config) {
  std::optional<int64_t>* const sizes[] = {&config.tensor_parallel,
                                           &config.data_parallel,
                                           &config.pipeline_parallel};
  int missing = 0;
  int64_t product = 1;
  for (const auto* size : sizes) {
    if (size->has_value()) {
      if (__builtin_mul_overflow(product, **size, &product)) {
        return {ErrorKind::kValue, "more devices than whole numbers count"};
      }
    } else {
      ++missing;
    }
  }
  if (!config.num_gpus.has_value()) {
    if (missing > 0) {
      return Assertion(
          "without num_gpus all of tensor_parallel_size, data_parallel_size "
          "and pipeline_parallel_size have to be stated");
    }
    config.num_gpus = product;
    return {};
  }
  if (missing > 1) {
    return Assertion(
        "only one of tensor_parallel_size, data_parallel_size and "
        "pipeline_parallel_size can be left out");
  }
  if (missing == 0) {
    if (*config.num_gpus == product) return {};
    return Assertion(fmt::format("num_gpus {} is not {} x {} x {}",
                                 *config.num_gpus, *config.tensor_parallel,
                                 *config.data_parallel,
                                 *config.pipeline_parallel));
  }
  if (product == 0) return DividedByZero("the product of the stated sizes");
  for (auto* size : sizes) {
    if (!size->has_value()) *size = FloorDivide(*config.num_gpus, product);
  }
  return {};
}

}  // namespace

int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t FloorModulo(int64_t a, int64_t b) { return a - FloorDivide(a, b) * b; }

Error Resolve(const VtrainRepairs& repairs, Config& config) {
  Error error = CompleteParallelism(config);
  if (!error.ok()) return error;
  const int64_t tensor = *config.tensor_parallel;
  const int64_t data = *config.data_parallel;
  const int64_t pipeline = *config.pipeline_parallel;
  const bool keeps =
      repairs.keep_micro_batches && config.micro_batch.has_value();
  if (pipeline <= 1 && !keeps) {
    if (data == 0) return DividedByZero("data_parallel_size");
    config.micro_batch = FloorDivide(config.global_batch, data);
  }
  error = CheckDivides("global_batch_size", config.global_batch,
                       "data_parallel_size", data);
  if (!error.ok()) return error;
  if (!config.micro_batch.has_value()) {
    return {ErrorKind::kType, "micro_batch_size is missing"};
  }
  error = CheckDivides("global_batch_size", config.global_batch,
                       "micro_batch_size", *config.micro_batch);
  if (!error.ok()) return error;
  error = CheckDivides("num_layers", config.num_layers,
                       "pipeline_parallel_size", pipeline);
  if (!error.ok()) return error;
  error = CheckDivides("hidden_size", config.hidden, "num_attention_heads",
                       config.num_heads);
  if (!error.ok()) return error;
  return CheckDivides("num_attention_heads", config.num_heads,
                      "tensor_parallel_size", tensor);
}

int64_t MicroBatches(const Config& config) {
  return FloorDivide(FloorDivide(config.global_batch, *config.data_parallel),
                     *config.micro_batch);
}

int64_t ActivationBytes(const Config& config) {
  return 2 * *config.micro_batch * config.max_length * config.hidden;
}

int64_t TransformerGradientBytes(const Config& config) {
  const int64_t t = *config.tensor_parallel;
  const int64_t h = config.hidden;
  const auto divide = FloorDivide;
  return 2 *
         (6 * h + 3 * h * divide(h, t) + divide(3 * h, t) + h * divide(h, t) +
          h * divide(4 * h, t) + divide(4 * h, t) + 4 * h * divide(h, t));
}

int64_t EmbeddingGradientBytes(const Config& config) {
  return OutputGradientBytes(config) + 2 * config.max_length * config.hidden;
}

int64_t OutputGradientBytes(const Config& config) {
  return 2 * FloorDivide(config.vocab, *config.tensor_parallel) * config.hidden;
}

}  // namespace lmsimbench::vtrain
