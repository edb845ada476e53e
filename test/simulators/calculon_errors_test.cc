// Which failure is reported, and which one first.

#include <catch2/catch.hpp>
#include <functional>

#include "lib/simulators/calculon/explain.h"
#include "test/simulators/calculon_inputs.h"

namespace lmsimbench::calculon {
namespace {

// A change of the documents that breaks one rule, whatever later rules are
// broken too.
struct Fault {
  std::string code;
  std::function<void(Documents&)> make;
};

// Sets members of the execution.
Fault Execution(const std::string& code, const std::string& changes) {
  return {code, [changes](Documents& documents) {
            const Json parsed = ParsePythonJson(changes);
            for (const auto& [key, value] : parsed.items())
              documents.execution[key] = value;
          }};
}

// Replaces, or with null text removes, the value at a JSON pointer of the
// system.
Fault SystemAt(const std::string& code, const std::string& pointer,
               const char* value) {
  return {code, [pointer, value](Documents& documents) {
            const Json::json_pointer place(pointer);
            if (value == nullptr) {
              documents.system[place.parent_pointer()].erase(place.back());
            } else {
              documents.system[place] = ParsePythonJson(value);
            }
          }};
}

Fault ApplicationSet(const std::string& code, const std::string& key,
                     int value) {
  return {code, [key, value](Documents& documents) {
            documents.application[key] = value;
          }};
}

// The number of processors that fits the parallelism, if there is one.
void SetProcessors(Documents& documents) {
  Json& e = documents.execution;
  const int64_t product = e["tensor_par"].get<int64_t>() *
                          e["pipeline_par"].get<int64_t>() *
                          e["data_par"].get<int64_t>();
  if (product > 0) e["num_procs"] = product;
}

// Every fault gives its code, and of two faults the earlier one is reported.
// The earlier one is made last, so that it prevails where both touch a value.
void CheckOrder(const std::vector<Fault>& faults, bool adjust_processors) {
  const auto reported =
      [adjust_processors](const std::vector<const Fault*>& made) {
        Documents documents;
        for (const Fault* fault : made) {
          fault->make(documents);
          if (adjust_processors && fault->code != "EXE_NUM_PROCS_POS" &&
              fault->code != "EXE_PRODUCT") {
            SetProcessors(documents);
          }
        }
        return std::string(EvaluateDocuments(documents).Name());
      };
  for (size_t first = 0; first < faults.size(); ++first) {
    CHECK(reported({&faults[first]}) == faults[first].code);
    for (size_t second = first + 1; second < faults.size(); ++second) {
      INFO("also " << faults[second].code);
      CHECK(reported({&faults[second], &faults[first]}) == faults[first].code);
    }
  }
}

TEST_CASE("the documents that tests start from are evaluated") {
  CHECK(EvaluateDocuments(Documents()).Name() == "NONE");
}

TEST_CASE(
    "a code has a name, a rule and, but for success, a kind; no name occurs "
    "twice") {
  std::map<std::string_view, int> names;
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    CHECK(++names[ErrorName(code)] == 1);
    CHECK_FALSE(ErrorRule(code).empty());
    CHECK(ErrorKind(code).empty() == (code == ErrorCode::kNone));
  }
}

TEST_CASE(
    "the rules of an execution are checked in the order of the original") {
  CheckOrder(
      {Execution("EXE_KEYS", R"({"comment": "x"})"),
       Execution("EXE_NUM_PROCS_POS", R"({"num_procs": 0})"),
       Execution("EXE_TP_POS", R"({"tensor_par": 0})"),
       Execution("EXE_PP_POS", R"({"pipeline_par": -1})"),
       Execution("EXE_DP_POS", R"({"data_par": 0})"),
       Execution("EXE_PRODUCT", R"({"num_procs": 9})"),
       Execution("EXE_BATCH_POS", R"({"batch_size": 0})"),
       Execution("EXE_MBS_POS", R"({"microbatch_size": 0})"),
       Execution("EXE_BATCH_DIV_DP", R"({"batch_size": 7, "data_par": 2})"),
       Execution("EXE_LOCAL_DIV_MBS",
                 R"({"batch_size": 8, "data_par": 2, "microbatch_size": 3})"),
       Execution("EXE_ATTENTION_TYPE", R"({"attention_type": "grouped"})"),
       Execution("EXE_RECOMPUTE_ENUM",
                 R"({"activation_recompute": "selective"})"),
       Execution("EXE_RECOMPUTE_TRAINING",
                 R"({"activation_recompute": "attn_only", "training": false})"),
       Execution("EXE_INTERLEAVE_POS", R"({"pipeline_interleaving": 0})"),
       Execution("EXE_INTERLEAVE_PP1",
                 R"({"pipeline_interleaving": 2, "pipeline_par": 1})"),
       Execution("EXE_OPTSHARD_DP",
                 R"({"optimizer_sharding": true, "data_par": 1})"),
       Execution("EXE_TP_COMM_ENUM", R"({"tensor_par_comm_type": "rs"})"),
       Execution("EXE_TP_OVERLAP_ENUM", R"({"tensor_par_overlap": "tile"})"),
       Execution("EXE_TP_OVERLAP_TP1",
                 R"({"tensor_par_overlap": "ring", "tensor_par": 1})"),
       Execution("EXE_AGREDO_RSAG",
                 R"({"seq_par_ag_redo": true, "tensor_par_comm_type": "ar"})"),
       Execution("EXE_AGREDO_FULL",
                 R"({"seq_par_ag_redo": true, "tensor_par_comm_type": "rs_ag",
                     "activation_recompute": "full", "training": true})"),
       Execution("EXE_DPOVL_TRAINING",
                 R"({"data_par_overlap": true, "training": false})"),
       Execution(
           "EXE_DPOVL_DP1",
           R"({"data_par_overlap": true, "data_par": 1, "training": true})"),
       Execution("EXE_OPTOFF_TRAINING",
                 R"({"optimizer_offload": true, "training": false})")},
      true);
}

TEST_CASE("every key of an execution is needed") {
  const Documents complete;
  for (const auto& [key, value] : complete.execution.items()) {
    Documents documents;
    documents.execution.erase(key);
    CHECK(EvaluateDocuments(documents).Name() == "EXE_KEYS");
  }
}

TEST_CASE("every key of an application is needed and others are ignored") {
  const Documents complete;
  for (const auto& [key, value] : complete.application.items()) {
    Documents documents;
    documents.application.erase(key);
    const Outcome outcome = EvaluateDocuments(documents);
    CHECK(outcome.Name() == "APP_MISSING_KEY");
    CHECK(outcome.message.find(key) != std::string::npos);
  }
  Documents documents;
  documents.application["vocab"] = 1;
  CHECK(EvaluateDocuments(documents).Name() == "NONE");
}

TEST_CASE(
    "the application is read before the execution, and that before the "
    "system") {
  Documents documents;
  documents.system.erase("matrix");
  CHECK(EvaluateDocuments(documents).Name() == "SYS_MISSING_KEY");
  documents.execution["num_procs"] = 0;
  CHECK(EvaluateDocuments(documents).Name() == "EXE_NUM_PROCS_POS");
  documents.application.erase("hidden");
  CHECK(EvaluateDocuments(documents).Name() == "APP_MISSING_KEY");
}

TEST_CASE(
    "the parts of a system are looked for and checked one after the other") {
  CheckOrder({SystemAt("SYS_MISSING_KEY", "/matrix", nullptr),
              SystemAt("PROC_EFF_RANGE", "/vector/float16/gflops_efficiency",
                       "[[0, 0]]"),
              SystemAt("SYS_MISSING_KEY", "/mem1", nullptr),
              SystemAt("MEM_EFF_RANGE", "/mem2/MB_efficiency", "[[0, 1.01]]"),
              SystemAt("SYS_MODE", "/processing_mode", R"("overlap")"),
              SystemAt("SYS_MISSING_KEY", "/networks", nullptr)},
             false);
}

TEST_CASE("the rules of a network are checked in the order of the original") {
  CheckOrder({SystemAt("NET_KEYS", "/networks/0/note", "1"),
              SystemAt("NET_BW_POS", "/networks/0/bandwidth", "0"),
              SystemAt("NET_EFF_RANGE", "/networks/0/efficiency", "1.5"),
              SystemAt("NET_SIZE_NEGATIVE", "/networks/0/size", "-1"),
              SystemAt("NET_P2P_OFFSET", "/networks/0/ops/p2p", "[1.0, 0]"),
              SystemAt("NET_OP_SCALAR", "/networks/0/ops/reduce_scatter",
                       "[0.0, null]"),
              SystemAt("NET_OP_NEEDS_OFFSET", "/networks/0/ops/all_gather",
                       "[1.0, null]"),
              SystemAt("NET_OP_NAME", "/networks/0/ops/broadcast", "[1.0, 0]"),
              SystemAt("NET_USAGE_RANGE", "/networks/0/processor_usage", "1.0"),
              SystemAt("NET_BW_POS", "/networks/1/bandwidth", "-1")},
             false);
  Documents documents;
  documents.system["networks"][0]["ops"].erase("all_reduce");
  documents.system["networks"][0]["processor_usage"] = -0.1;
  CHECK(EvaluateDocuments(documents).Name() == "NET_OPS_SET");
}

TEST_CASE("inner keys of a system are needed as well") {
  for (const char* pointer :
       {"/matrix/float16/tflops", "/vector/float16/gflops_efficiency",
        "/mem1/GiB", "/mem1/GBps", "/mem2/MB_efficiency"}) {
    INFO(pointer);
    Documents documents;
    SystemAt("", pointer, nullptr).make(documents);
    CHECK(EvaluateDocuments(documents).Name() == "SYS_MISSING_KEY");
  }
}

TEST_CASE(
    "the execution on the system is checked in the order of the original") {
  CheckOrder({Execution("NET_TP_ID", R"({"tensor_par_net": 2})"),
              Execution("NET_PP_ID", R"({"pipeline_par_net": 2})"),
              Execution("NET_DP_ID", R"({"data_par_net": 9})"),
              Execution("NET_ID_BELOW", R"({"data_par_net": -3})"),
              SystemAt("NET_TOO_SMALL", "/networks/0/size", "1"),
              SystemAt("NET_NOT_FILLED", "/networks/0/size", "7"),
              SystemAt("NET_TOO_SMALL", "/networks/1/size", "3"),
              Execution("SYS_DATATYPE", R"({"datatype": "int8"})"),
              Execution("PPINT_TOO_BIG", R"({"pipeline_interleaving": 5})"),
              {"PPINT_NOT_FACTOR",
               [](Documents& documents) {
                 documents.application["num_blocks"] = 8;  // 4 per processor
                 documents.execution["pipeline_interleaving"] = 3;
               }},
              {"OFFLOAD_FEW_BLOCKS",
               [](Documents& documents) {
                 documents.application["num_blocks"] = 4;  // 2 per processor
                 documents.execution["activations_offload"] = true;
                 documents.execution["pipeline_interleaving"] = 1;
               }},
              {"SEQ_DIV_TP",
               [](Documents& documents) {
                 documents.application["seq_size"] = 31;
                 documents.execution["tensor_par_comm_type"] = "p2p_rs_ag";
               }},
              ApplicationSet("HIDDEN_DIV_TP", "hidden", 63),
              ApplicationSet("FF_DIV_TP", "feedforward", 255),
              ApplicationSet("HEADS_DIV_TP", "attn_heads", 3),
              SystemAt("PROC_DATATYPE", "/vector",
                       R"({"float8": {"tflops": 1, "gflops_efficiency": []}})"),
              SystemAt("PROC_UNCOVERED", "/vector/float16/gflops_efficiency",
                       "[[1, 0.5]]"),
              SystemAt("MEM_UNCOVERED", "/mem1/MB_efficiency", "[[1e-6, 0.5]]"),
              SystemAt("PROC_DATATYPE", "/matrix", "{}"),
              SystemAt("PROC_UNCOVERED", "/matrix/float16/gflops_efficiency",
                       "[[1e-9, 0.5]]"),
              SystemAt("MEM_UNCOVERED", "/mem2/MB_efficiency", "[]"),
              SystemAt("DIV0_MEM2_BW", "/mem2/GBps", "0"),
              SystemAt("MEM1", "/mem1/GiB", "1e-6")},
             false);
}

TEST_CASE(
    "the first tier is checked before the second, and both before divisions by "
    "zero") {
  Documents documents;
  documents.execution["weight_offload"] = true;
  documents.system["mem2"]["GiB"] = 0;
  CHECK(EvaluateDocuments(documents).Name() == "MEM2");
  documents.system["mem1"]["GiB"] = 0;
  CHECK(EvaluateDocuments(documents).Name() == "MEM1");
}

TEST_CASE(
    "where memory hides all of the forward pass, there is no time to offload "
    "in") {
  // With roofline, a slow memory and no communication, fw_t equals fw_mt: a
  // window of exactly 0, also where nothing is offloaded. The edge block's
  // window is one latency.
  Documents documents;
  documents.execution["tensor_par"] = 1;
  documents.execution["num_procs"] = 4;
  documents.system["processing_mode"] = "roofline";
  documents.system["mem1"]["GBps"] = 1;
  const Outcome outcome = EvaluateDocuments(documents);
  CHECK(outcome.Name() == "DIV0_ACT_OFFLOAD_BW");
  CHECK(outcome.statistics.total_time > 0);
  documents.system["mem1"]["GiB"] = 0;
  CHECK(EvaluateDocuments(documents).Name() == "MEM1");
}

TEST_CASE("a configuration that does not fit has been timed nevertheless") {
  Documents documents;
  const Outcome fits = EvaluateDocuments(documents);
  documents.system["mem1"]["GiB"] = 0;
  const Outcome too_large = EvaluateDocuments(documents);
  CHECK(too_large.Name() == "MEM1");
  for (const StatisticField& field : StatisticFields()) {
    INFO(std::string(field.name));
    CHECK(too_large.statistics.*field.member == fits.statistics.*field.member);
  }
}

TEST_CASE("messages of memory name need and capacity") {
  Documents documents;
  documents.system["mem1"]["GiB"] = 0.25;
  documents.application["num_blocks"] = 80000;
  const Outcome outcome = EvaluateDocuments(documents);
  CHECK(outcome.Name() == "MEM1");
  CHECK(outcome.message ==
        "Mem tier1 needs " +
            FormatBytes(outcome.statistics.proc_mem_tier1_cap_req) +
            " but only has 256.000 MiB");
}

TEST_CASE(
    "bytes are printed with three decimals and the largest unit that is "
    "reached") {
  CHECK(FormatBytes(0) == "0.000 iB");
  CHECK(FormatBytes(1023) == "1023.000 iB");
  CHECK(FormatBytes(1024) == "1.000 kiB");
  CHECK(FormatBytes(1536.0 * 1024 * 1024) == "1.500 GiB");
}

TEST_CASE("other messages name the code, the numbers and the rule") {
  Documents documents;
  documents.execution["num_procs"] = 9;
  CHECK(EvaluateDocuments(documents).message ==
        "EXE_PRODUCT: 2 x 2 x 2 is not 9 (tensor_par x pipeline_par x data_par "
        "equals num_procs)");
  documents = Documents();
  documents.application["hidden"] = 63;
  CHECK(EvaluateDocuments(documents).message ==
        "HIDDEN_DIV_TP: tensor_par 2 does not divide hidden = 63 (tensor_par "
        "divides hidden)");
}

TEST_CASE("values of a wrong type or magnitude are refused by name") {
  Documents documents;
  documents.execution["tensor_par"] = "2";
  CHECK(EvaluateDocuments(documents).Name() == "VALUE_TYPE");
  documents = Documents();
  documents.execution["batch_size"] = 8.5;
  CHECK(EvaluateDocuments(documents).Name() == "VALUE_TYPE");
  documents = Documents();
  documents.application["hidden"] = 4294967296;  // 2^32
  CHECK(EvaluateDocuments(documents).Name() == "VALUE_RANGE");
  documents = Documents();
  documents.application["hidden"] = -64;
  CHECK(EvaluateDocuments(documents).Name() == "VALUE_RANGE");
  documents = Documents();
  documents.system["networks"] = 3;
  CHECK(EvaluateDocuments(documents).Name() == "VALUE_TYPE");
  documents = Documents();
  documents.system["mem1"]["MB_efficiency"] = ParsePythonJson("[[0]]");
  CHECK(EvaluateDocuments(documents).Name() == "VALUE_TYPE");
}

TEST_CASE(
    "numbers and null serve as truth values, whole floating-point numbers as "
    "counts") {
  const double expected = EvaluateDocuments(Documents()).statistics.total_time;
  Documents documents;
  documents.execution["training"] = 1;
  documents.execution["weight_offload"] = nullptr;
  documents.execution["batch_size"] = 8.0;
  documents.execution["pipeline_interleaving"] = true;
  const Outcome outcome = EvaluateDocuments(documents);
  CHECK(outcome.Name() == "NONE");
  CHECK(outcome.statistics.total_time == expected);
}

TEST_CASE(
    "products of three that overflow 64 bits are no number of processors") {
  Documents documents;
  for (const char* key : {"tensor_par", "pipeline_par", "data_par"}) {
    documents.execution[key] = 4194304;  // 2^22, product 2^66
  }
  CHECK(EvaluateDocuments(documents).Name() == "EXE_PRODUCT");
}

TEST_CASE("work beyond the last prefix of the original's text is refused") {
  // One linear layer does 2 m h f = 2 x 2^30 x 2^20 x 2^25 = 2^76 > 1e21
  // operations.
  Documents documents;
  documents.application["seq_size"] = 1073741824;
  documents.application["hidden"] = 1048576;
  documents.application["feedforward"] = 67108864;
  CHECK(EvaluateDocuments(documents).Name() == "TEXT_RANGE");
}

}  // namespace
}  // namespace lmsimbench::calculon
