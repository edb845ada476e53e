#include "lib/profile/embedded_bundle.h"

#include <cstddef>

// The assembler copies the file, which the build has just made. A compiler
// would need minutes for the same bytes as an array.
__asm__(
    ".pushsection .rodata.lmsimbench_bundle, \"a\"\n"
    ".balign 16\n"
    ".globl lmsimbench_embedded_bundle\n"
    ".hidden lmsimbench_embedded_bundle\n"
    ".type lmsimbench_embedded_bundle, STT_OBJECT\n"
    "lmsimbench_embedded_bundle:\n"
    ".incbin \"" LMSIMBENCH_BUNDLE_FILE
    "\"\n"
    ".globl lmsimbench_embedded_bundle_end\n"
    ".hidden lmsimbench_embedded_bundle_end\n"
    "lmsimbench_embedded_bundle_end:\n"
    ".size lmsimbench_embedded_bundle, . - lmsimbench_embedded_bundle\n"
    ".popsection\n");

extern "C" {
extern const uint8_t lmsimbench_embedded_bundle[];
extern const uint8_t lmsimbench_embedded_bundle_end[];
}

namespace lmsimbench {

absl::Span<const uint8_t> EmbeddedBundleBytes() {
  return absl::MakeConstSpan(
      lmsimbench_embedded_bundle,
      static_cast<size_t>(lmsimbench_embedded_bundle_end -
                          lmsimbench_embedded_bundle));
}

}  // namespace lmsimbench
