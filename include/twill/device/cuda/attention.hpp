#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scaled dot-product attention as a value, with or without a GPU: O = softmax(scale Q K^T, masked) V for every batch
// and head, and the layout of the tensors. Rows of Q, K, V and O are contiguous; heads may be inside the rows of a
// batch, as after a linear layer, or outside. Not in the umbrella. Read next: device/cuda/cudnn_attention.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace nvidia {

/// Distances from one batch, head and row to the next, in elements.
struct HeadStrides {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  friend constexpr bool operator==(const HeadStrides&, const HeadStrides&) = default;
};

/// Strides of a contiguous (batch, rows, heads, width), and of a contiguous (batch, heads, rows, width).
[[nodiscard]] constexpr HeadStrides heads_within_rows(std::int64_t rows, std::int64_t heads, std::int64_t width) {
  return {rows * heads * width, width, heads * width};
}
[[nodiscard]] constexpr HeadStrides rows_within_heads(std::int64_t rows, std::int64_t heads, std::int64_t width) {
  return {rows * heads * width, rows * width, width};
}

struct Attention {
  DType dtype = DType::float16;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t key_heads = 1; ///< of K and V; each serves heads / key_heads heads of Q
  std::int64_t queries = 1;   ///< rows of Q and O
  std::int64_t keys = 1;      ///< rows of K and V
  std::int64_t width = 64;    ///< of Q's and K's rows
  std::int64_t value_width = 64;
  HeadStrides q{};
  HeadStrides k{};
  HeadStrides v{};
  HeadStrides o{};
  float scale = 1;
  bool is_causal = false; ///< query i sees keys 0 to i

  friend constexpr bool operator==(const Attention&, const Attention&) = default;
};

/// Self-attention over rows of heads, scaled by 1 / sqrt(width).
[[nodiscard]] constexpr Attention self_attention(DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t heads,
                                                 std::int64_t width, float scale, bool is_causal) {
  const HeadStrides strides = heads_within_rows(rows, heads, width);
  return {dtype, batch, heads, heads, rows, rows, width, width, strides, strides, strides, strides, scale, is_causal};
}

/// "attention of 8 x 12 heads, 1024 queries by 1024 keys of 64 float16, causal".
[[nodiscard]] TWILL_COLD inline std::string to_string(const Attention& a) {
  return join_text({"attention of ", a.batch, " x ", a.heads, " heads, ", a.queries, " queries by ", a.keys,
                    " keys of ", a.width, " ", name(a.dtype), a.is_causal ? ", causal" : ""});
}

/// Refuses invalid sizes. throws: ValueError with the numbers
inline void check(const Attention& a) {
  const auto refuse = [](const char* what, std::int64_t first, std::int64_t second) {
    throw ValueError(join_text({"attention: ", what, ", got ", first, " and ", second}));
  };
  if (a.batch < 1 || a.heads < 1) refuse("batch and heads are at least 1", a.batch, a.heads);
  if (a.queries < 1 || a.keys < 1) refuse("queries and keys are at least 1", a.queries, a.keys);
  if (a.width < 1 || a.value_width < 1) refuse("rows have elements", a.width, a.value_width);
  if (a.key_heads < 1 || a.heads % a.key_heads != 0) refuse("heads of keys divide the heads", a.key_heads, a.heads);
}

/// The bytes of the statistics that the backward pass needs: log(sum(exp(scores))) of each row, float.
[[nodiscard]] constexpr std::size_t statistics_bytes(const Attention& a) {
  return static_cast<std::size_t>(a.batch * a.heads * a.queries) * sizeof(float);
}

/// Memory of the backward pass beside the engine's own workspace: the sums of dO * O, and dQ in float; each rounded up
/// to 256 bytes.
struct AttentionScratch {
  std::size_t sums_bytes = 0;
  std::size_t query_gradient_bytes = 0;
  [[nodiscard]] constexpr std::size_t bytes() const { return sums_bytes + query_gradient_bytes; }
};
[[nodiscard]] constexpr AttentionScratch scratch_of(const Attention& a, bool is_deterministic) {
  const auto rounded = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  const std::size_t rows = statistics_bytes(a);
  return {rounded(rows), is_deterministic ? 0 : rounded(rows * static_cast<std::size_t>(a.width))};
}

/// The most working memory of an engine, beside the memory kept for it.
inline constexpr std::size_t attention_engine_bytes = std::size_t{64} << 20;

inline constexpr std::size_t attention_key_words = 20;
[[nodiscard]] constexpr std::array<std::uint64_t, attention_key_words> key_of(const Attention& a) {
  const auto word = [](auto number) { return static_cast<std::uint64_t>(number); };
  return {word(a.dtype) | word(a.is_causal) << 8,
          word(a.batch),
          word(a.heads),
          word(a.key_heads),
          word(a.queries),
          word(a.keys),
          word(a.width),
          word(a.value_width),
          word(a.q.batch),
          word(a.q.head),
          word(a.q.row),
          word(a.k.batch),
          word(a.k.head),
          word(a.k.row),
          word(a.v.batch),
          word(a.v.head),
          word(a.v.row),
          word(a.o.batch),
          word(a.o.head),
          word(a.o.row)};
}

}}} // namespace twill::v0::nvidia
