#include <fstream>

#include "catch2/catch.hpp"
#include "lib/profile/tables.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/values.h"
#include "test/profile/temporary_folder.h"
#include "test/test_support.h"

namespace lmsimbench {
namespace {

constexpr char kSources[] =
    "source_id,where,license\nhere,\"a place, a page\",MIT\n";
constexpr char kGemms[] =
    "latency_us,split,platform,source_id,dtype,m,n,k\n"
    "1.5,fit,box,here,bf16,2,3,4\n";
constexpr char kRuns[] =
    "record_id,workload_id,split,source_id,platform,devices_total,model,dp,tp,"
    "pp,cp,options\n"
    "a-1,w,fit,here,box,8,m,8,1,1,1,schedule=1f1b\n"
    "a-2,w,fit,here,box,8,m,4,2,1,1,\n";

// What the builder says of these tables, without the folder's name.
std::string Complaint(
    const std::vector<std::pair<std::string, std::string>>& tables) {
  const TemporaryFolder folder;
  for (const auto& [name, text] : tables) folder.Write(name, text);
  const TemporaryFolder out;
  const absl::Status status = BuildBundle(folder.path(), out.path("b"));
  CHECK(out.files() == (status.ok() ? 1 : 0));
  std::string message(status.message());
  if (message.rfind(folder.path(), 0) == 0) {
    message.erase(0, folder.path().size() + 1);
  }
  return message;
}

TEST_CASE("any subset of the tables, with columns in any order, is a bundle") {
  const TemporaryFolder folder;
  folder.Write("gemms.csv", kGemms);
  folder.Write("sources.csv", kSources);
  folder.Write("README.md", "not a table");
  REQUIRE(BuildBundle(folder.path(), folder.path("b")).ok());
  const auto bundle = Bundle::Open(folder.path("b"));
  REQUIRE(bundle.ok());
  CHECK(bundle->views().size() == 2);
  const auto gemms = bundle->View("gemms");
  REQUIRE(gemms.ok());
  CHECK(gemms->rows() == 1);
  CHECK((*gemms->F64("latency_us"))[0] == 1.5);
  CHECK((*gemms->I64("k"))[0] == 4);
  CHECK((*gemms->Strings("platform"))[0] == "box");
  // Columns that the file does not have are there, and missing in every row.
  CHECK((*gemms->I64("batch"))[0] == kNoCount);
  CHECK((*gemms->Strings("notes"))[0].empty());
  CHECK((*bundle->View("sources")->Strings("where"))[0] == "a place, a page");
}

TEST_CASE("a string of a bundle ends with a zero byte") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto models = bundle->View("iterations")->Strings("model");
  REQUIRE(models.ok());
  const absl::string_view name = (*models)[0];
  CHECK(name.data()[name.size()] == '\0');
}

TEST_CASE("a bad cell is named by file, line, column and reason") {
  const std::string head =
      "split,platform,source_id,dtype,m,n,k,latency_us,trans_a,notes\n";
  const auto complaint = [&head](const std::string& row) {
    return Complaint({{"sources.csv", kSources}, {"gemms.csv", head + row}});
  };
  CHECK(complaint("fit,p,here,bf16,1,1,1,1,0,\"a\nb\"\n"
                  "fit,p,here,bf16,1,x,1,1,0,\n") ==
        "gemms.csv:4: column 'n': \"x\" is not a whole number of 64 bits");
  CHECK(complaint("fit,p,here,bf16,1,1.5,1,1,0,\n") ==
        "gemms.csv:2: column 'n': \"1.5\" is not a whole number of 64 bits");
  CHECK(complaint("fit,p,here,bf16,0,1,1,1,0,\n") ==
        "gemms.csv:2: column 'm': \"0\" is not above 0");
  CHECK(complaint("fit,p,here,bf16,-1,1,1,1,0,\n") ==
        "gemms.csv:2: column 'm': \"-1\" is negative");
  CHECK(complaint("fit,p,here,bf16,,1,1,1,0,\n") ==
        "gemms.csv:2: column 'm': the cell is empty, but required");
  CHECK(complaint("fit,p,here,bf16,1,1,1,inf,0,\n") ==
        "gemms.csv:2: column 'latency_us': \"inf\" is not a finite number");
  CHECK(complaint("fit,p,here,bf16,1,1,1,nan,0,\n") ==
        "gemms.csv:2: column 'latency_us': \"nan\" is not a finite number");
  CHECK(complaint("fit,p,here,bf16,1,1,1,1e999,0,\n") ==
        "gemms.csv:2: column 'latency_us': \"1e999\" is not a finite number");
  CHECK(complaint("fit,p,here,bf16,1,1,1,0,0,\n") ==
        "gemms.csv:2: column 'latency_us': \"0\" is not above 0");
  CHECK(complaint("fit,p,here,bf16,1,1,1,\"1,5\",0,\n") ==
        "gemms.csv:2: column 'latency_us': \"1,5\" is not a number");
  CHECK(complaint("fit,p,here,bf16,1,1,1,1,2,\n") ==
        "gemms.csv:2: column 'trans_a': \"2\" is neither 0 nor 1");
  CHECK(
      complaint("fit,p,here,bf16,9223372036854775808,1,1,1,2,\n") ==
      "gemms.csv:2: column 'm': \"9223372036854775808\" is not a whole number "
      "of 64 bits");
}

TEST_CASE("a text that has to mean something is refused with the nearest") {
  const std::string head =
      "record_id,workload_id,split,source_id,platform,devices_total,model,dp,"
      "tp,pp,cp,precision,recompute,options\n";
  const auto complaint = [&head](const std::string& cells) {
    return Complaint({{"sources.csv", kSources},
                      {"iterations.csv",
                       head + "a,w,fit,here,p,1,m,1,1,1,1," + cells + "\n"}});
  };
  CHECK(complaint("bf61,,") ==
        "iterations.csv:2: column 'precision': \"bf61\" "
        "is no precision; did you mean \"bf16\"?");
  CHECK(complaint(",ful,") ==
        "iterations.csv:2: column 'recompute': \"ful\" is "
        "no recomputation; did you mean \"full\"?");
  CHECK(complaint(",,head_dims=3") ==
        "iterations.csv:2: column 'options': \"head_dims\" is no option; did "
        "you mean \"head_dim\"?");
}

TEST_CASE("unknown and missing columns and tables are refused by name") {
  CHECK(Complaint({{"sources.csv", "source_id,were,license\n"}}) ==
        "sources.csv:1: column 'were' is not one of the table; did you mean "
        "'where'?");
  CHECK(Complaint({{"sources.csv", "source_id,license\n"}}) ==
        "sources.csv:1: required column 'where' is missing");
  CHECK(Complaint({{"sources.csv", "where,license,source_id,where\n"}}) ==
        "sources.csv:1: column 'where' is there twice");
  CHECK(Complaint({{"source.csv", kSources}}) ==
        "source.csv: there is no table 'source'; did you mean 'sources'?");
  const TemporaryFolder empty;
  CHECK(absl::IsNotFound(BuildBundle(empty.path(), empty.path("b"))));
  CHECK(absl::IsNotFound(BuildBundle(empty.path("nowhere"), empty.path("b"))));
  CHECK(empty.files() == 0);
}

TEST_CASE("every row names a source, and every source has a licence") {
  CHECK(Complaint({{"gemms.csv", kGemms}}) ==
        "gemms.csv:2: column 'source_id': \"here\" is to be found in "
        "sources.csv, which the folder does not have");
  CHECK(Complaint({{"gemms.csv", kGemms},
                   {"sources.csv", "source_id,where,license\nher,x,MIT\n"}})
            .find("gemms.csv:2: column 'source_id': \"here\" is not in "
                  "sources.csv; did you mean \"her\"?") == 0);
  CHECK(Complaint({{"sources.csv", "source_id,where,license\nhere,x,\n"}}) ==
        "sources.csv:2: column 'license': the cell is empty, but required");
  CHECK(Complaint({{"sources.csv", "source_id,where,license\nhere,x,free\n"}})
            .find("sources.csv:2: column 'license': \"free\" is no SPDX "
                  "licence") == 0);
}

TEST_CASE("identifiers are unique") {
  const std::string twice =
      std::string(kRuns) + "a-1,w,fit,here,box,8,m,4,2,1,1,\n";
  CHECK(Complaint({{"sources.csv", kSources}, {"iterations.csv", twice}})
            .find("iterations.csv:4: column 'record_id': \"a-1\" is already "
                  "at ") == 0);
  CHECK(Complaint(
            {{"sources.csv", "source_id,where,license\na,x,MIT\na,y,MIT\n"}})
            .find("sources.csv:3: column 'source_id': \"a\" is already at ") ==
        0);
}

TEST_CASE("a platform is known where there is a table of platforms") {
  CHECK(Complaint({{"sources.csv", kSources}, {"gemms.csv", kGemms}}).empty());
  CHECK(Complaint({{"sources.csv", kSources},
                   {"gemms.csv", kGemms},
                   {"platforms.csv", "platform_id\nshelf\n"}}) ==
        "gemms.csv:2: column 'platform': \"box\" is not in platforms.csv");
}

TEST_CASE("a link leads to rows that are there") {
  const auto complaint = [](const std::string& link) {
    return Complaint({{"sources.csv", kSources},
                      {"iterations.csv", kRuns},
                      {"ranks.csv", "split,source_id,run,rank\nfit,here,r,0\n"},
                      {"links.csv", "record_id,view,source_id,run\n" + link}});
  };
  CHECK(complaint("a-1,ranks,here,r\n").empty());
  CHECK(complaint("a-3,ranks,here,r\n") ==
        "links.csv:2: column 'record_id': no row of iterations.csv or "
        "failed_configurations.csv has the record_id \"a-3\"");
  CHECK(complaint("a-1,memory,here,r\n") ==
        "links.csv:2: column 'view': the folder has no table 'memory' with "
        "runs");
  CHECK(complaint("a-1,ranks,here,q\n").find("links.csv:2: column 'run': ") ==
        0);
  CHECK(complaint("a-1,ranks,here,r\na-1,ranks,here,r\n") ==
        "links.csv:3: column 'run': the same link is there already");
}

TEST_CASE("an error leaves a file that is there as it is") {
  const TemporaryFolder folder;
  folder.Write("sources.csv", "source_id,where,license\nhere,x,\n");
  folder.Write("b", "old");
  REQUIRE_FALSE(BuildBundle(folder.path(), folder.path("b")).ok());
  CHECK(ReadFile(folder.path("b")) == "old");
  CHECK(folder.files() == 2);
}

TEST_CASE("an exported bundle builds to the same bytes") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const TemporaryFolder folder;
  REQUIRE(ExportBundle(*bundle, folder.path("tables")).ok());
  REQUIRE(BuildBundle(folder.path("tables"), folder.path("b")).ok());
  const std::string rebuilt = ReadFile(folder.path("b"));
  const std::string embedded(
      reinterpret_cast<const char*>(bundle->bytes().data()),
      bundle->bytes().size());
  CHECK((rebuilt == embedded));
}

TEST_CASE("the embedded bundle has every table with every column") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  for (const TableSpec& table : BundleTables()) {
    INFO(table.name);
    const auto view = bundle->View(table.name);
    REQUIRE(view.ok());
    CHECK(view->rows() > 0);
    REQUIRE(view->columns().size() == table.columns.size());
    for (size_t i = 0; i < table.columns.size(); ++i) {
      CHECK(view->columns()[i].name == table.columns[i].name);
    }
  }
}

}  // namespace
}  // namespace lmsimbench
