#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The meaning of a fused program, spelled out: one element after another, every line of it, each reduction in a pass of its
// own. Slow and obvious; the kernels are compared with it.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

namespace reference {

using namespace twill;
using namespace twill::kernel;

template <class P> struct Scalars;
template <class... Lines> struct Scalars<Program<Lines...>> {
  template <std::size_t... I> static auto tuple(std::index_sequence<I...>) {
    return std::tuple<kernel::compute_t<scalar_t<summary_of<Program<Lines...>>.lines[I].type>>...>{};
  }
  using type = decltype(tuple(std::index_sequence_for<Lines...>{}));
};

/// Evaluates one element after another, every line of it: the meaning of a program, spelled out.
template <class P> struct Evaluator {
  static constexpr auto summary = summary_of<P>;
  static constexpr int count = static_cast<int>(summary.lines.size());

  const Grid& grid;
  const Operand* operands;
  typename Scalars<P>::type values{};
  std::array<std::int64_t, max_rank> index{};

  [[nodiscard]] std::int64_t offset(const Operand& operand) const {
    std::int64_t sum = 0;
    for (int axis = 0; axis < grid.rank; ++axis)
      sum += index[static_cast<std::size_t>(axis)] * operand.strides[static_cast<std::size_t>(axis)];
    return sum;
  }

  template <std::size_t I, std::size_t... A> auto step(std::index_sequence<A...>) {
    return apply<summary.lines[I].primitive>(
        std::get<static_cast<std::size_t>(summary.lines[I].arguments[A])>(values)...);
  }

  template <std::size_t I> void line() {
    constexpr Line entry = summary.lines[I];
    using T = scalar_t<entry.type>;
    using C = kernel::compute_t<T>;
    auto& value = std::get<I>(values);
    if constexpr (entry.kind == LineKind::input) {
      const Operand& operand = operands[entry.operand];
      T element;
      std::memcpy(static_cast<void*>(&element), static_cast<const T*>(operand.data) + offset(operand), sizeof(T));
      value = static_cast<C>(element);
    } else if constexpr (entry.kind == LineKind::immediate) {
      T element;
      std::memcpy(static_cast<void*>(&element), &operands[entry.operand].bits, sizeof(T));
      value = static_cast<C>(element);
    } else if constexpr (entry.kind == LineKind::iota) {
      value = static_cast<std::int64_t>(operands[entry.operand].bits) + offset(operands[entry.operand]);
    } else if constexpr (entry.kind == LineKind::gather) {
      const Operand& operand = operands[entry.operand];
      const std::int64_t place = std::get<static_cast<std::size_t>(entry.arguments[0])>(values);
      T element;
      std::memcpy(static_cast<void*>(&element), static_cast<const T*>(operand.data) + place + offset(operand),
                  sizeof(T));
      value = static_cast<C>(element);
    } else if constexpr (entry.kind == LineKind::step) {
      value = step<I>(std::make_index_sequence<entry.arity>{});
    } else if constexpr (entry.kind == LineKind::cast) {
      value =
          static_cast<C>(static_cast<T>(convert<C>(std::get<static_cast<std::size_t>(entry.arguments[0])>(values))));
    } else if constexpr (entry.kind == LineKind::output) {
      const Operand& operand = operands[entry.operand];
      const T element = static_cast<T>(std::get<static_cast<std::size_t>(entry.arguments[0])>(values));
      std::memcpy(static_cast<T*>(operand.data) + offset(operand), &element, sizeof(T));
    }
  }

  template <std::size_t End, std::size_t... I> void lines_before(bool outputs, std::index_sequence<I...>) {
    const auto one = [&]<std::size_t J>() {
      if (summary.lines[J].kind != LineKind::output || outputs) line<J>();
    };
    (one.template operator()<I>(), ...);
  }
  template <std::size_t End> void lines_before(bool outputs) {
    lines_before<End>(outputs, std::make_index_sequence<End>{});
  }

  template <std::size_t I> void reduce(int axis) {
    constexpr Line entry = summary.lines[I];
    constexpr auto argument = static_cast<std::size_t>(entry.arguments[0]);
    using C = kernel::compute_t<scalar_t<entry.type>>;
    C sum = identity<entry.reduction, C>();
    const std::int64_t extent = grid.rank == 0 ? 1 : grid[axis];
    for (std::int64_t j = 0; j < extent; ++j) {
      if (grid.rank > 0) index[static_cast<std::size_t>(axis)] = j;
      lines_before<I>(false);
      sum = combine<entry.reduction>(sum, std::get<argument>(values));
    }
    std::get<I>(values) = sum;
  }

  template <LineKind Kind, std::size_t... I> void reductions(int axis, std::index_sequence<I...>) {
    const auto one = [&]<std::size_t J>() {
      if constexpr (summary.lines[J].kind == Kind) reduce<J>(axis);
    };
    (one.template operator()<I>(), ...);
  }

  /// Runs everything along one axis at the present index of the others.
  template <LineKind Kind> void along(int axis) {
    reductions<Kind>(axis, std::make_index_sequence<static_cast<std::size_t>(count)>{});
    const std::int64_t extent = grid.rank == 0 ? 1 : grid[axis];
    for (std::int64_t j = 0; j < extent; ++j) {
      if (grid.rank > 0) index[static_cast<std::size_t>(axis)] = j;
      lines_before<static_cast<std::size_t>(count)>(true);
    }
    if (extent == 0) { // an empty row still has its sums
      if (grid.rank > 0) index[static_cast<std::size_t>(axis)] = 0;
      uniform_outputs(std::make_index_sequence<static_cast<std::size_t>(count)>{});
    }
  }
  template <std::size_t... I> void uniform_outputs(std::index_sequence<I...>) {
    const auto one = [&]<std::size_t J>() {
      constexpr Line entry = summary.lines[J];
      constexpr bool row = summary.shape != KernelShape::column;
      if constexpr (row ? entry.uniform : entry.column) {
        if constexpr (entry.kind != LineKind::reduce && entry.kind != LineKind::reduce_columns) line<J>();
      }
    };
    (one.template operator()<I>(), ...);
  }

  template <LineKind Kind> void everywhere(int axis) {
    for (int other = 0; other < grid.rank; ++other)
      if (other != axis && grid[other] == 0) return;
    while (true) {
      along<Kind>(axis);
      int other = grid.rank - 1;
      for (; other >= 0; --other) {
        if (other == axis) continue;
        auto& position = index[static_cast<std::size_t>(other)];
        if (++position < grid[other]) break;
        position = 0;
      }
      if (other < 0) return;
    }
  }
};

/// Runs the program at every index of the grid. Operands in the order of the lines that take one.
template <class... Lines> void run(Program<Lines...>, const Grid& grid, const Operand* operands) {
  using P = Program<Lines...>;
  Evaluator<P> evaluator{grid, operands};
  if constexpr (summary_of<P>.shape == KernelShape::column)
    evaluator.template everywhere<LineKind::reduce_columns>(0);
  else if constexpr (summary_of<P>.shape == KernelShape::row)
    evaluator.template everywhere<LineKind::reduce>(grid.rank - 1);
  else if (grid.elements() > 0)
    evaluator.template everywhere<LineKind::reduce>(grid.rank - 1);
}

} // namespace reference
