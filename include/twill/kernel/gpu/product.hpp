#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on any GPU by twill's tiled kernel, which takes every element type, every stride and every batch. It
// sums along k in order, one accumulator for each element of C, so its results depend on the operands alone. A vendor's
// library, where installed (kernel/cuda/product.cuh), takes the products that it supports, and this kernel the rest:
// integers, overlapping strides, shapes that the library refuses. Not in the umbrella: code that launches on a GPU
// includes it. Read next: kernel/gpu/block.hpp.

#include <twill/core/dtype.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/gpu/product_plan.hpp>
#include <twill/kernel/product_stack.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// a b and a + b. Complex numbers have operators; they are no operands of primitives.
template <class C> [[nodiscard]] constexpr C times(C a, C b) {
  if constexpr (ComplexScalar<C>)
    return a * b;
  else
    return apply<Primitive::multiply>(a, b);
}
template <class C> [[nodiscard]] constexpr C plus(C a, C b) {
  if constexpr (ComplexScalar<C>)
    return a + b;
  else
    return combine<Reduction::sum>(a, b);
}

/// Parameters of the kernel. Offsets within one product are 64-bit: speed is not measured with this kernel.
template <class T> struct ProductParameters {
  MatrixStack<T> a{};
  MatrixStack<T> b{};
  T* c = nullptr;
  std::int64_t c_row_stride = 0;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  compute_t<T> alpha{};
  compute_t<T> beta{};
  BatchWalk batch{};
  std::int64_t row_tiles = 0;
  std::int64_t column_tiles = 0;
  std::int64_t first_tile = 0; ///< of this launch
};

/// A block computes a tile of `rows` by `columns` elements of C in steps of `depth`; a thread, `rows_each` by
/// `columns_each` of them, `thread_rows` and `thread_columns` apart.
template <ProductTile Tile> struct TileSizes {
  static constexpr int rows = Tile == ProductTile::wide ? 64 : 16;
  static constexpr int columns = rows;
  static constexpr int depth = 16;
  static constexpr int rows_each = Tile == ProductTile::wide ? 4 : 1;
  static constexpr int columns_each = rows_each;
  static constexpr int thread_rows = rows / rows_each;
  static constexpr int thread_columns = columns / columns_each;
  static constexpr int threads = thread_rows * thread_columns;
  static constexpr int row_pitch = rows + 1; ///< puts neighbours of a column into different banks
  static constexpr int column_pitch = columns + 1;
  /// Shared memory that holds a step of A and one of B.
  template <class C> static constexpr std::size_t shared_bytes = sizeof(C) * depth*(row_pitch + column_pitch);
};

/// A thread's elements of a tile. Written out element by element, because an index that is not a constant would keep
/// them out of registers.
template <class C, ProductTile Tile> struct TileSums {
  using Sizes = TileSizes<Tile>;
  C at[Sizes::rows_each][Sizes::columns_each];

  constexpr void clear() {
    for (int i = 0; i < Sizes::rows_each; ++i)
      for (int j = 0; j < Sizes::columns_each; ++j) at[i][j] = C{};
  }

  /// Adds the products of a step in shared memory: `left` is depth by rows, `right` depth by columns.
  constexpr void accumulate(const C* left, const C* right, int thread) {
    const int row = thread / Sizes::thread_columns;
    const int column = thread % Sizes::thread_columns;
    for (int step = 0; step < Sizes::depth; ++step) {
      C factors[Sizes::columns_each];
      for (int j = 0; j < Sizes::columns_each; ++j)
        factors[j] = right[step * Sizes::column_pitch + column + j * Sizes::thread_columns];
      for (int i = 0; i < Sizes::rows_each; ++i) {
        const C factor = left[step * Sizes::row_pitch + row + i * Sizes::thread_rows];
        for (int j = 0; j < Sizes::columns_each; ++j) at[i][j] = plus(at[i][j], times(factor, factors[j]));
      }
    }
  }

  /// Calls f(sum, row, column) for each, with its place in the tile.
  template <class F> constexpr void each(int thread, const F& f) const {
    each(thread, f, std::make_index_sequence<Sizes::rows_each * Sizes::columns_each>{});
  }

private:
  template <class F, std::size_t... I> constexpr void each(int thread, const F& f, std::index_sequence<I...>) const {
    const int row = thread / Sizes::thread_columns;
    const int column = thread % Sizes::thread_columns;
    constexpr int own = Sizes::columns_each;
    (f(at[I / own][I % own], row + static_cast<int>(I) / own * Sizes::thread_rows,
       column + static_cast<int>(I) % own * Sizes::thread_columns),
     ...);
  }
};

template <class T, ProductTile Tile> struct ProductBody {
  using C = compute_t<T>;
  using Sizes = TileSizes<Tile>;
  static constexpr int most_threads = Sizes::threads;
  static constexpr int least_blocks = 1;

  template <class Block> constexpr void operator()(const Block& block, const ProductParameters<T>& p) const {
    const std::int64_t tile = p.first_tile + block.block();
    const std::int64_t first_column = tile % p.column_tiles * Sizes::columns;
    const std::int64_t first_row = tile / p.column_tiles % p.row_tiles * Sizes::rows;
    const BatchOffsets offsets = offsets_of(p.batch, tile / p.column_tiles / p.row_tiles);
    const T* const a = p.a.data + offsets.a + first_row * p.a.row_stride;
    const T* const b = p.b.data + offsets.b + first_column * p.b.column_stride;
    const std::int64_t rows = p.m - first_row;
    const std::int64_t columns = p.n - first_column;
    C* const left = block.template shared<C>();
    C* const right = block.template shared<C>(sizeof(C) * Sizes::depth * Sizes::row_pitch);

    typename Block::template Local<TileSums<C, Tile>> sums;
    block.each([&](int thread) { sums[thread].clear(); });
    for (std::int64_t first = 0; first < p.k; first += Sizes::depth) {
      const std::int64_t depth = p.k - first;
      block.each([&](int thread) {
        load<Sizes::rows, Sizes::row_pitch>(left, a + first * p.a.column_stride, p.a.row_stride, p.a.column_stride,
                                            rows, depth, thread);
        load<Sizes::columns, Sizes::column_pitch>(right, b + first * p.b.row_stride, p.b.column_stride, p.b.row_stride,
                                                  columns, depth, thread);
      });
      block.barrier();
      block.each([&](int thread) { sums[thread].accumulate(left, right, thread); });
      block.barrier();
    }
    T* const c = p.c + offsets.c + first_row * p.c_row_stride + first_column;
    block.each([&](int thread) {
      sums[thread].each(thread, [&](C sum, int row, int column) { blend(sum, p, c, rows, columns, row, column); });
    });
  }

private:
  /// Loads `Extent` rows (or columns) by `depth` into shared memory, with zeros outside. Neighbouring threads read
  /// along the smaller stride.
  template <int Extent, int Pitch>
  static constexpr void load(C* to, const T* from, std::int64_t stride, std::int64_t depth_stride, std::int64_t extent,
                             std::int64_t depth, int thread) {
    const bool is_along_depth = depth_stride <= stride;
    for (int round = 0; round < Extent * Sizes::depth / Sizes::threads; ++round) {
      const int place = thread + round * Sizes::threads;
      const int row = is_along_depth ? place / Sizes::depth : place % Extent;
      const int step = is_along_depth ? place % Sizes::depth : place / Extent;
      to[step * Pitch + row] =
          row < extent && step < depth ? static_cast<C>(from[row * stride + step * depth_stride]) : C{};
    }
  }

  // c = alpha * sum + beta * c, and c is not read when beta is 0
  static constexpr void blend(C sum, const ProductParameters<T>& p, T* c, std::int64_t rows, std::int64_t columns,
                              int row, int column) {
    if (row >= rows || column >= columns) return;
    T& to = c[row * p.c_row_stride + column];
    C value = times(p.alpha, sum);
    if (p.beta != C{}) value = plus(value, times(p.beta, static_cast<C>(to)));
    to = static_cast<T>(value);
  }
};

/// Launches the tiled kernel; more tiles than a grid has blocks take several launches.
template <ProductTile Tile, class Queue, class T>
void enqueue_product(const Queue& queue, ProductParameters<T> parameters) {
  using Sizes = TileSizes<Tile>;
  constexpr std::int64_t most_blocks = (std::int64_t{1} << 31) - 1;
  parameters.row_tiles = (parameters.m + Sizes::rows - 1) / Sizes::rows;
  parameters.column_tiles = (parameters.n + Sizes::columns - 1) / Sizes::columns;
  const std::int64_t tiles = parameters.row_tiles * parameters.column_tiles * parameters.batch.count();
  for (; parameters.first_tile < tiles; parameters.first_tile += most_blocks) {
    const std::int64_t blocks = std::min(most_blocks, tiles - parameters.first_tile);
    enqueue(queue, ProductBody<T, Tile>{},
            twill::gpu::LaunchShape{static_cast<unsigned>(blocks), Sizes::threads,
                                    Sizes::template shared_bytes<compute_t<T>>},
            parameters);
  }
}

/// C = alpha A B + beta C for every product of a stack, by the tiled kernel. C is not read when beta is 0.
template <class Queue, class T>
void tiled_products(const Queue& queue, const ProductStack<T>& stack, compute_t<T> alpha, compute_t<T> beta) {
  if (stack.batch.elements() == 0 || stack.m == 0 || stack.n == 0) return;
  ProductParameters<T> parameters{};
  parameters.a = stack.a;
  parameters.b = stack.b;
  parameters.c = stack.c;
  parameters.c_row_stride = stack.c_row_stride;
  parameters.m = stack.m;
  parameters.n = stack.n;
  parameters.k = stack.k;
  parameters.alpha = alpha;
  parameters.beta = beta;
  parameters.batch = walk_batch(stack);
  if (choose_tile(stack.m, stack.n, parameters.batch.count(), queue.properties().processors) == ProductTile::wide)
    enqueue_product<ProductTile::wide>(queue, parameters);
  else
    enqueue_product<ProductTile::narrow>(queue, parameters);
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// C = alpha A B + beta C for every product of a stack. A more special overload, for the queues of one driver, may pass
/// supported products to a library. Call it unqualified.
/// throws: GpuError
template <twill::gpu::Runtime R, Scalar T>
void run_products(const twill::gpu::Queue<R>& queue, const ProductStack<T>& stack, compute_t<T> alpha = compute_t<T>{1},
                  compute_t<T> beta = compute_t<T>{}) {
  gpu::tiled_products(queue, stack, alpha, beta);
}

/// One product with the host's `product` arguments: op(A) is m x k, op(B) is k x n, row-major with `ld` elements from
/// row to row.
template <Scalar T, twill::gpu::Runtime R>
void product(const twill::gpu::Queue<R>& queue, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
             std::int64_t k, compute_t<T> alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb,
             compute_t<T> beta, T* c, std::int64_t ldc) {
  ProductStack<T> stack{.m = m, .n = n, .k = k};
  stack.a = {a, transpose_a ? 1 : lda, transpose_a ? lda : 1, {}};
  stack.b = {b, transpose_b ? 1 : ldb, transpose_b ? ldb : 1, {}};
  stack.c = c;
  stack.c_row_stride = ldc;
  run_products(queue, stack, alpha, beta);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
