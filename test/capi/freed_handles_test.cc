#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <string>

#include "test/capi/handles.h"

// What a freed handle does. It is undefined where the library is built without
// assertions.
#ifndef NDEBUG

namespace {

using namespace capi_test;
using Catch::Matchers::Contains;

struct Death {
  int signal = 0;
  std::string message;
};

// Runs something in a process of its own and says how that ended.
Death DeathOf(const std::function<void()>& run) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Not the handler of Catch, which would report a failed test.
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    run();
    _exit(0);
  }
  close(ends[1]);
  Death death;
  char buffer[256];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    death.message.append(buffer, static_cast<size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
  return death;
}

lmsb_config* NewConfig() {
  lmsb_config* config = nullptr;
  Need(lmsb_config_new(&config));
  return config;
}

TEST_CASE("A handle that is freed twice ends the program with a message") {
  lmsb_config* const config = NewConfig();
  const Death death = DeathOf([&] {
    lmsb_config_free(config);
    lmsb_config_free(config);
  });
  CHECK(death.signal == SIGABRT);
  CHECK_THAT(death.message, Contains("lmsb_config_free: the handle has been "
                                     "freed before"));
  lmsb_config_free(config);
}

TEST_CASE("A handle that is freed as another kind ends the program") {
  lmsb_config* const config = NewConfig();
  void* const handle = config;
  const Death death =
      DeathOf([&] { lmsb_text_free(static_cast<lmsb_text*>(handle)); });
  CHECK(death.signal == SIGABRT);
  CHECK_THAT(death.message, Contains("lmsb_text_free"));
  lmsb_config_free(config);
}

TEST_CASE("A handle that is used after it was freed is refused") {
  lmsb_config* const config = NewConfig();
  lmsb_config_free(config);
  int64_t value = 0;
  CHECK(lmsb_config_i64(config, "tp", 2, &value) == LMSB_INVALID_ARGUMENT);
  CHECK(std::string(lmsb_last_error()) == "config has been freed");
  CHECK(lmsb_config_set_i64(config, "tp", 2, 1) == LMSB_INVALID_ARGUMENT);
}

}  // namespace

#endif  // NDEBUG
