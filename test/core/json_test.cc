#include "lmsimbench/json.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "test/core/random_values.h"

namespace lmsimbench {
namespace {

template <typename T>
std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<T> value = FromJson<T>(text);
  REQUIRE_FALSE(value.ok());
  CHECK(value.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(value.status().message());
}

TEMPLATE_TEST_CASE("what is written is read back as the same value", "",
                   ModelSpec, Workload, System, ParallelConfig, Prediction) {
  RandomValues random(1);
  for (int i = 0; i < 2000; ++i) {
    TestType value;
    random.Fill(value);
    const std::string text = ToJson(value);
    const absl::StatusOr<TestType> read = FromJson<TestType>(text);
    INFO(text);
    REQUIRE(read.ok());
    REQUIRE(*read == value);
  }
}

TEMPLATE_TEST_CASE("an empty object is the default value", "", ModelSpec,
                   Workload, System, ParallelConfig, Prediction) {
  const absl::StatusOr<TestType> read = FromJson<TestType>("{}");
  REQUIRE(read.ok());
  CHECK(*read == TestType());
}

TEST_CASE("a configuration is written with names and without gaps") {
  ParallelConfig config;
  config.tp = 8;
  config.vpp = kNoCount;  // the default is 1: leaving it out would say so
  config.micro_batch = 2;
  config.sequence_parallel = YesNo::kYes;
  config.zero = ZeroStage::kDistributedOptimizer;
  config.stage_layers = {8, 8, 7, 7};
  CHECK(ToJson(config) == R"({
  "dp": 1,
  "tp": 8,
  "pp": 1,
  "cp": 1,
  "vpp": null,
  "ep": 1,
  "micro_batch": 2,
  "sequence_parallel": true,
  "zero": "distopt",
  "rank_order": "tp-cp-ep-dp-pp",
  "stage_layers": [
    8,
    8,
    7,
    7
  ]
})");
}

TEST_CASE("numbers keep every digit") {
  System system;
  system.accelerator.bf16_flops = 989.4e12;
  system.accelerator.memory_bytes = 0.1 + 0.2;
  const std::string text = ToJson(system);
  CHECK(absl::StrContains(text, "0.30000000000000004"));
  CHECK(*FromJson<System>(text) == system);
}

TEST_CASE("null and -1 say that a figure is not stated") {
  const auto config = FromJson<ParallelConfig>(
      R"({"vpp": null, "micro_batch": -1, "zero": null, "rank_order": null,
          "sequence_parallel": null, "stage_layers": null})");
  REQUIRE(config.ok());
  ParallelConfig expected;
  expected.vpp = kNoCount;
  expected.rank_order = "";
  CHECK(*config == expected);
}

TEST_CASE("text that no longer is UTF-8 is still written as valid JSON") {
  ModelSpec model;
  model.name = "bad \xff byte";
  CHECK(FromJson<ModelSpec>(ToJson(model)).ok());
}

TEST_CASE("an unknown key is named with its path and the nearest known one") {
  CHECK(ErrorOf<ParallelConfig>(R"({"microbatch": 1})") ==
        "unknown key 'microbatch'; did you mean 'micro_batch'?");
  CHECK(ErrorOf<Workload>(R"({"model": {"hiden": 4096}})") ==
        "unknown key 'model.hiden'; did you mean 'hidden'?");
  CHECK(ErrorOf<System>(R"({"network": [{}, {"bandwith": 1}]})") ==
        "unknown key 'network[1].bandwith'; did you mean 'bandwidth'?");
  CHECK(ErrorOf<System>(R"({"qqqqqqqqqqqq": 1})") ==
        "unknown key 'qqqqqqqqqqqq'; known: name, accelerator, devices, "
        "network, framework, host_link_bandwidth, host_memory_bandwidth");
}

TEST_CASE("a value of another type is named with what was expected") {
  CHECK(ErrorOf<ParallelConfig>(R"({"tp": "8"})") ==
        R"(tp: expected a whole number, found the text "8")");
  CHECK(ErrorOf<ParallelConfig>(R"({"tp": 1.5})") ==
        "tp: expected a whole number, found 1.5");
  CHECK(ErrorOf<ParallelConfig>(R"({"tp": true})") ==
        "tp: expected a whole number, found true");
  CHECK(ErrorOf<ParallelConfig>(R"({"stage_layers": [1, {}]})") ==
        "stage_layers[1]: expected a whole number, found an object");
  CHECK(ErrorOf<ParallelConfig>(R"({"stage_layers": 8})") ==
        "stage_layers: expected a list, found 8");
  CHECK(ErrorOf<ParallelConfig>(R"({"sequence_parallel": 1})") ==
        "sequence_parallel: expected true or false, found 1");
  CHECK(ErrorOf<System>(R"({"accelerator": []})") ==
        "accelerator: expected an object, found a list");
  CHECK(ErrorOf<System>(R"({"accelerator": {"clock_hz": "fast"}})") ==
        R"(accelerator.clock_hz: expected a number, found the text "fast")");
  CHECK(ErrorOf<System>(R"({"name": 7})") == "name: expected a text, found 7");
  CHECK(ErrorOf<System>("[]") ==
        "the document: expected an object, found a list");
}

TEST_CASE("a count beyond 64 bits is refused, not wrapped") {
  CHECK(FromJson<System>(R"({"devices": 9223372036854775807})")->devices ==
        9223372036854775807);
  CHECK(ErrorOf<System>(R"({"devices": 9223372036854775808})") ==
        "devices: expected a whole number up to 9223372036854775807, found "
        "9223372036854775808");
  CHECK(ErrorOf<System>(R"({"devices": 1e30})") ==
        "devices: expected a whole number, found 1e+30");
  CHECK(absl::StrContains(
      ErrorOf<System>(R"({"accelerator": {"clock_hz": 1e999}})"),
      "number overflow"));
}

TEST_CASE("an unknown name comes with the known ones and the nearest") {
  CHECK(ErrorOf<ParallelConfig>(R"({"schedule": "1f1p"})") ==
        "schedule: expected one of not stated, gpipe, 1f1b, interleaved, "
        "zb-h1, zb-h2, zb-v, dualpipe, dualpipev (nearest: 1f1b), found the "
        "text \"1f1p\"");
  CHECK(absl::StrContains(ErrorOf<Workload>(R"({"precision": 8})"),
                          "precision: expected one of not stated, fp32"));
}

TEST_CASE("a ZeRO stage may be written as the number it is") {
  CHECK(FromJson<ParallelConfig>(R"({"zero": 3})")->zero ==
        ZeroStage::kParameters);
  CHECK(FromJson<ParallelConfig>(R"({"zero": "3"})")->zero ==
        ZeroStage::kParameters);
}

TEST_CASE("a repeated key is an error, in nested objects too") {
  CHECK(ErrorOf<ParallelConfig>(R"({"tp": 1, "pp": 2, "tp": 1})") ==
        "not valid JSON: key 'tp' stands twice in one object");
  CHECK(ErrorOf<Workload>(R"({"model": {"heads": 1, "heads": 1}})") ==
        "not valid JSON: key 'heads' stands twice in one object");
  CHECK(
      FromJson<System>(R"({"name": "a", "accelerator": {"name": "b"}})").ok());
}

TEST_CASE("what is not one JSON document is an error with its place") {
  CHECK(absl::StrContains(ErrorOf<System>("{\"name\": \"a\",\n  }"),
                          "line 2, column 3"));
  CHECK(absl::StrContains(ErrorOf<System>("{} {}"), "line 1, column 4"));
  CHECK(absl::StrContains(ErrorOf<System>(""), "line 1, column 1"));
  CHECK(absl::StrContains(ErrorOf<System>("{\"name\": \"a"),
                          "missing closing quote"));
  CHECK(absl::StrContains(ErrorOf<System>("{\"name\": \"\xff\"}"),
                          "ill-formed UTF-8"));
  CHECK(ErrorOf<System>(std::string("{}\0x", 4)) ==
        "not valid JSON: NUL byte at offset 2");
}

TEST_CASE("deep nesting is refused before it costs anything") {
  const std::string deep(1'000'000, '[');
  CHECK(ErrorOf<System>(deep) == "not valid JSON: nested more than 64 deep");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"name\":";
  CHECK(ErrorOf<System>(objects) == "not valid JSON: nested more than 64 deep");
}

TEST_CASE("no truncation or single changed byte of a document crashes") {
  RandomValues random(3);
  Workload workload;
  random.Fill(workload);
  const std::string text = ToJson(workload);
  for (size_t i = 0; i < text.size(); ++i) {
    CHECK_FALSE(FromJson<Workload>(text.substr(0, i)).ok());
    std::string changed = text;
    changed[i] = static_cast<char>(random.Below(256));
    (void)FromJson<Workload>(changed);
  }
}

}  // namespace
}  // namespace lmsimbench
