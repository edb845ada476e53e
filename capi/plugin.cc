#include "lmsimbench/plugin.h"

#include <dlfcn.h>

#include <string>
#include <utility>

#include "capi/callback.h"
#include "capi/cost_model.h"
#include "capi/make.h"
#include "capi/simulator.h"
#include "fmt/format.h"
#include "lmsimbench/staged.h"

namespace lmsimbench {
namespace {

constexpr char kSymbol[] = "lmsb_plugin_open";

// A shared object that stays loaded as long as something of it is used.
std::shared_ptr<void> OpenLibrary(const std::string& path) {
  return {dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* library) {
            if (library != nullptr) dlclose(library);
          }};
}

absl::Status Unusable(const std::string& path, const std::string& why) {
  return absl::FailedPreconditionError(
      fmt::format("plug-in '{}': {}", path, why));
}

// What the loader says of its latest failure.
std::string LoaderError() {
  const char* const text = dlerror();
  return text == nullptr ? "the loader gives no reason" : text;
}

struct Loaded {
  std::unique_ptr<const Simulator> simulator;
  bool thread_safe = false;
};

absl::StatusOr<Loaded> Load(const std::string& path) {
  // Without a folder the loader would look into its own.
  const std::string file =
      path.find('/') == std::string::npos ? "./" + path : path;
  const std::shared_ptr<void> library = OpenLibrary(file);
  if (library == nullptr) return Unusable(path, LoaderError());
  const auto open = reinterpret_cast<lmsb_plugin_open_function>(
      dlsym(library.get(), kSymbol));
  if (open == nullptr) {
    return Unusable(path, fmt::format("it does not export {}", kSymbol));
  }
  lmsb_plugin plugin = {};
  plugin.struct_size = sizeof(plugin);
  absl::Status status = capi::CallBack(kSymbol, [&](lmsb_error* error) {
    return open(lmsb_host_table(), &plugin, error);
  });
  if (!status.ok()) return Unusable(path, std::string(status.message()));
  if (plugin.simulator == nullptr && plugin.cost_model == nullptr) {
    return Unusable(path, "it offers neither a simulator nor a cost model");
  }
  status = plugin.simulator != nullptr
               ? capi::CheckFunctions(plugin.simulator)
               : capi::CheckFunctions(plugin.cost_model);
  if (!status.ok()) return Unusable(path, std::string(status.message()));
  if (plugin.simulator != nullptr) {
    return Loaded{capi::WrapSimulator(*plugin.simulator, true, library),
                  plugin.simulator->thread_safe == 1};
  }
  return Loaded{
      MakeStaged(plugin.cost_model->name,
                 capi::WrapCostModel(*plugin.cost_model, true, library)),
      plugin.cost_model->thread_safe == 1};
}

}  // namespace

absl::StatusOr<Plugin> LoadPlugin(const std::string& path) {
  absl::StatusOr<Loaded> loaded = Load(path);
  if (!loaded.ok()) return loaded.status();
  return Plugin{std::move(loaded->simulator), loaded->thread_safe};
}

}  // namespace lmsimbench

namespace capi = lmsimbench::capi;

const lmsb_host* lmsb_host_table(void) {
  static const lmsb_host host = {sizeof(lmsb_host),
                                 LMSB_ABI_VERSION,
                                 0,
                                 lmsb_last_error,
                                 lmsb_error_set,
                                 lmsb_workload_f64,
                                 lmsb_workload_i64,
                                 lmsb_workload_text,
                                 lmsb_workload_count,
                                 lmsb_workload_to_json,
                                 lmsb_system_f64,
                                 lmsb_system_i64,
                                 lmsb_system_text,
                                 lmsb_system_count,
                                 lmsb_system_to_json,
                                 lmsb_config_f64,
                                 lmsb_config_i64,
                                 lmsb_config_text,
                                 lmsb_config_count,
                                 lmsb_config_to_json,
                                 lmsb_prediction_set_f64,
                                 lmsb_prediction_set_i64,
                                 lmsb_prediction_set_text,
                                 lmsb_prediction_set_json,
                                 lmsb_text_data,
                                 lmsb_text_length,
                                 lmsb_text_free};
  return &host;
}

lmsb_code lmsb_simulator_load(lmsb_simulator** out, const char* path,
                              size_t path_length) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_simulator*> {
    absl::string_view file;
    absl::Status status = capi::ReadText(path, path_length, "path", file);
    if (!status.ok()) return status;
    auto plugin = lmsimbench::LoadPlugin(std::string(file));
    if (!plugin.ok()) return plugin.status();
    return new lmsb_simulator(std::move(plugin->simulator),
                              plugin->thread_safe);
  });
}
