#include "capi/text.h"

#include "lmsimbench/version.h"

using lmsimbench::capi::IsHandle;

const char* lmsb_text_data(const lmsb_text* text) {
  return IsHandle(text) ? text->text.c_str() : "";
}

size_t lmsb_text_length(const lmsb_text* text) {
  return IsHandle(text) ? text->text.size() : 0;
}

void lmsb_text_free(lmsb_text* text) {
  lmsimbench::capi::Free(text, "lmsb_text_free");
}

const char* lmsb_version(void) { return lmsimbench::kVersion; }
