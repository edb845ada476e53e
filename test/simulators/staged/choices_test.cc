#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/staged.h"

namespace lmsimbench {
namespace {

struct Question {
  Workload workload;
  System system;
  ParallelConfig config;
};

// A model without a gated MLP on eight devices of a platform.
Question On(const std::string& platform) {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  Question question;
  question.workload.model = *FindModel(*bundle, "megatron-22B");
  question.workload.seq_len = 2048;
  question.workload.global_batch = 8;
  question.system = *FindPlatform(*bundle, platform);
  question.system.devices = 8;
  question.config.tp = 8;
  question.config.micro_batch = 1;
  return question;
}

// What is chosen of what is open, as the simulator names it and as the choices
// alone do.
std::vector<std::string> Chosen(Question question) {
  const auto bundle = Bundle::Embedded();
  const auto staged = MakeStaged(*bundle);
  REQUIRE(staged.ok());
  const auto prediction =
      (*staged)->Predict(question.workload, question.system, question.config);
  REQUIRE(prediction.ok());
  for (const std::string& choice :
       ChooseWhatIsOpen(question.system, question.workload, question.config)) {
    INFO(choice);
    CHECK_THAT(prediction->adaptations, Catch::VectorContains(choice));
  }
  return prediction->adaptations;
}

bool Says(const std::vector<std::string>& choices, const std::string& words) {
  for (const std::string& choice : choices) {
    if (absl::StrContains(choice, words)) return true;
  }
  return false;
}

TEST_CASE("Attention is fused on devices that came after it") {
  CHECK(Says(Chosen(On("h100-sxm5-80g")), "attention is fused (flash), as on"));
  CHECK(Says(Chosen(On("a100-sxm4-80g")), "attention is not fused"));
  Question question = On("h100-sxm5-80g");
  question.workload.attention_impl = AttentionImpl::kUnfused;
  CHECK_FALSE(Says(Chosen(question), "attention is"));
  question = On("h100-sxm5-80g");
  question.workload.flash_attention = YesNo::kNo;
  CHECK_FALSE(Says(Chosen(question), "attention is"));
}

TEST_CASE("Bandwidths that are not stated are told apart by where they are") {
  const std::string node = "the links inside a node";
  const std::string level = "a level of the network whose bandwidth";
  Question question = On("a100-sxm4-80g");
  CHECK_FALSE(Says(Chosen(question), node));
  CHECK_FALSE(Says(Chosen(question), level));
  question.system.network.front().bandwidth = kNoNumber;
  CHECK(Says(Chosen(question), node));
  CHECK_FALSE(Says(Chosen(question), level));
  for (NetworkLevel& each : question.system.network) {
    each.bandwidth = kNoNumber;
  }
  CHECK(Says(Chosen(question), node));
  CHECK(Says(Chosen(question), level));
}

TEST_CASE("What is taken of the host is said where it is needed") {
  const std::string host = "what is not stated of the host is as in a DGX H100";
  Question question = On("h100-sxm5-80g");
  CHECK_FALSE(Says(Chosen(question), "the host is as"));
  question.config.offload_optimizer = YesNo::kYes;
  CHECK(Says(Chosen(question), host));
  question.system.host_link_bandwidth = 50e9;
  CHECK(Says(Chosen(question), host));
  question.system.host_memory_bandwidth = 70e9;
  CHECK_FALSE(Says(Chosen(question), "the host is as"));
}

}  // namespace
}  // namespace lmsimbench
