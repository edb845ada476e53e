#include <cmath>
#include <iterator>

#include "fmt/format.h"
#include "lib/aggregate/execute_pipeline.h"
#include "lmsimbench/fmt.h"
#include "lmsimbench/timeline.h"

namespace lmsimbench {
namespace {

// A moment in tenths of a picosecond. Costs are multiples of 2^-40 s (0.9 ps),
// so different moments stay different, and differences are exact.
int64_t Ticks(double seconds) {
  return static_cast<int64_t>(std::llround(seconds * 1e13));
}

// Microseconds with seven decimals, from ticks.
struct Microseconds {
  int64_t ticks = 0;
};

}  // namespace
}  // namespace lmsimbench

template <>
struct fmt::formatter<lmsimbench::Microseconds> {
  constexpr auto parse(format_parse_context& context) {
    return context.begin();
  }
  template <typename Context>
  auto format(const lmsimbench::Microseconds& time, Context& context) const {
    return fmt::format_to(context.out(), "{}.{:07}", time.ticks / 10'000'000,
                          time.ticks % 10'000'000);
  }
};

namespace lmsimbench {
namespace {

// A text as JSON wants it within quotes.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Writes one event a line.
class TraceWriter {
 public:
  explicit TraceWriter(const CostedGraph& costed) : costed_(costed) {
    for (const Operator& op : costed.graph.program.operators)
      operators_.push_back(Escaped(Describe(op)));
    for (const SpannedCollective& collective : costed.spanned)
      collectives_.push_back(Escaped(Describe(collective)));
  }

  std::string Write(const Timeline& timeline) {
    text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    const auto classes =
        static_cast<int64_t>(costed_.graph.placement.classes.size());
    for (int64_t c = 0; c < classes; ++c) WriteProcess(c);
    for (const Slice& slice : timeline.slices) WriteSlice(slice);
    for (const MemorySample& sample : timeline.memory) {
      Event(
          R"({{"ph":"C","name":"memory","pid":{},"ts":{},"args":{{"bytes":{}}}}})",
          sample.rank_class, Microseconds{Ticks(sample.time_s)}, sample.bytes);
    }
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void Append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format,
                   std::forward<Args>(args)...);
  }
  template <typename... Args>
  void Event(fmt::format_string<Args...> format, Args&&... args) {
    text_ += text_.back() == '[' ? "\n" : ",\n";
    Append(format, std::forward<Args>(args)...);
  }

  void WriteProcess(int64_t c) {
    const Placement& placement = costed_.graph.placement;
    const RankClass& rank_class = placement.classes[c];
    const bool has_kinds =
        static_cast<int64_t>(placement.classes.size()) > placement.pp;
    Event(
        R"json({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"pipeline rank {}{} ({} rank{})"}}}})json",
        c, rank_class.pipeline_rank,
        has_kinds ? fmt::format(", kind {}", rank_class.pipeline_kind) : "",
        rank_class.ranks, rank_class.ranks == 1 ? "" : "s");
    Event(
        R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})",
        c, c);
    for (int s = 0; s < kStreams; ++s) {
      Event(
          R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
          c, s, static_cast<Stream>(s));
      Event(
          R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
          c, s, s);
    }
  }

  void WriteSlice(const Slice& slice) {
    const int64_t start = Ticks(slice.start_s);
    const int64_t end = Ticks(slice.end_s);
    if (slice.stream == Stream::kCompute) {
      const Operator& op = costed_.graph.program.operators[slice.id];
      Event(
          R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"shape":"{}","bytes":{:.0f},"evidence":"{}")",
          op.kind, op.pass, slice.rank_class, static_cast<int>(slice.stream),
          Microseconds{start}, Microseconds{end - start}, operators_[slice.id],
          op.bytes, costed_.operators[slice.id].evidence);
    } else {
      const Collective& collective = costed_.graph.collectives[slice.id];
      const int32_t spanned = SpannedIndex(costed_, slice.id, CostClass(slice));
      Event(
          R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"shape":"{}","bytes":{},"evidence":"{}")",
          collective.kind, collective.group, slice.rank_class,
          static_cast<int>(slice.stream), Microseconds{start},
          Microseconds{end - start}, collectives_[spanned], collective.bytes,
          costed_.collectives[spanned].evidence);
    }
    if (slice.pass.micro_batch >= 0) {
      Append(R"(,"micro_batch":{},"chunk":{},"direction":"{}")",
             slice.pass.micro_batch, slice.pass.chunk, slice.pass.direction);
    }
    if (slice.recomputed) text_ += ",\"recomputed\":true";
    text_ += "}}";
  }

  // The class whose span decides what the collective of a slice costs.
  int64_t CostClass(const Slice& slice) const {
    if (slice.stream == Stream::kTensor || slice.stream == Stream::kData)
      return slice.rank_class;
    return LinkClass(costed_.graph.placement, slice.rank_class, slice.stream);
  }

  const CostedGraph& costed_;
  // Descriptions of all operators, and of all collectives with their spans.
  std::vector<std::string> operators_;
  std::vector<std::string> collectives_;
  std::string text_;
};

}  // namespace

std::string ToPerfettoJson(const CostedGraph& costed,
                           const Timeline& timeline) {
  return TraceWriter(costed).Write(timeline);
}

}  // namespace lmsimbench
