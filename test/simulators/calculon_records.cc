#include "test/simulators/calculon_records.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <memory>
#include <string_view>

namespace lmsimbench::calculon {
namespace {

// Puts quotes around the words that are no JSON.
std::string QuoteSpecialNumbers(const std::string& text) {
  static constexpr std::array<std::string_view, 3> kWords = {"-Infinity",
                                                             "Infinity", "NaN"};
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      result.append(text, i, 2);
      i += 2;
      continue;
    }
    if (text[i] == '"') in_string = !in_string;
    size_t length = 1;
    if (!in_string) {
      for (const std::string_view word : kWords) {
        if (text.compare(i, word.size(), word) == 0) length = word.size();
        if (length > 1) break;
      }
    }
    if (length > 1) result += '"';
    result.append(text, i, length);
    if (length > 1) result += '"';
    i += length;
  }
  return result;
}

bool LoadDocuments(const std::string& path, Json& documents,
                   std::string& message) {
  std::vector<std::string> lines;
  if (!ReadLines(path, lines)) {
    message = path + " cannot be read";
    return false;
  }
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  documents = ParsePythonJson(text);
  if (!documents.is_object()) {
    message = path + " is no JSON object of documents";
    return false;
  }
  return true;
}

// The document that `value` is or names; null, with a message, if there is
// none.
const Json* Find(const Json& value, const Json& documents,
                 std::string& message) {
  if (!value.is_string()) return &value;
  const auto found = documents.find(value.get_ref<const std::string&>());
  if (found != documents.end()) return &*found;
  message = fmt::format("no document is named '{}'",
                        value.get_ref<const std::string&>());
  return nullptr;
}

}  // namespace

Json ParsePythonJson(const std::string& text) {
  return Json::parse(QuoteSpecialNumbers(text), nullptr, false);
}

bool ReadLines(const std::string& path, std::vector<std::string>& lines) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(
      gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) return false;
  std::array<char, 65536> buffer;
  std::string line;
  int count = 0;
  while ((count = gzread(file.get(), buffer.data(),
                         static_cast<unsigned>(buffer.size()))) > 0) {
    for (int i = 0; i < count; ++i) {
      const char c = buffer[static_cast<size_t>(i)];
      if (c == '\n') {
        lines.push_back(std::move(line));
        line.clear();
      } else {
        line += c;
      }
    }
  }
  if (!line.empty()) lines.push_back(std::move(line));
  int error = Z_OK;
  gzerror(file.get(),
          &error);  // A cut stream ends like a whole one, but for this.
  return count == 0 && error == Z_OK;
}

bool RecordReader::Load(const std::string& applications_path,
                        const std::string& systems_path, std::string& message) {
  return LoadDocuments(applications_path, applications_, message) &&
         LoadDocuments(systems_path, systems_, message);
}

bool RecordReader::Read(const Json& record, RecordInputs& inputs,
                        std::string& message) {
  if (!record.is_object()) {
    message = "a record is an object";
    return false;
  }
  for (const char* key : {"app", "sys", "exe"}) {
    if (!record.contains(key)) {
      message = fmt::format("the record has no '{}'", key);
      return false;
    }
  }
  const Json* application = Find(record["app"], applications_, message);
  const Json* system = Find(record["sys"], systems_, message);
  if (application == nullptr || system == nullptr) return false;

  inputs.system = nullptr;
  inputs.result = ReadApplication(*application, inputs.application);
  if (!inputs.result.ok()) return true;
  inputs.result = ReadExecution(record["exe"], inputs.execution);
  if (!inputs.result.ok()) return true;
  const auto [entry, added] = read_systems_.try_emplace(record["sys"].dump());
  if (added) entry->second.result = ReadSystem(*system, entry->second.system);
  inputs.result = entry->second.result;
  if (inputs.result.ok()) inputs.system = &entry->second.system;
  return true;
}

std::string GoldenPath(const std::string& name) {
  return std::string(LMSIMBENCH_GOLDEN_DIR) + "/calculon/" + name;
}

}  // namespace lmsimbench::calculon
