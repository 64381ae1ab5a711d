#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A column of text in a CSV file as labels of classes: each text is a class, numbered from 0 in order of first appearance, or as
// the caller lists them. Pass the classes of the training file to read the test file's, so that both number alike. A file that is
// refused takes no memory. Read next: io/csv.hpp for numbers, data/tensor_dataset.hpp, which takes the labels as a column.

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

/// The labels in the text of a CSV file; `where` begins each message. Without `classes` each text of the column is one.
/// throws: ValueError naming line, column and text: of a missing value where options refuse them, of a text that is none of the
/// classes given
[[nodiscard]] inline CsvLabels parse_csv_labels(std::string_view where, std::string_view text, const CsvColumn& column,
                                                std::vector<std::string> classes = {}, const CsvOptions& options = {}) {
  const detail::CsvSource source{where, text, options};
  const std::int64_t wanted = source.select({column}).only();
  const bool is_given = !classes.empty();
  std::map<std::string, std::int64_t, std::less<>> number_of{};
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (!number_of.emplace(classes[i], static_cast<std::int64_t>(i)).second)
      throw ValueError(join_text({where, ": class '", detail::shown(classes[i]), "' is given twice"}));
  const auto for_each_text = [&](auto&& use) {
    return detail::for_each_cell(source, [&](const CsvCell& cell, std::int64_t) {
      if (cell.column == wanted) use(cell);
    });
  };
  const auto refuse = [&](const CsvCell& cell, std::string_view what) {
    throw ValueError(join_text(
        {where, ", ", detail::place_of(text, options, cell), ": '", detail::shown(cell.text), "' is ", what}));
  };
  const auto is_missing = [&](const CsvCell& cell) { // unless "None" is a class
    return detail::is_missing_text(cell.text) && !number_of.contains(cell.text);
  };
  const std::int64_t rows = for_each_text([&](const CsvCell& cell) {
    if (is_missing(cell) && options.missing == MissingValues::refuse)
      refuse(cell, "a missing value; CsvOptions::missing = as_nan reads it as -1");
    if (is_given && !is_missing(cell) && !number_of.contains(cell.meant(options.quote)))
      refuse(cell, join_text({"none of the ", classes.size(), " classes given"}));
  });
  CsvLabels result{};
  result.labels.reserve(static_cast<std::size_t>(rows));
  const auto changed = [&] { return ValueError(join_text({where, " changed while it was read"})); };
  const std::int64_t found = for_each_text([&](const CsvCell& cell) {
    std::int64_t label = missing_label;
    if (!is_missing(cell)) {
      const auto next = static_cast<std::int64_t>(classes.size());
      const auto [place, is_new] = number_of.emplace(cell.meant(options.quote), next);
      if (is_new) {
        if (is_given) throw changed();
        classes.push_back(place->first);
      }
      label = place->second;
    }
    result.labels.push_back(label);
  });
  if (found != rows) throw changed();
  result.classes = std::move(classes);
  return result;
}

/// The labels of a CSV file: `read_csv_labels("flowers.csv", "kind")`.
/// throws: SystemError when it cannot be read, ValueError naming file, line, column and text
[[nodiscard]] inline CsvLabels read_csv_labels(const std::string& path, const CsvColumn& column,
                                               std::vector<std::string> classes = {}, const CsvOptions& options = {}) {
  const MappedFile file{path};
  return parse_csv_labels(join_text({"read_csv_labels: '", path, "'"}), detail::text_of(file.bytes()), column,
                          std::move(classes), options);
}

} // namespace twill::inline v0::io
