#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "lmsimbench/lookup.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/simulators.h"
#include "test/simulators/external/programs.h"

namespace lmsimbench {
namespace {

using Catch::Contains;
using Catch::EndsWith;

ExternalOptions ServedBy(const std::string& name) {
  ExternalOptions options;
  options.command = {SERVING_PROGRAM, name};
  return options;
}

/// Answers with the micro-batch; refuses 2, fails at 3.
class Scripted final : public Simulator {
 public:
  Scripted() : Simulator("scripted") {}

 private:
  absl::Status DoPredict(const Workload&, const System&,
                         const ParallelConfig& config, Workspace&,
                         Prediction& prediction) const override {
    if (config.micro_batch == 2) return absl::InvalidArgumentError("two");
    if (config.micro_batch == 3) return absl::NotFoundError("three");
    prediction.iteration_time_s = static_cast<double>(config.micro_batch);
    return absl::OkStatus();
  }
};

struct Served {
  absl::Status status;
  std::string written;
};

/// What `serve` makes of this input. Both fit into a pipe.
template <typename Serve>
Served Conversation(const std::string& input, Serve&& serve) {
  int in[2], out[2];
  REQUIRE(pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(pipe2(out, O_CLOEXEC) == 0);
  REQUIRE(write(in[1], input.data(), input.size()) ==
          static_cast<ssize_t>(input.size()));
  close(in[1]);
  Served served;
  served.status = serve(in[0], out[1]);
  close(out[1]);
  char bytes[1 << 16];
  ssize_t size = 0;
  while ((size = read(out[0], bytes, sizeof(bytes))) > 0) {
    served.written.append(bytes, static_cast<size_t>(size));
  }
  close(in[0]);
  close(out[0]);
  return served;
}

Served ServeScripted(const std::string& input) {
  return Conversation(input, [](int in, int out) {
    return ServeSimulator(Scripted(), in, out);
  });
}

constexpr char kHello[] = "{\"protocol\":1,\"name\":\"host\"}\n";
constexpr char kGreeted[] = "{\"protocol\":1,\"name\":\"scripted\"}\n";

std::string Question(int id, int micro_batch) {
  return "{\"protocol\":1,\"id\":" + std::to_string(id) +
         ",\"configuration\":{\"micro_batch\":" + std::to_string(micro_batch) +
         "}}\n";
}

TEST_CASE("a served simulator answers, refuses and fails line by line") {
  const Served served =
      ServeScripted(kHello + Question(5, 1) + Question(6, 2) + Question(7, 3));
  CHECK(served.status == absl::OkStatus());
  CHECK(served.written == std::string(kGreeted) +
                              "{\"id\":5,\"iteration_time_s\":1.0}\n"
                              "{\"id\":6,\"refused\":\"two\"}\n"
                              "{\"id\":7,\"failed\":\"three\"}\n");
}

TEST_CASE("a request that cannot be read is answered with what is wrong") {
  const Served served = ServeScripted(
      kHello + std::string("what?\n{\"protocol\":1,\"id\":4,\"sytem\":{}}\n") +
      Question(5, 1));
  CHECK(served.status == absl::OkStatus());
  CHECK_THAT(served.written, Contains("{\"failed\":\"not a request: not valid "
                                      "JSON") &&
                                 Contains("{\"id\":4,\"failed\":\"not a "
                                          "request: unknown key 'sytem'; did "
                                          "you mean 'system'?") &&
                                 EndsWith("{\"id\":5,\"iteration_time_s\":1.0}"
                                          "\n"));
}

TEST_CASE("a host of another version learns why it is not served") {
  const Served served = ServeScripted("{\"protocol\":2}\n" + Question(5, 1));
  CHECK(absl::IsInvalidArgument(served.status));
  CHECK_THAT(served.written, Contains("\"failed\":\"not a greeting: protocol "
                                      "2; this library speaks protocol 1"));
  CHECK(absl::IsInvalidArgument(ServeScripted("").status));
}

TEST_CASE("a host that is gone ends the serving, not the process") {
  int in[2], out[2];
  REQUIRE(pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(pipe2(out, O_CLOEXEC) == 0);
  const std::string hello = kHello;
  REQUIRE(write(in[1], hello.data(), hello.size()) > 0);
  close(in[1]);
  close(out[0]);
  const absl::Status status = ServeSimulator(Scripted(), in[0], out[1]);
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(std::string(status.message()), EndsWith("Broken pipe"));
  close(in[0]);
  close(out[1]);
}

TEST_CASE("a program that cannot serve says why") {
  const auto simulator = MakeExternalSimulator(ServedBy("failure"));
  CHECK(absl::IsUnavailable(simulator.status()));
  CHECK_THAT(std::string(simulator.status().message()),
             EndsWith("cannot be asked: no model file"));
}

TEST_CASE("a simulator behind the protocol answers as it does in the process") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto measurements = ReadMeasurements(*bundle);
  REQUIRE(measurements.ok());
  for (const char* name : {"staged", "calculon"}) {
    const auto direct = MakeSimulator(name, *bundle);
    REQUIRE(direct.ok());
    const auto served = Make(ServedBy(name));
    CHECK(served->name() == name);
    int answered = 0;
    int refused = 0;
    for (size_t i = 0; i < measurements->runs.size(); i += 20) {
      const MeasuredRun& run = measurements->runs[i];
      System system;
      const auto platform = FindPlatform(*bundle, run.platform);
      if (platform.ok()) system = *platform;
      system.devices = run.devices;
      const auto expected =
          (*direct)->Predict(run.workload, system, run.config);
      const auto got = served->Predict(run.workload, system, run.config);
      INFO(name << ", " << run.record_id);
      REQUIRE(got.ok() == expected.ok());
      if (got.ok()) {
        ++answered;
        CHECK(*got == *expected);
      } else {
        ++refused;
        CHECK(got.status().message() == expected.status().message());
        CHECK(IsRefusal(got.status()) == IsRefusal(expected.status()));
      }
    }
    CHECK(answered > 0);
    CHECK(refused > 0);
    CHECK(served->Statistics().starts == 1);
  }
}

}  // namespace
}  // namespace lmsimbench
