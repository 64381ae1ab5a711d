#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A data set in memory: columns with one row for each sample. A column may be stored in another type than it is used
// in: bytes of images stay bytes until a batch is made, when an elementwise function converts them to the model's type.
// Columns share their memory, so copying a data set costs nothing. Read next: data/loader.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/data/dataset.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// Rows of stored elements and the function that each element goes through when it is read.
template <Scalar Stored, AnyShape Row, class Transform = std::identity> class Column {
public:
  using value_type = std::remove_cvref_t<std::invoke_result_t<const Transform&, const Stored&>>;
  /// The column's part of a sample.
  using FieldType = Field<value_type, Row>;

  /// `owner` keeps `elements` alive: `rows` rows of the extents `row`, one after the other.
  Column(std::shared_ptr<const void> owner, const Stored* elements, std::int64_t rows, const Dims& row,
         Transform transform)
      : owner_{std::move(owner)}, elements_{elements}, rows_{rows}, row_{row}, transform_{std::move(transform)} {
    if (!Row::admits(row)) throw ShapeError("column: rows of shape " + to_string(row) + " do not fit the given type");
  }

  /// How many rows the column has.
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// The extents of one row.
  [[nodiscard]] const Dims& row() const { return row_; }
  /// Writes row `index`, transformed, into `destination`.
  void read(std::int64_t index, std::span<value_type> destination) const {
    const Stored* from = elements_ + index * static_cast<std::int64_t>(destination.size());
    for (std::size_t i = 0; i < destination.size(); ++i) destination[i] = std::invoke(transform_, from[i]);
  }

private:
  std::shared_ptr<const void> owner_;
  const Stored* elements_;
  std::int64_t rows_;
  Dims row_;
  Transform transform_;
};

/// A column from elements in row-major order, whose rows have a shape that the type knows.
/// throws: ShapeError if the elements do not fill whole rows
template <AnyShape Row = Shape<>, Scalar Stored, class Transform = std::identity>
requires(Row::is_static)
    [[nodiscard]] Column<Stored, Row, Transform> column(std::vector<Stored> elements, Transform transform = {}) {
  const std::int64_t row_elements = Row::dims().elements();
  const auto count = static_cast<std::int64_t>(elements.size());
  if (row_elements == 0 || count % row_elements != 0)
    throw ShapeError("column: " + std::to_string(count) + " elements do not fill rows of shape " +
                     to_string(Row::dims()));
  auto owner = std::make_shared<const std::vector<Stored>>(std::move(elements));
  const Stored* first = owner->data();
  return {std::move(owner), first, count / row_elements, Row::dims(), std::move(transform)};
}

/// A column from a tensor on a host device: the first axis counts the samples. Shares the tensor's memory if it is
/// contiguous; the elements must not change while they are read.
template <Scalar Stored, std::int64_t Rows, std::int64_t... Rest, class Transform = std::identity>
[[nodiscard]] Column<Stored, Shape<Rest...>, Transform> column(const Tensor<Stored, Cpu, Shape<Rows, Rest...>>& tensor,
                                                               Transform transform = {}) {
  auto owner = std::make_shared<const Tensor<Stored, Cpu, Shape<Rows, Rest...>>>(tensor.contiguous());
  synchronize(tensor.device());
  Dims row;
  for (int axis = 1; axis < tensor.rank; ++axis) row[row.rank++] = tensor.shape()[axis];
  const Stored* first = owner->data();
  return {std::move(owner), first, tensor.shape()[0], row, std::move(transform)};
}

/// A column that is there already, for `TensorDataset`.
template <Scalar Stored, AnyShape Row, class Transform>
[[nodiscard]] Column<Stored, Row, Transform> column(Column<Stored, Row, Transform> given) {
  return given;
}

/// The column that `column` makes of a tensor, a vector or a column.
template <class X> using column_t = decltype(column(std::declval<X>()));

/// Several columns of equally many rows: `TensorDataset{x, label}` of tensors on a host device, whose first axis counts
/// the samples, of vectors with a number for each, or of what `column` returns.
template <class... Columns> class TensorDataset {
public:
  /// The parts of a sample, one for each column.
  using Fields = data::Fields<typename Columns::FieldType...>;

  /// throws: ShapeError if the columns have different numbers of rows
  template <class... X>
  requires(sizeof...(X) == sizeof...(Columns) &&
           (std::same_as<column_t<X>, Columns> && ...)) explicit TensorDataset(X... columns)
      : columns_{column(std::move(columns))...} {
    const std::array<std::int64_t, sizeof...(Columns)> rows =
        std::apply([](const auto&... column) { return std::array{column.rows()...}; }, columns_);
    for (std::size_t i = 1; i < rows.size(); ++i)
      if (rows[i] != rows[0])
        throw ShapeError("TensorDataset: column 0 has " + std::to_string(rows[0]) + " rows, column " +
                         std::to_string(i) + " has " + std::to_string(rows[i]));
  }

  /// How many samples there are.
  [[nodiscard]] std::int64_t size() const { return std::get<0>(columns_).rows(); }
  /// The extents of a row of each column.
  [[nodiscard]] std::array<Dims, sizeof...(Columns)> row_dims() const {
    return std::apply([](const auto&... column) { return std::array{column.row()...}; }, columns_);
  }
  /// Writes the rows `index` of all columns. Safe to call from several threads.
  void read(std::int64_t index, std::span<typename Columns::value_type>... parts) const {
    std::apply([&](const auto&... column) { (column.read(index, parts), ...); }, columns_);
  }

private:
  std::tuple<Columns...> columns_;
};
/// Columns of what is given.
template <class... X> TensorDataset(X...) -> TensorDataset<column_t<X>...>;

}}}} // namespace twill::v0::data::TWILL_ISA
