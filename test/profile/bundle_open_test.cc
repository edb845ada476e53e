#include <random>

#include "catch2/catch.hpp"
#include "lib/profile/bundle_format.h"
#include "lib/profile/bundle_generated.h"
#include "lmsimbench/bundle.h"
#include "test/profile/temporary_folder.h"
#include "test/test_support.h"

namespace lmsimbench {
namespace {

// A bundle with a column of every type, two tables that refer to each other and
// a link: small enough to be broken at every byte.
std::string SmallBundle() {
  const TemporaryFolder folder;
  folder.Write("sources.csv", "source_id,where,license\nhere,x,MIT\n");
  folder.Write("ranks.csv",
               "split,source_id,run,rank,total_us\nfit,here,r,0,2.5\n"
               "fit,here,r,1,3.5\n");
  folder.Write("iterations.csv",
               "record_id,workload_id,split,source_id,platform,devices_total,"
               "model,dp,tp,pp,cp\na,w,fit,here,p,1,m,1,1,1,1\n");
  folder.Write("links.csv", "record_id,view,source_id,run\na,ranks,here,r\n");
  REQUIRE(BuildBundle(folder.path(), folder.path("b")).ok());
  return ReadFile(folder.path("b"));
}

absl::StatusOr<Bundle> Open(const std::string& bytes) {
  return Bundle::FromMemory(absl::MakeConstSpan(
      reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

// Reads every cell; under the address sanitizer a wrong offset stops the test.
size_t ReadEverything(const Bundle& bundle) {
  size_t sum = 0;
  for (const ProfileView& view : bundle.views()) {
    for (const ProfileColumn& column : view.columns()) {
      for (size_t row = 0; row < view.rows(); ++row) {
        switch (column.type) {
          case ColumnType::kF64:
            sum += column.f64[row] > 0 ? 1 : 0;
            break;
          case ColumnType::kI64:
            sum += static_cast<size_t>(column.i64[row]);
            break;
          case ColumnType::kString:
            for (const char c : column.strings[row]) {
              sum += static_cast<unsigned char>(c);
            }
            break;
        }
      }
    }
  }
  return sum;
}

// Damaged bytes either make another sound bundle or are refused by name.
void CheckDamaged(const std::string& bytes) {
  const absl::StatusOr<Bundle> bundle = Open(bytes);
  if (bundle.ok()) {
    ReadEverything(*bundle);
  } else {
    CHECK(absl::IsDataLoss(bundle.status()));
    CHECK(bundle.status().message().size() > 25);
  }
}

std::string Complaint(const std::string& bytes) {
  return std::string(Open(bytes).status().message());
}

TEST_CASE("a bundle with any byte changed is refused or sound, no crash") {
  const std::string sound = SmallBundle();
  REQUIRE(Open(sound).ok());
  for (size_t i = 0; i < sound.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      CheckDamaged(damaged);
    }
  }
}

TEST_CASE("a bundle cut short at any length is refused") {
  const std::string sound = SmallBundle();
  for (size_t size = 0; size < sound.size(); ++size) {
    CHECK(absl::IsDataLoss(Open(sound.substr(0, size)).status()));
  }
}

TEST_CASE("10,000 random damages are refused or sound, no crash") {
  const std::string sound = SmallBundle();
  std::mt19937 random(20240601);
  const auto below = [&random](size_t bound) { return random() % bound; };
  for (int i = 0; i < 10000; ++i) {
    std::string damaged = sound;
    const size_t changes = 1 + below(8);
    for (size_t change = 0; change < changes; ++change) {
      // Whole words: offsets, lengths and ids.
      const size_t at = below(damaged.size() / 4) * 4;
      const uint32_t values[] = {static_cast<uint32_t>(random()),
                                 0,
                                 1,
                                 0x7FFFFFFF,
                                 0xFFFFFFFF,
                                 static_cast<uint32_t>(below(damaged.size()))};
      const uint32_t value = values[below(std::size(values))];
      std::memcpy(&damaged[at], &value, sizeof value);
    }
    CheckDamaged(damaged);
  }
}

TEST_CASE("the embedded bundle survives damage, too") {
  const auto embedded = Bundle::Embedded();
  REQUIRE(embedded.ok());
  CHECK(ReadEverything(*embedded) > 0);
  const std::string sound(
      reinterpret_cast<const char*>(embedded->bytes().data()),
      embedded->bytes().size());
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    std::string damaged = sound;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    const auto bundle = Open(damaged);
    CHECK((bundle.ok() || absl::IsDataLoss(bundle.status())));
  }
}

TEST_CASE("what is not a bundle is refused as such") {
  CHECK(Complaint("") ==
        "the bundle is damaged: it is not a bundle of measurements");
  CHECK(Complaint("record_id,workload_id\n") ==
        "the bundle is damaged: it is not a bundle of measurements");
}

// A bundle of one table, made by hand with one thing wrong.
class HandMade {
 public:
  uint32_t version = kBundleVersion;
  uint32_t byte_order = kBundleByteOrder;
  std::string text = std::string("\0a\0b\0", 5);
  std::vector<uint32_t> ends = {0, 2, 4};
  std::vector<uint32_t> ids = {1, 2};
  uint64_t rows = 2;
  std::vector<std::string> columns = {"x"};
  std::vector<std::string> tables = {"t"};
  bool share_columns = false;
  uint64_t more_bytes = 0;

  std::string Complaint() const {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<format::View>> views;
    flatbuffers::Offset<flatbuffers::Vector<uint32_t>> shared;
    for (const std::string& table : tables) {
      std::vector<flatbuffers::Offset<format::Column>> list;
      for (const std::string& column : columns) {
        if (shared.IsNull() || !share_columns) {
          builder.ForceVectorAlignment(ids.size(), 4, kBundleAlignment);
          shared = builder.CreateVector(ids);
        }
        const auto name = builder.CreateString(column);
        list.push_back(format::CreateColumn(
            builder, name, format::ColumnKind::Text, 0, 0, shared));
      }
      const auto column_list = builder.CreateVector(list);
      const auto name = builder.CreateString(table);
      views.push_back(format::CreateView(builder, name, rows, column_list));
    }
    const auto view_list = builder.CreateVector(views);
    builder.ForceVectorAlignment(text.size(), 1, kBundleAlignment);
    const auto text_vector = builder.CreateVector(
        reinterpret_cast<const uint8_t*>(text.data()), text.size());
    builder.ForceVectorAlignment(ends.size(), 4, kBundleAlignment);
    const auto ends_vector = builder.CreateVector(ends);
    format::FinishBundleBuffer(
        builder, format::CreateBundle(builder, version, byte_order, 1,
                                      text_vector, ends_vector, view_list));
    format::GetMutableBundle(builder.GetBufferPointer())
        ->mutate_bytes(builder.GetSize() + more_bytes);
    return lmsimbench::Complaint(
        std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                    builder.GetSize()));
  }
};

TEST_CASE("each lie of a bundle is named") {
  const std::string damaged = "the bundle is damaged: ";
  HandMade made;
  REQUIRE(made.Complaint().empty());
  SECTION("version") {
    made.version = 7;
    CHECK(made.Complaint() ==
          damaged + "its format is version 7, this library reads 1");
  }
  SECTION("size") {
    made.more_bytes = 1000;
    CHECK(made.Complaint().find(damaged + "it has ") == 0);
  }
  SECTION("byte order") {
    made.byte_order = 0x04030201;
    CHECK(made.Complaint() == damaged + "it was written in another byte order");
  }
  SECTION("id beyond the pool") {
    made.ids = {1, 3};
    CHECK(made.Complaint() == damaged +
                                  "column 'x' of table 't' names a text beyond "
                                  "the 3 of the pool");
    made.ids = {1, 0xFFFFFFFF};
    CHECK_FALSE(made.Complaint().empty());
  }
  SECTION("length of a column") {
    made.rows = 3;
    CHECK(made.Complaint() ==
          damaged + "column 'x' of table 't' has 2 entries for 3 rows");
  }
  SECTION("ends of texts") {
    made.ends = {0, 4, 2};
    CHECK(made.Complaint() == damaged + "text 2 ends at 2, before it begins");
    made.ends = {0, 2, 400};
    CHECK(made.Complaint() == damaged + "its last text ends at 400 of 5 bytes");
    made.ends = {0, 1, 4};
    CHECK(made.Complaint() == damaged + "no zero byte ends text 1");
    made.ends = {};
    CHECK(made.Complaint() ==
          damaged + "its pool of texts does not begin with the empty text");
  }
  SECTION("order of texts") {
    made.text = std::string("\0b\0a\0", 5);
    CHECK(made.Complaint() == damaged + "text 2 is not in ascending order");
    made.text = std::string("\0a\0a\0", 5);
    CHECK(made.Complaint() == damaged + "text 2 is not in ascending order");
  }
  SECTION("encoding") {
    made.text = std::string("\0a\0\xFF\0", 5);
    CHECK(made.Complaint() == damaged + "its texts are not UTF-8");
  }
  SECTION("names") {
    made.columns = {"x", "x"};
    CHECK(made.Complaint() == damaged + "table 't' has two columns 'x'");
    made.columns = {"x"};
    made.tables = {"t", "t"};
    CHECK(made.Complaint() == damaged + "it has two tables 't'");
    made.tables = {"links"};
    CHECK(made.Complaint() ==
          damaged +
              "table 'links' lacks the column 'record_id', or has it in "
              "another place or type");
  }
  SECTION("columns that share bytes") {
    made.share_columns = true;
    made.ids.assign(1000, 1);
    made.rows = 1000;
    made.columns.clear();
    for (int i = 0; i < 100; ++i) made.columns.push_back(std::to_string(i));
    CHECK(made.Complaint() == damaged + "its columns overlap");
  }
  SECTION("too many columns") {
    made.columns.clear();
    for (int i = 0; i < 300; ++i) made.columns.push_back(std::to_string(i));
    CHECK(made.Complaint() ==
          damaged + "table 't' has 300 columns, more than 256");
  }
}

TEST_CASE("a buffer may begin at any address") {
  const std::string sound = SmallBundle();
  for (size_t shift = 0; shift < 16; ++shift) {
    std::vector<uint8_t> buffer(sound.size() + 32);
    uint8_t* begin = buffer.data() + shift;
    std::memcpy(begin, sound.data(), sound.size());
    const auto bundle =
        Bundle::FromMemory(absl::MakeConstSpan(begin, sound.size()));
    REQUIRE(bundle.ok());
    CHECK((*bundle->View("ranks")->F64("total_us"))[1] == 3.5);
  }
}

TEST_CASE("views live as long as any copy of their bundle") {
  const TemporaryFolder folder;
  folder.Write("b", SmallBundle());
  absl::StatusOr<Bundle> opened = Bundle::Open(folder.path("b"));
  REQUIRE(opened.ok());
  const Bundle copy = *opened;
  const auto numbers = copy.View("ranks")->F64("total_us");
  opened = absl::UnknownError("gone");
  std::filesystem::remove(folder.path("b"));
  CHECK((*numbers)[0] == 2.5);
}

TEST_CASE("opening a file names the file") {
  const TemporaryFolder folder;
  CHECK(absl::IsNotFound(Bundle::Open(folder.path("none")).status()));
  CHECK_FALSE(Bundle::Open(folder.path()).ok());
  folder.Write("empty", "");
  folder.Write("text", "some text");
  for (const char* name : {"empty", "text"}) {
    const absl::Status status = Bundle::Open(folder.path(name)).status();
    CHECK(absl::IsDataLoss(status));
    CHECK(std::string(status.message()).find(folder.path(name)) == 0);
  }
}

TEST_CASE("columns are asked for by name and type") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto view = bundle->View("iterations");
  REQUIRE(view.ok());
  CHECK(view->F64("iteration_time").status().message() ==
        "table 'iterations' has no column 'iteration_time'; did you mean "
        "'iteration_time_ms'?");
  CHECK(view->I64("iteration_time_ms").status().message() ==
        "column 'iteration_time_ms' of table 'iterations' holds numbers, not "
        "whole numbers");
  CHECK(bundle->View("rank").status().message() ==
        "the bundle has no table 'rank'; did you mean 'ranks'?");
  CHECK(bundle->ViewOrEmpty("rank").rows() == 0);
}

TEST_CASE("the fingerprint tells bundles apart") {
  // A bundle read from memory borrows it.
  const auto bytes = SmallBundle();
  const auto same_bytes = SmallBundle();
  const auto a = Open(bytes);
  const auto b = Bundle::Embedded();
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(a->Fingerprint().size() == 16);
  CHECK(a->Fingerprint() == Open(same_bytes)->Fingerprint());
  CHECK(a->Fingerprint() != b->Fingerprint());
}

}  // namespace
}  // namespace lmsimbench
