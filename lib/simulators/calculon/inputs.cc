#include "lib/simulators/calculon/inputs.h"

namespace lmsimbench::calculon {

double ParameterCount(const Application& application) {
  const auto h = static_cast<double>(application.hidden);
  const auto f = static_cast<double>(application.feedforward);
  const auto s = static_cast<double>(application.seq_size);
  const double ad = static_cast<double>(application.attn_heads) *
                    static_cast<double>(application.attn_size);
  const double mlp_weights = 2 * h * f;
  const double attention_weights = 4 * h * ad;
  const double biases = h + f + 3 * ad + h;
  const double norms = 4 * h;
  constexpr double kVocabulary = 51200;
  return static_cast<double>(application.num_blocks) *
             (mlp_weights + attention_weights + biases + norms) +
         (kVocabulary + s) * h;
}

double BytesPerElement(Datatype datatype) {
  switch (datatype) {
    case Datatype::kFloat8:
      return 1;
    case Datatype::kFloat16:
    case Datatype::kBfloat16:
      return 2;
    case Datatype::kFloat32:
      return 4;
    case Datatype::kOther:
      break;
  }
  return 0;
}

}  // namespace lmsimbench::calculon
