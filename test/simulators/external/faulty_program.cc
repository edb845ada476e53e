// A program behind the line protocol that does one thing wrong, on purpose:
//   faulty_program MODE
// It answers every question with an iteration time of id seconds, but for what
// the mode says. Questions whose id divides by ten are the "tenth" ones. Reads
// and writes descriptors directly, so that what is written in one piece arrives
// in one piece.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void Write(const std::string& text, int fd = STDOUT_FILENO) {
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t size = write(fd, text.data() + sent, text.size() - sent);
    if (size <= 0) _exit(9);
    sent += static_cast<size_t>(size);
  }
}

bool ReadLine(std::string& line) {
  line.clear();
  char c = 0;
  while (read(STDIN_FILENO, &c, 1) == 1) {
    if (c == '\n') return true;
    line += c;
  }
  return false;
}

void Hang() {
  for (;;) pause();
}

// A child in the same group that would outlive its parent.
void LeaveChild(const char* file) {
  const pid_t child = fork();
  if (child == 0) Hang();
  Write(std::to_string(child), open(file, O_CREAT | O_WRONLY | O_TRUNC, 0600));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string mode = argv[1];
  std::string line;

  if (mode == "exit at start") {
    Write("cannot find my weights\n", STDERR_FILENO);
    return 4;
  }
  if (mode == "hang at start") Hang();
  ReadLine(line);
  if (mode == "no greeting") {
    Write("Welcome to the simulator!\n");
  } else if (mode == "other version") {
    Write("{\"protocol\": 2}\n");
  } else if (mode == "cannot") {
    Write("{\"failed\": \"no licence\"}\n");
  } else if (mode == "descriptors") {
    // How many are open beside the three standard ones.
    int open_ones = 0;
    for (int fd = 3; fd < 256; ++fd) open_ones += fcntl(fd, F_GETFD) != -1;
    Write("{\"protocol\":1,\"name\":\"" + std::to_string(open_ones) + "\"}\n");
  } else {
    Write("{\"protocol\": 1, \"name\": \"faulty\"}\n");
  }

  while (ReadLine(line)) {
    const size_t at = line.find("\"id\":");
    if (at == std::string::npos) return 8;
    const long number = std::atol(line.c_str() + at + 5);
    const std::string id = std::to_string(number);
    const bool tenth = number % 10 == 0;
    const std::string head = "{\"id\":" + id + ",";
    const std::string right = head + "\"iteration_time_s\":" + id + "}\n";

    if (mode == "exit") {
      Write("first\nsecond\nlast words\n", STDERR_FILENO);
      return 3;
    }
    if (mode == "signal") kill(getpid(), SIGKILL);
    if (mode == "crash at every tenth" && tenth) kill(getpid(), SIGKILL);
    if (mode == "hang") {
      if (argc > 2) LeaveChild(argv[2]);
      Write("thinking\n", STDERR_FILENO);
      Hang();
    }
    if (mode == "hang at every tenth" && tenth) Hang();
    if (mode == "garbage") {
      Write("Segmentation fault\n");
    } else if (mode == "binary") {
      Write(std::string("\xff\x00\x01\n", 4));
    } else if (mode == "nan") {
      Write(head + "\"iteration_time_s\":NaN}\n");
    } else if (mode == "no object") {
      Write("[1, 2]\n");
    } else if (mode == "other id") {
      Write("{\"id\":" + std::to_string(number + 1) +
            ",\"iteration_time_s\":1}\n");
    } else if (mode == "no id") {
      Write("{\"iteration_time_s\":1}\n");
    } else if (mode == "unknown key") {
      Write(head + "\"iteration_time\":1}\n");
    } else if (mode == "text for a number") {
      Write(head + "\"iteration_time_s\":\"fast\"}\n");
    } else if (mode == "negative") {
      Write(head + "\"iteration_time_s\":-1}\n");
    } else if (mode == "nothing") {
      Write("{\"id\":" + id + "}\n");
    } else if (mode == "partial line") {
      Write(head + "\"iteration_t");
      return 0;
    } else if (mode == "no newline") {
      Write(right.substr(0, right.size() - 1));
      return 0;
    } else if (mode == "extra line") {
      Write(right + "done in 0.1 s\n");
    } else if (mode == "two lines") {
      // The second one as an answer to a question that is yet to come.
      Write(right + "{\"id\":" + std::to_string(number + 1) +
            ",\"iteration_time_s\":1}\n");
    } else if (mode == "long line") {
      Write(std::string(1 << 20, 'x'));
      Hang();
    } else if (mode == "closes input") {
      close(STDIN_FILENO);
      Write(right);
      Hang();
    } else if (mode == "closes output") {
      close(STDOUT_FILENO);
      Hang();
    } else if (mode == "much on stderr") {
      // Far more than a pipe holds.
      Write(std::string(8 << 20, '.') + "\n", STDERR_FILENO);
      Write(right);
    } else if (mode == "closes stderr") {
      close(STDERR_FILENO);
      Write(right);
    } else if (mode == "slowly") {
      for (const char c : right) Write(std::string(1, c));
    } else if (mode == "refuse") {
      Write(head + "\"refused\":\"no experts\"}\n");
    } else if (mode == "fail") {
      Write(head + "\"failed\":\"table is missing\"}\n");
    } else if (mode == "exit code at end") {
      Write(right);
    } else if (mode == "ignores the end") {
      Write(right);
      Hang();
    } else {
      Write(right);
    }
  }
  return 0;
}
