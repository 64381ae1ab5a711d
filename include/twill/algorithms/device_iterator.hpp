#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Iterators of `lazy` expressions for GPU kernels: plain values that compute element i on access from a GPU's tensors.
// Thrust's and CUB's device algorithms read them like a vector. They do not keep the expression, which has to live
// until the algorithm was started. Read next: algorithms/on.cuh.

#include <twill/algorithms/element_iterator.hpp>
#include <twill/algorithms/element_program.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/program.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/program.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// The stored part of an operand.
template <int Rank> struct DeviceOperand {
  const void* data = nullptr;
  std::uint64_t bits = 0;
  std::int64_t strides[Rank]{};
};

/// An iterator over the values of a program with `Count` operands on a grid of at most `Rank` axes.
template <class P, class Value, int Rank, int Count>
class DeviceIterator : public layout::IndexIterator<DeviceIterator<P, Value, Rank, Count>, Value, Value> {
  using Base = layout::IndexIterator<DeviceIterator<P, Value, Rank, Count>, Value, Value>;

public:
  using pointer = void;

  constexpr DeviceIterator() = default;
  /// For a grid whose collapsible axes are merged.
  DeviceIterator(const kernel::Grid& grid, const kernel::Operand* operands, std::int64_t index)
      : Base{index}, first_{Rank - grid.rank} {
    for (int axis = 0; axis < grid.rank; ++axis) extents_[first_ + axis] = grid[axis];
    for (int o = 0; o < Count; ++o) {
      operands_[o].data = operands[o].data;
      operands_[o].bits = operands[o].bits;
      for (int axis = 0; axis < grid.rank; ++axis)
        operands_[o].strides[first_ + axis] = operands[o].strides[static_cast<std::size_t>(axis)];
    }
  }

  [[nodiscard]] constexpr Value at(std::ptrdiff_t index) const {
    std::int64_t offsets[Count > 0 ? Count : 1]{};
    std::int64_t rest = index;
    for (int axis = Rank - 1; axis >= 0; --axis) { // all of them, so that no array is indexed by an unknown number
      if (axis < first_) continue;
      std::int64_t place = rest;
      if (axis > first_) {
        rest = place / extents_[axis];
        place -= rest * extents_[axis];
      }
      for (int o = 0; o < Count; ++o) offsets[o] += place * operands_[o].strides[axis];
    }
    return ElementProgram<P>::template run<Value>(operands_, offsets);
  }

private:
  int first_ = Rank;
  std::int64_t extents_[Rank]{};
  DeviceOperand<Rank> operands_[Count > 0 ? Count : 1]{};
};

template <class E> struct DeviceIteratorOf {
  using Source = expr::Elementwise<E, E::dtype>;
  using Bound = expr::Operands<Source>;
  static constexpr int rank = E::shape_type::rank > 0 ? E::shape_type::rank : 1;
  using type = DeviceIterator<typename expr::ProgramOf<Source>::type, typename E::value_type, rank,
                              static_cast<int>(Bound::count) - 1>; // all operands but the output
};
template <class E> using device_iterator_t = typename DeviceIteratorOf<E>::type;

/// The iterator at the first value, or after the last one.
template <class E> [[nodiscard]] device_iterator_t<E> device_iterator(const E& expression, bool at_end) {
  static_assert(E::owns, "twill: begin: an expression refers to tensors that may be gone; keep it with lazy(a * b)");
  static_assert(!E::has_reductions,
                "twill: begin: an element of a reduction costs a whole pass; evaluate it (Tensor c = "
                "sum<1>(x)) and take the tensor's elements");
  using Bound = typename DeviceIteratorOf<E>::Bound;
  expr::Leaves<E> leaves(expression);
  kernel::Grid grid = leaves.extents_of(expression);
  const std::int64_t elements = grid.elements();
  expr::complete_operands(expr::operand_map<typename DeviceIteratorOf<E>::Source>, leaves.operands(), grid.rank,
                          nullptr, contiguous_strides(grid), grid);
  expr::simplify(grid, leaves.operands(), Bound::count, 0, grid.rank - 1, true);
  return {grid, leaves.operands(), at_end ? elements : 0};
}

}}}} // namespace twill::v0::algorithms::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {
/// The first value of an expression over tensors of a GPU in row-major order, for kernels.
template <LazyValue E>
requires kernel::has_queue<typename E::device_type>
[[nodiscard]] auto begin(const E& expression) { return algorithms::device_iterator(expression, false); }
/// The position after the last value.
template <LazyValue E>
requires kernel::has_queue<typename E::device_type>
[[nodiscard]] auto end(const E& expression) { return algorithms::device_iterator(expression, true); }
}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {
using expr::begin;
using expr::end;
}}} // namespace twill::v0::TWILL_ISA
