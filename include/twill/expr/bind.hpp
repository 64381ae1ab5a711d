#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Binds the leaves of an expression to the operands of its program: addresses, strides broadcast to the grid, bit patterns
// of numbers. Here an expression is stripped to pointers and extents; nothing below knows of tensors.
// Read next: expr/evaluate.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/code.hpp>
#include <twill/kernel/coalesce.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill::inline v0::expr {

/// Strides of a view along the axes of a grid, aligned from the right; broadcast axes have stride 0.
inline void broadcast_strides(kernel::Operand& operand, const Dims& extents, const Dims& strides, int grid_rank) {
  for (int axis = 0; axis < extents.rank; ++axis)
    operand.strides[static_cast<std::size_t>(grid_rank - extents.rank + axis)] = extents[axis] == 1 ? 0 : strides[axis];
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
template <class Entries> void bind_numbers(kernel::Operand* operands, const Entries& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].origin == Origin::number) operands[i].bits = entries[i].bits;
}

/// Drops the dimensions of extent 1 from axis `first` on, all but the last `kept`, and merges what all operands walk alike.
inline void simplify(kernel::Grid& grid, kernel::Operand* operands, int count, bool keep_last) {
  int to = 0;
  for (int from = 0; from < grid.rank; ++from) {
    if (grid[from] == 1 && !(keep_last && from + 1 == grid.rank)) continue;
    if (to != from) {
      grid[to] = grid[from];
      for (int o = 0; o < count; ++o)
        operands[o].strides[static_cast<std::size_t>(to)] = operands[o].strides[static_cast<std::size_t>(from)];
    }
    ++to;
  }
  if (to == 0) {
    grid[to++] = 1;
    for (int o = 0; o < count; ++o) operands[o].strides[0] = 0;
  }
  grid.rank = to;
  kernel::coalesce(grid, operands, count, keep_last);
}

/// True when every tensor moves along the rows as the program's leaves say.
template <class Entries>
[[nodiscard]] bool moves_as_expected(const kernel::Grid& grid, const kernel::Operand* operands,
                                     const Entries& entries) {
  const auto last = static_cast<std::size_t>(grid.rank - 1);
  if (grid[grid.rank - 1] == 1) return true;
  for (std::size_t i = 0; i < entries.size(); ++i) {
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
