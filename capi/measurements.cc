#include "capi/measurements.h"

#include <tuple>
#include <utility>

#include "capi/bundle.h"
#include "capi/make.h"
#include "capi/table.h"
#include "fmt/format.h"
#include "lmsimbench/lookup.h"

namespace lmsimbench::capi {

Runs::Runs(Bundle from, Measurements of)
    : bundle(std::move(from)), measurements(std::move(of)) {
  for (const auto* runs : {&measurements.runs, &measurements.failed_runs}) {
    for (const MeasuredRun& run : *runs) {
      by_record.emplace(run.record_id, all.size());
      all.push_back(&run);
    }
  }
}

absl::StatusOr<Selection> ReadSelection(const lmsb_selection* selection) {
  Selection read;
  if (selection == nullptr) return read;
  absl::Status status =
      CheckSize(selection->struct_size, sizeof(lmsb_selection), "selection");
  absl::string_view split;
  absl::string_view source;
  absl::string_view platform;
  if (status.ok()) status = ReadText(selection->split, "split", split);
  if (status.ok()) status = ReadText(selection->source, "source", source);
  if (status.ok()) status = ReadText(selection->platform, "platform", platform);
  if (!status.ok()) return status;
  if (!split.empty()) read.split = std::string(split);
  read.source = std::string(source);
  read.platform = std::string(platform);
  return read;
}

absl::StatusOr<Verdict> ReadVerdict(int32_t verdict) {
  if (verdict < LMSB_VERDICT_NOT_ANSWERED || verdict > LMSB_VERDICT_ILLEGAL) {
    return absl::InvalidArgumentError(fmt::format("{} is no verdict", verdict));
  }
  return static_cast<Verdict>(verdict);
}

static_assert(static_cast<int>(Verdict::kFits) == LMSB_VERDICT_FITS);
static_assert(static_cast<int>(Verdict::kDoesNotFit) ==
              LMSB_VERDICT_DOES_NOT_FIT);
static_assert(static_cast<int>(Verdict::kIllegal) == LMSB_VERDICT_ILLEGAL);

}  // namespace lmsimbench::capi

namespace capi = lmsimbench::capi;
using lmsimbench::MeasuredRun;

lmsb_measurements::lmsb_measurements(std::shared_ptr<const capi::Runs> of)
    : runs(std::move(of)) {
  for (const MeasuredRun* run : runs->all) {
    workloads.emplace_back(&run->workload);
    configs.emplace_back(&run->config);
  }
}

lmsb_code lmsb_measurements_open(lmsb_measurements** out,
                                 const lmsb_bundle* bundle) {
  return capi::MakeFrom(
      bundle, "bundle", out, [&]() -> absl::StatusOr<lmsb_measurements*> {
        auto measurements = lmsimbench::ReadMeasurements(bundle->bundle);
        if (!measurements.ok()) return measurements.status();
        return new lmsb_measurements(std::make_shared<capi::Runs>(
            bundle->bundle, *std::move(measurements)));
      });
}

void lmsb_measurements_free(lmsb_measurements* measurements) {
  capi::Free(measurements, "lmsb_measurements_free");
}

size_t lmsb_measurements_run_count(const lmsb_measurements* measurements) {
  return capi::IsHandle(measurements) ? measurements->runs->all.size() : 0;
}

namespace {

bool HasRun(const lmsb_measurements* measurements, size_t run) {
  return capi::IsHandle(measurements) && run < measurements->runs->all.size();
}

// Settings, and the one of each run.
struct Settings {
  struct Setting {
    const MeasuredRun* first = nullptr;
    int64_t runs = 0;
    int64_t failed = 0;
  };
  std::vector<Setting> all;
  std::vector<int64_t> of_run;
};

Settings SettingsOf(const capi::Runs& runs) {
  Settings settings;
  std::map<std::tuple<std::string, std::string, std::string, int64_t>, size_t>
      known;
  for (const MeasuredRun* run : runs.all) {
    const auto [at, is_new] = known.try_emplace(
        {run->workload_id, run->source, run->platform, run->devices},
        settings.all.size());
    if (is_new) settings.all.push_back({run});
    Settings::Setting& setting = settings.all[at->second];
    ++(run->ran ? setting.runs : setting.failed);
    settings.of_run.push_back(static_cast<int64_t>(at->second));
  }
  return settings;
}

}  // namespace

const char* lmsb_measurements_record(const lmsb_measurements* measurements,
                                     size_t run) {
  return HasRun(measurements, run)
             ? measurements->runs->all[run]->record_id.c_str()
             : nullptr;
}

const lmsb_workload* lmsb_measurements_run_workload(
    const lmsb_measurements* measurements, size_t run) {
  return HasRun(measurements, run) ? &measurements->workloads[run] : nullptr;
}

const lmsb_config* lmsb_measurements_run_config(
    const lmsb_measurements* measurements, size_t run) {
  return HasRun(measurements, run) ? &measurements->configs[run] : nullptr;
}

lmsb_code lmsb_measurements_find(const lmsb_measurements* measurements,
                                 const char* record, size_t record_length,
                                 size_t* run) {
  return capi::Guarded([&]() -> absl::Status {
    absl::string_view wanted;
    absl::Status status = capi::CheckHandle(measurements, "measurements");
    if (status.ok()) status = capi::CheckPointer(run, "run");
    if (status.ok()) {
      status = capi::ReadText(record, record_length, "record", wanted);
    }
    if (!status.ok()) return status;
    const auto& by_record = measurements->runs->by_record;
    const auto found = by_record.find(std::string(wanted));
    if (found != by_record.end()) {
      *run = found->second;
      return absl::OkStatus();
    }
    std::vector<std::string> known;
    for (const auto& [name, place] : by_record) known.push_back(name);
    return absl::NotFoundError(fmt::format("no run '{}'{}", std::string(wanted),
                                           capi::DidYouMean(wanted, known)));
  });
}

lmsb_code lmsb_measurements_run_system(lmsb_system** out,
                                       const lmsb_measurements* measurements,
                                       size_t run) {
  return capi::MakeFrom(
      measurements, "measurements", out, [&]() -> absl::StatusOr<lmsb_system*> {
        if (!HasRun(measurements, run)) {
          return absl::OutOfRangeError(
              fmt::format("run {} of {}", run, measurements->runs->all.size()));
        }
        const MeasuredRun& of = *measurements->runs->all[run];
        const auto platform =
            lmsimbench::FindPlatform(measurements->runs->bundle, of.platform);
        if (!platform.ok()) return platform.status();
        return new lmsb_system(lmsimbench::SystemOfRun(*platform, of));
      });
}

lmsb_code lmsb_measurements_runs(const lmsb_measurements* measurements,
                                 lmsb_table** out) {
  return capi::MakeFrom(
      measurements, "measurements", out, [&]() -> absl::StatusOr<lmsb_table*> {
        const auto& all = measurements->runs->all;
        const Settings settings = SettingsOf(*measurements->runs);
        capi::TableBuilder table("runs", all.size());
        const auto text = [&](const char* name,
                              std::string MeasuredRun::*part) {
          table.Strings(name, [&](size_t i) -> const std::string& {
            return all[i]->*part;
          });
        };
        text("record", &MeasuredRun::record_id);
        table.I64("setting", [&](size_t i) { return settings.of_run[i]; });
        text("source", &MeasuredRun::source);
        text("platform", &MeasuredRun::platform);
        text("framework", &MeasuredRun::framework);
        text("split", &MeasuredRun::split);
        text("flag", &MeasuredRun::flag);
        table.I64("devices", [&](size_t i) { return all[i]->devices; });
        table.I64("ran", [&](size_t i) { return all[i]->ran ? 1 : 0; });
        table.F64("iteration_time_s",
                  [&](size_t i) { return all[i]->iteration_time_s; });
        table.F64("peak_memory_bytes",
                  [&](size_t i) { return all[i]->peak_memory_bytes; });
        return std::move(table).Finish();
      });
}

lmsb_code lmsb_measurements_settings(const lmsb_measurements* measurements,
                                     lmsb_table** out) {
  return capi::MakeFrom(
      measurements, "measurements", out, [&]() -> absl::StatusOr<lmsb_table*> {
        const Settings settings = SettingsOf(*measurements->runs);
        const auto& all = settings.all;
        capi::TableBuilder table("settings", all.size());
        table.Strings("workload", [&](size_t i) -> const std::string& {
          return all[i].first->workload_id;
        });
        table.Strings("source", [&](size_t i) -> const std::string& {
          return all[i].first->source;
        });
        table.Strings("platform", [&](size_t i) -> const std::string& {
          return all[i].first->platform;
        });
        table.I64("devices", [&](size_t i) { return all[i].first->devices; });
        table.I64("runs", [&](size_t i) { return all[i].runs; });
        table.I64("failed_runs", [&](size_t i) { return all[i].failed; });
        return std::move(table).Finish();
      });
}
