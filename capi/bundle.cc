#include "capi/bundle.h"

#include <utility>

#include "absl/status/statusor.h"
#include "capi/error.h"

namespace capi = lmsimbench::capi;
using capi::CheckHandle;
using capi::CheckPointer;
using capi::Guarded;
using capi::IsHandle;
using lmsimbench::Bundle;

lmsb_bundle::lmsb_bundle(Bundle of) : bundle(std::move(of)) {
  for (const lmsimbench::ProfileView& view : bundle.views()) {
    views.emplace_back(view);
  }
}

namespace {

template <typename Open>
lmsb_code Opened(lmsb_bundle** out, Open&& open) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckPointer(out, "out");
    if (!status.ok()) return status;
    *out = nullptr;
    absl::StatusOr<Bundle> bundle = open();
    if (!bundle.ok()) return bundle.status();
    *out = new lmsb_bundle(*std::move(bundle));
    return absl::OkStatus();
  });
}

}  // namespace

lmsb_code lmsb_bundle_open_embedded(lmsb_bundle** out) {
  return Opened(out, [] { return Bundle::Embedded(); });
}

lmsb_code lmsb_bundle_open_file(lmsb_bundle** out, const char* path,
                                size_t path_length) {
  return Opened(out, [&]() -> absl::StatusOr<Bundle> {
    absl::string_view text;
    absl::Status status = capi::ReadText(path, path_length, "path", text);
    if (!status.ok()) return status;
    return Bundle::Open(std::string(text));
  });
}

lmsb_code lmsb_bundle_open_memory(lmsb_bundle** out, const void* bytes,
                                  size_t size) {
  return Opened(out, [&]() -> absl::StatusOr<Bundle> {
    absl::Status status = CheckPointer(bytes, "bytes");
    if (!status.ok()) return status;
    if (size > PTRDIFF_MAX) {
      return absl::InvalidArgumentError("size is larger than any object");
    }
    return Bundle::FromMemory({static_cast<const uint8_t*>(bytes), size});
  });
}

void lmsb_bundle_free(lmsb_bundle* bundle) {
  capi::Free(bundle, "lmsb_bundle_free");
}

const char* lmsb_bundle_fingerprint(const lmsb_bundle* bundle) {
  if (!IsHandle(bundle)) return "";
  const lmsb_code code = Guarded([&] {
    std::call_once(bundle->fingerprint_once, [bundle] {
      bundle->fingerprint = bundle->bundle.Fingerprint();
    });
    return absl::OkStatus();
  });
  return code == LMSB_OK ? bundle->fingerprint.c_str() : "";
}

size_t lmsb_bundle_view_count(const lmsb_bundle* bundle) {
  return IsHandle(bundle) ? bundle->views.size() : 0;
}

const lmsb_view* lmsb_bundle_view_at(const lmsb_bundle* bundle, size_t index) {
  return IsHandle(bundle) && index < bundle->views.size()
             ? &bundle->views[index]
             : nullptr;
}

lmsb_code lmsb_bundle_view(const lmsb_bundle* bundle, const char* name,
                           size_t name_length, const lmsb_view** view) {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckPointer(view, "view");
    if (!status.ok()) return status;
    *view = nullptr;
    status = CheckHandle(bundle, "bundle");
    if (!status.ok()) return status;
    absl::string_view wanted;
    status = capi::ReadText(name, name_length, "name", wanted);
    if (!status.ok()) return status;
    for (const lmsb_view& candidate : bundle->views) {
      if (candidate.view.name() == wanted) {
        *view = &candidate;
        return absl::OkStatus();
      }
    }
    // Its message has the nearest name.
    return bundle->bundle.View(wanted).status();
  });
}
