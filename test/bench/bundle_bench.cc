// Opening the embedded bundle, every check included, beside reading its bytes
// once: the one bound that no check of all bytes can beat.

#include <cstdint>
#include <cstring>

#include "benchmark/benchmark.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/measured_run.h"

namespace lmsimbench {
namespace {

void ReadBytesOnce(benchmark::State& state) {
  const auto bundle = Bundle::Embedded();
  const absl::Span<const uint8_t> bytes = bundle->bytes();
  for (auto _ : state) {
    uint64_t sum = 0;
    for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, &bytes[i], 8);
      sum += word;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(bytes.size()));
}
BENCHMARK(ReadBytesOnce)->Unit(benchmark::kMicrosecond);

void OpenEmbeddedBundle(benchmark::State& state) {
  for (auto _ : state) {
    auto bundle = Bundle::Embedded();
    if (!bundle.ok()) state.SkipWithError("the bundle does not open");
    benchmark::DoNotOptimize(bundle);
  }
}
BENCHMARK(OpenEmbeddedBundle)->Unit(benchmark::kMicrosecond);

void ReadAllRuns(benchmark::State& state) {
  const auto bundle = Bundle::Embedded();
  for (auto _ : state) {
    auto runs = ReadRuns(*bundle);
    benchmark::DoNotOptimize(runs);
  }
}
BENCHMARK(ReadAllRuns)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lmsimbench
