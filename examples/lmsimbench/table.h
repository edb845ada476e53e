#pragma once

#include <string>
#include <vector>

/// Text of a table for people: columns aligned, two blanks between them, the
/// first row is the head. A column whose cells are all numbers (or '-') is set
/// to the right.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

/// \{ Cells for a time in milliseconds and for memory in GiB; '-' where the
/// number is missing.
std::string Milliseconds(double seconds);
std::string Gibibytes(double bytes);
/// \}
