#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a statement with reductions runs over, and how its leaves lie along it. The grid is the kept axes followed by the
// reduced ones, merged into a single row (or the other way round for column programs). Where the operands' strides do not
// allow the merge, they are copied into the order of the grid first; that is the only case that reads memory twice. Leaves
// that turn out to be one tensor become one operand where a program for that exists. Read next:
// expr/evaluate_reductions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/program.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/copy.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace twill::inline v0::expr::inline TWILL_ISA {

/// Where the axes of what is reduced lie in the grid.
struct Domain {
  Dims extents{}; ///< of what is reduced
  unsigned mask = 0;
  Dims order{}; ///< the axis behind each dimension of the grid
  int kept = 0; ///< how many of them are not reduced

  /// Kept axes first, or reduced axes first.
  Domain(const Dims& shape, unsigned reduced, bool kept_first);
  [[nodiscard]] bool reduces(int dimension) const { return (mask >> order[dimension] & 1U) != 0; }
};

/// Strides along the grid of a view aligned with what is reduced, or with the result when that has fewer axes.
void strides_in_domain(kernel::Operand& operand, const Dims& extents, const Dims& strides, const Domain& domain,
                       bool beside_dropped_axes);

/// Where a result goes.
struct OutputView {
  void* data = nullptr;
  Dims extents{};
  Dims strides{};
  bool drops_axes = false; ///< it lacks the axes that are reduced
};

/// Binds leaves along a domain.
template <class Source> class DomainBinder {
public:
  DomainBinder(kernel::Operand* operands, const Domain& domain) : operands_{operands}, domain_{domain} {}

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    const Code::Leaf leaf = Operands<Source>::leaf[next_++];
    kernel::Operand& operand = operands_[leaf.operand];
    operand.data = tensor.data();
    strides_in_domain(operand, tensor.shape(), tensor.strides(), domain_, leaf.drops);
  }
  template <Scalar T> void operator()(const T& value) {
    std::memcpy(&operands_[Operands<Source>::leaf[next_++].operand].bits, &value, sizeof(T));
  }
  template <class Moves, class X> void gathered(const Moves& moves, const X&) { (*this)(moves); }

private:
  kernel::Operand* operands_;
  const Domain& domain_;
  std::size_t next_ = 0;
};

/// Asks whether the leaves that a program takes for one tensor are one: the same elements in the same order.
template <class Source> class LeafComparer {
public:
  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    const std::size_t leaf = next_++;
    const auto first = static_cast<std::size_t>(Operands<Source>::leaf[leaf].first);
    if (first == leaf)
      seen_[leaf] = {tensor.data(), tensor.shape(), tensor.strides()};
    else
      are_one = are_one && seen_[first].data == tensor.data() && seen_[first].extents == tensor.shape() &&
                seen_[first].strides == tensor.strides();
  }
  template <Scalar T> void operator()(const T&) { ++next_; }
  template <class Moves, class X> void gathered(const Moves&, const X&) { ++next_; }

  bool are_one = true;

private:
  struct Seen {
    const void* data = nullptr;
    Dims extents{};
    Dims strides{};
  };
  std::array<Seen, Operands<Source>::leaves> seen_{};
  std::size_t next_ = 0;
};

/// Copies the leaves that are reduced into the order of the grid, so that the reduced axes become one.
template <class Source, class D> class Gatherer {
public:
  Gatherer(kernel::Operand* operands, const D& device, const kernel::Grid& grid)
      : operands_{operands}, device_{device}, grid_{grid} {}

  template <class T, class S> void operator()(const Tensor<T, D, S>&) {
    const std::size_t leaf = next_++;
    const Code::Leaf info = Operands<Source>::leaf[leaf];
    if (info.outside || S::rank == 0) return; // the same for every element
    if (static_cast<std::size_t>(info.first) != leaf) return;
    kernel::Operand& operand = operands_[info.operand];
    copies_.emplace_back(device_, static_cast<std::size_t>(grid_.elements()) * sizeof(T));
    Dims from{};
    from.rank = grid_.rank;
    for (int axis = 0; axis < grid_.rank; ++axis) from[axis] = operand.strides[static_cast<std::size_t>(axis)];
    const Dims to = contiguous_strides(grid_);
    auto* copy = static_cast<T*>(copies_.back().data());
    detail::copy_elements(device_, copy, to, static_cast<const T*>(operand.data), from, grid_);
    operand.data = copy;
    for (int axis = 0; axis < grid_.rank; ++axis) operand.strides[static_cast<std::size_t>(axis)] = to[axis];
  }
  template <Scalar T> void operator()(const T&) { ++next_; }
  template <class Moves, class X> void gathered(const Moves&, const X&) {
    ++next_;
  } // only rows of one axis are gathered

private:
  kernel::Operand* operands_;
  const D& device_;
  const kernel::Grid& grid_;
  std::vector<memory::Buffer<D>> copies_{}; // released in stream order, after the kernel
  std::size_t next_ = 0;
};

/// Whether dimensions first to last of the grid can be one for every operand.
[[nodiscard]] bool is_one_walk(const kernel::Grid& grid, const kernel::Operand* operands, std::size_t count, int first,
                               int last);

/// Replaces dimensions first to last by their product.
void merge(kernel::Grid& grid, kernel::Operand* operands, std::size_t count, int first, int last);

/// Programs for the same statement, which take the same leaves: one for any leaves, and those that take some leaves for one,
/// in the order in which to try them.
template <class Apart, class... Merged> struct Programs {};

/// Binds a program to a domain and launches it. One target for each output of the program.
template <class Source, class E, class D>
[[gnu::noinline]] void launch_over(const E& expression, const D& device, const OutputView* targets,
                                   const Domain& domain, bool is_column) {
  using Bound = Operands<Source>;
  std::array<kernel::Operand, Bound::count> operands{};
  kernel::Grid grid = detail::reordered(domain.extents, domain.order);
  const int first = is_column ? 0 : domain.kept;
  const int last = is_column ? grid.rank - domain.kept - 1 : grid.rank - 1;

  DomainBinder<Source> binder{operands.data(), domain};
  expression.each_leaf(binder);
  for (std::size_t k = 0; k < Bound::outputs; ++k) {
    kernel::Operand& operand = operands[Bound::count - Bound::outputs + k];
    operand.data = targets[k].data;
    strides_in_domain(operand, targets[k].extents, targets[k].strides, domain, targets[k].drops_axes);
  }
  std::int64_t length = 1;
  for (int axis = last; axis >= first; --axis) {
    for (std::size_t o = 0; o < Bound::count; ++o)
      if (Bound::entries[o].origin == Origin::row_index) operands[o].strides[static_cast<std::size_t>(axis)] = length;
    length *= grid[axis];
  }
  for (std::size_t o = 0; o < Bound::count; ++o) {
    if (Bound::entries[o].origin == Origin::number) operands[o].bits = Bound::entries[o].bits;
    if (Bound::entries[o].origin == Origin::row_length)
      operands[o].bits = bits_of(Bound::entries[o].type, static_cast<double>(length));
  }

  Gatherer<Source, D> gatherer{operands.data(), device, grid};
  if (last < first) { // rank 0: a row of one element
    grid[grid.rank++] = 1;
  } else {
    if (!is_one_walk(grid, operands.data(), Bound::count, first, last)) expression.each_leaf(gatherer);
    merge(grid, operands.data(), Bound::count, first, last);
  }
  if (is_column)
    simplify(grid, operands.data(), Bound::count, 1, grid.rank - 1, true);
  else
    simplify(grid, operands.data(), Bound::count, 0, grid.rank - 2, false);
  keep_shared(grid, operands.data(), Bound::entries.data(), Bound::count);
  kernel::launch(typename ProgramOf<Source>::type{}, device, grid, operands.data());
}

/// Runs a program that takes leaves for one, if they are. Returns whether.
template <class Source, class E, class D>
[[nodiscard]] bool launch_merged(const E& expression, const D& device, const OutputView* targets,
                                 const Domain& domain) {
  LeafComparer<Source> comparer;
  expression.each_leaf(comparer);
  if (comparer.are_one) launch_over<Source>(expression, device, targets, domain, false);
  return comparer.are_one;
}

/// Runs the first program that takes no leaves for one that are not.
template <class E, class D, class Apart, class... Merged>
void run_domain(Programs<Apart, Merged...>, const E& expression, const D& device, const OutputView* targets,
                const Domain& domain) {
  if ((launch_merged<Merged>(expression, device, targets, domain) || ...)) return;
  launch_over<Apart>(expression, device, targets, domain, false);
}

} // namespace twill::inline v0::expr::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/domain.ipp>
#endif
