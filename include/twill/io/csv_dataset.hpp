#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The rows of a CSV file as samples for a loader: a field for each list of columns, each with an element type of its own. The
// file is read once, and what was read is shared by all copies of the data set. Read next: io/csv.hpp, data/loader.hpp.

#include <twill/core/config.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/io/csv.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace twill::inline v0::io::detail::inline TWILL_ISA {

template <class F> struct ColumnsFor { using type = CsvColumns; };

/// The extents of a field's rows. throws: ShapeError where the field cannot hold so many columns
template <class F> [[nodiscard]] Dims csv_row_of(std::string_view where, std::int64_t columns) {
  Dims row(columns);
  if (F::row_shape::rank == 0 && columns == 1) row.rank = 0;
  if (!F::row_shape::admits(row))
    throw ShapeError(join_text({where, ": ", columns, " columns were chosen for a field whose rows have shape ",
                                shape_text<typename F::row_shape>()}));
  return row;
}

} // namespace twill::inline v0::io::detail::inline TWILL_ISA

namespace twill::inline v0::io::inline TWILL_ISA {

/// One field of a CSV file's samples: numbers of a type, in rows of rank 1, or of rank 0 for a single column.
template <class F>
concept CsvField = CsvScalar<typename F::value_type> &&(F::row_shape::rank <= 1);

/// What `csv_dataset` makes.
template <CsvField... F>
using CsvDataset = data::TensorDataset<data::Column<typename F::value_type, typename F::row_shape>...>;

/// The rows of a CSV file as samples, with columns for each field:
///   csv_dataset<data::Field<float, Shape<4>>, data::Field<std::int64_t>>("flowers.csv", CsvColumns::range(0, 4), {"kind"})
/// throws: SystemError, ValueError naming file, line, column and text, ShapeError where a field wants other columns
template <CsvField... F>
requires(sizeof...(F) > 0)
    [[nodiscard]] CsvDataset<F...> csv_dataset(const std::string& path,
                                               const typename detail::ColumnsFor<F>::type&... columns,
                                               const CsvOptions& options = {}) {
  const MappedFile file{path};
  const std::string where = join_text({"csv_dataset: '", path, "'"});
  const detail::CsvSource source{where, detail::text_of(file.bytes()), options};
  const std::array<detail::CsvSelection, sizeof...(F)> selections{source.select(columns)...};
  const std::int64_t rows = detail::proved_rows<typename F::value_type...>(source, selections);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const std::array<Dims, sizeof...(F)> row_dims{detail::csv_row_of<F>(where, selections[I].count())...};
    const std::tuple elements{std::make_shared<std::vector<typename F::value_type>>(
        static_cast<std::size_t>(rows * selections[I].count()))...};
    detail::for_each_proved<typename F::value_type...>(
        source, selections, rows, [&](auto which, std::int64_t row, std::int64_t position, auto value) {
          (*std::get<which()>(elements))[static_cast<std::size_t>(row * selections[which()].count() + position)] =
              value;
        });
    return CsvDataset<F...>{data::Column<typename F::value_type, typename F::row_shape>{
        std::get<I>(elements), std::get<I>(elements)->data(), rows, row_dims[I], std::identity{}}...};
  }
  (std::index_sequence_for<F...>{});
}

} // namespace twill::inline v0::io::inline TWILL_ISA
