// A stranger's program: uses the library, and would not compile under the
// library's own warning flags.
#include <cstdio>

#include "lmsimbench/lmsimbench.h"

int main(int argc, char** argv) {
  int unused;
  float narrowed = 1.0 / (double)argc;
  lmsimbench::ParallelConfig config;
  config.tp = 8;
  auto bundle = lmsimbench::Bundle::Embedded();
  if (!bundle.ok()) return 1;
  auto iterations = bundle->View("iterations");
  if (!iterations.ok() || iterations->rows() == 0) return 1;
  std::printf("%lld devices, %s\n",
              (long long)lmsimbench::Devices(config) + (narrowed > 2),
              lmsimbench::ToJson(config).c_str());
  return 0;
}
