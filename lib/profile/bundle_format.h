#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lmsimbench/profile_view.h"

namespace lmsimbench {

/// Version of the file format, and the mark that tells byte orders apart.
inline constexpr uint32_t kBundleVersion = 1;
inline constexpr uint32_t kBundleByteOrder = 0x01020304;
/// Alignment of a bundle's bytes and of every column in it.
inline constexpr size_t kBundleAlignment = 16;
/// Offsets in a FlatBuffer are signed 32-bit numbers.
inline constexpr size_t kMaxBundleBytes = (size_t{1} << 31) - 1;

/// The tables of a bundle whose bytes begin at a multiple of
/// `kBundleAlignment`; the views borrow them. Nothing in the bytes is believed:
/// DATA_LOSS names what is wrong with them.
absl::StatusOr<std::vector<ProfileView>> ReadBundle(
    absl::Span<const uint8_t> bytes);

}  // namespace lmsimbench
