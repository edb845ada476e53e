// A plug-in whose one function throws.
#include <stdexcept>

#include "lmsimbench/c.h"

extern "C" lmsb_code lmsb_plugin_open(const lmsb_host*, lmsb_plugin*,
                                      lmsb_error*) {
  throw std::runtime_error("no memory of yesterday");
}
