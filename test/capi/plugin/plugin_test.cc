#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <string>

#include "test/capi/plugins.h"

namespace {

using namespace capi_test;
using Catch::Matchers::Contains;

// Where the plug-ins of this folder are built.
std::string PathOf(const std::string& plugin) {
  return std::string(LMSIMBENCH_TEST_PLUGINS) + "/" + plugin + ".so";
}

class Loaded {
 public:
  explicit Loaded(const std::string& path) {
    code = lmsb_simulator_load(&simulator, path.data(), path.size());
    if (code != LMSB_OK) message = lmsb_last_error();
  }
  ~Loaded() { lmsb_simulator_free(simulator); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  lmsb_simulator* simulator = nullptr;
  lmsb_code code;
  std::string message;
};

// True while a shared object is in this process.
bool IsLoaded(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

struct Question {
  Question() {
    Need(
        lmsb_workload_from_json(&workload, kWorkload.data(), kWorkload.size()));
    const std::string platform = "a100-sxm4-80g";
    Need(lmsb_system_find(&system, EmbeddedBundle(), platform.data(),
                          platform.size()));
    Need(lmsb_config_from_json(&config, kConfig.data(), kConfig.size()));
    Need(lmsb_prediction_new(&prediction));
  }
  ~Question() {
    lmsb_workload_free(workload);
    lmsb_system_free(system);
    lmsb_config_free(config);
    lmsb_prediction_free(prediction);
  }
  lmsb_code Ask(const Loaded& loaded) const {
    return lmsb_simulator_predict(loaded.simulator, workload, system, config,
                                  nullptr, prediction);
  }

  const std::string kWorkload =
      R"({"model": {"hidden": 4096, "layers": 32, "heads": 32, "ffn": 11008,)"
      R"( "vocab": 32000, "gated_mlp": true}, "seq_len": 4096,)"
      R"( "global_batch": 8, "precision": "bf16"})";
  const std::string kConfig =
      R"({"tp": 4, "pp": 1, "dp": 2, "micro_batch": 1})";
  lmsb_workload* workload = nullptr;
  lmsb_system* system = nullptr;
  lmsb_config* config = nullptr;
  lmsb_prediction* prediction = nullptr;
};

TEST_CASE("A simulator that links nothing of ours answers") {
  const Question question;
  {
    const Loaded loaded(PathOf("simulator"));
    CHECK(loaded.message == "");
    REQUIRE(loaded.code == LMSB_OK);
    CHECK(std::string(lmsb_simulator_name(loaded.simulator)) ==
          "one second a sequence");
    REQUIRE(question.Ask(loaded) == LMSB_OK);
    CHECK(Get(question.prediction, "iteration_time_s") == 8);
    const std::string field = "model.experts";
    Need(lmsb_workload_set_i64(question.workload, field.data(), field.size(),
                               16));
    CHECK(question.Ask(loaded) == LMSB_UNIMPLEMENTED);
    CHECK_THAT(lmsb_last_error(), Contains("no mixture of experts"));
    CHECK(IsLoaded(PathOf("simulator")));
  }
  // Freeing the simulator has unloaded it.
  CHECK(!IsLoaded(PathOf("simulator")));
}

TEST_CASE("A cost model runs through the stages under its own name") {
  const Question question;
  const Loaded loaded(PathOf("cost_model"));
  CHECK(loaded.message == "");
  REQUIRE(loaded.code == LMSB_OK);
  CHECK(std::string(lmsb_simulator_name(loaded.simulator)) ==
        "one microsecond");
  REQUIRE(question.Ask(loaded) == LMSB_OK);
  CHECK(Get(question.prediction, "iteration_time_s") > 0);
}

TEST_CASE("A plug-in that knows a shorter table of the host works") {
  const Question question;
  const Loaded loaded(PathOf("older"));
  CHECK(loaded.message == "");
  REQUIRE(loaded.code == LMSB_OK);
  CHECK(question.Ask(loaded) == LMSB_UNIMPLEMENTED);
  CHECK_THAT(lmsb_last_error(), Contains("a global batch of 8"));
}

TEST_CASE("What cannot be loaded is refused with the reason and its name") {
  struct Fault {
    const char* plugin;
    const char* words;
  };
  for (const Fault& fault :
       {Fault{"no_symbol", "does not export lmsb_plugin_open"},
        Fault{"refuses", "no licence for this machine"},
        Fault{"refuses_without_text",
              "lmsb_plugin_open returned UNAVAILABLE without a text"},
        Fault{"offers_nothing", "neither a simulator nor a cost model"},
        Fault{"short_struct", "struct_size of 16"},
        Fault{"no_name", "name is NULL"},
        Fault{"throws",
              "lmsb_plugin_open threw an exception: no memory of yesterday"}}) {
    const std::string path = PathOf(fault.plugin);
    const Loaded loaded(path);
    CHECK(loaded.code == LMSB_FAILED_PRECONDITION);
    CHECK(loaded.simulator == nullptr);
    CHECK_THAT(loaded.message, Contains("plug-in '" + path + "'"));
    CHECK_THAT(loaded.message, Contains(fault.words));
    CHECK(!IsLoaded(path));
  }
}

TEST_CASE("A file that is no shared object, and none at all, are refused") {
  const Loaded text(LMSIMBENCH_TEST_TEXT_FILE);
  CHECK(text.code == LMSB_FAILED_PRECONDITION);
  CHECK_THAT(text.message, Contains("CMakeLists.txt"));
  const Loaded none(PathOf("there_is_none"));
  CHECK(none.code == LMSB_FAILED_PRECONDITION);
  CHECK_THAT(none.message, Contains("there_is_none"));
  const Loaded empty("");
  CHECK(empty.code != LMSB_OK);
  // Without a folder it is looked for here, not in the loader's path.
  const Loaded no_folder("libc.so.6");
  CHECK(no_folder.code == LMSB_FAILED_PRECONDITION);
  CHECK_THAT(no_folder.message, Contains("libc.so.6"));
}

}  // namespace
