// Compiles the tables of lib/measurements into the bundle that is embedded in
// the library. Used by the build only; `lmsimbench bundle build` is for people.

#include <cstdio>
#include <string>

#include "lmsimbench/bundle.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER FILE\n", argv[0]);
    return 2;
  }
  const absl::Status status = lmsimbench::BuildBundle(argv[1], argv[2]);
  if (status.ok()) return 0;
  const std::string message(status.message());
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}
