#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "lmsimbench/profile_view.h"
#include "lmsimbench/system.h"

namespace lmsimbench {

/// A view for tests, column by column. Every column has as many cells.
class HandBuilt {
 public:
  explicit HandBuilt(std::string name) : name_(std::move(name)) {}
  // The columns point into it.
  HandBuilt(const HandBuilt&) = delete;
  HandBuilt(HandBuilt&&) = default;

  HandBuilt& Texts(std::string column, const std::vector<std::string>& cells) {
    rows_ = cells.size();
    Pool& pool = pools_.emplace_back();
    for (const std::string& cell : cells) {
      pool.text += cell + '\0';
      pool.ids.push_back(static_cast<uint32_t>(pool.ids.size()));
      pool.ends.push_back(static_cast<uint32_t>(pool.text.size() - 1));
    }
    ProfileColumn added;
    added.name = std::move(column);
    added.type = ColumnType::kString;
    added.strings = StringColumn(pool.ids, pool.ends, pool.text.data());
    columns_.push_back(std::move(added));
    return *this;
  }
  /// The same text in as many rows.
  HandBuilt& Texts(std::string column, size_t rows, const std::string& cell) {
    return Texts(std::move(column), std::vector<std::string>(rows, cell));
  }
  HandBuilt& Counts(std::string column, std::vector<int64_t> cells) {
    rows_ = cells.size();
    ProfileColumn added;
    added.name = std::move(column);
    added.type = ColumnType::kI64;
    added.i64 = counts_.emplace_back(std::move(cells));
    columns_.push_back(std::move(added));
    return *this;
  }
  HandBuilt& Numbers(std::string column, std::vector<double> cells) {
    rows_ = cells.size();
    ProfileColumn added;
    added.name = std::move(column);
    added.type = ColumnType::kF64;
    added.f64 = numbers_.emplace_back(std::move(cells));
    columns_.push_back(std::move(added));
    return *this;
  }

  /// Lives as long as this.
  ProfileView View() const { return ProfileView(name_, rows_, columns_); }

 private:
  struct Pool {
    std::string text;
    std::vector<uint32_t> ids, ends;
  };

  std::string name_;
  size_t rows_ = 0;
  std::vector<ProfileColumn> columns_;
  std::deque<Pool> pools_;
  std::deque<std::vector<int64_t>> counts_;
  std::deque<std::vector<double>> numbers_;
};

/// Matrix multiplications m x 64 x 64 in bf16 on platform "here", split test.
inline HandBuilt Gemms(const std::vector<int64_t>& m,
                       const std::vector<double>& latency_us) {
  HandBuilt view("gemms");
  view.Texts("platform", m.size(), "here")
      .Texts("source_id", m.size(), "bench")
      .Texts("dtype", m.size(), "bf16")
      .Texts("split", m.size(), "test")
      .Counts("m", m)
      .Counts("n", std::vector<int64_t>(m.size(), 64))
      .Counts("k", std::vector<int64_t>(m.size(), 64))
      .Counts("batch", std::vector<int64_t>(m.size(), 1))
      .Counts("trans_a", std::vector<int64_t>(m.size(), 0))
      .Numbers("latency_us", latency_us);
  return view;
}

/// Nodes of eight in one cluster.
inline std::vector<System> Here() {
  System here;
  here.name = "here";
  here.network = {{"node", 8, "link", 100e9, 1e-6},
                  {"cluster", kNoCount, "fabric", 10e9, 5e-6}};
  return {here};
}

}  // namespace lmsimbench
