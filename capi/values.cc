#include "capi/values.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "capi/bundle.h"
#include "capi/error.h"
#include "capi/fields.h"
#include "capi/make.h"
#include "capi/text.h"
#include "lib/core/json_document.h"
#include "lmsimbench/json.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/lookup.h"

namespace capi = lmsimbench::capi;
using capi::CheckHandle;
using capi::CheckPointer;
using capi::Guarded;
using capi::Make;
using capi::MakeFrom;
using lmsimbench::ParallelConfig;
using lmsimbench::Prediction;
using lmsimbench::System;
using lmsimbench::Workload;

namespace {

template <typename Value, typename T>
lmsb_code FromJson(T** out, const char* json, size_t json_length) {
  return Make(out, [&]() -> absl::StatusOr<T*> {
    absl::string_view text;
    absl::Status status = capi::ReadText(json, json_length, "json", text);
    if (!status.ok()) return status;
    absl::StatusOr<Value> value = lmsimbench::FromJson<Value>(text);
    if (!value.ok()) return value.status();
    return new T(*std::move(value));
  });
}

template <typename T>
lmsb_code Copy(T** out, const T* of, const char* name) {
  return MakeFrom(of, name, out, [&] {
    return new T(std::decay_t<decltype(*of->value)>(*of->value));
  });
}

template <typename T>
lmsb_code ToJson(const T* of, const char* name, lmsb_text** out) {
  return MakeFrom(of, name, out, [&] {
    return new lmsb_text{{}, lmsimbench::ToJson(*of->value)};
  });
}

// What `find` finds in the bundle under a name.
template <typename T, typename Find>
lmsb_code Found(T** out, const lmsb_bundle* bundle, const char* name,
                size_t name_length, Find&& find) {
  return MakeFrom(bundle, "bundle", out, [&]() -> absl::StatusOr<T*> {
    absl::string_view wanted;
    absl::Status status = capi::ReadText(name, name_length, "name", wanted);
    if (!status.ok()) return status;
    auto value = find(bundle->bundle, std::string(wanted));
    if (!value.ok()) return value.status();
    return new T(*std::move(value));
  });
}

// Reads one field with a leaf of fields.h.
template <typename Leaf, typename T, typename Value>
lmsb_code Get(const T* of, const char* name, const char* field,
              size_t field_length, Value* value) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckHandle(of, name);
    if (status.ok()) status = CheckPointer(value, "value");
    if (!status.ok()) return status;
    absl::string_view path;
    status = capi::ReadText(field, field_length, "field", path);
    if (!status.ok()) return status;
    Leaf leaf{path, value};
    return capi::VisitField(*of->value, path, path, leaf);
  });
}

template <typename Leaf, typename T, typename Value>
lmsb_code Set(T* of, const char* name, const char* field, size_t field_length,
              const Value& value) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckHandle(of, name);
    if (!status.ok()) return status;
    if (of->changeable() == nullptr) {
      return absl::InvalidArgumentError(std::string(name) +
                                        " is borrowed and may only be read");
    }
    absl::string_view path;
    status = capi::ReadText(field, field_length, "field", path);
    if (!status.ok()) return status;
    Leaf leaf{path, value};
    status = capi::VisitField(*of->changeable(), path, path, leaf);
    if constexpr (std::is_same_v<T, lmsb_prediction>) {
      if (!status.ok()) of->refused = std::string(status.message());
    }
    return status;
  });
}

template <typename T>
lmsb_code SetText(T* of, const char* name, const char* field,
                  size_t field_length, const char* value, size_t value_length) {
  absl::string_view text;
  const lmsb_code code = Guarded(
      [&] { return capi::ReadText(value, value_length, "value", text); });
  if (code != LMSB_OK) return code;
  return Set<capi::SetText>(of, name, field, field_length, text);
}

template <typename T>
lmsb_code SetJson(T* of, const char* name, const char* field,
                  size_t field_length, const char* text, size_t text_length) {
  lmsimbench::json::Json json;
  const lmsb_code code = Guarded([&]() -> absl::Status {
    absl::string_view view;
    absl::Status status = capi::ReadText(text, text_length, "json", view);
    if (!status.ok()) return status;
    auto parsed = lmsimbench::ParseJson(view);
    if (!parsed.ok()) return parsed.status();
    json = *std::move(parsed);
    return absl::OkStatus();
  });
  if (code != LMSB_OK) return code;
  return Set<capi::SetJson>(of, name, field, field_length, json);
}

}  // namespace

// The field functions of one kind of value.
#define LMSB_DEFINE_FIELDS(noun)                                            \
  lmsb_code lmsb_##noun##_f64(const lmsb_##noun* noun, const char* field,   \
                              size_t field_length, double* value) {         \
    return Get<capi::GetF64>(noun, #noun, field, field_length, value);      \
  }                                                                         \
  lmsb_code lmsb_##noun##_i64(const lmsb_##noun* noun, const char* field,   \
                              size_t field_length, int64_t* value) {        \
    return Get<capi::GetI64>(noun, #noun, field, field_length, value);      \
  }                                                                         \
  lmsb_code lmsb_##noun##_text(const lmsb_##noun* noun, const char* field,  \
                               size_t field_length, const char** value) {   \
    return Get<capi::GetText>(noun, #noun, field, field_length, value);     \
  }                                                                         \
  lmsb_code lmsb_##noun##_count(const lmsb_##noun* noun, const char* field, \
                                size_t field_length, size_t* count) {       \
    return Get<capi::GetCount>(noun, #noun, field, field_length, count);    \
  }                                                                         \
  lmsb_code lmsb_##noun##_set_f64(lmsb_##noun* noun, const char* field,     \
                                  size_t field_length, double value) {      \
    return Set<capi::SetF64>(noun, #noun, field, field_length, value);      \
  }                                                                         \
  lmsb_code lmsb_##noun##_set_i64(lmsb_##noun* noun, const char* field,     \
                                  size_t field_length, int64_t value) {     \
    return Set<capi::SetI64>(noun, #noun, field, field_length, value);      \
  }                                                                         \
  lmsb_code lmsb_##noun##_set_text(lmsb_##noun* noun, const char* field,    \
                                   size_t field_length, const char* value,  \
                                   size_t value_length) {                   \
    return SetText(noun, #noun, field, field_length, value, value_length);  \
  }                                                                         \
  lmsb_code lmsb_##noun##_set_json(lmsb_##noun* noun, const char* field,    \
                                   size_t field_length, const char* json,   \
                                   size_t json_length) {                    \
    return SetJson(noun, #noun, field, field_length, json, json_length);    \
  }

LMSB_DEFINE_FIELDS(workload)
LMSB_DEFINE_FIELDS(system)
LMSB_DEFINE_FIELDS(config)
LMSB_DEFINE_FIELDS(prediction)

#undef LMSB_DEFINE_FIELDS

lmsb_code lmsb_workload_new(lmsb_workload** out) {
  return Make(out, []() -> absl::StatusOr<lmsb_workload*> {
    return new lmsb_workload(Workload());
  });
}
lmsb_code lmsb_workload_from_json(lmsb_workload** out, const char* json,
                                  size_t json_length) {
  return FromJson<Workload>(out, json, json_length);
}
lmsb_code lmsb_workload_copy(lmsb_workload** out,
                             const lmsb_workload* workload) {
  return Copy(out, workload, "workload");
}
void lmsb_workload_free(lmsb_workload* workload) {
  capi::Free(workload, "lmsb_workload_free");
}
lmsb_code lmsb_workload_to_json(const lmsb_workload* workload,
                                lmsb_text** out) {
  return ToJson(workload, "workload", out);
}
lmsb_code lmsb_workload_set_model(lmsb_workload* workload,
                                  const lmsb_bundle* bundle, const char* name,
                                  size_t name_length) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckHandle(workload, "workload");
    if (status.ok()) status = CheckHandle(bundle, "bundle");
    if (!status.ok()) return status;
    if (workload->changeable() == nullptr) {
      return absl::InvalidArgumentError(
          "workload is borrowed and may only be read");
    }
    absl::string_view wanted;
    status = capi::ReadText(name, name_length, "name", wanted);
    if (!status.ok()) return status;
    auto model = lmsimbench::FindModel(bundle->bundle, std::string(wanted));
    if (!model.ok()) return model.status();
    workload->changeable()->model = *std::move(model);
    return absl::OkStatus();
  });
}

lmsb_code lmsb_system_new(lmsb_system** out) {
  return Make(out, []() -> absl::StatusOr<lmsb_system*> {
    return new lmsb_system(System());
  });
}
lmsb_code lmsb_system_from_json(lmsb_system** out, const char* json,
                                size_t json_length) {
  return FromJson<System>(out, json, json_length);
}
lmsb_code lmsb_system_find(lmsb_system** out, const lmsb_bundle* bundle,
                           const char* name, size_t name_length) {
  return Found(out, bundle, name, name_length, lmsimbench::FindPlatform);
}
lmsb_code lmsb_system_copy(lmsb_system** out, const lmsb_system* system) {
  return Copy(out, system, "system");
}
void lmsb_system_free(lmsb_system* system) {
  capi::Free(system, "lmsb_system_free");
}
lmsb_code lmsb_system_to_json(const lmsb_system* system, lmsb_text** out) {
  return ToJson(system, "system", out);
}

lmsb_code lmsb_config_new(lmsb_config** out) {
  return Make(out, []() -> absl::StatusOr<lmsb_config*> {
    return new lmsb_config(ParallelConfig());
  });
}
lmsb_code lmsb_config_from_json(lmsb_config** out, const char* json,
                                size_t json_length) {
  return FromJson<ParallelConfig>(out, json, json_length);
}
lmsb_code lmsb_config_find(lmsb_config** out, const lmsb_bundle* bundle,
                           const char* record, size_t record_length) {
  return Found(out, bundle, record, record_length, lmsimbench::FindConfig);
}
lmsb_code lmsb_config_copy(lmsb_config** out, const lmsb_config* config) {
  return Copy(out, config, "config");
}
void lmsb_config_free(lmsb_config* config) {
  capi::Free(config, "lmsb_config_free");
}
lmsb_code lmsb_config_to_json(const lmsb_config* config, lmsb_text** out) {
  return ToJson(config, "config", out);
}
lmsb_code lmsb_config_check(const lmsb_config* config,
                            const lmsb_workload* workload, int64_t devices) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckHandle(config, "config");
    if (status.ok()) status = CheckHandle(workload, "workload");
    if (!status.ok()) return status;
    return lmsimbench::CheckLegal(*workload->value, *config->value, devices);
  });
}
lmsb_code lmsb_config_nearest_legal(lmsb_config** out,
                                    const lmsb_config* config,
                                    const lmsb_workload* workload,
                                    int64_t devices) {
  return Make(out, [&]() -> absl::StatusOr<lmsb_config*> {
    absl::Status status = CheckHandle(config, "config");
    if (status.ok()) status = CheckHandle(workload, "workload");
    if (!status.ok()) return status;
    auto legal =
        lmsimbench::NearestLegal(*workload->value, *config->value, devices);
    if (!legal.ok()) return legal.status();
    return new lmsb_config(*std::move(legal));
  });
}

lmsb_code lmsb_prediction_new(lmsb_prediction** out) {
  return Make(out, []() -> absl::StatusOr<lmsb_prediction*> {
    return new lmsb_prediction(Prediction());
  });
}
void lmsb_prediction_free(lmsb_prediction* prediction) {
  capi::Free(prediction, "lmsb_prediction_free");
}
lmsb_code lmsb_prediction_to_json(const lmsb_prediction* prediction,
                                  lmsb_text** out) {
  return ToJson(prediction, "prediction", out);
}
