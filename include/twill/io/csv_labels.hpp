#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A column of text in a CSV file as labels of classes: each text is a class, numbered from 0 in order of first appearance, or as
// the caller lists them. Pass the classes of the training file to read the test file's, so that both number alike. Classes may
// take as much memory as the file has bytes, plus one MiB: texts that hardly repeat are no classes, and are refused before they
// take more. Beside them there is a label for each row. Read next: io/csv.hpp for numbers, data/tensor_dataset.hpp, which takes
// the labels as a column.

#include <twill/core/config.hpp>
#include <twill/io/csv.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::io {

/// What stands for a missing value among labels, as in pandas' codes.
inline constexpr std::int64_t missing_label = -1;

/// A column of text.
struct CsvLabels {
  std::vector<std::string> classes{}; ///< a label is an index among them
  std::vector<std::int64_t> labels{}; ///< one for each row
};

} // namespace twill::inline v0::io

namespace twill::inline v0::io::detail {

/// Texts and their numbers, in order of first appearance.
class CsvClasses {
public:
  using Numbers = std::map<std::string, std::int64_t, std::less<>>;

  /// Those that a caller lists. throws: ValueError, `where` first, for one that is listed twice
  void list(std::string_view where, const std::vector<std::string>& classes);

  /// One more, which is not among them yet. Returns false, and nothing changes, where all would take more than `most_bytes`.
  [[nodiscard]] bool add(const CsvCell& cell, char quote, std::size_t most_bytes);

  /// The number of what a cell says; `missing_label` where it is none of the classes.
  [[nodiscard]] std::int64_t find(const CsvCell& cell, char quote) const;
  /// Whether a text as it stands in the file is one of them.
  [[nodiscard]] bool contains(std::string_view text) const { return numbers_.contains(text); }
  /// How many there are.
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(numbers_.size()); }

  /// The texts by their numbers; none is left here.
  [[nodiscard]] std::vector<std::string> take();

private:
  Numbers numbers_{};
  std::size_t bytes_ = 0; ///< that the texts of a file take here, and in a vector beside
};

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

/// The labels in the text of a CSV file; `where` begins each message. Without `classes` each text of the column is one.
/// throws: ValueError naming line, column and text: of a missing value where options refuse them, of a text that is none of the
/// classes given, of the one with which classes take more memory than the file has bytes, plus one MiB
[[nodiscard]] CsvLabels parse_csv_labels(std::string_view where, std::string_view text, const CsvColumn& column,
                                         std::vector<std::string> classes = {}, const CsvOptions& options = {});

/// The labels of a CSV file: `read_csv_labels("flowers.csv", "kind")`.
/// throws: SystemError when it cannot be read, ValueError naming file, line, column and text
[[nodiscard]] CsvLabels read_csv_labels(const std::string& path, const CsvColumn& column,
                                        std::vector<std::string> classes = {}, const CsvOptions& options = {});

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/csv_labels.ipp>
#endif
