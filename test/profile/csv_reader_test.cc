#include "lib/profile/csv_reader.h"

#include "catch2/catch.hpp"
#include "test/profile/temporary_folder.h"

namespace lmsimbench {
namespace {

absl::StatusOr<std::vector<CsvRow>> Read(const std::string& text) {
  const TemporaryFolder folder;
  folder.Write("t.csv", text);
  return ReadCsv(folder.path("t.csv"));
}

std::string Complaint(const std::string& text) {
  const std::string message(Read(text).status().message());
  return message.substr(message.find("t.csv"));
}

TEST_CASE("quotes, commas and line breaks inside quotes belong to the cell") {
  const auto rows = Read("a,b\n\"x,\"\"y\"\"\n z\", w \n");
  REQUIRE(rows.ok());
  REQUIRE(rows->size() == 2);
  CHECK((*rows)[1][0].text == "x,\"y\"\n z");
  CHECK((*rows)[1][1].text == " w ");
}

TEST_CASE("a cell knows the physical line on which it begins") {
  const auto rows = Read("a,b\r\n\r\n\"1\n2\n3\",4\r\n\"5\n6\",\"7\n8\"\n9,9");
  REQUIRE(rows.ok());
  REQUIRE(rows->size() == 4);
  CHECK((*rows)[1][0].line == 3);
  CHECK((*rows)[1][1].line == 5);
  CHECK((*rows)[2][0].line == 6);
  CHECK((*rows)[2][1].line == 7);
  CHECK((*rows)[3][0].line == 9);
}

TEST_CASE("the byte order mark of a spreadsheet is not part of the head") {
  const auto rows = Read("\xEF\xBB\xBFname\n1\n");
  REQUIRE(rows.ok());
  CHECK(rows->front().front().text == "name");
}

TEST_CASE("what is not CSV is refused with its line") {
  CHECK(Complaint("") == "t.csv:1: no head of column names");
  CHECK(Complaint("a,b\n\n1\n") ==
        "t.csv:3: row of 1 cells, but the head has 2 columns");
  CHECK(Complaint("a\n\"1\n2\n")
            .find("t.csv:2: not CSV: a quoted cell begins "
                  "here and never ends") == 0);
  CHECK(Complaint("a\nb\n1\"2\n").find("t.csv:3: not CSV") == 0);
  CHECK(Complaint("a\n\xC3\n") == "t.csv:2: text is not UTF-8");
  CHECK(Complaint(std::string("a\n1\0\n", 5)) ==
        "t.csv:2: zero byte in the text");
}

TEST_CASE("a file that is not there is not found") {
  CHECK(absl::IsNotFound(ReadCsv("/nowhere/t.csv").status()));
}

TEST_CASE("a cell written is the cell read") {
  for (const std::string text : {"", "plain", "a,b", "say \"yes\"", " blanks ",
                                 "two\nlines", "cr\r", "\"", "\n"}) {
    std::string file = "a,b\nx,";
    AppendCsvCell(text, file);
    const auto rows = Read(file + "\n");
    REQUIRE(rows.ok());
    CHECK((*rows)[1][1].text == text);
  }
}

}  // namespace
}  // namespace lmsimbench
