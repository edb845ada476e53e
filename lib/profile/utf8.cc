#include "lib/profile/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lmsimbench {

namespace {

// Bytes of whole blocks that are ASCII: nearly all text is.
std::ptrdiff_t AsciiBytes(const char* begin, const char* end) {
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  uint64_t words[4];
  const char* at = begin;
  for (; end - at >= static_cast<std::ptrdiff_t>(sizeof words);
       at += sizeof words) {
    std::memcpy(words, at, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) break;
  }
  return at - begin;
}

}  // namespace

bool IsUtf8(absl::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    at += AsciiBytes(at, end);
    if (at == end) break;
    const auto byte = [at](size_t i) { return static_cast<uint8_t>(at[i]); };
    const uint8_t first = byte(0);
    if (first < 0x80) {
      ++at;
      continue;
    }
    // Bytes that follow, and the range of the second one, which excludes
    // overlong forms, surrogates and what is beyond U+10FFFF.
    std::ptrdiff_t more = 0;
    uint8_t low = 0x80;
    uint8_t high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
      more = 1;
    } else if (first >= 0xE0 && first <= 0xEF) {
      more = 2;
      if (first == 0xE0) low = 0xA0;
      if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
      more = 3;
      if (first == 0xF0) low = 0x90;
      if (first == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    if (end - at <= more) return false;
    if (byte(1) < low || byte(1) > high) return false;
    for (std::ptrdiff_t i = 2; i <= more; ++i) {
      if ((byte(static_cast<size_t>(i)) & 0xC0) != 0x80) return false;
    }
    at += more + 1;
  }
  return true;
}

}  // namespace lmsimbench
