#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lib/cost/measured_kernels.h"
#include "lmsimbench/cost_models.h"
#include "lmsimbench/lookup.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

Bundle Embedded() {
  auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  return *bundle;
}

// Some measurements of one platform, made up.
class MadeUpBundle {
 public:
  MadeUpBundle()
      : folder_(std::filesystem::temp_directory_path() /
                ("lmsimbench-cost-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    Write("sources.csv", "source_id,title,where,license\ns,t,w,CC0-1.0\n");
    Write("platforms.csv",
          "platform_id,vendor,device,memory_gib,peak_bf16_tflops_dense,"
          "hbm_bandwidth_GBps,devices_per_node,intra_node_link,"
          "intra_node_bandwidth_GBps_per_device_unidirectional\n"
          "made-up,Nobody,Device,80,100,1000,8,link,50\n");
    Write("gemms.csv",
          "split,platform,source_id,dtype,m,n,k,batch,trans_a,trans_b,"
          "latency_us\n"
          "fit,made-up,s,bf16,1024,1024,1024,1,0,1,40\n"
          "fit,made-up,s,bf16,4096,4096,4096,1,0,1,2000\n"
          "test,made-up,s,bf16,2048,2048,2048,1,0,1,100\n");
    Write("operators.csv",
          "split,platform,source_id,op,pass,dtype,shape,latency_us\n"
          "fit,made-up,s,rmsnorm,fwd,bf16,tokens=1024;hidden=4096,30\n"
          "fit,made-up,s,rmsnorm,fwd,bf16,tokens=8192;hidden=4096,200\n"
          "fit,made-up,s,attention_fwd,fwd,bf16,"
          "b=1;s_q=4096;s_kv=4096;h_q=32;h_kv=8;d=128;causal=1,1000\n");
    Write("collectives.csv",
          "split,platform,source_id,collective,library,bytes,group_size,nodes,"
          "latency_us,notes\n"
          "fit,made-up,s,all_reduce,NCCL,1024,8,1,20,\n"
          "fit,made-up,s,all_reduce,NCCL,104857600,8,1,5000,\n"
          "fit,made-up,s,all_reduce,kernel of my own,104857600,8,1,1,\n"
          "fit,made-up,s,all_reduce,NCCL,104857600,8,1,1,FLAG: outlier\n"
          "fit,made-up,s,all_reduce,NCCL,104857600,16,2,9000,\n");
    file_ = (folder_ / "made-up.bundle").string();
    const absl::Status built = BuildBundle(folder_.string(), file_);
    INFO(std::string(built.message()));
    REQUIRE(built.ok());
  }
  ~MadeUpBundle() { std::filesystem::remove_all(folder_); }

  Bundle Open() const {
    auto bundle = Bundle::Open(file_);
    REQUIRE(bundle.ok());
    return *bundle;
  }

 private:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  std::filesystem::path folder_;
  std::string file_;
};

struct MadeUp {
  MadeUpBundle files;
  Bundle bundle = files.Open();
  System system = *FindPlatform(bundle, "made-up");
  std::unique_ptr<CostModel> tables = *MakeTableModel(bundle);
};

TEST_CASE("Tables answer what was measured, with the measured time") {
  const MadeUp made_up;
  const Cost matmul =
      CostOf(*made_up.tables, made_up.system, Matmul(4096, 4096, 4096));
  CHECK(matmul.seconds == Approx(2e-3));
  CHECK(matmul.evidence == Evidence::kMeasured);
  const Cost norm = CostOf(*made_up.tables, made_up.system,
                           Elementwise(OperatorKind::kNorm, 1024, 4096));
  CHECK(norm.seconds == Approx(30e-6));
  CHECK(norm.evidence == Evidence::kMeasured);
  CHECK(CostOf(*made_up.tables, made_up.system, Attention(1, 4096, 32, 128))
            .seconds == Approx(1e-3));
}

TEST_CASE("Rows of split test are not in the tables") {
  const MadeUp made_up;
  const Cost cost =
      CostOf(*made_up.tables, made_up.system, Matmul(2048, 2048, 2048));
  CHECK(cost.evidence == Evidence::kInterpolated);
  CHECK(cost.seconds > 200e-6);
  CHECK(cost.seconds < 400e-6);
}

TEST_CASE("Collectives come from communication libraries within a node") {
  const MadeUp made_up;
  const Cost cost = CostOf(*made_up.tables, made_up.system,
                           Spanned(CollectiveKind::kAllReduce, 104857600, 8));
  CHECK(cost.seconds == Approx(5e-3));
  CHECK(cost.evidence == Evidence::kMeasured);
  CHECK(CostOf(*made_up.tables, made_up.system,
               Spanned(CollectiveKind::kAllReduce, 104857600, 8, 2))
            .evidence == Evidence::kNotAnswered);
  // The sixteen of the last row were in two nodes, not in one.
  CHECK(CostOf(*made_up.tables, made_up.system,
               Spanned(CollectiveKind::kAllReduce, 104857600, 16))
            .evidence == Evidence::kNotAnswered);
  CHECK(CostOf(*made_up.tables, made_up.system,
               Spanned(CollectiveKind::kAllGather, 104857600, 8))
            .evidence == Evidence::kNotAnswered);
}

TEST_CASE("What was not measured is left open") {
  const MadeUp made_up;
  const auto evidence = [&](const Operator& op) {
    return CostOf(*made_up.tables, made_up.system, op).evidence;
  };
  Operator op = Matmul(4096, 4096, 4096);
  op.precision = Precision::kFp32;
  CHECK(evidence(op) == Evidence::kNotAnswered);
  op = Matmul(4096, 4096, 4096);
  op.batch = 2;
  CHECK(evidence(op) == Evidence::kNotAnswered);
  CHECK(evidence(Matmul(65536, 4096, 4096)) == Evidence::kNotAnswered);
  CHECK(evidence(Elementwise(OperatorKind::kSoftmax, 1024, 4096)) ==
        Evidence::kNotAnswered);
  CHECK(evidence(Attention(1, 4096, 32, 128, OperatorPass::kInputGradient)) ==
        Evidence::kNotAnswered);
  op = Attention(1, 4096, 32, 128);
  op.window = 1024;
  CHECK(evidence(op) == Evidence::kNotAnswered);
  // A window that hides nothing is none.
  op.window = 4096;
  CHECK(evidence(op) == Evidence::kMeasured);
}

TEST_CASE("A system with other figures is another system") {
  const MadeUp made_up;
  System other = made_up.system;
  other.accelerator.bf16_flops *= 2;
  CHECK(CostOf(*made_up.tables, other, Matmul(4096, 4096, 4096)).evidence ==
        Evidence::kNotAnswered);
  other = made_up.system;
  other.network[0].bandwidth *= 2;
  CHECK(CostOf(*made_up.tables, other,
               Spanned(CollectiveKind::kAllReduce, 104857600, 8))
            .evidence == Evidence::kNotAnswered);
  CHECK(CostOf(*made_up.tables, other, Matmul(4096, 4096, 4096)).evidence ==
        Evidence::kMeasured);
}

TEST_CASE("The default model falls back on formulas") {
  const MadeUp made_up;
  const auto model = MakeDefaultCostModel(made_up.bundle);
  REQUIRE(model.ok());
  CHECK(CostOf(**model, made_up.system, Matmul(4096, 4096, 4096)).evidence ==
        Evidence::kMeasured);
  CHECK(CostOf(**model, made_up.system, Matmul(1 << 20, 4096, 4096)).evidence ==
        Evidence::kAnalytic);
  CHECK(CostOf(**model, made_up.system,
               Spanned(CollectiveKind::kAllGather, 1 << 20, 8))
            .evidence == Evidence::kAnalytic);
}

TEST_CASE("More work of the same alignment is never faster on any platform") {
  const Bundle bundle = Embedded();
  const auto model = MakeTableModel(bundle);
  REQUIRE(model.ok());
  const std::vector<int64_t> lengths = {64,   256,  512,   1024,  1536, 2048,
                                        4096, 7168, 11008, 14336, 32768};
  for (const char* platform :
       {"a100-sxm4-80g", "h100-sxm5-80g", "b200-sxm-180g", "v100-sxm2-16g"}) {
    const System system = *FindPlatform(bundle, platform);
    int answered = 0;
    for (Precision precision :
         {Precision::kBf16, Precision::kFp16, Precision::kFp8}) {
      for (int64_t a : lengths) {
        for (int64_t b : lengths) {
          double last[3] = {};
          for (int64_t length : lengths) {
            const Operator lines[3] = {Matmul(length, a, b),
                                       Matmul(a, length, b),
                                       Matmul(a, b, length)};
            for (int i = 0; i < 3; ++i) {
              Operator op = lines[i];
              op.precision = precision;
              const Cost cost = CostOf(**model, system, op);
              if (cost.evidence == Evidence::kNotAnswered) continue;
              ++answered;
              REQUIRE(cost.seconds >= last[i] * (1 - 1e-12));
              last[i] = cost.seconds;
            }
          }
        }
      }
    }
    CHECK(answered > 1000);
    double last = 0;
    for (int64_t bytes = 4096; bytes < (int64_t{1} << 32); bytes += bytes / 3) {
      const Cost cost = CostOf(**model, system,
                               Spanned(CollectiveKind::kAllReduce, bytes, 4));
      if (cost.evidence == Evidence::kNotAnswered) continue;
      REQUIRE(cost.seconds >= last * (1 - 1e-12));
      last = cost.seconds;
    }
    CHECK(last > 0);
  }
}

TEST_CASE("Tables are near the kernels that they have not seen") {
  // Not a score: a guard against tables read in wrong units or orders. Measured
  // when written: 6 to 20 %.
  const Bundle bundle = Embedded();
  const auto model = MakeTableModel(bundle);
  const auto kernels = ReadMeasuredKernels(bundle);
  REQUIRE(model.ok());
  REQUIRE(kernels.ok());
  double sum = 0;
  int rows = 0;
  for (const Measured<Operator>& row : kernels->operators) {
    if (row.is_fit || row.question.computation == Computation::kElementwise) {
      continue;
    }
    const Cost cost =
        CostOf(**model, kernels->platforms[row.platform], row.question);
    if (cost.evidence == Evidence::kNotAnswered) continue;
    sum += std::abs(std::log(cost.seconds / row.seconds));
    ++rows;
  }
  CHECK(rows > 1000);
  CHECK(std::exp(sum / rows) - 1 < 0.2);
}

TEST_CASE("An accelerator under another name has the tables of its twin") {
  const Bundle bundle = Embedded();
  const auto model = MakeTableModel(bundle);
  REQUIRE(model.ok());
  System system = *FindPlatform(bundle, "a100-sxm4-80g");
  system.name = "cluster of my own";
  CHECK(CostOf(**model, system, Matmul(4096, 4096, 4096)).evidence !=
        Evidence::kNotAnswered);
}

}  // namespace
}  // namespace lmsimbench
