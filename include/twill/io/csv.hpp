#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// CSV files (RFC 4180) as numbers, class labels or samples: `read_csv<float>(path)` as rows in a vector,
// `load_csv<Tensor<...>>` as a tensor, `read_csv_labels` for a column of text, `csv_dataset` for a loader. Columns are
// chosen by name, or by number from 0 as all indices; messages count lines and columns from 1, as editors do, and name
// the column of the header. The file is mapped and read twice: first to check it, without keeping anything, then to
// fill memory of exactly the right size, so a file that is refused takes none. Read next: data/tensor_dataset.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/io/files.hpp>
#include <twill/io/stored.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

/// The element types that text is read as.
template <class T>
concept CsvScalar = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint8_t>;

/// How a cell is read that is empty or says NA, N/A, NULL, null, None or NaN.
enum class MissingValues {
  refuse, ///< An error that names line and column.
  as_nan, ///< NaN; element types without NaN are an error. Among class labels `missing_label`.
};

/// The label of a missing value: an index of no axis, so that sums by label refuse it.
inline constexpr std::int64_t missing_label = std::numeric_limits<std::int64_t>::min();

/// How the text of a table is written, and how it is read.
struct CsvOptions {
  char separator = ',';                          ///< between two cells of a line
  char quote = '"';                              ///< around cells that hold a separator or the end of a line
  bool has_header = true;                        ///< The first row has names instead of numbers.
  char comment = '\0';                           ///< Lines that begin with it are skipped; '\0' for none.
  std::int64_t skip_lines = 0;                   ///< Lines before the first row, of any content.
  MissingValues missing = MissingValues::refuse; ///< what an empty cell becomes
  /// Distinct labels in a column of text at most; 0: 4,096, and one more for every 256 bytes of the file.
  std::int64_t max_labels = 0;
};

/// One column: `"width"`, `0`, or `-1` for the last.
struct CsvColumn {
  /// By the name in the header.
  CsvColumn(std::string header) : name{std::move(header)}, is_named{true} {}
  /// By the name in the header.
  CsvColumn(const char* header) : CsvColumn{std::string{header}} {}
  /// By number, from 0; negative numbers count from the last.
  template <std::integral I> CsvColumn(I index) : number{static_cast<std::int64_t>(index)} {}

  std::string name{};      ///< in the header, where the column is chosen by name
  std::int64_t number = 0; ///< where it is not chosen by name
  bool is_named = false;   ///< whether it is chosen by name
};

/// Several columns: all of them, a list `{"width", "height"}`, which may repeat one, or `CsvColumns::range(0, -1)`.
struct CsvColumns {
  CsvColumns() = default; ///< all
  /// These columns, in this order.
  CsvColumns(std::initializer_list<CsvColumn> columns) : list{columns}, is_range{false} {}
  CsvColumns(std::vector<CsvColumn> columns) : list{std::move(columns)}, is_range{false} {}
  /// The columns first, ..., end - 1, as NumPy's slices count.
  [[nodiscard]] static CsvColumns range(std::int64_t first, std::int64_t end);

  std::vector<CsvColumn> list{};                               ///< where they are not a range
  std::int64_t first = 0;                                      ///< of a range
  std::int64_t end = std::numeric_limits<std::int64_t>::max(); ///< of a range
  bool is_range = true;                                        ///< whether they are the columns from one to another
};

/// Rows of numbers.
template <CsvScalar T> struct CsvTable {
  std::vector<std::string> names{}; ///< of the columns that were read; none where the file has no header
  std::int64_t rows = 0;            ///< without the header
  std::int64_t columns = 0;         ///< that were read
  std::vector<T> elements{};        ///< row-major, rows * columns of them

  /// requires: row < rows, column < columns
  [[nodiscard]] T operator()(std::int64_t row, std::int64_t column) const {
    return elements[static_cast<std::size_t>(row * columns + column)];
  }
};

/// A column of text as class labels.
struct CsvLabels {
  std::vector<std::string> classes{}; ///< a label is an index among them
  std::vector<std::int64_t> labels{}; ///< one for each row
};

namespace detail {

/// A text and how it is read; `where` begins each message. The views have to outlive it.
struct CsvSource {
  std::string_view where;
  std::string_view text;
  CsvOptions options;
};

struct CsvCell {
  std::string_view text{}; ///< without the quotes around it and without blanks beside them
  bool has_quotes = false; ///< doubled ones, inside
  bool is_last = true;     ///< of its row
  std::int64_t line = 0;   ///< in which it begins, from 1
  std::int64_t column = 0; ///< from 0

  /// The text, in which doubled quotes are one.
  [[nodiscard]] std::string unquoted(char quote) const;
};

/// Calls `use(cell, row)` for each cell after the header. Returns the number of rows.
/// throws: ValueError for a file without rows, a row that is not as wide as the first, and quotes that do not end
std::int64_t for_each_cell(const CsvSource& source, const std::function<void(const CsvCell&, std::int64_t)>& use);

/// throws: ValueError for a missing value
[[noreturn]] void refuse_missing(const CsvSource& source, const CsvCell& cell, DType dtype);

/// throws: ValueError saying why a cell is not a number of this type
[[noreturn]] void refuse_number(const CsvSource& source, const CsvCell& cell, DType dtype, std::errc error);

/// Whether a text stands for a missing value.
[[nodiscard]] bool is_missing_text(std::string_view text);

/// Whether a number that does not fit its type is too close to zero, not too far from it.
[[nodiscard]] bool is_close_to_zero(std::string_view number);

/// The first 20 names in the header, as in "'a', 'b' and 7 more".
[[nodiscard]] std::string names_in_header(const CsvSource& source, std::int64_t columns);

/// The chosen columns of a file, and the position of each in a row of the result.
class CsvSelection {
public:
  /// throws: ValueError for a column that is not there, or a name that two columns have
  CsvSelection(const CsvSource& source, const CsvColumns& wanted);

  [[nodiscard]] std::int64_t count() const;
  /// The names in the header; none where the file has no header.
  [[nodiscard]] std::vector<std::string> names(const CsvSource& source) const;

  /// Calls `f(position)` for each position of the result that shows this column.
  template <class F> void for_each_position(std::int64_t column, F&& f) const {
    if (is_range_ && column >= first_ && column < end_) f(column - first_);
    const auto from = std::lower_bound(places_.begin(), places_.end(), std::pair{column, std::int64_t{0}});
    for (auto place = from; place != places_.end() && place->first == column; ++place) f(place->second);
  }

private:
  std::vector<std::pair<std::int64_t, std::int64_t>> places_{}; ///< columns and positions of a list, sorted
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
  bool is_range_ = true;
};

/// The number in a cell, by std::from_chars, on which the locale has no influence. Numbers too small for their type are
/// zero.
/// throws: ValueError for numbers too large, fractions where integers are wanted, and text
template <CsvScalar T> [[nodiscard]] T number_of(const CsvSource& source, const CsvCell& cell) {
  std::string_view text = cell.text;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1); // from_chars does not know it
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) error = std::errc::invalid_argument;
  bool is_missing = error != std::errc{} && is_missing_text(cell.text);
  if constexpr (std::floating_point<T>) {
    if (error == std::errc::result_out_of_range && is_close_to_zero(text)) return text.starts_with('-') ? -T{0} : T{0};
    is_missing = is_missing || std::isnan(value);
    if (is_missing && source.options.missing == MissingValues::as_nan) return std::numeric_limits<T>::quiet_NaN();
  }
  if (is_missing) refuse_missing(source, cell, dtype_of<T>);
  if (error != std::errc{}) refuse_number(source, cell, dtype_of<T>, error);
  return value;
}

/// Calls `keep(row, position, value)` for each chosen number. Returns the number of rows.
/// throws: ValueError for a file that cannot be read so
template <CsvScalar T, class Keep>
std::int64_t for_each_number(const CsvSource& source, const CsvSelection& selection, Keep&& keep) {
  return for_each_cell(source, [&](const CsvCell& cell, std::int64_t row) {
    selection.for_each_position(cell.column,
                                [&](std::int64_t position) { keep(row, position, number_of<T>(source, cell)); });
  });
}

/// The second reading of a text that was checked: fills `table.elements`, which has memory for `table.rows`.
/// throws: ValueError where another process has changed the file since
template <CsvScalar T> void fill_table(const CsvSource& source, const CsvSelection& selection, CsvTable<T>& table) {
  const auto changed = [&] { return ValueError(join_text({source.where, " changed while it was read"})); };
  std::size_t kept = 0;
  for_each_number<T>(source, selection, [&](std::int64_t row, std::int64_t position, T value) {
    if (row >= table.rows) throw changed();
    table.elements[static_cast<std::size_t>(row * table.columns + position)] = value;
    ++kept;
  });
  if (kept != table.elements.size()) throw changed();
}

} // namespace detail

/// The numbers in the text of a CSV file; `where` begins each message. throws: ValueError naming line, column and text
template <CsvScalar T>
[[nodiscard]] CsvTable<T> parse_csv(std::string_view where, std::string_view text, const CsvColumns& columns = {},
                                    const CsvOptions& options = {}) {
  const detail::CsvSource source{where, text, options};
  const detail::CsvSelection selection{source, columns};
  CsvTable<T> table{.columns = selection.count()};
  table.rows = detail::for_each_number<T>(source, selection, [](auto...) {});
  table.names = selection.names(source);
  table.elements.resize(static_cast<std::size_t>(table.rows * table.columns));
  detail::fill_table(source, selection, table);
  return table;
}

/// The numbers of a CSV file: `read_csv<float>("flowers.csv", {"width", "height"})`.
/// throws: SystemError when it cannot be read, ValueError naming file, line, column and text
template <CsvScalar T>
[[nodiscard]] CsvTable<T> read_csv(const std::string& path, const CsvColumns& columns = {},
                                   const CsvOptions& options = {}) {
  const MappedFile file{path};
  return parse_csv<T>(join_text({"read_csv: '", path, "'"}), file.text(), columns, options);
}

/// The class labels in a column of text; `where` begins each message. Without `classes`, each distinct text is one,
/// numbered from 0 in order of first appearance. Pass the classes of the training file to read the test file's, so that
/// both agree.
/// throws: ValueError naming line, column and text of a missing value where options refuse them, of a text that is none
/// of the classes given, or of the first label beyond CsvOptions::max_labels
[[nodiscard]] CsvLabels parse_csv_labels(std::string_view where, std::string_view text, const CsvColumn& column,
                                         std::vector<std::string> classes = {}, const CsvOptions& options = {});

/// The labels of a CSV file: `read_csv_labels("flowers.csv", "kind")`.
/// throws: SystemError when it cannot be read, ValueError naming file, line, column and text
[[nodiscard]] CsvLabels read_csv_labels(const std::string& path, const CsvColumn& column,
                                        std::vector<std::string> classes = {}, const CsvOptions& options = {});

inline namespace TWILL_ISA {

/// The numbers of a CSV file as a tensor of rank 2, or of rank 1 for a single column.
/// throws: SystemError, ValueError, ShapeError naming the file and both sides
template <AnyTensor X>
requires(CsvScalar<typename X::value_type> && (X::rank == 1 || X::rank == 2)) [[nodiscard]] X
    load_csv(const std::string& path, const CsvColumns& columns = {}, const CsvOptions& options = {},
             const typename X::device_type& device = {}) {
  using T = typename X::value_type;
  const auto table = std::make_shared<const CsvTable<T>>(read_csv<T>(path, columns, options));
  Dims shape(table->rows, table->columns);
  if (X::rank == 1 && table->columns == 1) shape.rank = 1;
  const nn::StoredTensor numbers{dtype_of<T>, shape, std::as_bytes(std::span{table->elements}), table};
  return tensor_of<X>(join_text({"load_csv: '", path, "'"}), numbers, device);
}

/// One field of a CSV file's samples: numbers of a type, in rows of rank 1, or of rank 0 for a single column.
template <class F>
concept CsvField = CsvScalar<typename F::value_type> &&(F::row_shape::rank <= 1);

/// The result of `csv_dataset`.
template <CsvField... F>
using CsvDataset = data::TensorDataset<data::Column<typename F::value_type, typename F::row_shape>...>;

/// The rows of a CSV file as samples, with columns for each field:
///   csv_dataset<data::Field<float, Shape<4>>, data::Field<std::int64_t>>(path, CsvColumns::range(0, 4), {"kind"})
/// All copies of the data set share what was read.
/// throws: SystemError, ValueError naming file, line, column and text, ShapeError where a field wants other columns
template <CsvField... F>
requires(sizeof...(F) > 0)
    [[nodiscard]] CsvDataset<F...> csv_dataset(const std::string& path,
                                               const std::conditional_t<true, CsvColumns, F>&... columns,
                                               const CsvOptions& options = {}) {
  const MappedFile file{path};
  const std::string where = join_text({"csv_dataset: '", path, "'"});
  const auto column = [&]<class Field>(std::type_identity<Field>, const CsvColumns& chosen) {
    using T = typename Field::value_type;
    const auto table = std::make_shared<const CsvTable<T>>(parse_csv<T>(where, file.text(), chosen, options));
    Dims row(table->columns);
    if (Field::row_shape::rank == 0 && table->columns == 1) row.rank = 0;
    if (!Field::row_shape::admits(row))
      throw ShapeError(
          join_text({where, ": ", table->columns, " columns were chosen for a field whose rows have shape ",
                     detail::shape_text<typename Field::row_shape>()}));
    return data::Column<T, typename Field::row_shape>{table, table->elements.data(), table->rows, row, std::identity{}};
  };
  return CsvDataset<F...>{column(std::type_identity<F>{}, columns)...};
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/csv.ipp>
#endif
