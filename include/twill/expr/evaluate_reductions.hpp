#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs expressions with reductions. The grid is the kept axes followed by the reduced ones, merged into a single row (or
// the other way round for column programs). Where the operands' strides do not allow the merge, they are copied into the
// order of the grid first; that is the only case that reads memory twice. Read next: expr/reductions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/program.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/expr/row_form.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/copy.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::expr::inline TWILL_ISA {

/// The program of `rows`, `totals` and `permuted`.
template <class E, DType To, std::int64_t RowExtent, bool Outside, bool Strided> struct RowProgram {
  static constexpr Code code = [] {
    Code result{};
    const Frame frame{.strided = Strided, .outside = Outside, .row_extent = RowExtent};
    result.output(To, result.cast(To, E::lower(result, frame)));
    return result;
  }();
};

/// The program of `columns`: combines, and leaves what comes after to the caller.
template <class E, DType To, bool Strided> struct ColumnProgram;
template <class Op, unsigned Mask, Rest Remains, class A, DType To, bool Strided>
struct ColumnProgram<Reduced<Op, Mask, Remains, A>, To, Strided> {
  static constexpr Code code = [] {
    using S = typename A::shape_type;
    Code result{};
    const Frame frame{.strided = Strided, .row_extent = dims_of<S>[S::rank - 1]};
    const Symbol value = Op::prepare(Symbol{result, A::lower(result, frame)});
    result.output(To, result.reduce(kernel::LineKind::reduce_columns, Op::reduction_of(A::dtype), value.line()));
    return result;
  }();
};

/// Where the axes of what is reduced lie in the grid.
struct Domain {
  Dims extents{}; ///< of what is reduced
  unsigned mask = 0;
  Dims order{}; ///< the axis behind each dimension of the grid
  int kept = 0; ///< how many of them are not reduced

  /// Kept axes first, or reduced axes first.
  Domain(const Dims& shape, unsigned reduced, bool kept_first) : extents{shape}, mask{reduced} {
    for (const bool wanted : {!kept_first, kept_first})
      for (int axis = 0; axis < shape.rank; ++axis)
        if (((mask >> axis & 1U) != 0) == wanted) order[order.rank++] = axis;
    for (int axis = 0; axis < shape.rank; ++axis) kept += (mask >> axis & 1U) == 0 ? 1 : 0;
  }
  [[nodiscard]] bool reduces(int dimension) const { return (mask >> order[dimension] & 1U) != 0; }
};

/// Strides along the grid of a view aligned with what is reduced, or with the result when that has fewer axes.
[[gnu::noinline]] inline void strides_in_domain(kernel::Operand& operand, const Dims& extents, const Dims& strides,
                                                const Domain& domain, bool beside_dropped_axes) {
  int kept = 0;
  for (int dimension = 0; dimension < domain.order.rank; ++dimension) {
    const bool is_reduced = domain.reduces(dimension);
    int axis = static_cast<int>(domain.order[dimension]) - (domain.extents.rank - extents.rank);
    if (beside_dropped_axes) axis = is_reduced ? -1 : kept++ - (domain.kept - extents.rank);
    operand.strides[static_cast<std::size_t>(dimension)] = axis < 0 || extents[axis] == 1 ? 0 : strides[axis];
  }
}

/// Binds leaves along a domain.
template <class Source> class DomainBinder {
public:
  DomainBinder(kernel::Operand* operands, const Domain& domain, bool drops_axes)
      : operands_{operands}, domain_{domain}, drops_axes_{drops_axes} {}

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    kernel::Operand& operand = operands_[Operands<Source>::operand_of_leaf[next_]];
    operand.data = tensor.data();
    strides_in_domain(operand, tensor.shape(), tensor.strides(), domain_, drops_axes_ && is_outside());
    ++next_;
  }
  template <class Moves, class X> void gathered(const Moves& moves, const X&) { (*this)(moves); }
  template <Scalar T> void operator()(const T& value) {
    std::memcpy(&operands_[Operands<Source>::operand_of_leaf[next_++]].bits, &value, sizeof(T));
  }

private:
  [[nodiscard]] bool is_outside() const { return Operands<Source>::outside[next_]; }

  kernel::Operand* operands_;
  const Domain& domain_;
  bool drops_axes_;
  std::size_t next_ = 0;
};

/// Copies the leaves that are reduced into the order of the grid, so that the reduced axes become one.
template <class Source, class D> class Gatherer {
public:
  Gatherer(kernel::Operand* operands, const D& device, const kernel::Grid& grid)
      : operands_{operands}, device_{device}, grid_{grid} {}

  template <class T, class S> void operator()(const Tensor<T, D, S>&) {
    const std::size_t leaf = next_++;
    if (Operands<Source>::outside[leaf] || S::rank == 0) return; // the same for every element
    kernel::Operand& operand = operands_[Operands<Source>::operand_of_leaf[leaf]];
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
[[nodiscard, gnu::noinline]] inline bool is_one_walk(const kernel::Grid& grid, const kernel::Operand* operands,
                                                     std::size_t count, int first, int last) {
  for (std::size_t o = 0; o < count; ++o) {
    int inner = last;
    while (inner > first && grid[inner] == 1) --inner;
    for (int outer = inner - 1; outer >= first; --outer) {
      if (grid[outer] == 1) continue;
      const auto& strides = operands[o].strides;
      if (strides[static_cast<std::size_t>(outer)] != strides[static_cast<std::size_t>(inner)] * grid[inner])
        return false;
      inner = outer;
    }
  }
  return true;
}

/// Replaces dimensions first to last by their product.
[[gnu::noinline]] inline void merge(kernel::Grid& grid, kernel::Operand* operands, std::size_t count, int first,
                                    int last) {
  int inner = last;
  while (inner > first && grid[inner] == 1) --inner;
  std::int64_t extent = 1;
  for (int axis = first; axis <= last; ++axis) extent *= grid[axis];
  for (std::size_t o = 0; o < count; ++o) {
    auto& strides = operands[o].strides;
    strides[static_cast<std::size_t>(first)] = strides[static_cast<std::size_t>(inner)];
    for (int axis = last + 1; axis < grid.rank; ++axis)
      strides[static_cast<std::size_t>(axis - last + first)] = strides[static_cast<std::size_t>(axis)];
  }
  grid[first] = extent;
  for (int axis = last + 1; axis < grid.rank; ++axis) grid[axis - last + first] = grid[axis];
  grid.rank -= last - first;
}

/// Binds a program to a domain and launches it. `Expected` and `Strided` take the same operands.
template <class Expected, class Strided, class E, class D>
[[gnu::noinline]] void run_domain(const E& expression, const D& device, void* to, const Dims& to_extents,
                                  const Dims& to_strides, const Domain& domain, bool is_column, bool drops_axes,
                                  bool to_is_total) {
  using Bound = Operands<Expected>;
  std::array<kernel::Operand, Bound::count> operands{};
  kernel::Grid grid = detail::reordered(domain.extents, domain.order);
  const int first = is_column ? 0 : domain.kept;
  const int last = is_column ? grid.rank - domain.kept - 1 : grid.rank - 1;

  DomainBinder<Expected> binder{operands.data(), domain, drops_axes};
  expression.each_leaf(binder);
  operands.back().data = to;
  strides_in_domain(operands.back(), to_extents, to_strides, domain, drops_axes && to_is_total);
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

  Gatherer<Expected, D> gatherer{operands.data(), device, grid};
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
  if (moves_as_expected(grid, operands.data(), Bound::entries.data(), Bound::count))
    kernel::launch(typename ProgramOf<Expected>::type{}, device, grid, operands.data());
  else
    kernel::launch(typename ProgramOf<Strided>::type{}, device, grid, operands.data());
}

[[noreturn, gnu::noinline]] inline void rows_differ(std::string_view operation, const Dims& own, const Dims& domain) {
  throw ShapeError(std::string(operation) + ": it reduces shape " + to_string(own) + " in a statement over shape " +
                   to_string(domain) + "; evaluate the reduction in a statement of its own");
}
[[noreturn, gnu::noinline]] inline void no_elements(std::string_view operation, const Dims& own) {
  throw ValueError(std::string(operation) + ": the reduced axes of shape " + to_string(own) + " hold no elements");
}

/// Visits every reduction that runs along the rows and checks that the rows are what it reduces. throws: ShapeError
template <class E> void require_rows(const E&, const Dims&, int) {}
template <class Op, class... A> void require_rows(const Node<Op, A...>& node, const Dims& domain, int trailing);
template <class Op, unsigned Mask, Rest Remains, class... A>
void require_rows(const Reduced<Op, Mask, Remains, A...>& reduced, const Dims& domain, int trailing) {
  const Dims own = reduced.domain();
  for (int distance = 0; distance < trailing; ++distance)
    if (detail::from_right(own, distance) != detail::from_right(domain, distance)) rows_differ(Op::name(), own, domain);
  if constexpr (requires { requires Op::needs_elements; })
    if (domain.elements() == 0) no_elements(Op::name(), own);
  reduced.operands.apply([&](const auto&... operand) { (require_rows(operand, domain, 1), ...); });
}
template <class Op, class... A> void require_rows(const Node<Op, A...>& node, const Dims& domain, int trailing) {
  node.operands.apply([&](const auto&... operand) { (require_rows(operand, domain, trailing), ...); });
}

/// The broadcast extents of what the outermost reductions reduce.
template <class E> void join_domain(const E&, Dims&) {}
template <class Op, class... A> void join_domain(const Node<Op, A...>& node, Dims& domain) {
  node.operands.apply([&](const auto&... operand) { (join_domain(operand, domain), ...); });
}
template <class Op, unsigned Mask, Rest Remains, class... A>
void join_domain(const Reduced<Op, Mask, Remains, A...>& reduced, Dims& domain) {
  const Dims own = reduced.domain();
  domain = domain.rank == 0 ? own : detail::broadcast_dims(domain, own);
}

template <class Op, class... Old, class... A> [[nodiscard]] auto rebuilt(const Node<Op, Old...>*, A... operands) {
  return Node<Op, A...>(std::move(operands)...);
}
/// The expression with every outermost reduction evaluated.
template <class E> [[nodiscard]] auto staged(const E& part) {
  if constexpr (is_reduced<E>) {
    using S = typename E::shape_type;
    return Held<typename E::value_type, typename E::device_type, S>{evaluate_as<S>(part)};
  } else if constexpr (!E::has_reductions) {
    return part;
  } else {
    return staged_operands(part);
  }
}
template <class E> [[nodiscard]] auto staged_operands(const E& part) {
  return part.operands.apply(
      []<class... A>(const A&... operand) { return rebuilt(static_cast<const E*>(nullptr), staged(operand)...); });
}

template <DType To, class Op, unsigned Mask, Rest Remains, class A, class D>
void run_columns(const Reduced<Op, Mask, Remains, A>& reduced, const D& device, void* to, const Dims& to_strides,
                 const Dims& extents) {
  using E = Reduced<Op, Mask, Remains, A>;
  const Domain domain{reduced.domain(), Mask, false};
  constexpr DType partial = Op::is_mean ? compute_type(E::dtype) : E::dtype;
  const auto combine = [&](void* sums, const Dims& strides) {
    run_domain<ColumnProgram<E, partial, false>, ColumnProgram<E, partial, true>>(
        reduced, device, sums, extents, strides, domain, true, Remains == Rest::dropped, true);
  };
  if constexpr (partial == To && !Op::is_mean) {
    combine(to, to_strides);
  } else {
    using S = typename E::shape_type;
    Tensor<scalar_t<partial>, D, S> sums(device, extents);
    combine(sums.data(), sums.strides());
    if constexpr (Op::is_mean) {
      std::int64_t length = 1;
      for (int axis = 0; axis < domain.extents.rank; ++axis)
        if ((Mask >> axis & 1U) != 0) length *= domain.extents[axis];
      const auto count = static_cast<scalar_t<partial>>(length);
      run_elementwise<To>(apply_node<Primitive::divide>(sums, count), device, to, to_strides, extents);
    } else {
      run_elementwise<To>(make_node<Convert<To>>(sums), device, to, to_strides, extents);
    }
  }
}

/// Whether axes of a view can be one, as the axes of a row are.
[[nodiscard]] inline bool is_one_axis(const Dims& extents, const Dims& strides, unsigned mask) {
  std::int64_t expected = 0;
  for (int axis = extents.rank - 1; axis >= 0; --axis) {
    if ((mask >> axis & 1U) == 0 || extents[axis] == 1) continue;
    if (expected != 0 && strides[axis] != expected) return false;
    expected = strides[axis] * extents[axis];
  }
  return true;
}

template <DType To, class Op, unsigned Mask, Rest Remains, class... A, class D>
void run_permuted(const Reduced<Op, Mask, Remains, A...>& reduced, const D& device, void* to, const Dims& to_strides,
                  const Dims& extents) {
  using E = Reduced<Op, Mask, Remains, A...>;
  constexpr bool is_whole = Remains == Rest::whole;
  const Domain domain{reduced.domain(), Mask, true};
  if constexpr (is_whole && (Mask & (Mask - 1)) != 0) {
    // several axes of the result are one row: in memory they have to be one too
    if (!is_one_axis(extents, to_strides, Mask)) {
      const Dims gathered = detail::reordered(domain.extents, domain.order);
      const Dims inner = contiguous_strides(gathered);
      Dims strides = inner;
      for (int dimension = 0; dimension < inner.rank; ++dimension)
        strides[static_cast<int>(domain.order[dimension])] = inner[dimension];
      memory::Buffer<D> copy(device, static_cast<std::size_t>(extents.elements()) * size_of(To));
      run_permuted<To>(reduced, device, copy.data(), strides, extents);
      using T = scalar_t<To>;
      return detail::copy_elements(device, static_cast<T*>(to), to_strides, static_cast<const T*>(copy.data()), strides,
                                   extents);
    }
  }
  using Program = RowProgram<E, To, dyn, false, true>;
  run_domain<Program, Program>(reduced, device, to, extents, to_strides, domain, false, Remains == Rest::dropped,
                               !is_whole);
}

template <DType To, class E, class D>
void run_with_reductions(const E& expression, const D& device, void* to, const Dims& to_strides, const Dims& extents) {
  constexpr Form form = form_of<E>();
  constexpr bool gathers_along_rows = form == Form::rows || (form == Form::totals && outermost_of<E>.trailing == 1);
  if (extents.elements() == 0) return;
  if constexpr (gathers<E> && !gathers_along_rows) {
    run<To>(settled(expression), device, to, to_strides, extents);
  } else if constexpr (form == Form::rows) {
    constexpr int rank = E::shape_type::rank;
    constexpr std::int64_t length = dims_of<typename E::shape_type>[rank - 1];
    require_rows(expression, extents, 1);
    run_domain<RowProgram<E, To, length, false, false>, RowProgram<E, To, length, false, true>>(
        expression, device, to, extents, to_strides, Domain{extents, 1U << (rank - 1), true}, false, false, false);
  } else if constexpr (form == Form::totals) {
    constexpr Outermost found = outermost_of<E>;
    constexpr std::int64_t length = found.rank == 0 ? 1 : found.domain[found.rank - 1];
    constexpr unsigned mask = (1U << found.rank) - (1U << (found.rank - found.trailing));
    Dims domain{};
    join_domain(expression, domain);
    require_rows(expression, domain, found.trailing);
    for (int axis = 0; axis < found.rank - found.trailing; ++axis) domain[axis] = extents[axis];
    run_domain<RowProgram<E, To, length, true, false>, RowProgram<E, To, length, true, true>>(
        expression, device, to, extents, to_strides, Domain{domain, mask, true}, false, !found.keep, true);
  } else if constexpr (form == Form::columns || form == Form::permuted) {
    require_rows(expression, expression.domain(), 0);
    if constexpr (form == Form::columns)
      run_columns<To>(expression, device, to, to_strides, extents);
    else
      run_permuted<To>(expression, device, to, to_strides, extents);
  } else if constexpr (is_reduced<E>) {
    run<To>(staged_operands(expression), device, to, to_strides, extents);
  } else {
    run<To>(staged(expression), device, to, to_strides, extents);
  }
}

} // namespace twill::inline v0::expr::inline TWILL_ISA
