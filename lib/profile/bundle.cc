#include "lmsimbench/bundle.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "lib/profile/bundle_format.h"
#include "lib/profile/embedded_bundle.h"
#include "lmsimbench/nearest_name.h"

namespace lmsimbench {
namespace {

// A file mapped for reading.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (bytes_.data() != nullptr) {
      ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
    }
  }

  // Returns 0 or an error of the system.
  int Map(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    const int error = MapOpen(file);
    ::close(file);
    return error;
  }

  absl::Span<const uint8_t> bytes() const { return bytes_; }

 private:
  int MapOpen(int file) {
    struct stat facts;
    if (::fstat(file, &facts) != 0) return errno;
    if (!S_ISREG(facts.st_mode)) {
      return S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
    }
    const auto size = static_cast<size_t>(facts.st_size);
    if (size == 0) return 0;
    void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (begin == MAP_FAILED) return errno;
    bytes_ = absl::MakeConstSpan(static_cast<const uint8_t*>(begin), size);
    return 0;
  }

  absl::Span<const uint8_t> bytes_;
};

struct alignas(kBundleAlignment) Block {
  uint8_t bytes[kBundleAlignment];
};

}  // namespace

struct Bundle::Rep {
  // What owns `bytes`, if anything does: a mapped file or a copy.
  Mapping mapping;
  std::vector<Block> copy;
  absl::Span<const uint8_t> bytes;
  std::vector<ProfileView> views;
};

absl::StatusOr<Bundle> Bundle::Make(std::shared_ptr<Rep> rep) {
  absl::StatusOr<std::vector<ProfileView>> views = ReadBundle(rep->bytes);
  if (!views.ok()) return views.status();
  rep->views = *std::move(views);
  return Bundle(std::move(rep));
}

absl::StatusOr<Bundle> Bundle::Embedded() {
  auto rep = std::make_shared<Rep>();
  rep->bytes = EmbeddedBundleBytes();
  return Make(std::move(rep));
}

absl::StatusOr<Bundle> Bundle::Open(const std::string& path) {
  auto rep = std::make_shared<Rep>();
  const int error = rep->mapping.Map(path);
  if (error != 0) {
    const std::string message = fmt::format(
        "{}: cannot open: {}", path, std::generic_category().message(error));
    return error == ENOENT || error == ENOTDIR
               ? absl::NotFoundError(message)
               : absl::FailedPreconditionError(message);
  }
  rep->bytes = rep->mapping.bytes();
  absl::StatusOr<Bundle> bundle = Make(std::move(rep));
  if (bundle.ok()) return bundle;
  return absl::Status(
      bundle.status().code(),
      fmt::format("{}: {}", path, std::string(bundle.status().message())));
}

absl::StatusOr<Bundle> Bundle::FromMemory(absl::Span<const uint8_t> bytes) {
  auto rep = std::make_shared<Rep>();
  rep->bytes = bytes;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kBundleAlignment != 0) {
    rep->copy.resize((bytes.size() + kBundleAlignment - 1) / kBundleAlignment);
    auto* to = reinterpret_cast<uint8_t*>(rep->copy.data());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    rep->bytes = absl::MakeConstSpan(to, bytes.size());
  }
  return Make(std::move(rep));
}

absl::Span<const ProfileView> Bundle::views() const { return rep_->views; }

absl::StatusOr<ProfileView> Bundle::View(absl::string_view name) const {
  std::vector<std::string> names;
  for (const ProfileView& view : rep_->views) {
    if (view.name() == name) return view;
    names.push_back(view.name());
  }
  const std::string nearest = NearestName(name, names);
  return absl::NotFoundError(fmt::format(
      "the bundle has no table '{}'{}", std::string(name),
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

const ProfileView& Bundle::ViewOrEmpty(absl::string_view name) const {
  static const auto* const kEmpty = new ProfileView();
  for (const ProfileView& view : rep_->views) {
    if (view.name() == name) return view;
  }
  return *kEmpty;
}

absl::Span<const uint8_t> Bundle::bytes() const { return rep_->bytes; }

std::string Bundle::Fingerprint() const {
  // FNV-1a, 64 bits.
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : rep_->bytes) {
    hash = (hash ^ byte) * 0x100000001b3u;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace lmsimbench
