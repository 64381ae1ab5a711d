#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices of tensors: `CsrMatrix<T, D, S>` holds the row offsets, column indices and values of a CSR matrix
// (compressed sparse rows) on a device of kind D. Columns ascend within a row and occur once, so equal matrices have
// equal arrays. Copies share the arrays, as those of tensors do. Read next: sparse/assembly.hpp, sparse/arithmetic.hpp,
// sparse/csr_value.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/device.hpp>
#include <twill/sparse/structure.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace sparse { namespace detail {

/// Refuses arrays that are no CSR matrix. `where` begins the message.
/// throws: ValueError, IndexError naming row, column and extent
void check_structure(std::string_view where, const Structure& a);

/// Refuses lengths that do not belong together. throws: ShapeError with both
void check_lengths(std::string_view where, const Dims& shape, std::int64_t offsets, std::int64_t indices,
                   std::int64_t values);

/// One more than an extent, `dyn` where it is unknown.
[[nodiscard]] constexpr std::int64_t offsets_of(std::int64_t rows) { return rows == dyn ? dyn : rows + 1; }

}}}} // namespace twill::v0::sparse::detail

namespace twill { inline namespace v0 { namespace sparse {

/// A CSR matrix of elements of type T on a device of kind D; S is the known part of its shape (rows, columns).
template <Scalar T, Device D = Cpu, AnyShape S = Shape<dyn, dyn>>
requires(S::rank == 2) class CsrMatrix {
public:
  using value_type = T;
  using device_type = D;
  using shape_type = S;
  using Offsets = Tensor<std::int64_t, D, Shape<detail::offsets_of(S::extent(0))>>; ///< The type of `row_offsets`.
  using Indices = Tensor<std::int64_t, D, Shape<dyn>>;                              ///< The type of `column_indices`.
  using Values = Tensor<T, D, Shape<dyn>>;                                          ///< The type of `values`.

  /// Empty until assigned.
  CsrMatrix() = default;

  /// The matrix of these arrays, which it shares: rows + 1 offsets, from 0 to the number of non-zeros, and for each
  /// non-zero a column and a value. Columns ascend within each row; `from_coo` sorts and adds up those that do not.
  /// throws: ShapeError for lengths that differ, ValueError for offsets or columns that do not ascend, IndexError for a
  /// column outside of the matrix, with row and values    cost: one pass over the indices, on a GPU after a copy
  template <AnyShape S1, AnyShape S2, AnyShape S3, class Isa = InstructionSet>
  requires(S1::rank == 1 && S2::rank == 1 && S3::rank == 1)
      CsrMatrix(const Dims& shape, const Tensor<std::int64_t, D, S1>& row_offsets,
                const Tensor<std::int64_t, D, S2>& column_indices, const Tensor<T, D, S3>& values) {
    check_extents(shape);
    detail::check_lengths("csr", shape, row_offsets.elements(), column_indices.elements(), values.elements());
    if (!(row_offsets.device() == column_indices.device() && row_offsets.device() == values.device()))
      throw DeviceError("csr: row offsets, column indices and values are on different devices; move them to one");
    rows_ = shape[0];
    columns_ = shape[1];
    row_offsets_ = Offsets(row_offsets.contiguous());
    column_indices_ = Indices(column_indices.contiguous());
    values_ = Values(values.contiguous());
    check_content();
  }

  /// Shares the arrays under a shape type that knows more or less. throws: ShapeError
  template <AnyShape S2>
  requires(!std::same_as<S, S2> && FitsShape<S2, S>) explicit CsrMatrix(const CsrMatrix<T, D, S2>& other)
      : CsrMatrix{unchecked(other.shape(), Offsets(other.row_offsets()), other.column_indices(), other.values())} {}

  /// The matrix of arrays that are known to be one: nothing is looked at but the shape.
  /// requires: what the constructor checks
  [[nodiscard]] static CsrMatrix unchecked(const Dims& shape, Offsets row_offsets, Indices column_indices,
                                           Values values) {
    check_extents(shape);
    CsrMatrix matrix{};
    matrix.rows_ = shape[0];
    matrix.columns_ = shape[1];
    matrix.row_offsets_ = std::move(row_offsets);
    matrix.column_indices_ = std::move(column_indices);
    matrix.values_ = std::move(values);
    return matrix;
  }

  /// (rows + 1): where the non-zeros of each row begin and end, SciPy's `indptr` and PyTorch's `crow_indices`.
  [[nodiscard]] const Offsets& row_offsets() const { return row_offsets_; }
  /// (non-zeros): the column of each, SciPy's `indices` and PyTorch's `col_indices`.
  [[nodiscard]] const Indices& column_indices() const { return column_indices_; }
  /// (non-zeros): the elements that are stored, SciPy's `data`.
  [[nodiscard]] const Values& values() const { return values_; }

  /// The number of rows.
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// The number of columns.
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  /// (rows, columns).
  [[nodiscard]] Dims shape() const { return Dims(rows_, columns_); }
  /// The number of elements that are stored; a stored zero counts.
  [[nodiscard]] std::int64_t nnz() const { return values_.elements(); }
  /// The device of the arrays.
  [[nodiscard]] const D& device() const { return values_.device(); }

  /// The matrix with other values at the same places, which it shares. throws: ShapeError
  template <Scalar T2, AnyShape S2>
  [[nodiscard]] CsrMatrix<T2, D, S> with_values(const Tensor<T2, D, S2>& values) const {
    detail::check_lengths("with_values", shape(), row_offsets_.elements(), nnz(), values.elements());
    return CsrMatrix<T2, D, S>::unchecked(shape(), row_offsets_, column_indices_,
                                          Tensor<T2, D, Shape<dyn>>(values.contiguous()));
  }

  /// The matrix on another device.
  template <Device D2, class Isa = InstructionSet> [[nodiscard]] CsrMatrix<T, D2, S> to(const D2& target) const {
    return CsrMatrix<T, D2, S>::unchecked(shape(), row_offsets_.to(target), column_indices_.to(target),
                                          values_.to(target));
  }

  /// The structure in memory, for kernels.
  [[nodiscard]] Structure structure() const {
    return {.rows = rows_,
            .columns = columns_,
            .entries = nnz(),
            .row_offsets = row_offsets_.data(),
            .column_indices = column_indices_.data()};
  }

private:
  static void check_extents(const Dims& shape) {
    if (shape.rank != 2 || shape[0] < 0 || shape[1] < 0 || !S::admits(shape))
      throw ShapeError("csr: shape " + to_string(shape) + " does not fit the matrix's type; it has rows and columns");
  }
  void check_content() const {
    if constexpr (std::same_as<D, Cpu>) {
      synchronize(device());
      detail::check_structure("csr", structure());
    } else if constexpr (D::has_memory) {
      const auto offsets = to_vector(row_offsets_);
      const auto indices = to_vector(column_indices_);
      Structure copied = structure();
      copied.row_offsets = offsets.data();
      copied.column_indices = indices.data();
      detail::check_structure("csr", copied);
    }
  }

  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  Offsets row_offsets_{};
  Indices column_indices_{};
  Values values_{};
};

template <Scalar T, Device D, AnyShape S1, AnyShape S2, AnyShape S3>
CsrMatrix(const Dims&, const Tensor<std::int64_t, D, S1>&, const Tensor<std::int64_t, D, S2>&, const Tensor<T, D, S3>&)
    -> CsrMatrix<T, D, Shape<dyn, dyn>>;

/// Whether X is a `CsrMatrix`.
template <class X> inline constexpr bool is_csr_matrix = false;
template <Scalar T, Device D, AnyShape S> inline constexpr bool is_csr_matrix<CsrMatrix<T, D, S>> = true;

/// A `CsrMatrix`, of any element type, device kind and shape.
template <class X>
concept AnyCsrMatrix = is_csr_matrix<std::remove_cvref_t<X>>;

}}} // namespace twill::v0::sparse

#if TWILL_HEADER_ONLY
#include <twill/sparse/csr_matrix.ipp>
#endif
