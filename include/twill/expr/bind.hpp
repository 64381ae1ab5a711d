#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Binds the leaves of an expression to the operands of its program: addresses, strides broadcast to the grid, bit patterns
// of numbers. Here an expression is stripped to pointers and extents; nothing below knows of tensors.
// Read next: expr/evaluate.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/program.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill::inline v0::expr::inline TWILL_ISA {

/// Room for the operands of a program. Not cleared: for a small kernel that would take as long as the kernel itself. Of the
/// strides, those along the grid are filled in.
template <std::size_t Count> class OperandRoom {
public:
  [[nodiscard]] kernel::Operand* data() { return reinterpret_cast<kernel::Operand*>(bytes_); }
  [[nodiscard]] kernel::Operand& operator[](std::size_t index) { return data()[index]; }

private:
  alignas(kernel::Operand) std::byte bytes_[Count * sizeof(kernel::Operand)];
};

/// Strides of a view along the axes of a grid, aligned from the right; broadcast axes have stride 0.
template <int Rank>
void broadcast_strides(kernel::Operand& operand, const Dims& extents, const Dims& strides, int grid_rank) {
  const int missing = grid_rank - Rank;
  for (int axis = 0; axis < missing; ++axis) operand.strides[static_cast<std::size_t>(axis)] = 0;
  for (int axis = 0; axis < Rank; ++axis)
    operand.strides[static_cast<std::size_t>(missing + axis)] = extents[axis] == 1 ? 0 : strides[axis];
}

/// An operand that carries a number.
void bind_bits(kernel::Operand& operand, std::uint64_t bits, int grid_rank);

/// The operand that is written: it has the rank of the grid, which may be larger than the expression's.
void bind_output(kernel::Operand& operand, void* to, const Dims& strides, const Dims& extents);

/// Visits the leaves and finds the extents of the result in the usual case, in which all tensors have the same. Writes them
/// where they are wanted: a copy of what was just written piece by piece would wait for the pieces.
template <int Rank> class CommonExtents {
public:
  explicit CommonExtents(Dims& extents) : extents_{extents} {}

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    if constexpr (S::rank == Rank) {
      for (int axis = 0; axis < Rank; ++axis) {
        const std::int64_t own = tensor.size(axis);
        if (!seen_) extents_[axis] = own;
        agree_ = agree_ && own == extents_[axis];
      }
      seen_ = true;
    } else {
      agree_ = agree_ && S::rank == 0;
    }
  }
  template <Scalar T> void operator()(const T&) {}

  template <class Moves, class X> void gathered(const Moves& moves, const X&) { (*this)(moves); }

  [[nodiscard]] bool found() const { return seen_ && agree_; }

private:
  Dims& extents_;
  bool seen_ = false;
  bool agree_ = true;
};

/// The extents of an expression's result. throws: ShapeError
template <class E> [[nodiscard]] Dims extents_of(const E& expression) {
  Dims extents{};
  if constexpr (!E::shape_is_proven && !E::has_reductions) {
    extents.rank = E::shape_type::rank;
    CommonExtents<E::shape_type::rank> common{extents};
    expression.each_leaf(common);
    if (!common.found()) [[unlikely]]
      extents = expression.shape();
  } else {
    extents = expression.shape();
  }
  return extents;
}

/// Visits the leaves in order and fills their operands.
class Binder {
public:
  Binder(kernel::Operand* operands, const std::int16_t* operand_of_leaf, int grid_rank)
      : operands_{operands}, operand_of_leaf_{operand_of_leaf}, grid_rank_{grid_rank} {}

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    kernel::Operand& operand = next();
    operand.data = tensor.data();
    operand.bits = 0;
    broadcast_strides<S::rank>(operand, tensor.shape(), tensor.strides(), grid_rank_);
  }
  template <Scalar T> void operator()(const T& value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bind_bits(next(), bits, grid_rank_);
  }
  template <class Moves, class X> void gathered(const Moves& moves, const X&) { (*this)(moves); }

private:
  kernel::Operand& next() { return operands_[*operand_of_leaf_++]; }

  kernel::Operand* operands_;
  const std::int16_t* operand_of_leaf_;
  int grid_rank_;
};

/// Fills the operands that are numbers of the code.
void bind_numbers(kernel::Operand* operands, const OperandEntry* entries, std::size_t count, int grid_rank);

/// Drops dimensions of extent 1 and merges neighbours that all operands walk alike, among the dimensions first to last;
/// one of them stays when `at_least_one`.
void simplify(kernel::Grid& grid, kernel::Operand* operands, std::size_t count, int first, int last, bool at_least_one);

/// Gives a grid rows of one element where a leaf would vary along the row that its program takes for shared: an axis of
/// extent 1, at run time, was the row when the program was written, and dropping it made another axis the row.
void keep_shared(kernel::Grid& grid, kernel::Operand* operands, const OperandEntry* entries, std::size_t count);

/// Visits the leaves and asks whether any touches the destination in another order than the destination itself: then a
/// kernel could read what it has overwritten.
class OverlapFinder {
public:
  OverlapFinder(const void* to, std::size_t element_bytes, const Dims& extents, const Dims& strides);

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    const Dims extents = tensor.shape();
    const Dims strides = tensor.strides();
    touches = touches || overlaps(tensor.data(), sizeof(T), extents, strides);
    if (!hazard && touches) {
      const bool same =
          tensor.data() == to_ && sizeof(T) == element_bytes_ && extents == extents_ && strides == strides_;
      hazard = !same && overlaps(tensor.data(), sizeof(T), extents, strides);
    }
  }
  template <Scalar T> void operator()(const T&) {}
  /// A source that is read by index: anywhere, in any order.
  template <class Moves, class X> void gathered(const Moves&, const X& source) { (*this)(source); }

  bool touches = false; ///< some leaf shares memory with the destination
  bool hazard = false;  ///< and does not walk it in the same way

private:
  [[nodiscard]] bool overlaps(const void* from, std::size_t bytes, const Dims& extents, const Dims& strides) const;

  const void* to_;
  std::size_t element_bytes_;
  const Dims& extents_;
  const Dims& strides_;
  layout::Span span_;
};

} // namespace twill::inline v0::expr::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/bind.ipp>
#endif
