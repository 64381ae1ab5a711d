#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Numbers from CSV files: `read_csv<float>(path)` as rows in a vector, `load_csv<Tensor<...>>(path)` as a tensor, with
// columns chosen by name or number; `csv_dataset` in io/csv_dataset.hpp makes samples for a loader. A file is read twice: the
// first time to prove it, without keeping anything, the second to fill memory of exactly the right size; a file that is
// refused takes none. Read next: io/csv_numbers.hpp for what counts as a number, io/csv_cells.hpp for what counts as a cell,
// io/csv_labels.hpp for text.

#include <twill/core/config.hpp>
#include <twill/io/csv_columns.hpp>
#include <twill/io/csv_numbers.hpp>
#include <twill/io/mapped_file.hpp>
#include <twill/io/stored.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill::inline v0::io {

/// Rows of numbers, one behind the other.
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

} // namespace twill::inline v0::io

namespace twill::inline v0::io::detail {

/// The text of a file and how it is to be read. The views have to last.
struct CsvSource {
  std::string_view where;
  std::string_view text;
  CsvOptions options;

  [[nodiscard]] CsvCells cells() const { return {where, text, options}; }

  /// How many cells the first row has. throws: ValueError for a file without rows
  [[nodiscard]] std::int64_t columns() const;
  [[nodiscard]] CsvSelection select(const CsvColumns& wanted) const;
  /// The names of the columns that a selection reads.
  [[nodiscard]] std::vector<std::string> names(const CsvSelection& selection) const;
};

/// Calls `use(cell, row)` for each cell behind the header. Returns the number of rows.
/// throws: ValueError for a file that is none, and for a row of other width than the first
template <class Use> std::int64_t for_each_cell(const CsvSource& source, Use&& use) {
  const std::int64_t width = source.columns();
  CsvCells cells = source.cells();
  std::int64_t row = source.options.has_header ? -1 : 0;
  while (cells.next()) {
    if (row >= 0) use(cells.cell(), row);
    if (!cells.cell().is_last) continue;
    if (cells.cell().column + 1 != width)
      throw ValueError(join_text({source.where, ", line ", cells.cell().line, " ends after ", cells.cell().column + 1,
                                  " columns, the first row has ", width}));
    ++row;
  }
  return std::max<std::int64_t>(row, 0);
}

/// Reads the chosen numbers of every row, element type T[i] for selection i, and calls `keep(i, row, position, value)` for each,
/// i as an integral constant. Returns the number of rows. throws: ValueError for whatever is wrong with the file
template <CsvScalar... T, class Keep>
std::int64_t for_each_number(const CsvSource& source, const std::array<CsvSelection, sizeof...(T)>& selections,
                             Keep&& keep) {
  std::array<std::size_t, sizeof...(T)> cursors{};
  return for_each_cell(source, [&](const CsvCell& cell, std::int64_t row) {
    if (cell.column == 0) cursors = {};
    const auto read = [&]<std::size_t I, class Value>(std::integral_constant<std::size_t, I> which, const Value&) {
      selections[I].for_each_place(cell.column, cursors[I], [&](std::int64_t position) {
        keep(which, row, position, number_of<Value>(source.where, source.text, source.options, cell));
      });
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) { (read(std::integral_constant<std::size_t, I>{}, T{}), ...); }
    (std::make_index_sequence<sizeof...(T)>{});
  });
}

/// The number of rows of a file that holds what it should. Keeps nothing.
template <CsvScalar... T>
[[nodiscard]] std::int64_t proved_rows(const CsvSource& source,
                                       const std::array<CsvSelection, sizeof...(T)>& selections) {
  return for_each_number<T...>(source, selections, [](auto...) {});
}

/// The second reading of a text that was proved to have `rows` rows: `keep` is called once for each place of each of them and for
/// no other. throws: ValueError where another process has changed the file since
template <CsvScalar... T, class Keep>
void for_each_proved(const CsvSource& source, const std::array<CsvSelection, sizeof...(T)>& selections,
                     std::int64_t rows, Keep&& keep) {
  const auto changed = [&] { return ValueError(join_text({source.where, " changed while it was read"})); };
  std::int64_t kept = 0;
  const std::int64_t found =
      for_each_number<T...>(source, selections, [&](auto which, std::int64_t row, std::int64_t position, auto value) {
        if (row >= rows) throw changed();
        keep(which, row, position, value);
        ++kept;
      });
  std::int64_t places = 0;
  for (const CsvSelection& selection : selections) places += rows * selection.count();
  if (found != rows || kept != places) throw changed();
}

[[nodiscard]] std::string_view text_of(std::span<const std::byte> bytes);

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

/// The numbers in the text of a CSV file; `where` begins each message. throws: ValueError naming line, column and text
template <CsvScalar T>
[[nodiscard]] CsvTable<T> parse_csv(std::string_view where, std::string_view text, const CsvColumns& columns = {},
                                    const CsvOptions& options = {}) {
  const detail::CsvSource source{where, text, options};
  const std::array selections{source.select(columns)};
  CsvTable<T> table{};
  table.rows = detail::proved_rows<T>(source, selections);
  table.columns = selections[0].count();
  table.names = source.names(selections[0]);
  table.elements.resize(static_cast<std::size_t>(table.rows * table.columns));
  detail::for_each_proved<T>(source, selections, table.rows,
                             [&](auto, std::int64_t row, std::int64_t position, T value) {
                               table.elements[static_cast<std::size_t>(row * table.columns + position)] = value;
                             });
  return table;
}

/// The numbers of a CSV file: `read_csv<float>("flowers.csv", {"width", "height"})`.
/// throws: SystemError when it cannot be read, ValueError naming file, line, column and text
template <CsvScalar T>
[[nodiscard]] CsvTable<T> read_csv(const std::string& path, const CsvColumns& columns = {},
                                   const CsvOptions& options = {}) {
  const MappedFile file{path};
  return parse_csv<T>(join_text({"read_csv: '", path, "'"}), detail::text_of(file.bytes()), columns, options);
}

} // namespace twill::inline v0::io

namespace twill::inline v0::io::inline TWILL_ISA {

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

} // namespace twill::inline v0::io::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/io/csv.ipp>
#endif
