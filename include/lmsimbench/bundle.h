#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lmsimbench/profile_view.h"

namespace lmsimbench {

/// A file of measurements: the six views (iterations, memory, ranks, operators,
/// collectives, gemms), the tables that complete them (failed configurations,
/// stage runs and times, linked runs, links) and those they refer to (models,
/// platforms, sources with their licences).
///
/// Verified once when it is opened, then read in place: sizes, offsets, ids and
/// the references from table to table. Copies share the memory; views borrow
/// from it and live as long as any copy of the bundle. A file that is open must
/// not be overwritten in place; replacing it by a rename is safe.
class Bundle {
 public:
  /// The bundle built into the library.
  static absl::StatusOr<Bundle> Embedded();
  /// Maps a file. NOT_FOUND if there is none; DATA_LOSS, naming what is wrong,
  /// if it is not a sound bundle.
  static absl::StatusOr<Bundle> Open(const std::string& path);
  /// Reads a buffer that the caller keeps alive. It may be unaligned; then it
  /// is copied.
  static absl::StatusOr<Bundle> FromMemory(absl::Span<const uint8_t> bytes);

  /// Every table of the bundle.
  absl::Span<const ProfileView> views() const;
  /// The table with this name. NOT_FOUND, with the nearest name, if the bundle
  /// has none.
  absl::StatusOr<ProfileView> View(absl::string_view name) const;
  /// The table with this name, or one without rows and columns.
  const ProfileView& ViewOrEmpty(absl::string_view name) const;

  /// The bytes of the file, for handing the bundle on.
  absl::Span<const uint8_t> bytes() const;

  /// Hash of the bundle's bytes as 16 hexadecimal digits: which data a score
  /// rests on.
  std::string Fingerprint() const;

 private:
  struct Rep;
  static absl::StatusOr<Bundle> Make(std::shared_ptr<Rep> rep);
  explicit Bundle(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  std::shared_ptr<const Rep> rep_;
};

/// Compiles a folder of CSV tables into a bundle and writes it to `file`
/// (beside it first, then renamed). The folder may hold any subset of the
/// tables, each as `<table>.csv`, with columns in any order; whatever names a
/// source needs `sources.csv` with the source and its SPDX licence. A bad cell
/// is INVALID_ARGUMENT with file, line, column and reason, and nothing is
/// written. The same tables give the same bytes.
absl::Status BuildBundle(const std::string& folder, const std::string& file);

/// A table as CSV, in the form that `BuildBundle` reads.
std::string ToCsv(const ProfileView& view);

/// Writes every table of the bundle as `<folder>/<table>.csv`, in the form that
/// `BuildBundle` reads.
absl::Status ExportBundle(const Bundle& bundle, const std::string& folder);

}  // namespace lmsimbench
