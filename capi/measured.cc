#include <string>

#include "capi/bundle.h"
#include "capi/cost_model.h"
#include "capi/make.h"
#include "capi/measurements.h"
#include "capi/table.h"
#include "lmsimbench/testing.h"

namespace capi = lmsimbench::capi;
using lmsimbench::MeasuredFilter;
using lmsimbench::MeasuredRow;

namespace {

absl::StatusOr<MeasuredFilter> ReadFilter(const lmsb_selection* selection) {
  auto read = capi::ReadSelection(selection);
  if (!read.ok()) return read.status();
  MeasuredFilter filter;
  filter.splits = {read->split};
  if (!read->source.empty()) filter.sources = {read->source};
  if (!read->platform.empty()) filter.platforms = {read->platform};
  return filter;
}

lmsb_table* TableOf(const lmsimbench::CostErrors& errors) {
  const std::vector<MeasuredRow>& all = errors.rows;
  capi::TableBuilder table("measured", all.size());
  const auto text = [&](const char* name, std::string MeasuredRow::*part) {
    table.Strings(name,
                  [&](size_t i) -> const std::string& { return all[i].*part; });
  };
  table.I64("row", [&](size_t i) { return all[i].row; });
  text("source", &MeasuredRow::source);
  text("platform", &MeasuredRow::platform);
  text("split", &MeasuredRow::split);
  text("category", &MeasuredRow::category);
  text("shape", &MeasuredRow::shape);
  table.F64("measured_s", [&](size_t i) { return all[i].measured_s; });
  table.F64("predicted_s", [&](size_t i) { return all[i].predicted_s; });
  table.Strings("evidence", [&](size_t i) { return Name(all[i].evidence); });
  text("refusal", &MeasuredRow::refusal);
  return std::move(table).Finish();
}

}  // namespace

lmsb_code lmsb_cost_model_measured(const lmsb_cost_model* model,
                                   const lmsb_bundle* bundle, const char* view,
                                   size_t view_length,
                                   const lmsb_selection* selection,
                                   lmsb_table** out) {
  return capi::MakeFrom(
      model, "model", out, [&]() -> absl::StatusOr<lmsb_table*> {
        absl::Status status = capi::CheckHandle(bundle, "bundle");
        absl::string_view name;
        if (status.ok()) {
          status = capi::ReadText(view, view_length, "view", name);
        }
        if (!status.ok()) return status;
        auto filter = ReadFilter(selection);
        if (!filter.ok()) return filter.status();
        auto errors = lmsimbench::ForEachMeasured(bundle->bundle, name, *filter,
                                                  *model->model);
        if (!errors.ok()) return errors.status();
        return TableOf(*errors);
      });
}
