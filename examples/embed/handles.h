#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "lmsimbench/c.h"

namespace embed {

// What the C interface gives away, owned as C++ owns things.

/// Ends the program with the library's message where a call failed that this
/// example cannot do without.
inline void Need(lmsb_code code) {
  if (code == LMSB_OK) return;
  std::fprintf(stderr, "%s: %s\n", lmsb_code_name(code), lmsb_last_error());
  std::exit(1);
}

/// Frees with a function of the interface.
template <auto free>
struct FreedBy {
  template <typename Object>
  void operator()(Object* object) const {
    free(object);
  }
};

using Bundle = std::unique_ptr<lmsb_bundle, FreedBy<lmsb_bundle_free>>;
using System = std::unique_ptr<lmsb_system, FreedBy<lmsb_system_free>>;
using CostModel =
    std::unique_ptr<lmsb_cost_model, FreedBy<lmsb_cost_model_free>>;
using Simulator = std::unique_ptr<lmsb_simulator, FreedBy<lmsb_simulator_free>>;
using Prediction =
    std::unique_ptr<lmsb_prediction, FreedBy<lmsb_prediction_free>>;
using Measurements =
    std::unique_ptr<lmsb_measurements, FreedBy<lmsb_measurements_free>>;
using Text = std::unique_ptr<lmsb_text, FreedBy<lmsb_text_free>>;
using Table = std::unique_ptr<lmsb_table, FreedBy<lmsb_table_free>>;

/// Make<Bundle>(lmsb_bundle_open_embedded): what lmsb_..._new(&out, ...) makes.
template <typename Owned, typename New, typename... Arguments>
Owned Make(New create, Arguments... arguments) {
  typename Owned::pointer made = nullptr;
  Need(create(&made, arguments...));
  return Owned(made);
}

/// A built-in cost model.
inline CostModel BuiltIn(const Bundle& bundle, const std::string& name) {
  return Make<CostModel>(lmsb_cost_model_built_in, bundle.get(), name.data(),
                         name.size());
}

}  // namespace embed
