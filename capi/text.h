#pragma once

#include <string>

#include "capi/handle.h"

struct lmsb_text : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kText> {
  std::string text;
};
