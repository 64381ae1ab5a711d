#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Domain of a statement with reductions, and the strides of its leaves along it. The grid is the kept axes followed by
// the reduced ones, merged into a single row (or the other way round for column programs). Where the operands' strides
// do not allow the merge, they are copied into the order of the grid first; only this case reads memory twice. Leaves
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

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The places in the grid of the axes of a reduced operand.
struct Domain {
  Dims extents{}; ///< of the reduced operand
  unsigned mask = 0;
  Dims order{}; ///< the axis of each dimension of the grid
  int kept = 0; ///< how many of them are not reduced

  /// Kept axes first, or reduced axes first.
  Domain(const Dims& shape, unsigned reduced, bool kept_first);
  [[nodiscard]] bool reduces(int dimension) const { return (mask >> order[dimension] & 1U) != 0; }
};

/// Strides along the grid of a view aligned with the reduced operand, or with the result when that has fewer axes.
void strides_in_domain(kernel::Operand& operand, const std::int64_t* extents, const std::int64_t* strides, int rank,
                       const Domain& domain, bool beside_dropped_axes);

/// The memory of a result.
struct OutputView {
  void* data = nullptr;
  Dims extents{};
  Dims strides{};
  bool drops_axes = false; ///< it lacks the axes that are reduced
};

/// A leaf without its types. Of extents and strides, those of its axes are filled in.
struct LeafView {
  void* data;         ///< null for a number
  std::uint64_t bits; ///< of a number
  int rank;           ///< 0 for a number
  std::int64_t extents[max_rank];
  std::int64_t strides[max_rank]; ///< in elements
};

/// The leaves of an expression, in order.
template <std::size_t Count> class LeafViews {
public:
  template <class E> explicit LeafViews(const E& expression) { expression.each_leaf(*this); }

  [[nodiscard]] const LeafView* data() const { return views_; }

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    note(tensor, next(tensor.data(), 0, S::rank), std::make_integer_sequence<int, S::rank>{});
  }
  template <Scalar T> void operator()(const T& value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    static_cast<void>(next(nullptr, bits, 0));
  }
  template <class Moves, class X> void gathered(const Moves& moves, const X&) { (*this)(moves); }

private:
  template <class X, int... Axis>
  static void note(const X& tensor, [[maybe_unused]] LeafView& leaf, std::integer_sequence<int, Axis...>) {
    (..., (leaf.extents[Axis] = tensor.template size<Axis>()));
    (..., (leaf.strides[Axis] = tensor.template stride<Axis>()));
  }
  LeafView& next(void* data, std::uint64_t bits, int rank) {
    LeafView& leaf = *next_++;
    leaf.data = data;
    leaf.bits = bits;
    leaf.rank = rank;
    return leaf;
  }

  LeafView views_[Count > 0 ? Count : 1];
  LeafView* next_ = views_;
};

/// Whether the leaves that a program takes for one tensor are one: the same elements in the same order.
[[nodiscard]] bool are_one(const OperandMap& map, const LeafView* leaves);

/// Whether dimensions first to last of the grid can be one for every operand.
[[nodiscard]] bool is_one_walk(const kernel::Grid& grid, const kernel::Operand* operands, std::size_t count, int first,
                               int last);

/// Replaces dimensions first to last by their product.
void merge(kernel::Grid& grid, kernel::Operand* operands, std::size_t count, int first, int last);

/// Programs for one statement, which take the same leaves: one for any leaves, and those that take some leaves for one,
/// in the order in which to try them.
template <class Apart, class... Merged> struct Programs {};

/// The dimensions of a grid that are reduced.
struct ReducedDimensions {
  int first = 0;
  int last = 0; ///< before `first` where a program runs over rank 0
};

/// Fills the operands of a program of rows or columns, cleared before, and its grid, with its dimensions still
/// separate. One target for each output of the program.
[[nodiscard]] ReducedDimensions bind_over(const OperandMap& map, const LeafView* leaves, const OutputView* targets,
                                          const Domain& domain, bool is_column, kernel::Operand* operands,
                                          kernel::Grid& grid);

/// Merges the reduced dimensions into one, and the others into as few as possible.
void merge_reduced(const OperandMap& map, ReducedDimensions reduced, bool is_column, kernel::Operand* operands,
                   kernel::Grid& grid);

/// Copies an operand's elements into the order of the grid.
template <class D>
using CopyIntoOrder = void (*)(const D& device, const kernel::Grid& grid, kernel::Operand& operand,
                               std::vector<memory::Buffer<D>>& copies);
template <class T, class D>
void copy_into_order(const D& device, const kernel::Grid& grid, kernel::Operand& operand,
                     std::vector<memory::Buffer<D>>& copies) {
  Dims from{};
  from.rank = grid.rank;
  for (int axis = 0; axis < grid.rank; ++axis) from[axis] = operand.strides[static_cast<std::size_t>(axis)];
  const Dims to = contiguous_strides(grid);
  auto* copy =
      static_cast<T*>(copies.emplace_back(device, static_cast<std::size_t>(grid.elements()) * sizeof(T)).data());
  detail::copy_elements(device, copy, to, static_cast<const T*>(operand.data), from, grid);
  operand.data = copy;
  for (int axis = 0; axis < grid.rank; ++axis) operand.strides[static_cast<std::size_t>(axis)] = to[axis];
}

/// The copy function of each leaf; null for leaves that are one value for all elements, or read by index.
template <class Source, class D, std::size_t Leaf> constexpr CopyIntoOrder<D> copy_of_leaf() {
  constexpr int line = Source::code.line_of_leaf[Leaf];
  if constexpr (Source::code[line].kind == kernel::LineKind::input && !Source::code.source_of(line).outside)
    return &copy_into_order<scalar_t<Source::code[line].type>, D>;
  else
    return nullptr;
}
template <class Source, class D, class K = std::make_index_sequence<Operands<Source>::leaves>> struct CopiesIntoOrder;
template <class Source, class D, std::size_t... K> struct CopiesIntoOrder<Source, D, std::index_sequence<K...>> {
  static constexpr std::array<CopyIntoOrder<D>, sizeof...(K) + 1> of_leaves{copy_of_leaf<Source, D, K>()...};
};

/// Copies the leaves that are reduced into the order of the grid, so that the reduced axes become one.
template <class D>
[[nodiscard]] std::vector<memory::Buffer<D>> copy_reduced(const OperandMap& map, const CopyIntoOrder<D>* copies,
                                                          const LeafView* leaves, const D& device,
                                                          const kernel::Grid& grid, kernel::Operand* operands) {
  std::vector<memory::Buffer<D>> memory;
  for (std::size_t k = 0; k < map.leaves; ++k)
    if (copies[k] != nullptr && leaves[k].rank > 0 && static_cast<std::size_t>(map.leaf[k].first) == k)
      copies[k](device, grid, operands[map.leaf[k].operand], memory);
  return memory;
}

/// Binds a program to a domain and launches it.
template <class D, class Launch>
void launch_over(const OperandMap& map, const CopyIntoOrder<D>* copies, const LeafView* leaves, const D& device,
                 const OutputView* targets, const Domain& domain, bool is_column, kernel::Operand* operands,
                 const Launch& launch) {
  kernel::Grid grid{};
  const ReducedDimensions reduced = bind_over(map, leaves, targets, domain, is_column, operands, grid);
  std::vector<memory::Buffer<D>> memory; // released in stream order, after the kernel
  if (!is_one_walk(grid, operands, map.count, reduced.first, reduced.last))
    memory = copy_reduced(map, copies, leaves, device, grid, operands);
  merge_reduced(map, reduced, is_column, operands, grid);
  launch(grid, operands);
}
template <class D>
void launch_over(const OperandMap& map, const kernel::LaunchedProgram& program, const CopyIntoOrder<D>* copies,
                 const LeafView* leaves, const D& device, const OutputView* targets, const Domain& domain,
                 bool is_column) {
  OperandRoom<Code::capacity> operands;
  std::fill_n(operands.data(), map.count, kernel::Operand{});
  launch_over(
      map, copies, leaves, device, targets, domain, is_column, operands.data(),
      [&](const kernel::Grid& grid, const kernel::Operand* bound) { kernel::launch(program, device, grid, bound); });
}
template <class Source, class D>
void launch_over(const LeafView* leaves, const D& device, const OutputView* targets, const Domain& domain,
                 bool is_column) {
  using P = typename ProgramOf<Source>::type;
  if constexpr (kernel::launches_tables<D>) {
    launch_over(operand_map<Source>, kernel::launched_program<P>, CopiesIntoOrder<Source, D>::of_leaves.data(), leaves,
                device, targets, domain, is_column);
  } else {
    std::array<kernel::Operand, Operands<Source>::count> operands{};
    launch_over(operand_map<Source>, CopiesIntoOrder<Source, D>::of_leaves.data(), leaves, device, targets, domain,
                is_column, operands.data(), [&](const kernel::Grid& grid, const kernel::Operand* bound) {
                  kernel::launch(P{}, device, grid, bound);
                });
  }
}

/// Runs a program that takes leaves for one, if they are one. Returns whether it ran.
template <class Source, class D>
[[nodiscard]] bool launch_merged(const LeafView* leaves, const D& device, const OutputView* targets,
                                 const Domain& domain, bool is_column) {
  if (!are_one(operand_map<Source>, leaves)) return false;
  launch_over<Source>(leaves, device, targets, domain, is_column);
  return true;
}

/// Runs the first program that takes no leaves for one that are not.
template <class E, class D, class Apart, class... Merged>
void run_domain(Programs<Apart, Merged...>, const E& expression, const D& device, const OutputView* targets,
                const Domain& domain, bool is_column = false) {
  const LeafViews<Operands<Apart>::leaves> leaves(expression);
  if ((launch_merged<Merged>(leaves.data(), device, targets, domain, is_column) || ...)) return;
  launch_over<Apart>(leaves.data(), device, targets, domain, is_column);
}

}}}} // namespace twill::v0::expr::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {
TWILL_INSTANCE template void launch_over(const OperandMap&, const kernel::LaunchedProgram&, const CopyIntoOrder<Cpu>*,
                                         const LeafView*, const Cpu&, const OutputView*, const Domain&, bool);
}}}} // namespace twill::v0::expr::TWILL_ISA
#endif

#if TWILL_HEADER_ONLY
#include <twill/expr/domain.ipp>
#endif
