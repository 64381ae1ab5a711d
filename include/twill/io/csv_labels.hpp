#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A column of text in a CSV file as labels of classes: each text is a class, numbered from 0 in order of first appearance, or as
// the caller lists them. Pass the classes of the training file to read the test file's, so that both number alike. Classes may
// take as much memory as the file has bytes, plus one MiB: texts that hardly repeat are no classes, and are refused before they
// take more. Beside them there is a label for each row. Read next: io/csv.hpp for numbers, data/tensor_dataset.hpp, which takes
// the labels as a column.

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
  void list(std::string_view where, const std::vector<std::string>& classes) {
    for (const std::string& text : classes)
      if (!numbers_.emplace(text, size()).second)
        throw ValueError(join_text({where, ": class '", shown(text), "' is given twice"}));
  }

  /// One more, which is not among them yet. Returns false, and nothing changes, where all would take more than `most_bytes`.
  [[nodiscard]] bool add(const CsvCell& cell, char quote, std::size_t most_bytes) {
    constexpr std::size_t record_bytes = sizeof(std::string) + sizeof(Numbers::value_type) + 6 * sizeof(void*);
    const std::size_t text_bytes = cell.text.size() + 2 * sizeof(void*); // and what an allocation rounds up
    const std::size_t more_bytes = record_bytes + (cell.text.size() < sizeof(std::string) / 2 ? 0 : text_bytes);
    if (more_bytes > most_bytes - bytes_) return false;
    numbers_.emplace(cell.meant(quote), size());
    bytes_ += more_bytes;
    return true;
  }

  /// The number of what a cell says; `missing_label` where it is none of the classes.
  [[nodiscard]] std::int64_t find(const CsvCell& cell, char quote) const {
    const auto found = cell.has_quotes ? numbers_.find(cell.meant(quote)) : numbers_.find(cell.text);
    return found != numbers_.end() ? found->second : missing_label;
  }
  /// Whether a text as it stands in the file is one of them.
  [[nodiscard]] bool contains(std::string_view text) const { return numbers_.contains(text); }
  /// How many there are.
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(numbers_.size()); }

  /// The texts by their numbers; none is left here.
  [[nodiscard]] std::vector<std::string> take() {
    std::vector<std::string> result(numbers_.size());
    while (!numbers_.empty()) {
      auto node = numbers_.extract(numbers_.begin());
      result[static_cast<std::size_t>(node.mapped())] = std::move(node.key());
    }
    return result;
  }

private:
  Numbers numbers_{};
  std::size_t bytes_ = 0; ///< that the texts of a file take here, and in a vector beside
};

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

/// The labels in the text of a CSV file; `where` begins each message. Without `classes` each text of the column is one.
/// throws: ValueError naming line, column and text: of a missing value where options refuse them, of a text that is none of the
/// classes given, of the one with which classes take more memory than the file has bytes, plus one MiB
[[nodiscard]] inline CsvLabels parse_csv_labels(std::string_view where, std::string_view text, const CsvColumn& column,
                                                std::vector<std::string> classes = {}, const CsvOptions& options = {}) {
  const detail::CsvSource source{where, text, options};
  const std::int64_t wanted = source.select({column}).only();
  const bool is_given = !classes.empty();
  const std::size_t most_bytes = text.size() + (std::size_t{1} << 20);
  detail::CsvClasses known{};
  known.list(where, classes);
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
    return detail::is_missing_text(cell.text) && !known.contains(cell.text);
  };
  const std::int64_t rows = for_each_text([&](const CsvCell& cell) {
    if (is_missing(cell)) {
      if (options.missing == MissingValues::refuse)
        refuse(cell, "a missing value; CsvOptions::missing = as_nan reads it as -1");
    } else if (known.find(cell, options.quote) == missing_label) {
      if (is_given) refuse(cell, join_text({"none of the ", classes.size(), " classes given"}));
      if (!known.add(cell, options.quote, most_bytes))
        refuse(cell, join_text({"the class after ", known.size(), " others, which take more memory than a file of ",
                                text.size(), " bytes may ask for; texts that hardly repeat are no classes"}));
    }
  });
  CsvLabels result{};
  result.labels.reserve(static_cast<std::size_t>(rows));
  const auto changed = [&] { return ValueError(join_text({where, " changed while it was read"})); };
  const std::int64_t found = for_each_text([&](const CsvCell& cell) {
    const std::int64_t label = is_missing(cell) ? missing_label : known.find(cell, options.quote);
    const bool is_new = label == missing_label && !is_missing(cell);
    if (is_new || result.labels.size() == static_cast<std::size_t>(rows)) throw changed();
    result.labels.push_back(label);
  });
  if (found != rows) throw changed();
  result.classes = is_given ? std::move(classes) : known.take();
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
