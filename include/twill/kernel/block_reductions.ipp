#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/block_functions.hpp: reductions. They combine in the order of compiled programs' stages.

#include <twill/kernel/block_functions.hpp>
#include <twill/kernel/block_packs.hpp>
#include <twill/kernel/reduction.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
namespace vector_detail {

/// Whether one false makes the result of truth values false.
[[nodiscard]] constexpr bool is_conjunction(Reduction reduction) {
  return reduction == Reduction::all || reduction == Reduction::min || reduction == Reduction::product;
}

/// One combination of a pack of a block; truth values are bytes of 0 and 1.
template <Reduction R, class T, class V> TWILL_INLINE V combine_packs(const V& a, const V& b) {
  if constexpr (!std::is_same_v<T, bool>)
    return combine<R>(a, b);
  else if constexpr (is_conjunction(R))
    return V{a.v & b.v};
  else
    return V{a.v | b.v};
}

/// `Values` sums side by side; value i goes into the sum i modulo `Values`.
template <Reduction R, class T, int Values>
[[gnu::noinline]] void accumulate(std::byte* sums, const std::byte* values, std::int64_t count) {
  using B = block_t<T>;
  constexpr int N = std::min(Values, natural_lanes<T>);
  const auto run = [=]<int... P>(std::integer_sequence<int, P...>) TWILL_ALWAYS_INLINE {
    B* const at = reinterpret_cast<B*>(sums);
    Pack<B, N> mine[] = {load<B, N>(at + P * N)...};
    const B* next = reinterpret_cast<const B*>(values);
    for (const B* const end = next + count; next < end; next += Values)
      ((mine[P] = combine_packs<R, T>(mine[P], load<B, N>(next + P * N))), ...);
    (store(at + P * N, mine[P]), ...);
  };
  run(std::make_integer_sequence<int, Values / N>{});
}

/// Initialises sums.
template <Reduction R, class T, int Lanes> void start_sums(std::byte* sums, std::int64_t count) {
  using B = block_t<T>;
  constexpr int N = std::min(Lanes, natural_lanes<T>);
  const Pack<B, N> nothing{static_cast<B>(identity<R, T>())};
  for (std::int64_t i = 0; i < count; i += N) store(reinterpret_cast<B*>(sums) + i, nothing);
}

template <Reduction R, class T>
[[gnu::noinline]] void reduce_rows(std::byte* sums, bool add, const std::byte* values, std::int64_t pitch,
                                   std::int64_t height, std::int64_t count) {
  using B = block_t<T>;
  constexpr int N = natural_lanes<T>;
  constexpr std::size_t bytes = N * sizeof(B);
  alignas(64) std::byte rest[rows_at_once * bytes];
  alignas(64) std::byte last[bytes];
  for (; count > 0; count -= N, sums += bytes, values += bytes) {
    std::byte* to = sums;
    if (count < N) [[unlikely]] {
      const auto few = static_cast<std::size_t>(count) * sizeof(B);
      std::memset(rest, 0, sizeof(rest));
      std::memset(last, 0, sizeof(last));
      for (std::int64_t row = 0; row < height; ++row)
        std::memcpy(rest + row * static_cast<std::int64_t>(bytes), values + row * pitch, few);
      std::memcpy(last, sums, few);
      values = rest;
      pitch = bytes;
      to = last;
    }
    Pack<B, N> mine{static_cast<B>(identity<R, T>())};
    for (std::int64_t row = 0; row < height; ++row)
      mine = combine_packs<R, T>(mine, load<B, N>(reinterpret_cast<const B*>(values + row * pitch)));
    if (add) mine = combine_packs<R, T>(load<B, N>(reinterpret_cast<const B*>(to)), mine);
    store(reinterpret_cast<B*>(to), mine);
    if (count < N) [[unlikely]]
      std::memcpy(sums, last, static_cast<std::size_t>(count) * sizeof(B));
  }
}

/// Combines all accumulators of truth values.
template <Reduction R, int Lanes, int Count>
[[gnu::noinline]] void finish_truths(const std::byte* accumulators, int block_bytes, std::byte* slot) {
  using Bytes = Pack<std::uint8_t, Lanes>;
  Bytes mine = read<Bytes>(accumulators);
  for (int k = 1; k < Count; ++k) mine = combine_packs<R, bool>(mine, read<Bytes>(accumulators + k * block_bytes));
  const auto truths = mine != Bytes{std::uint8_t{0}};
  *reinterpret_cast<bool*>(slot) = is_conjunction(R) ? !any(~truths) : any(truths);
}

template <Reduction R, class T, int Lanes, int Count> [[nodiscard]] constexpr auto finish_of() {
  if constexpr (std::is_same_v<T, bool>)
    return &finish_truths<R, Lanes, Count>;
  else
    return &finish_reduction<R, Pack<T, Lanes>, Count>;
}

template <Reduction R, class T, int Lanes> [[nodiscard]] ReductionFunctions reduction_with(int accumulators) {
  ReductionFunctions result{};
  result.accumulate[0] = &accumulate<R, T, Lanes>;
  result.accumulate[1] = &accumulate<R, T, 2 * Lanes>;
  result.accumulate[2] = &accumulate<R, T, 4 * Lanes>;
  result.start = &start_sums<R, T, Lanes>;
  result.rows = &reduce_rows<R, T>;
  result.finish = accumulators == 1   ? finish_of<R, T, Lanes, 1>()
                  : accumulators == 2 ? finish_of<R, T, Lanes, 2>()
                                      : finish_of<R, T, Lanes, 4>();
  result.tree = &combine_tree<R, T>;
  result.clear = &clear_sums<R, T>;
  result.add = &add_sums<R, T>;
  return result;
}

template <Reduction R, class T> [[nodiscard]] ReductionFunctions reduction_of(int lanes, int accumulators) {
  if constexpr ((R == Reduction::any || R == Reduction::all) && !std::is_same_v<T, bool>) {
    return {};
  } else {
    // the lanes are those of the widest type of a program, see `element_bytes`
    if (lanes == vector_bytes / 8) return reduction_with<R, T, vector_bytes / 8>(accumulators);
    if constexpr (sizeof(T) <= 4 || std::is_same_v<T, std::int64_t>)
      if (lanes == vector_bytes / 4) return reduction_with<R, T, vector_bytes / 4>(accumulators);
    if constexpr (sizeof(T) == 1)
      if (lanes == vector_bytes) return reduction_with<R, T, vector_bytes>(accumulators);
    return {};
  }
}

template <Reduction R> [[nodiscard]] ReductionFunctions reduction_of(DType type, int lanes, int accumulators) {
  return with_model_scalar(type, [&]<class T>() { return reduction_of<R, compute_t<T>>(lanes, accumulators); });
}

} // namespace vector_detail

TWILL_BODY ReductionFunctions functions_of(Reduction reduction, DType type, int lanes, int accumulators) {
  using enum Reduction;
  using vector_detail::reduction_of;
  switch (reduction) {
  case sum:
    return reduction_of<sum>(type, lanes, accumulators);
  case product:
    return reduction_of<product>(type, lanes, accumulators);
  case max:
    return reduction_of<max>(type, lanes, accumulators);
  case min:
    return reduction_of<min>(type, lanes, accumulators);
  case any:
    return reduction_of<any>(type, lanes, accumulators);
  case all:
    return reduction_of<all>(type, lanes, accumulators);
  }
  return {};
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
