#include "lib/simulators/external/protocol.h"

#include <limits>
#include <string>
#include <utility>

#include "catch2/catch.hpp"
#include "lib/simulators/external/lines.h"
#include "lmsimbench/external_simulator.h"

namespace lmsimbench::external {
namespace {

using Catch::Contains;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST_CASE("lines come out whole, however their bytes come in") {
  LineBuffer lines;
  std::string line;
  CHECK_FALSE(lines.TakeLine(line));
  lines.Append("a longer");
  CHECK_FALSE(lines.TakeLine(line));
  lines.Append(" line\nx\n\nrest");
  CHECK((lines.TakeLine(line) && line == "a longer line"));
  CHECK((lines.TakeLine(line) && line == "x"));
  CHECK((lines.TakeLine(line) && line.empty()));
  CHECK_FALSE(lines.TakeLine(line));
  CHECK(lines.rest() == "rest");
}

TEST_CASE("a request says what is asked, on one line") {
  Request request;
  request.protocol = kLineProtocol;
  request.id = 7;
  request.workload.model.name = "two\nlines";
  request.workload.seq_len = 2048;
  request.system.accelerator.bf16_flops = 1.0 / 3;
  request.configuration.tp = 8;
  const std::string line = RequestLine(request);
  CHECK(line.find('\n') == std::string::npos);
  const auto read = ParseRequest(line);
  REQUIRE(read.status() == absl::OkStatus());
  CHECK(read->id == 7);
  CHECK(read->workload == request.workload);
  CHECK(read->system == request.system);
  CHECK(read->configuration == request.configuration);
}

TEST_CASE("a request that is none says what is wrong") {
  CHECK_THAT(Message(ParseRequest("{}").status()),
             Contains("no key 'protocol'"));
  CHECK_THAT(Message(ParseRequest(R"({"protocol":2,"id":1})").status()),
             Contains("protocol 2; this library speaks protocol 1"));
  CHECK_THAT(Message(ParseRequest(R"({"protocol":1})").status()),
             Contains("no key 'id'"));
  CHECK_THAT(
      Message(ParseRequest(R"({"protocol":1,"id":1,"config":{}})").status()),
      Contains("unknown key 'config'; did you mean"));
  CHECK_THAT(
      Message(ParseRequest(R"({"protocol":1,"id":1,"system":{"devices":"8"}})")
                  .status()),
      Contains("system.devices: expected a whole number"));
}

TEST_CASE("an answer comes back as it went, to the last bit") {
  Prediction prediction;
  prediction.iteration_time_s = 0.1 + 0.2;
  prediction.time.bubble_s = std::numeric_limits<double>::denorm_min();
  prediction.peak_memory_bytes = 9007199254740993.0;
  prediction.memory.framework_bytes = 0;
  prediction.memory_margin_bytes = -1e-300;
  prediction.verdict = Verdict::kDoesNotFit;
  prediction.verdict_reason = "\"too\" large\n";
  prediction.evidence.measured = 1.0 / 3;
  prediction.ranks.resize(2);
  prediction.ranks[1].peak_time_s = 1.0 / 7;
  prediction.ranks[1].memory.weights_bytes = 3;
  prediction.operators.push_back(
      {0, OperatorKind::kNorm, OperatorPass::kForward, 12, 0.7});
  prediction.collectives.push_back(
      {1, CollectiveKind::kAllReduce, Group::kData, 3, 1e-9});
  prediction.adaptations = {"one", "zwei: größer"};
  const auto read = ParseAnswer(AnswerLine(3, prediction), 3);
  REQUIRE(read.status() == absl::OkStatus());
  CHECK(*read == prediction);
}

TEST_CASE("refusals and failures come back with their reasons") {
  for (const absl::Status& refusal :
       {absl::UnimplementedError("why"), absl::FailedPreconditionError("why"),
        absl::InvalidArgumentError("why")}) {
    CHECK(AnswerLine(3, refusal) == R"({"id":3,"refused":"why"})");
  }
  CHECK(ParseAnswer(R"({"id":3,"refused":"why"})", 3).status() ==
        absl::UnimplementedError("why"));
  CHECK(AnswerLine(3, absl::NotFoundError("why")) ==
        R"({"id":3,"failed":"why"})");
  CHECK(ParseAnswer(R"({"id":3,"failed":"why"})", 3).status() ==
        absl::InternalError("why"));
  CHECK(AnswerLine(3, absl::InternalError("")) ==
        R"({"id":3,"failed":"no reason given"})");
  CHECK(AnswerLine(-1, absl::UnimplementedError("why")) ==
        R"({"failed":"why"})");
}

TEST_CASE("an answer is read strictly") {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"id":3,"refused":"why","iteration_time_s":1})",
       "'refused' stands alone beside the id"},
      {R"({"id":3,"refused":"why","failed":"why"})", "stands alone"},
      {R"({"id":3,"refused":""})", "refused: expected a reason"},
      {R"({"id":3,"failed":null})", "failed: expected a reason"},
      {R"({"id":3,"refuse":"why"})", "did you mean 'refused'?"},
      {R"({"id":3,"time":{"buble_s":1}})",
       "unknown key 'time.buble_s'; did you mean 'bubble_s'?"},
      {R"({"id":3,"verdict":"fit"})", "(nearest: fits)"},
      {R"({"id":3,"ranks":[{"ranks":1.5}]})",
       "ranks[0].ranks: expected a whole number, found 1.5"},
  };
  for (const auto& [line, message] : wrong) {
    INFO(line);
    const absl::Status status = ParseAnswer(line, 3).status();
    CHECK(absl::IsInternal(status));
    CHECK_THAT(Message(status), Contains(message));
    CHECK_THAT(Message(status), Contains(line));
  }
}

TEST_CASE("what is no answer to this question is data lost") {
  for (const char* line :
       {"", "null", "3", "{", "{\"id\":3}x", "{\"id\":\"3\"}", "{\"id\":3.0}",
        "{\"id\":4}", "{}", "{\"id\":3,\"id\":3}",
        "{\"id\":3,\"iteration_time_s\":NaN}",
        "{\"id\":3,\"iteration_time_s\":1e999}"}) {
    INFO(line);
    CHECK(absl::IsDataLoss(ParseAnswer(line, 3).status()));
  }
  // A missing id is not the one asked for, whichever that is.
  CHECK(absl::IsDataLoss(ParseAnswer(R"({"id":null})", 3).status()));
}

TEST_CASE("missing numbers are null or left out") {
  const auto read = ParseAnswer(
      R"({"id":3,"iteration_time_s":null,"peak_memory_bytes":1,"time":null})",
      3);
  REQUIRE(read.status() == absl::OkStatus());
  CHECK_FALSE(IsStated(read->iteration_time_s));
  CHECK(read->peak_memory_bytes == 1);
}

TEST_CASE("a long line is quoted by its begin, at a whole character") {
  // 'é' has two bytes; the 301st byte is its second half.
  const std::string line = std::string(299, 'x') + "é" + std::string(99, 'y');
  const std::string message = Message(ParseAnswer(line, 3).status());
  CHECK_THAT(message, Contains(std::string(299, 'x') + "'… (400 bytes)"));
}

}  // namespace
}  // namespace lmsimbench::external
