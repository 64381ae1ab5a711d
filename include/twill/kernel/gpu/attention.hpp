#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Attention without the matrix of scores on a GPU: a warp owns a row, of queries in the forward pass and for their gradient,
// of keys for the gradients of keys and values. It meets 32 rows of the other kind at once, one for each lane; a block's
// eight warps share those in memory. Every sum has one thread and one order: no atomics. On hosts: kernel/attention.hpp.

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

namespace twill::inline v0::kernel::gpu::inline TWILL_ISA {

/// A block's rows, and what it keeps in shared memory.
template <class T> struct AttentionTile {
  static constexpr int own = 8;               ///< rows, one for each warp
  static constexpr int others = warp_threads; ///< rows, one for each lane
  static constexpr int threads = own * warp_threads;
  static constexpr int pitch = warp_threads + 1; ///< keeps lanes out of each other's banks
  static constexpr std::size_t bytes = sizeof(T) * (3 * threads + others * pitch);

  T* rows;      ///< part of the own rows, `own` by a warp
  T* weights;   ///< own by others
  T* gradients; ///< own by others
  T* columns;   ///< part of the others, `others` by `pitch`

  template <class Block> static constexpr AttentionTile in(const Block& block) {
    T* const first = block.template shared<T>();
    return {first, first + threads, first + 2 * threads, first + 3 * threads};
  }
};

/// Some rows of a matrix.
template <class T> struct AttentionRows {
  const T* data = nullptr;
  std::int64_t count = 0; ///< rows behind them are zeros
};

template <class T> struct AttentionParameters {
  AttentionInputs<T> in{};
  AttentionGradients<T> backward{};
  T* out = nullptr;
  T* logsumexp = nullptr;
  std::int64_t tiles = 0; ///< of own rows in a batch
};

/// What the passes have in common.
template <class T> struct AttentionPass {
  using Tile = AttentionTile<T>;
  static constexpr int most_threads = Tile::threads;
  static constexpr int least_blocks = 1;
  static constexpr T never = -std::numeric_limits<T>::infinity();

  template <class Block> static constexpr void clear(const Block& block, T* to, std::int64_t rows, std::int64_t width) {
    if (to == nullptr) return;
    block.each([&](int thread) {
      if (thread / warp_threads < rows)
        for (std::int64_t i = thread % warp_threads; i < width; i += warp_threads)
          to[thread / warp_threads * width + i] = T{};
    });
  }

  /// Gives each thread the product of its warp's own row and its lane's other row.
  template <class Block>
  static constexpr void products(const Block& block, const Tile& tile, typename Block::template Local<T>& sums,
                                 const AttentionRows<T>& own, const AttentionRows<T>& other, std::int64_t width) {
    block.each([&](int thread) { sums[thread] = T{}; });
    for (std::int64_t first = 0; first < width; first += warp_threads) {
      block.each([&](int thread) {
        const int lane = thread % warp_threads;
        const int warp = thread / warp_threads;
        const std::int64_t at = first + lane;
        tile.rows[thread] = at < width && warp < own.count ? own.data[warp * width + at] : T{};
        for (int row = warp; row < Tile::others; row += Tile::own)
          tile.columns[row * Tile::pitch + lane] = at < width && row < other.count ? other.data[row * width + at] : T{};
      });
      block.barrier();
      block.each([&](int thread) {
        const T* const mine = tile.rows + thread / warp_threads * warp_threads;
        const T* const others = tile.columns + thread % warp_threads * Tile::pitch;
        T sum = sums[thread];
        for (int i = 0; i < warp_threads; ++i) sum += mine[i] * others[i];
        sums[thread] = sum;
      });
      block.barrier();
    }
  }

  /// The score for a product of a query and a key; -infinity where the key is masked or either is none.
  static constexpr T score(const AttentionInputs<T>& in, T product, std::int64_t batch, std::int64_t query,
                           std::int64_t key) {
    const AttentionShape& s = in.shape;
    if (query >= s.queries || key >= s.keys || (s.is_causal && key > query)) return never;
    const std::int64_t at = in.mask.row(batch, query) + key * in.mask.key_stride;
    if (in.mask.keep != nullptr && !in.mask.keep[at]) return never;
    const T scaled = static_cast<T>(s.scale) * product;
    return in.mask.added != nullptr ? scaled + in.mask.added[at] : scaled;
  }

  /// Adds the other rows, weighted for each own row, to rows of this width, which fade first. A thread has every 32nd
  /// column of its warp's row.
  template <class Block, class Fade>
  static constexpr void add_rows(const Block& block, const T* weights, const AttentionRows<T>& other, T* to,
                                 std::int64_t rows, std::int64_t width, const Fade& fade) {
    if (to == nullptr) return;
    block.each([&](int thread) {
      const int warp = thread / warp_threads;
      if (warp >= rows) return;
      const T* const mine = weights + warp * warp_threads;
      for (std::int64_t i = thread % warp_threads; i < width; i += warp_threads) {
        T sum = to[warp * width + i] * fade(thread);
        for (int row = 0; row < other.count; ++row) sum += mine[row] * other.data[row * width + i];
        to[warp * width + i] = sum;
      }
    });
  }
};

/// The output, and log(sum(exp(scores))) of each row.
template <class T> struct AttentionForward : AttentionPass<T> {
  using Pass = AttentionPass<T>;
  using Tile = AttentionTile<T>;

  template <class Block> constexpr void operator()(const Block& block, const AttentionParameters<T>& p) const {
    const AttentionShape& s = p.in.shape;
    const Tile tile = Tile::in(block);
    const std::int64_t batch = block.block() / p.tiles;
    const std::int64_t first = block.block() % p.tiles * Tile::own;
    const std::int64_t rows = std::min<std::int64_t>(Tile::own, s.queries - first);
    const AttentionRows<T> queries{p.in.q + (batch * s.queries + first) * s.width, rows};
    T* const out = p.out + (batch * s.queries + first) * s.value_width;
    typename Block::template Local<T> scores;
    typename Block::template Local<T> largest; // so far
    typename Block::template Local<T> sums;    // of exp(score - largest)
    typename Block::template Local<T> fades;
    typename Block::template Local<T> found;
    block.each([&](int thread) {
      largest[thread] = Pass::never;
      sums[thread] = T{};
    });
    Pass::clear(block, out, rows, s.value_width);
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
        const T now = combine<Reduction::max>(largest[thread], found[thread]);
        const bool sees_none = now == Pass::never;
        fades[thread] = sees_none ? T{1} : apply<Primitive::exp>(largest[thread] - now); // 0 for the first keys
        found[thread] = sees_none ? T{} : apply<Primitive::exp>(scores[thread] - now);
        largest[thread] = now;
        tile.weights[thread] = found[thread];
      });
      block.template all_reduce<Reduction::sum>(found, warp_threads);
      block.barrier();
      block.each([&](int thread) { sums[thread] = sums[thread] * fades[thread] + found[thread]; });
      Pass::add_rows(block, tile.weights, {p.in.v + (batch * s.keys + key) * s.value_width, count}, out, rows,
                     s.value_width, [&](int thread) { return fades[thread]; });
      block.barrier();
    }
    block.each([&](int thread) {
      const int row = thread / warp_threads;
      if (row >= rows) return;
      const bool sees_none = sums[thread] == T{};
      for (std::int64_t i = thread % warp_threads; i < s.value_width && !sees_none; i += warp_threads)
        out[row * s.value_width + i] /= sums[thread];
      if (p.logsumexp != nullptr && thread % warp_threads == 0)
        p.logsumexp[batch * s.queries + first + row] =
            sees_none ? T{} : largest[thread] + apply<Primitive::log>(sums[thread]);
    });
  }
};

/// The gradient of queries.
template <class T> struct AttentionOfQueries : AttentionPass<T> {
  using Pass = AttentionPass<T>;
  using Tile = AttentionTile<T>;

  template <class Block> constexpr void operator()(const Block& block, const AttentionParameters<T>& p) const {
    const AttentionShape& s = p.in.shape;
    const Tile tile = Tile::in(block);
    const std::int64_t batch = block.block() / p.tiles;
    const std::int64_t first = block.block() % p.tiles * Tile::own;
    const std::int64_t rows = std::min<std::int64_t>(Tile::own, s.queries - first);
    const std::int64_t row = batch * s.queries + first;
    T* const dq = p.backward.dq + row * s.width;
    typename Block::template Local<T> scores;
    typename Block::template Local<T> gradients;
    Pass::clear(block, dq, rows, s.width);
    const std::int64_t seen = s.is_causal ? std::min(s.keys, first + rows) : s.keys;
    for (std::int64_t key = 0; key < seen; key += Tile::others) {
      const std::int64_t count = std::min<std::int64_t>(Tile::others, s.keys - key);
      const AttentionRows<T> keys{p.in.k + (batch * s.keys + key) * s.width, count};
      const AttentionRows<T> values{p.in.v + (batch * s.keys + key) * s.value_width, count};
      Pass::products(block, tile, scores, {p.in.q + row * s.width, rows}, keys, s.width);
      Pass::products(block, tile, gradients, {p.backward.g + row * s.value_width, rows}, values, s.value_width);
      block.each([&](int thread) {
        const int own = thread / warp_threads;
        const T x = Pass::score(p.in, scores[thread], batch, first + own, key + thread % warp_threads);
        tile.gradients[thread] = x == Pass::never
                                     ? T{}
                                     : apply<Primitive::exp>(x - p.backward.logsumexp[row + own]) *
                                           (gradients[thread] - p.backward.delta[row + own]) * static_cast<T>(s.scale);
      });
      block.barrier();
      Pass::add_rows(block, tile.gradients, keys, dq, rows, s.width, [](int) { return T{1}; });
      block.barrier();
    }
  }
};

/// The gradients of keys and values.
template <class T> struct AttentionOfKeys : AttentionPass<T> {
  using Pass = AttentionPass<T>;
  using Tile = AttentionTile<T>;

  template <class Block> constexpr void operator()(const Block& block, const AttentionParameters<T>& p) const {
    const AttentionShape& s = p.in.shape;
    const Tile tile = Tile::in(block);
    const std::int64_t batch = block.block() / p.tiles;
    const std::int64_t first = block.block() % p.tiles * Tile::own;
    const std::int64_t rows = std::min<std::int64_t>(Tile::own, s.keys - first);
    const std::int64_t row = batch * s.keys + first;
    T* const dk = p.backward.dk == nullptr ? nullptr : p.backward.dk + row * s.width;
    T* const dv = p.backward.dv == nullptr ? nullptr : p.backward.dv + row * s.value_width;
    typename Block::template Local<T> scores;
    typename Block::template Local<T> gradients;
    Pass::clear(block, dk, rows, s.width);
    Pass::clear(block, dv, rows, s.value_width);
    for (std::int64_t query = s.is_causal ? first : 0; query < s.queries; query += Tile::others) {
      const std::int64_t count = std::min<std::int64_t>(Tile::others, s.queries - query);
      const std::int64_t at = batch * s.queries + query;
      const AttentionRows<T> queries{p.in.q + at * s.width, count};
      const AttentionRows<T> g{p.backward.g + at * s.value_width, count};
      Pass::products(block, tile, scores, {p.in.k + row * s.width, rows}, queries, s.width);
      Pass::products(block, tile, gradients, {p.in.v + row * s.value_width, rows}, g, s.value_width);
      block.each([&](int thread) {
        const int lane = thread % warp_threads;
        const T x = Pass::score(p.in, scores[thread], batch, query + lane, first + thread / warp_threads);
        const T weight = x == Pass::never ? T{} : apply<Primitive::exp>(x - p.backward.logsumexp[at + lane]);
        tile.weights[thread] = weight;
        tile.gradients[thread] =
            x == Pass::never ? T{}
                             : weight * (gradients[thread] - p.backward.delta[at + lane]) * static_cast<T>(s.scale);
      });
      block.barrier();
      const auto whole = [](int) { return T{1}; };
      Pass::add_rows(block, tile.gradients, queries, dk, rows, s.width, whole);
      Pass::add_rows(block, tile.weights, g, dv, rows, s.value_width, whole);
      block.barrier();
    }
  }
};

/// Starts a pass over blocks of rows.
template <class Pass, class Queue, class T>
void enqueue_attention(const Queue& queue, Pass pass, AttentionParameters<T> parameters, std::int64_t rows) {
  parameters.tiles = groups_of(AttentionTile<T>::own, rows);
  const std::int64_t blocks = parameters.in.shape.batches * parameters.tiles;
  if (blocks > 0)
    enqueue(queue, pass,
            twill::gpu::LaunchShape{static_cast<unsigned>(blocks), AttentionTile<T>::threads, AttentionTile<T>::bytes},
            parameters);
}

} // namespace twill::inline v0::kernel::gpu::inline TWILL_ISA

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// out: (batches, queries, value width); logsumexp: (batches, queries), or null. Returns at once. throws: GpuError
template <class T, twill::gpu::Runtime R>
void attention_forward(const twill::gpu::Queue<R>& queue, const AttentionInputs<T>& inputs, T* out, T* logsumexp) {
  enqueue_attention(queue, gpu::AttentionForward<T>{},
                    gpu::AttentionParameters<T>{.in = inputs, .out = out, .logsumexp = logsumexp},
                    inputs.shape.queries);
}

template <class T, twill::gpu::Runtime R>
void attention_backward(const twill::gpu::Queue<R>& queue, const AttentionInputs<T>& inputs,
                        const AttentionGradients<T>& gradients) {
  const gpu::AttentionParameters<T> parameters{.in = inputs, .backward = gradients};
  if (gradients.dq != nullptr) enqueue_attention(queue, gpu::AttentionOfQueries<T>{}, parameters, inputs.shape.queries);
  if (gradients.dk != nullptr || gradients.dv != nullptr)
    enqueue_attention(queue, gpu::AttentionOfKeys<T>{}, parameters, inputs.shape.keys);
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
