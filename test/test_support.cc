#include "test/test_support.h"

#include <fstream>
#include <sstream>

namespace lmsimbench {

std::string GoldenPath(const std::string& name) { return std::string(LMSIMBENCH_GOLDEN_DIR) + "/" + name; }

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace lmsimbench
