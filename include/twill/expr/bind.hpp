#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Binds the leaves of an expression to the operands of its program: addresses, strides broadcast to the grid, bit patterns
// of numbers. Here an expression is stripped to pointers and extents; nothing below knows of tensors.
// Read next: expr/evaluate.hpp.

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

namespace twill::inline v0::expr {

/// Strides of a view along the axes of a grid, aligned from the right; broadcast axes have stride 0.
[[gnu::noinline]] inline void broadcast_strides(kernel::Operand& operand, const Dims& extents, const Dims& strides,
                                                int grid_rank) {
  for (int axis = 0; axis < extents.rank; ++axis)
    operand.strides[static_cast<std::size_t>(grid_rank - extents.rank + axis)] = extents[axis] == 1 ? 0 : strides[axis];
}

/// Visits the leaves and finds the extents of the result in the usual case, in which all tensors have the same.
template <int Rank> class CommonExtents {
public:
  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    if constexpr (S::rank == Rank) {
      const Dims own = tensor.shape();
      if (seen_) {
        for (int axis = 0; axis < Rank; ++axis) agree_ = agree_ && own[axis] == extents_[axis];
      } else {
        extents_ = own;
        seen_ = true;
      }
    } else {
      agree_ = agree_ && S::rank == 0;
    }
  }
  template <Scalar T> void operator()(const T&) {}

  [[nodiscard]] bool found() const { return seen_ && agree_; }
  [[nodiscard]] const Dims& extents() const { return extents_; }

private:
  Dims extents_{};
  bool seen_ = false;
  bool agree_ = true;
};

/// The extents of an expression's result. throws: ShapeError
template <class E> [[nodiscard]] Dims extents_of(const E& expression) {
  if constexpr (!E::shape_is_proven && !E::has_reductions) {
    CommonExtents<E::shape_type::rank> common;
    expression.each_leaf(common);
    if (common.found()) [[likely]]
      return common.extents();
  }
  return expression.shape();
}

/// Visits the leaves in order and fills their operands.
class Binder {
public:
  Binder(kernel::Operand* operands, const std::int16_t* operand_of_leaf, int grid_rank)
      : operands_{operands}, operand_of_leaf_{operand_of_leaf}, grid_rank_{grid_rank} {}

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    kernel::Operand& operand = next();
    operand.data = tensor.data();
    broadcast_strides(operand, tensor.shape(), tensor.strides(), grid_rank_);
  }
  template <Scalar T> void operator()(const T& value) { std::memcpy(&next().bits, &value, sizeof(T)); }

private:
  kernel::Operand& next() { return operands_[*operand_of_leaf_++]; }

  kernel::Operand* operands_;
  const std::int16_t* operand_of_leaf_;
  int grid_rank_;
};

/// Fills the operands that are numbers of the code.
inline void bind_numbers(kernel::Operand* operands, const OperandEntry* entries, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (entries[i].origin == Origin::number) operands[i].bits = entries[i].bits;
}

/// Drops dimensions of extent 1 and merges neighbours that all operands walk alike, among the dimensions first to last;
/// one of them stays when `at_least_one`.
[[gnu::noinline]] inline void simplify(kernel::Grid& grid, kernel::Operand* operands, std::size_t count, int first,
                                       int last, bool at_least_one) {
  const auto stride = [&](std::size_t operand, int axis) -> std::int64_t& {
    return operands[operand].strides[static_cast<std::size_t>(axis)];
  };
  int to = first; // dimensions [first, to) are done
  const auto keep = [&](int from) {
    grid[to] = grid[from];
    for (std::size_t o = 0; o < count; ++o) stride(o, to) = stride(o, from);
    ++to;
  };
  for (int axis = first; axis <= last; ++axis) {
    if (grid[axis] == 1) continue;
    bool one_walk = to > first;
    for (std::size_t o = 0; o < count && one_walk; ++o) one_walk = stride(o, to - 1) == stride(o, axis) * grid[axis];
    if (!one_walk) {
      keep(axis);
      continue;
    }
    grid[to - 1] *= grid[axis];
    for (std::size_t o = 0; o < count; ++o) stride(o, to - 1) = stride(o, axis);
  }
  if (to == first && at_least_one) {
    grid[to] = 1;
    for (std::size_t o = 0; o < count; ++o) stride(o, to) = 0;
    ++to;
  }
  for (int axis = last + 1; axis < grid.rank; ++axis) keep(axis);
  for (int axis = to; axis < grid.rank; ++axis) grid[axis] = 0;
  grid.rank = to;
}

/// True when every tensor moves along the rows as the program's leaves say.
[[nodiscard, gnu::noinline]] inline bool moves_as_expected(const kernel::Grid& grid, const kernel::Operand* operands,
                                                           const OperandEntry* entries, std::size_t count) {
  const auto last = static_cast<std::size_t>(grid.rank - 1);
  if (grid[grid.rank - 1] == 1) return true;
  for (std::size_t i = 0; i < count; ++i) {
    if (entries[i].kind != kernel::LineKind::input) continue;
    const std::int64_t stride = operands[i].strides[last];
    if (entries[i].access == kernel::Access::contiguous && stride != 1) return false;
    if (entries[i].access == kernel::Access::uniform && stride != 0) return false;
  }
  return true;
}

/// Visits the leaves and asks whether any touches the destination in another order than the destination itself: then a
/// kernel could read what it has overwritten.
class OverlapFinder {
public:
  OverlapFinder(const void* to, std::size_t element_bytes, const Dims& extents, const Dims& strides)
      : to_{to},
        element_bytes_{element_bytes},
        extents_{extents},
        strides_{strides},
        span_{layout::touched(extents, strides)} {}

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

  bool touches = false; ///< some leaf shares memory with the destination
  bool hazard = false;  ///< and does not walk it in the same way

private:
  [[nodiscard]] bool overlaps(const void* from, std::size_t bytes, const Dims& extents, const Dims& strides) const {
    return detail::ranges_overlap(to_, element_bytes_, span_, from, bytes, layout::touched(extents, strides));
  }

  const void* to_;
  std::size_t element_bytes_;
  const Dims& extents_;
  const Dims& strides_;
  layout::Span span_;
};

} // namespace twill::inline v0::expr
