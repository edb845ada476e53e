#include <catch2/catch.hpp>

#include "lib/simulators/vtrain/read_config.h"
#include "lib/simulators/vtrain/trace.h"
#include "test/simulators/vtrain_records.h"

namespace lmsimbench::vtrain {
namespace {

constexpr char kTrace[] =
    "10,0,TIMESTAMP,\"forward start embeddings\"\n"
    "11,2,RUNTIME,211,1,1,7\n"
    "13,0,TIMESTAMP,\"forward end embeddings\"\n"
    "14,2,DRIVER,211,1,1,8\n"
    "20,5,KERNEL,\"gather<float, int>\",0,1,7,1,1,1,1,1,1,7\n"
    "21,1,MEMSET,0,0,1,7,99\n"
    "30,4,KERNEL,\"fill\",0,1,7,1,1,1,1,1,1,8";

std::vector<NamedKernels> Read(const std::string& text, Error& error) {
  std::vector<NamedKernels> profile;
  error = ReadTrace("trace_16_1_1", text, profile);
  return profile;
}

TEST_CASE("a kernel belongs to the region that launched it") {
  Error error;
  const auto profile = Read(kTrace, error);
  REQUIRE(error.ok());
  REQUIRE(profile.size() == 2);
  CHECK(profile[0].name == "NONE");
  CHECK(profile[0].kernels[0].duration_ns == 4);
  CHECK(profile[0].kernels[0].gap_ns == 0);
  CHECK(profile[1].name == "Fwd_embeddings");
  CHECK(profile[1].kernels[0].duration_ns == 5);
  // To the next kernel, whatever its region.
  CHECK(profile[1].kernels[0].gap_ns == 5);
}

TEST_CASE("a line that cannot be read is named") {
  const struct {
    const char* line;
    ErrorKind kind;
    const char* words;
  } bad[] = {
      {"40,4,KERNEL,\"fill\",0,9", ErrorKind::kKey, "launched kernel 9"},
      {"40,4,KERNEL,\"fill\",0,x", ErrorKind::kValue, "correlation id 'x'"},
      {"4x,4,KERNEL,\"fill\",0,8", ErrorKind::kValue, "start '4x'"},
      {"40,-4,KERNEL,\"fill\",0,8", ErrorKind::kValue, "duration '-4'"},
      {"25,4,KERNEL,\"fill\",0,8", ErrorKind::kValue, "starts at 25"},
      {"40,4,OVERHEAD,1", ErrorKind::kValue, "'OVERHEAD'"},
      {"", ErrorKind::kValue, "record type ''"},
      {"40,4,RUNTIME", ErrorKind::kValue, "correlation id ''"},
  };
  for (const auto& entry : bad) {
    Error error;
    Read(std::string(kTrace) + "\n" + entry.line + "\n50,1,MEMCPY\n", error);
    INFO(entry.line);
    CHECK(error.kind == entry.kind);
    CHECK_THAT(error.message, Catch::Contains("trace_16_1_1:8: "));
    CHECK_THAT(error.message, Catch::Contains(entry.words));
  }
}

TEST_CASE("a cut or garbled trace is an error or a table, never a crash") {
  for (size_t end = 0; end < sizeof(kTrace); ++end) {
    Error error;
    Read(std::string(kTrace, end), error);
    std::string garbled = kTrace;
    garbled[end % (sizeof(kTrace) - 1)] = '"';
    Read(garbled, error);
  }
}

TEST_CASE("a configuration is read as the original reads it") {
  const auto read = [](const char* text, Config& config) {
    return ReadConfig(Json::parse(text), config);
  };
  Config config;
  CHECK(read(R"({"num_layers": 8, "micro_batch_size": null})", config).ok());
  CHECK(config.num_layers == 8);
  CHECK_FALSE(config.micro_batch.has_value());
  CHECK(config.gpu_name == "A100");
  CHECK(read(R"({"layers": 8})", config).kind == ErrorKind::kType);
  CHECK_THAT(read(R"({"hidden_size": "wide"})", config).message,
             Catch::Contains("hidden_size"));
  CHECK(read("[]", config).kind == ErrorKind::kType);
}

TEST_CASE("the first rule that is broken is the one of the original") {
  const auto resolve = [](const char* text) {
    Config config;
    REQUIRE(ReadConfig(Json::parse(text), config).ok());
    return Resolve(VtrainRepairs::None(), config).kind;
  };
  // Two stages need a micro-batch; the batch divides before it is missed.
  CHECK(resolve(R"({"tensor_parallel_size": 1, "data_parallel_size": 1,
                    "pipeline_parallel_size": 2})") == ErrorKind::kType);
  CHECK(resolve(R"({"tensor_parallel_size": 1, "data_parallel_size": 7,
                    "pipeline_parallel_size": 2})") == ErrorKind::kAssertion);
  // 17 devices over 2 x 4 leave a tensor parallelism of 2, and no complaint.
  CHECK(resolve(R"({"num_gpus": 17, "data_parallel_size": 2,
                    "pipeline_parallel_size": 4, "num_layers": 8,
                    "micro_batch_size": 1})") == ErrorKind::kNone);
  // 1 device over 2 leaves 0, which nothing divides by.
  CHECK(resolve(R"({"num_gpus": 1, "data_parallel_size": 2,
                    "pipeline_parallel_size": 1})") ==
        ErrorKind::kZeroDivision);
}

}  // namespace
}  // namespace lmsimbench::vtrain
