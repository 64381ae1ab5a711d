#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/csv_labels.hpp.

#include <twill/io/csv_labels.hpp>

namespace twill::inline v0::io::detail {

TWILL_BODY void CsvClasses::list(std::string_view where, const std::vector<std::string>& classes) {
  for (const std::string& text : classes)
    if (!numbers_.emplace(text, size()).second)
      throw ValueError(join_text({where, ": class '", shown(text), "' is given twice"}));
}

TWILL_BODY bool CsvClasses::add(const CsvCell& cell, char quote, std::size_t most_bytes) {
  constexpr std::size_t record_bytes = sizeof(std::string) + sizeof(Numbers::value_type) + 6 * sizeof(void*);
  const std::size_t text_bytes = cell.text.size() + 2 * sizeof(void*); // and what an allocation rounds up
  const std::size_t more_bytes = record_bytes + (cell.text.size() < sizeof(std::string) / 2 ? 0 : text_bytes);
  if (more_bytes > most_bytes - bytes_) return false;
  numbers_.emplace(cell.meant(quote), size());
  bytes_ += more_bytes;
  return true;
}

TWILL_BODY std::int64_t CsvClasses::find(const CsvCell& cell, char quote) const {
  const auto found = cell.has_quotes ? numbers_.find(cell.meant(quote)) : numbers_.find(cell.text);
  return found != numbers_.end() ? found->second : missing_label;
}

TWILL_BODY std::vector<std::string> CsvClasses::take() {
  std::vector<std::string> result(numbers_.size());
  while (!numbers_.empty()) {
    auto node = numbers_.extract(numbers_.begin());
    result[static_cast<std::size_t>(node.mapped())] = std::move(node.key());
  }
  return result;
}

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

TWILL_BODY CsvLabels parse_csv_labels(std::string_view where, std::string_view text, const CsvColumn& column,
                                      std::vector<std::string> classes, const CsvOptions& options) {
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

TWILL_BODY CsvLabels read_csv_labels(const std::string& path, const CsvColumn& column, std::vector<std::string> classes,
                                     const CsvOptions& options) {
  const MappedFile file{path};
  return parse_csv_labels(join_text({"read_csv_labels: '", path, "'"}), detail::text_of(file.bytes()), column,
                          std::move(classes), options);
}

} // namespace twill::inline v0::io
