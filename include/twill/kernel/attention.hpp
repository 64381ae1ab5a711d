#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Attention on host devices without the matrix of scores: blocks of rows meet blocks of keys, and earlier sums are
// rescaled when a larger score appears (Dao et al., 2022). The backward pass computes the weights again from
// log(sum(exp(scores))) of each row. Arrays are dense: (batches, rows, width). Results do not depend on the number of
// threads. A row whose keys are all masked gives zeros. Read next: kernel/gpu/attention.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/apply_pack.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/small_product.hpp>
#include <twill/kernel/walk.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel {

struct AttentionShape {
  std::int64_t batches = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t width = 0;
  std::int64_t value_width = 0;
  bool is_causal = false;
  double scale = 1;
};

/// The mask: which keys take part, or what is added to scores; batches are (outer, inner), and a stride of 0 repeats.
template <class T> struct AttentionMask {
  const bool* keep = nullptr; ///< true: takes part
  const T* added = nullptr;
  std::int64_t inner = 1;
  std::int64_t outer_stride = 0;
  std::int64_t inner_stride = 0;
  std::int64_t query_stride = 0;
  std::int64_t key_stride = 0;

  /// The start of a query's row.
  [[nodiscard]] constexpr std::int64_t row(std::int64_t batch, std::int64_t query) const {
    return batch / inner * outer_stride + batch % inner * inner_stride + query * query_stride;
  }
};

template <class T> struct AttentionInputs {
  AttentionShape shape{};
  const T* q = nullptr;
  const T* k = nullptr;
  const T* v = nullptr;
  AttentionMask<T> mask{};
};

/// Further inputs of the backward pass, and where gradients go, null where none is wanted. Values for whole rows are
/// float where elements have 16 bits.
template <class T> struct AttentionGradients {
  const compute_t<T>* delta = nullptr; ///< for each row the sum of g and the output, element by element
  const compute_t<T>* logsumexp = nullptr;
  const T* g = nullptr;   ///< the output's gradient
  const T* out = nullptr; ///< the output, where elements have 16 bits
  T* dq = nullptr;
  T* dk = nullptr;
  T* dv = nullptr;
};

namespace detail { inline namespace TWILL_ISA {

template <class T> class Attention {
  static constexpr std::int64_t rows_each = 32;
  static constexpr std::int64_t keys_each = 64;
  static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  static constexpr T never = -std::numeric_limits<T>::infinity();

  /// Scores, later weights, of some rows and some keys.
  struct Block {
    T scores[rows_each * keys_each];
    T gradients[rows_each * keys_each];
    T sums[rows_each];
    T largest[rows_each];
  };

public:
  explicit Attention(const AttentionInputs<T>& in) : s_{in.shape}, q_{in.q}, k_{in.k}, v_{in.v}, mask_{in.mask} {}

  void forward(const Team& team, T* out, T* logsumexp) const {
    const std::int64_t blocks = (s_.queries + rows_each - 1) / rows_each;
    team.parallel([&](int rank, int size) {
      const Share mine = share_of(s_.batches * blocks, 1, rank, size);
      Block block;
      for (std::int64_t task = mine.begin; task < mine.end; ++task)
        forward_rows(block, task / blocks, task % blocks * rows_each, out, logsumexp);
    });
  }

  /// Backward pass; each thread has whole batches.
  void backward(const Team& team, const AttentionGradients<T>& to) const {
    team.parallel([&](int rank, int size) {
      const Share mine = share_of(s_.batches, 1, rank, size);
      Block block;
      for (std::int64_t b = mine.begin; b < mine.end; ++b) {
        if (to.dq != nullptr) std::fill_n(to.dq + b * s_.queries * s_.width, s_.queries * s_.width, T{0});
        if (to.dk != nullptr) std::fill_n(to.dk + b * s_.keys * s_.width, s_.keys * s_.width, T{0});
        if (to.dv != nullptr) std::fill_n(to.dv + b * s_.keys * s_.value_width, s_.keys * s_.value_width, T{0});
        for (std::int64_t first = 0; first < s_.queries; first += rows_each) backward_rows(block, b, first, to);
      }
    });
  }

private:
  [[nodiscard]] std::int64_t rows_at(std::int64_t first) const { return std::min(rows_each, s_.queries - first); }
  /// How many keys the rows from `first` on see at most.
  [[nodiscard]] std::int64_t seen_by(std::int64_t first) const {
    return s_.is_causal ? std::min(s_.keys, first + rows_at(first)) : s_.keys;
  }

  /// scale Q K^T; -infinity for masked keys and after the last one.
  void score(Block& block, std::int64_t b, std::int64_t first, std::int64_t key, std::int64_t count) const {
    const std::int64_t rows = rows_at(first);
    small_product<T>(false, true, rows, count, s_.width, static_cast<T>(s_.scale),
                     q_ + (b * s_.queries + first) * s_.width, s_.width, k_ + (b * s_.keys + key) * s_.width, s_.width,
                     T{0}, block.scores, keys_each);
    for (std::int64_t r = 0; r < rows; ++r) {
      apply_mask(block.scores + r * keys_each, mask_.row(b, first + r) + key * mask_.key_stride, count);
      const std::int64_t seen = s_.is_causal ? std::clamp<std::int64_t>(first + r + 1 - key, 0, count) : count;
      std::fill(block.scores + r * keys_each + seen, block.scores + (r + 1) * keys_each, never);
    }
  }

  /// `at` is the mask's element for the first of the scores.
  void apply_mask(T* scores, std::int64_t at, std::int64_t count) const {
    if (mask_.keep != nullptr)
      for (std::int64_t c = 0; c < count; ++c)
        if (!mask_.keep[at + c * mask_.key_stride]) scores[c] = never;
    if (mask_.added != nullptr)
      for (std::int64_t c = 0; c < count; ++c) scores[c] += mask_.added[at + c * mask_.key_stride];
  }

  /// exp(x - shift) over a row of scores; returns the sum.
  static T exponentials(T* row, T shift) {
    Pack<T, lanes> sum{T{0}};
    for (std::int64_t c = 0; c < keys_each; c += lanes) {
      const auto e = kernel::apply<Primitive::exp>(load<T, lanes>(row + c) - Pack<T, lanes>{shift});
      store(row + c, e);
      sum = sum + e;
    }
    return combine_lanes<Reduction::sum>(sum);
  }

  void forward_rows(Block& block, std::int64_t b, std::int64_t first, T* out, T* logsumexp) const {
    const std::int64_t rows = rows_at(first);
    const std::int64_t width = s_.value_width;
    T* const to = out + (b * s_.queries + first) * width;
    std::fill_n(to, rows * width, T{0});
    std::fill_n(block.sums, rows, T{0});
    std::fill_n(block.largest, rows, never);
    const std::int64_t seen = seen_by(first);
    for (std::int64_t key = 0; key < seen; key += keys_each) {
      const std::int64_t count = std::min(keys_each, seen - key);
      score(block, b, first, key, count);
      for (std::int64_t r = 0; r < rows; ++r) {
        T* const row = block.scores + r * keys_each;
        T largest = block.largest[r];
        for (std::int64_t c = 0; c < count; ++c) largest = kernel::combine<Reduction::max>(largest, row[c]);
        if (largest == never) {
          std::fill_n(row, keys_each, T{0});
          continue;
        }
        const T fade = std::exp(block.largest[r] - largest); // 0 for the first keys
        block.sums[r] = block.sums[r] * fade + exponentials(row, largest);
        block.largest[r] = largest;
        for (std::int64_t i = 0; i < width && fade != T{1}; ++i) to[r * width + i] *= fade;
      }
      small_product<T>(false, false, rows, width, count, T{1}, block.scores, keys_each,
                       v_ + (b * s_.keys + key) * width, width, T{1}, to, width);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const bool sees_none = block.sums[r] == T{0}; // the largest score adds 1
      for (std::int64_t i = 0; i < width && !sees_none; ++i) to[r * width + i] /= block.sums[r];
      if (logsumexp != nullptr)
        logsumexp[b * s_.queries + first + r] = sees_none ? T{0} : block.largest[r] + std::log(block.sums[r]);
    }
  }

  void backward_rows(Block& block, std::int64_t b, std::int64_t first, const AttentionGradients<T>& to) const {
    const std::int64_t rows = rows_at(first);
    const std::int64_t width = s_.value_width;
    const std::int64_t row = b * s_.queries + first;
    const T* const g = to.g + row * width;
    const std::int64_t seen = seen_by(first);
    for (std::int64_t key = 0; key < seen; key += keys_each) {
      const std::int64_t count = std::min(keys_each, seen - key);
      const std::int64_t at = b * s_.keys + key;
      score(block, b, first, key, count);
      for (std::int64_t r = 0; r < rows; ++r) exponentials(block.scores + r * keys_each, to.logsumexp[row + r]);
      if (to.dv != nullptr)
        small_product<T>(true, false, count, width, rows, T{1}, block.scores, keys_each, g, width, T{1},
                         to.dv + at * width, width);
      small_product<T>(false, true, rows, count, width, T{1}, g, width, v_ + at * width, width, T{0}, block.gradients,
                       keys_each);
      for (std::int64_t r = 0; r < rows; ++r) // P * (dP - delta) * scale
        for (std::int64_t c = r * keys_each; c < r * keys_each + count; ++c)
          block.gradients[c] = block.scores[c] * (block.gradients[c] - to.delta[row + r]) * static_cast<T>(s_.scale);
      if (to.dq != nullptr)
        small_product<T>(false, false, rows, s_.width, count, T{1}, block.gradients, keys_each, k_ + at * s_.width,
                         s_.width, T{1}, to.dq + row * s_.width, s_.width);
      if (to.dk != nullptr)
        small_product<T>(true, false, count, s_.width, rows, T{1}, block.gradients, keys_each, q_ + row * s_.width,
                         s_.width, T{1}, to.dk + at * s_.width, s_.width);
    }
  }

  AttentionShape s_;
  const T* q_;
  const T* k_;
  const T* v_;
  AttentionMask<T> mask_;
};

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// out: (batches, queries, value width); logsumexp: (batches, queries), 0 for rows that see no key, or null. Other
/// kinds of team overload it for both passes. Call them unqualified.
template <class T> void attention_forward(const Team& team, const AttentionInputs<T>& inputs, T* out, T* logsumexp) {
  detail::Attention<T>{inputs}.forward(team, out, logsumexp);
}

template <class T>
void attention_backward(const Team& team, const AttentionInputs<T>& inputs, const AttentionGradients<T>& gradients) {
  detail::Attention<T>{inputs}.backward(team, gradients);
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::kernel
