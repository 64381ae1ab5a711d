#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A fused program as a CUDA kernel, in its plainest form: a thread owns an element, a row or a column and evaluates the
// lines one after another with the same scalar definitions as the host (kernel/apply.hpp). It is here to keep every program
// compilable by nvcc, as kernel and as host code, until device/cuda brings kernels that are fast.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <cstdint>
#include <utility>

namespace twill_test_cuda {

using twill::kernel::Grid;
using twill::kernel::KernelShape;
using twill::kernel::Line;
using twill::kernel::LineKind;
using twill::kernel::Operand;
using twill::kernel::Program;

/// Operands by value, as a kernel takes them.
template <int Count> struct Operands { Operand items[Count]; };

template <int I, class V> struct Slot { V value{}; };

template <class P, class Sequence> struct Values;
template <class P, int... I>
struct Values<P, std::integer_sequence<int, I...>>
    : Slot<I, twill::kernel::compute_t<twill::scalar_t<twill::kernel::summary_of<P>.lines[I].type>>>... {};

/// What one thread does. No function of it is __device__: they are constexpr, and --expt-relaxed-constexpr does the rest.
template <class P> struct ThreadBody {
  static constexpr int count = static_cast<int>(twill::kernel::summary_of<P>.lines.size());
  static constexpr KernelShape shape = twill::kernel::summary_of<P>.shape;
  static constexpr int operands = twill::kernel::summary_of<P>.operands;
  using Indices = std::make_integer_sequence<int, count>;

  template <int I> static constexpr Line line() { return twill::kernel::summary_of<P>.lines[I]; }
  template <int I> using Element = twill::scalar_t<line<I>().type>;
  template <int I> using Computed = twill::kernel::compute_t<Element<I>>;

  Values<P, Indices> values{};
  std::int64_t index[twill::max_rank]{};

  template <int I> constexpr auto& at() { return static_cast<Slot<I, Computed<I>>&>(values).value; }

  constexpr std::int64_t offset(const Operand& operand, int rank) const {
    std::int64_t sum = 0;
    for (int axis = 0; axis < rank; ++axis) sum += index[axis] * operand.strides.data()[axis];
    return sum;
  }

  template <int I, std::size_t... A> constexpr void step(std::index_sequence<A...>) {
    at<I>() = twill::kernel::apply<line<I>().primitive>(at<line<I>().arguments[A]>()...);
  }

  template <int I> constexpr void evaluate(const Operand* bound, int rank, bool stores) {
    constexpr Line own = line<I>();
    using T = Element<I>;
    if constexpr (own.kind == LineKind::input) {
      at<I>() =
          static_cast<Computed<I>>(static_cast<const T*>(bound[own.operand].data)[offset(bound[own.operand], rank)]);
    } else if constexpr (own.kind == LineKind::immediate) {
      // constants are small numbers here: the low bytes are the element
      T element{};
      __builtin_memcpy(&element, &bound[own.operand].bits, sizeof(T));
      at<I>() = static_cast<Computed<I>>(element);
    } else if constexpr (own.kind == LineKind::iota) {
      at<I>() = static_cast<std::int64_t>(bound[own.operand].bits) + offset(bound[own.operand], rank);
    } else if constexpr (own.kind == LineKind::gather) {
      at<I>() = static_cast<Computed<I>>(
          static_cast<const T*>(bound[own.operand].data)[at<own.arguments[0]>() + offset(bound[own.operand], rank)]);
    } else if constexpr (own.kind == LineKind::step) {
      step<I>(std::make_index_sequence<static_cast<std::size_t>(own.arity)>{});
    } else if constexpr (own.kind == LineKind::cast) {
      at<I>() = static_cast<Computed<I>>(static_cast<T>(twill::kernel::convert<Computed<I>>(at<own.arguments[0]>())));
    } else if constexpr (own.kind == LineKind::output) {
      if (stores)
        static_cast<T*>(bound[own.operand].data)[offset(bound[own.operand], rank)] =
            static_cast<T>(at<own.arguments[0]>());
    }
  }

  template <int... I>
  constexpr void lines_before(int end, const Operand* bound, int rank, bool stores, std::integer_sequence<int, I...>) {
    ((I < end ? evaluate<I>(bound, rank, stores) : void()), ...);
  }

  /// Reduction I along an axis; the lines before it are evaluated anew for every element.
  template <int I> constexpr void reduce(const Operand* bound, const Grid& grid, int axis) {
    constexpr Line own = line<I>();
    if constexpr (own.kind == LineKind::reduce || own.kind == LineKind::reduce_columns) {
      Computed<I> sum = twill::kernel::identity<own.reduction, Computed<I>>();
      for (std::int64_t j = 0; j < grid.extents.data()[axis]; ++j) {
        index[axis] = j;
        lines_before(I, bound, grid.rank, false, Indices{});
        sum = twill::kernel::combine<own.reduction>(sum, at<own.arguments[0]>());
      }
      at<I>() = sum;
    }
  }

  template <int... I>
  constexpr void reductions(const Operand* bound, const Grid& grid, int axis, std::integer_sequence<int, I...>) {
    (reduce<I>(bound, grid, axis), ...);
  }

  /// The axis along which a thread works alone: the row, the column, or none.
  static constexpr int own_axis(const Grid& grid) {
    return shape == KernelShape::elementwise ? -1 : shape == KernelShape::row ? grid.rank - 1 : 0;
  }

  /// How many elements, rows or columns there are.
  static constexpr std::int64_t shares(const Grid& grid) {
    std::int64_t product = 1;
    for (int axis = 0; axis < grid.rank; ++axis)
      if (axis != own_axis(grid)) product *= grid.extents.data()[axis];
    return product;
  }

  constexpr void run(std::int64_t share, const Operand* bound, const Grid& grid) {
    const int own = own_axis(grid);
    for (int axis = grid.rank - 1; axis >= 0; --axis) {
      index[axis] = 0;
      if (axis == own) continue;
      index[axis] = share % grid.extents.data()[axis];
      share /= grid.extents.data()[axis];
    }
    if (own < 0) {
      lines_before(count, bound, grid.rank, true, Indices{});
      return;
    }
    reductions(bound, grid, own, Indices{});
    for (std::int64_t j = 0; j < grid.extents.data()[own]; ++j) {
      index[own] = j;
      lines_before(count, bound, grid.rank, true, Indices{});
    }
  }
};

/// One kernel for each program; threads take shares in turn.
template <class... Lines>
__global__ void run_shares(Program<Lines...>, Grid grid, Operands<ThreadBody<Program<Lines...>>::operands> bound) {
  using Body = ThreadBody<Program<Lines...>>;
  const std::int64_t shares = Body::shares(grid);
  for (std::int64_t share = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; share < shares;
       share += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    Body body{};
    body.run(share, bound.items, grid);
  }
}

/// Launches a program, whose lines are deduced, so that those of lambdas and local models are welcome.
template <class... Lines> void launch_on_gpu(Program<Lines...> program, const Grid& grid, const Operand* bound) {
  using Body = ThreadBody<Program<Lines...>>;
  Operands<Body::operands> operands{};
  for (int i = 0; i < Body::operands; ++i) operands.items[i] = bound[i];
  const auto blocks = static_cast<unsigned>((Body::shares(grid) + 127) / 128);
  run_shares<<<blocks<1 ? 1 : blocks> 1024 ? 1024 : blocks, 128>>>(program, grid, operands);
}

} // namespace twill_test_cuda
