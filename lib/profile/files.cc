#include "lib/profile/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "fmt/format.h"

namespace lmsimbench {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

absl::Status SystemError(const std::string& path, const char* doing,
                         int error) {
  const std::string message = fmt::format(
      "{}: cannot {}: {}", path, doing, std::generic_category().message(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(message);
  }
  return absl::UnavailableError(message);
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return SystemError(path, "open", errno);
  std::string bytes;
  char block[1 << 16];
  size_t read = 0;
  while ((read = std::fread(block, 1, sizeof block, file.get())) > 0) {
    bytes.append(block, read);
  }
  if (std::ferror(file.get()) != 0) return SystemError(path, "read", errno);
  return bytes;
}

absl::Status WriteWholeFile(const std::string& path, absl::string_view bytes) {
  const std::string beside = fmt::format("{}.{}.part", path, ::getpid());
  File file(std::fopen(beside.c_str(), "wbe"));
  if (file == nullptr) return SystemError(path, "write", errno);
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (!written || !closed || std::rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(beside.c_str());
    return SystemError(path, "write", error);
  }
  return absl::OkStatus();
}

}  // namespace lmsimbench
