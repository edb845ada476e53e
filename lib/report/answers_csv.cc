#include "fmt/format.h"
#include "lib/profile/csv_reader.h"
#include "lmsimbench/report.h"

namespace lmsimbench {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// Ten digits: more than any source prints, and none that only rounding makes.
std::string Cell(double value) {
  return IsStated(value) ? fmt::format("{:.10g}", value) : std::string();
}

void AppendLine(const MeasuredRun& run, const std::string& simulator,
                const Answer& answer, std::string& out) {
  const std::string verdict = answer.verdict == Verdict::kNotAnswered
                                  ? std::string()
                                  : std::string(Name(answer.verdict));
  const std::string cells[] = {run.record_id,
                               simulator,
                               std::string(Name(answer.status)),
                               Cell(run.iteration_time_s * 1e3),
                               Cell(answer.iteration_time_s * 1e3),
                               Cell(run.peak_memory_bytes / kGiB),
                               Cell(answer.peak_memory_bytes / kGiB),
                               verdict,
                               answer.notes};
  bool first = true;
  for (const std::string& cell : cells) {
    if (!first) out += ',';
    AppendCsvCell(cell, out);
    first = false;
  }
  out += '\n';
}

}  // namespace

std::string AnswersCsv(const Measurements& measurements,
                       absl::Span<const AnswerSheet> sheets,
                       const Selection& selection) {
  std::string out =
      "record_id,simulator,status,measured_ms,predicted_ms,measured_mem_gib,"
      "predicted_mem_gib,verdict,notes\n";
  const auto append = [&](const std::vector<MeasuredRun>& runs,
                          std::vector<Answer> AnswerSheet::*answers) {
    for (size_t i = 0; i < runs.size(); ++i) {
      if (!Selects(selection, runs[i])) continue;
      for (const AnswerSheet& sheet : sheets) {
        AppendLine(runs[i], sheet.simulator, (sheet.*answers)[i], out);
      }
    }
  };
  append(measurements.runs, &AnswerSheet::runs);
  append(measurements.failed_runs, &AnswerSheet::failed_runs);
  return out;
}

}  // namespace lmsimbench
