#include "lib/simulators/vtrain/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace lmsimbench::vtrain {
namespace {

constexpr absl::string_view kOutside = "NONE";

// The part of `line` up to the next comma, which is taken off. Quoted text may
// hold commas (kernel names are templates).
absl::string_view NextField(absl::string_view& line) {
  size_t end = 0;
  bool quoted = false;
  while (end < line.size() && (quoted || line[end] != ',')) {
    if (line[end] == '"') quoted = !quoted;
    ++end;
  }
  const absl::string_view field = line.substr(0, end);
  line.remove_prefix(end < line.size() ? end + 1 : end);
  return field;
}

// What a time stamp says of the region of the records behind it; empty: the
// region stays.
std::string RegionAfter(absl::string_view message) {
  std::string text(message);
  text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
  const absl::string_view words = absl::StripAsciiWhitespace(text);
  const size_t space = words.find_last_of(" \t");
  const absl::string_view layer =
      space == absl::string_view::npos ? words : words.substr(space + 1);
  const struct {
    absl::string_view mark;
    const char* prefix;
  } starts[] = {{"forward start", "Fwd_"},
                {"backward start", "Bwd_"},
                {"WU start", "WU_"}};
  for (const auto& start : starts) {
    if (words.find(start.mark) != absl::string_view::npos) {
      return start.prefix + std::string(layer);
    }
  }
  if (words.find("end") != absl::string_view::npos)
    return std::string(kOutside);
  return "";
}

class Reader {
 public:
  Reader(absl::string_view file, std::vector<NamedKernels>& profile)
      : file_(file), profile_(profile) {
    region_ = Region(std::string(kOutside));
  }

  Error ReadLine(absl::string_view line) {
    ++line_;
    absl::string_view rest = line;
    const absl::string_view start = NextField(rest);
    const absl::string_view duration = NextField(rest);
    const absl::string_view type = NextField(rest);
    if (type == "TIMESTAMP") {
      const std::string region = RegionAfter(rest);
      if (!region.empty()) region_ = Region(region);
      return {};
    }
    const bool launches = type == "RUNTIME" || type == "DRIVER";
    if (!launches && type != "KERNEL") {
      if (type == "MEMCPY" || type == "MEMSET" || type == "CONC KERNEL") {
        return {};
      }
      return Bad(
          fmt::format("record type '{}' is not known", std::string(type)));
    }
    int64_t id = 0;
    const absl::string_view id_text = rest.substr(rest.find_last_of(',') + 1);
    if (rest.empty() || !absl::SimpleAtoi(id_text, &id)) {
      return Bad(fmt::format("correlation id '{}' is no number",
                             std::string(id_text)));
    }
    if (launches) {
      owner_[id] = region_;
      return {};
    }
    return ReadKernel(start, duration, id);
  }

  // Names that no kernel stands under are not part of the profile.
  void Finish() {
    profile_.erase(std::remove_if(profile_.begin(), profile_.end(),
                                  [](const NamedKernels& entry) {
                                    return entry.kernels.empty();
                                  }),
                   profile_.end());
  }

 private:
  Error Bad(const std::string& what, ErrorKind kind = ErrorKind::kValue) const {
    return {kind, fmt::format("{}:{}: {}", std::string(file_), line_, what)};
  }

  size_t Region(const std::string& name) {
    for (size_t i = 0; i < profile_.size(); ++i) {
      if (profile_[i].name == name) return i;
    }
    profile_.push_back({name, {}});
    return profile_.size() - 1;
  }

  Error ReadKernel(absl::string_view start_text,
                   absl::string_view duration_text, int64_t id) {
    int64_t start = 0;
    int64_t duration = 0;
    if (!absl::SimpleAtoi(start_text, &start)) {
      return Bad(fmt::format("start '{}' is no whole number",
                             std::string(start_text)));
    }
    if (!absl::SimpleAtoi(duration_text, &duration) || duration < 0) {
      return Bad(fmt::format("duration '{}' is no whole number from 0",
                             std::string(duration_text)));
    }
    const auto owner = owner_.find(id);
    if (owner == owner_.end()) {
      return Bad(fmt::format("no record before it launched kernel {}", id),
                 ErrorKind::kKey);
    }
    // A gap reaches to the next kernel of the device, whatever its region.
    if (has_previous_) {
      if (start < previous_start_) {
        return Bad(fmt::format("starts at {}, before the kernel before it ({})",
                               start, previous_start_));
      }
      profile_[previous_region_].kernels.back().gap_ns =
          static_cast<double>(start - previous_start_ - previous_duration_);
    }
    profile_[owner->second].kernels.push_back(
        {static_cast<double>(duration), 0});
    has_previous_ = true;
    previous_region_ = owner->second;
    previous_start_ = start;
    previous_duration_ = duration;
    return {};
  }

  absl::string_view file_;
  std::vector<NamedKernels>& profile_;
  int64_t line_ = 0;
  size_t region_ = 0;
  absl::flat_hash_map<int64_t, size_t> owner_;
  bool has_previous_ = false;
  size_t previous_region_ = 0;
  int64_t previous_start_ = 0;
  int64_t previous_duration_ = 0;
};

}  // namespace

Error ReadTrace(absl::string_view file, absl::string_view text,
                std::vector<NamedKernels>& profile) {
  profile.clear();
  Reader reader(file, profile);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    absl::string_view line = text.substr(0, end);
    text.remove_prefix(end == absl::string_view::npos ? text.size() : end + 1);
    absl::ConsumeSuffix(&line, "\r");
    Error error = reader.ReadLine(line);
    if (!error.ok()) return error;
  }
  reader.Finish();
  return {};
}

}  // namespace lmsimbench::vtrain
