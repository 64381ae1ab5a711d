#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Attention without the matrix of scores on a GPU: a warp owns a row, of queries in the forward pass and for their
// gradient, of keys for the gradients of keys and values. It meets 32 rows of the other kind at once, one a lane, in
// memory that a block's eight warps share. Sums are float where elements have 16 bits, stay in shared memory until
// complete, and have one thread and order: no atomics. On hosts: kernel/attention.hpp. Read next:
// kernel/gpu/attention_choice.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/attention.hpp>
#include <twill/kernel/gpu/axes.hpp>
#include <twill/kernel/gpu/block.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// A block's rows and its arrays in shared memory, in the type C of the sums.
template <class C> struct AttentionTile {
  static constexpr int own = 8;               ///< rows, one for each warp
  static constexpr int others = warp_threads; ///< rows, one for each lane
  static constexpr int threads = own * warp_threads;
  static constexpr int pitch = warp_threads + 1; ///< keeps lanes out of each other's banks
  static constexpr int width = 128;              ///< columns of the results that a block computes at once
  static constexpr std::size_t bytes = sizeof(C) * (3 * threads + others * pitch + 2 * own * width);

  C* rows;      ///< part of the own rows, `own` by a warp
  C* weights;   ///< own by others
  C* gradients; ///< own by others
  C* columns;   ///< part of the others, `others` by `pitch`
  C* sums;      ///< of a result, own by `width`
  C* more_sums; ///< of another

  template <class Block> static constexpr AttentionTile in(const Block& block) {
    C* const first = block.template shared<C>();
    C* const after = first + 3 * threads + others * pitch;
    return {first, first + threads, first + 2 * threads, first + 3 * threads, after, after + own * width};
  }
};

/// Some rows of a matrix.
template <class T> struct AttentionRows {
  const T* data = nullptr;
  std::int64_t count = 0; ///< rows after them are zeros
};

/// Some columns of rows that are `width` long.
struct AttentionColumns {
  std::int64_t width = 0;
  std::int64_t first = 0;
  std::int64_t count = 0; ///< at most those of a tile

  constexpr AttentionColumns(std::int64_t all, std::int64_t begin, std::int64_t most)
      : width{all}, first{begin}, count{all - begin < most ? all - begin : most} {}
};

template <class T> struct AttentionParameters {
  AttentionInputs<T> in{};
  AttentionGradients<T> backward{};
  T* out = nullptr;
  compute_t<T>* logsumexp = nullptr;
  std::int64_t tiles = 0; ///< of own rows in a batch
};

/// The parts that the passes have in common.
template <class T> struct AttentionPass {
  using C = compute_t<T>;
  using Tile = AttentionTile<C>;
  static constexpr int most_threads = Tile::threads;
  static constexpr int least_blocks = 1;
  static constexpr C never = -std::numeric_limits<C>::infinity();

  /// Calls f(sum, column) for the sums of a row that a thread has: every 32nd of its warp's.
  template <class F> static constexpr void each_sum(C* sums, const AttentionColumns& columns, int thread, const F& f) {
    C* const own = sums + thread / warp_threads * Tile::width;
    for (std::int64_t i = thread % warp_threads; i < columns.count; i += warp_threads) f(own[i], i);
  }

  template <class Block> static constexpr void clear(const Block& block, C* sums, const AttentionColumns& columns) {
    block.each([&](int thread) { each_sum(sums, columns, thread, [](C& sum, std::int64_t) { sum = C{}; }); });
  }

  /// Stores sums, divided by divisor(thread), into their columns of rows in memory.
  template <class Block, class F>
  static constexpr void store(const Block& block, C* sums, const AttentionColumns& columns, T* to, std::int64_t rows,
                              const F& divisor) {
    if (to == nullptr) return;
    block.each([&](int thread) {
      const int row = thread / warp_threads;
      if (row >= rows) return;
      T* const own = to + row * columns.width + columns.first;
      each_sum(sums, columns, thread, [&](C& sum, std::int64_t i) { own[i] = static_cast<T>(sum / divisor(thread)); });
    });
  }

  /// Gives each thread the product of its warp's own row and its lane's other row.
  template <class Block>
  static constexpr void products(const Block& block, const Tile& tile, typename Block::template Local<C>& sums,
                                 const AttentionRows<T>& own, const AttentionRows<T>& other, std::int64_t width) {
    block.each([&](int thread) { sums[thread] = C{}; });
    for (std::int64_t first = 0; first < width; first += warp_threads) {
      block.each([&](int thread) {
        const int lane = thread % warp_threads;
        const int warp = thread / warp_threads;
        const std::int64_t at = first + lane;
        tile.rows[thread] = at < width && warp < own.count ? static_cast<C>(own.data[warp * width + at]) : C{};
        for (int row = warp; row < Tile::others; row += Tile::own)
          tile.columns[row * Tile::pitch + lane] =
              at < width && row < other.count ? static_cast<C>(other.data[row * width + at]) : C{};
      });
      block.barrier();
      block.each([&](int thread) {
        const C* const mine = tile.rows + thread / warp_threads * warp_threads;
        const C* const others = tile.columns + thread % warp_threads * Tile::pitch;
        C sum = sums[thread];
        for (int i = 0; i < warp_threads; ++i) sum += mine[i] * others[i];
        sums[thread] = sum;
      });
      block.barrier();
    }
  }

  /// The score for a product of a query and a key; -infinity where the key is masked or either is none.
  static constexpr C score(const AttentionInputs<T>& in, C product, std::int64_t batch, std::int64_t query,
                           std::int64_t key) {
    const AttentionShape& s = in.shape;
    if (query >= s.queries || key >= s.keys || (s.is_causal && key > query)) return never;
    const std::int64_t at = in.mask.row(batch, query) + key * in.mask.key_stride;
    if (in.mask.keep != nullptr && !in.mask.keep[at]) return never;
    const C scaled = static_cast<C>(s.scale) * product;
    return in.mask.added != nullptr ? scaled + static_cast<C>(in.mask.added[at]) : scaled;
  }

  /// Adds some columns of the other rows, weighted for each own row, to sums that are scaled down first.
  template <class Block, class Fade>
  static constexpr void add_rows(const Block& block, const C* weights, const AttentionRows<T>& other,
                                 const AttentionColumns& columns, C* sums, const Fade& fade) {
    block.each([&](int thread) {
      const C* const mine = weights + thread / warp_threads * warp_threads;
      const T* const from = other.data + columns.first;
      each_sum(sums, columns, thread, [&](C& to, std::int64_t i) {
        C sum = to * fade(thread);
        for (int row = 0; row < other.count; ++row) sum += mine[row] * static_cast<C>(from[row * columns.width + i]);
        to = sum;
      });
    });
  }
};

/// The output, and log(sum(exp(scores))) of each row. Each tile of columns has a pass of its own.
template <class T> struct AttentionForward : AttentionPass<T> {
  using Pass = AttentionPass<T>;
  using C = typename Pass::C;
  using Tile = typename Pass::Tile;

  template <class Block> constexpr void operator()(const Block& block, const AttentionParameters<T>& p) const {
    std::int64_t first = 0;
    do {
      some_columns(block, p, {p.in.shape.value_width, first, Tile::width});
      first += Tile::width;
    } while (first < p.in.shape.value_width);
  }

private:
  template <class Block>
  static constexpr void some_columns(const Block& block, const AttentionParameters<T>& p,
                                     const AttentionColumns& columns) {
    const AttentionShape& s = p.in.shape;
    const Tile tile = Tile::in(block);
    const std::int64_t batch = block.block() / p.tiles;
    const std::int64_t first = block.block() % p.tiles * Tile::own;
    const std::int64_t rows = std::min<std::int64_t>(Tile::own, s.queries - first);
    const AttentionRows<T> queries{p.in.q + (batch * s.queries + first) * s.width, rows};
    typename Block::template Local<C> scores;
    typename Block::template Local<C> largest; // so far
    typename Block::template Local<C> sums;    // of exp(score - largest)
    typename Block::template Local<C> fades;
    typename Block::template Local<C> found;
    block.each([&](int thread) {
      largest[thread] = Pass::never;
      sums[thread] = C{};
    });
    Pass::clear(block, tile.sums, columns);
    const std::int64_t seen = s.is_causal ? std::min(s.keys, first + rows) : s.keys;
    for (std::int64_t key = 0; key < seen; key += Tile::others) {
      const std::int64_t count = std::min<std::int64_t>(Tile::others, s.keys - key);
      Pass::products(block, tile, scores, queries, {p.in.k + (batch * s.keys + key) * s.width, count}, s.width);
      block.each([&](int thread) {
        scores[thread] = found[thread] =
            Pass::score(p.in, scores[thread], batch, first + thread / warp_threads, key + thread % warp_threads);
      });
      block.template all_reduce<Reduction::max>(found, warp_threads);
      block.each([&](int thread) {
        const C now = combine<Reduction::max>(largest[thread], found[thread]);
        const bool sees_none = now == Pass::never;
        fades[thread] = sees_none ? C{1} : apply<Primitive::exp>(largest[thread] - now); // 0 for the first keys
        found[thread] = sees_none ? C{} : apply<Primitive::exp>(scores[thread] - now);
        largest[thread] = now;
        tile.weights[thread] = found[thread];
      });
      block.template all_reduce<Reduction::sum>(found, warp_threads);
      block.barrier();
      block.each([&](int thread) { sums[thread] = sums[thread] * fades[thread] + found[thread]; });
      Pass::add_rows(block, tile.weights, {p.in.v + (batch * s.keys + key) * s.value_width, count}, columns, tile.sums,
                     [&](int thread) { return fades[thread]; });
      block.barrier();
    }
    Pass::store(block, tile.sums, columns, p.out + (batch * s.queries + first) * s.value_width, rows,
                [&](int thread) { return sums[thread] == C{} ? C{1} : sums[thread]; });
    block.each([&](int thread) {
      const int row = thread / warp_threads;
      if (row >= rows || p.logsumexp == nullptr || thread % warp_threads != 0) return;
      p.logsumexp[batch * s.queries + first + row] =
          sums[thread] == C{} ? C{} : largest[thread] + apply<Primitive::log>(sums[thread]);
    });
  }
};

/// The gradient of queries.
template <class T> struct AttentionOfQueries : AttentionPass<T> {
  using Pass = AttentionPass<T>;
  using C = typename Pass::C;
  using Tile = typename Pass::Tile;

  template <class Block> constexpr void operator()(const Block& block, const AttentionParameters<T>& p) const {
    for (std::int64_t first = 0; first < p.in.shape.width; first += Tile::width)
      some_columns(block, p, {p.in.shape.width, first, Tile::width});
  }

private:
  template <class Block>
  static constexpr void some_columns(const Block& block, const AttentionParameters<T>& p,
                                     const AttentionColumns& columns) {
    const AttentionShape& s = p.in.shape;
    const Tile tile = Tile::in(block);
    const std::int64_t batch = block.block() / p.tiles;
    const std::int64_t first = block.block() % p.tiles * Tile::own;
    const std::int64_t rows = std::min<std::int64_t>(Tile::own, s.queries - first);
    const std::int64_t row = batch * s.queries + first;
    typename Block::template Local<C> scores;
    typename Block::template Local<C> gradients;
    Pass::clear(block, tile.sums, columns);
    const std::int64_t seen = s.is_causal ? std::min(s.keys, first + rows) : s.keys;
    for (std::int64_t key = 0; key < seen; key += Tile::others) {
      const std::int64_t count = std::min<std::int64_t>(Tile::others, s.keys - key);
      const AttentionRows<T> keys{p.in.k + (batch * s.keys + key) * s.width, count};
      const AttentionRows<T> values{p.in.v + (batch * s.keys + key) * s.value_width, count};
      Pass::products(block, tile, scores, {p.in.q + row * s.width, rows}, keys, s.width);
      Pass::products(block, tile, gradients, {p.backward.g + row * s.value_width, rows}, values, s.value_width);
      block.each([&](int thread) {
        const int own = thread / warp_threads;
        const C x = Pass::score(p.in, scores[thread], batch, first + own, key + thread % warp_threads);
        tile.gradients[thread] = x == Pass::never
                                     ? C{}
                                     : apply<Primitive::exp>(x - p.backward.logsumexp[row + own]) *
                                           (gradients[thread] - p.backward.delta[row + own]) * static_cast<C>(s.scale);
      });
      block.barrier();
      Pass::add_rows(block, tile.gradients, keys, columns, tile.sums, [](int) { return C{1}; });
      block.barrier();
    }
    Pass::store(block, tile.sums, columns, p.backward.dq + row * s.width, rows, [](int) { return C{1}; });
  }
};

/// The gradients of keys and values.
template <class T> struct AttentionOfKeys : AttentionPass<T> {
  using Pass = AttentionPass<T>;
  using C = typename Pass::C;
  using Tile = typename Pass::Tile;

  template <class Block> constexpr void operator()(const Block& block, const AttentionParameters<T>& p) const {
    const std::int64_t width = std::max(p.in.shape.width, p.in.shape.value_width);
    for (std::int64_t first = 0; first < width; first += Tile::width)
      some_columns(block, p, {p.in.shape.width, first, Tile::width}, {p.in.shape.value_width, first, Tile::width});
  }

private:
  template <class Block>
  static constexpr void some_columns(const Block& block, const AttentionParameters<T>& p,
                                     const AttentionColumns& of_keys, const AttentionColumns& of_values) {
    const AttentionShape& s = p.in.shape;
    const Tile tile = Tile::in(block);
    const std::int64_t batch = block.block() / p.tiles;
    const std::int64_t first = block.block() % p.tiles * Tile::own;
    const std::int64_t rows = std::min<std::int64_t>(Tile::own, s.keys - first);
    const std::int64_t row = batch * s.keys + first;
    T* const dk = p.backward.dk == nullptr ? nullptr : p.backward.dk + row * s.width;
    T* const dv = p.backward.dv == nullptr ? nullptr : p.backward.dv + row * s.value_width;
    typename Block::template Local<C> scores;
    typename Block::template Local<C> gradients;
    Pass::clear(block, tile.sums, of_keys);
    Pass::clear(block, tile.more_sums, of_values);
    for (std::int64_t query = s.is_causal ? first : 0; query < s.queries; query += Tile::others) {
      const std::int64_t count = std::min<std::int64_t>(Tile::others, s.queries - query);
      const std::int64_t at = batch * s.queries + query;
      const AttentionRows<T> queries{p.in.q + at * s.width, count};
      const AttentionRows<T> g{p.backward.g + at * s.value_width, count};
      Pass::products(block, tile, scores, {p.in.k + row * s.width, rows}, queries, s.width);
      Pass::products(block, tile, gradients, {p.in.v + row * s.value_width, rows}, g, s.value_width);
      block.each([&](int thread) {
        const int lane = thread % warp_threads;
        const C x = Pass::score(p.in, scores[thread], batch, query + lane, first + thread / warp_threads);
        const C weight = x == Pass::never ? C{} : apply<Primitive::exp>(x - p.backward.logsumexp[at + lane]);
        tile.weights[thread] = weight;
        tile.gradients[thread] =
            x == Pass::never ? C{}
                             : weight * (gradients[thread] - p.backward.delta[at + lane]) * static_cast<C>(s.scale);
      });
      block.barrier();
      const auto whole = [](int) { return C{1}; };
      if (dk != nullptr) Pass::add_rows(block, tile.gradients, queries, of_keys, tile.sums, whole);
      if (dv != nullptr) Pass::add_rows(block, tile.weights, g, of_values, tile.more_sums, whole);
      block.barrier();
    }
    const auto one = [](int) { return C{1}; };
    Pass::store(block, tile.sums, of_keys, dk, rows, one);
    Pass::store(block, tile.more_sums, of_values, dv, rows, one);
  }
};

/// Starts a pass over blocks of rows.
template <class Pass, class Queue, class T>
void enqueue_attention(const Queue& queue, Pass pass, AttentionParameters<T> parameters, std::int64_t rows) {
  using Tile = typename Pass::Tile;
  parameters.tiles = groups_of(Tile::own, rows);
  const std::int64_t blocks = parameters.in.shape.batches * parameters.tiles;
  if (blocks > 0)
    enqueue(queue, pass, twill::gpu::LaunchShape{static_cast<unsigned>(blocks), Tile::threads, Tile::bytes},
            parameters);
}

/// Runs the forward pass with these kernels.
template <class Queue, class T>
void attend_directly(const Queue& queue, const AttentionInputs<T>& inputs, T* out, compute_t<T>* logsumexp) {
  enqueue_attention(queue, AttentionForward<T>{},
                    AttentionParameters<T>{.in = inputs, .out = out, .logsumexp = logsumexp}, inputs.shape.queries);
}
/// Runs the backward pass with these kernels.
template <class Queue, class T>
void attend_backward_directly(const Queue& queue, const AttentionInputs<T>& inputs,
                              const AttentionGradients<T>& gradients) {
  const AttentionParameters<T> parameters{.in = inputs, .backward = gradients};
  if (gradients.dq != nullptr) enqueue_attention(queue, AttentionOfQueries<T>{}, parameters, inputs.shape.queries);
  if (gradients.dk != nullptr || gradients.dv != nullptr)
    enqueue_attention(queue, AttentionOfKeys<T>{}, parameters, inputs.shape.keys);
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// out: (batches, queries, value width); logsumexp: (batches, queries), or null. More special overloads may call a
/// library instead. Returns at once. throws: GpuError
template <class T, twill::gpu::Runtime R>
void attention_forward(const twill::gpu::Queue<R>& queue, const AttentionInputs<T>& inputs, T* out,
                       compute_t<T>* logsumexp) {
  gpu::attend_directly(queue, inputs, out, logsumexp);
}

template <class T, twill::gpu::Runtime R>
void attention_backward(const twill::gpu::Queue<R>& queue, const AttentionInputs<T>& inputs,
                        const AttentionGradients<T>& gradients) {
  gpu::attend_backward_directly(queue, inputs, gradients);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
