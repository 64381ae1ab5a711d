#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/block_functions.hpp: elements in memory, shared values and indices.

#include <twill/kernel/block_functions.hpp>
#include <twill/kernel/block_packs.hpp>
#include <twill/kernel/reduction.hpp>

#include <array>
#include <cstring>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
namespace vector_detail {

/// The first `count` of a few elements, in the form of a block.
template <class T, int N, class R> TWILL_INLINE void decode_few(std::byte* to, const R* elements, std::int64_t count) {
  alignas(64) std::byte last[N * sizeof(block_t<T>)];
  to_block(last, decoded<T>(load<R, N>(elements)));
  std::memcpy(to, last, static_cast<std::size_t>(count) * sizeof(block_t<T>));
}

template <class T>
void load_block(std::byte* to, std::int64_t at, std::int64_t stride, std::int64_t j, std::int64_t count) {
  using R = typename Raw<T>::type;
  constexpr int N = natural_lanes<T>;
  const R* from = reinterpret_cast<const R*>(at) + j * stride;
  if (std::is_same_v<R, block_t<T>> && !std::is_same_v<T, bool> && stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(R));
    return;
  }
  for (; count >= N; count -= N, from += N * stride, to += N * sizeof(block_t<T>))
    to_block(to, load_leaf<T, false, N>(reinterpret_cast<std::int64_t>(from), stride, 0));
  if (count == 0) return;
  R elements[N] = {};
  for (std::int64_t i = 0; i < count; ++i) elements[i] = from[i * stride];
  decode_few<T, N>(to, elements, count);
}

template <class T>
void gather_block(std::byte* to, std::int64_t at, std::int64_t stride, StoreMode live, std::int64_t j,
                  const BlockArgument& offsets, std::int64_t count) {
  using R = typename Raw<T>::type;
  constexpr int N = natural_lanes<T>;
  const auto* offset = reinterpret_cast<const std::int64_t*>(offsets.at);
  const std::int64_t step = offsets.moves ? 1 : 0;
  const std::int64_t readable = live == StoreMode::plain ? count : static_cast<std::int64_t>(live);
  if (step == 0 && stride == 1 && readable >= count)
    return load_block<T>(to, at + *offset * static_cast<std::int64_t>(sizeof(R)), 1, j, count);
  const R* from = reinterpret_cast<const R*>(at) + j * stride;
  for (std::int64_t i = 0; i < count; i += N, to += N * sizeof(block_t<T>)) {
    R elements[N] = {};
    const std::int64_t end = readable - i < N ? readable - i : N;
    for (std::int64_t k = 0; k < end; ++k) elements[k] = from[offset[(i + k) * step] + (i + k) * stride];
    decode_few<T, N>(to, elements, count - i < N ? count - i : N);
  }
}

template <class T>
void store_block(std::int64_t at, std::int64_t stride, StoreMode mode, std::int64_t j, const std::byte* from,
                 std::int64_t count) {
  using R = typename Raw<T>::type;
  constexpr int N = natural_lanes<T>;
  if (mode == StoreMode::plain && sizeof(R) == sizeof(block_t<T>)) {
    std::memcpy(reinterpret_cast<R*>(at) + j, from, static_cast<std::size_t>(count) * sizeof(R));
    return;
  }
  for (; count >= N; count -= N, j += N, from += N * sizeof(block_t<T>))
    store_output<T>(at, stride, mode, j, from_block<T, N>(from));
  if (count == 0) return;
  alignas(64) std::byte last[N * sizeof(block_t<T>)] = {};
  R elements[N];
  std::memcpy(last, from, static_cast<std::size_t>(count) * sizeof(block_t<T>));
  store_output<T>(reinterpret_cast<std::int64_t>(elements), 1, StoreMode::plain, 0, from_block<T, N>(last));
  R* to = reinterpret_cast<R*>(at);
  const std::int64_t own_stride = mode == StoreMode::scatter ? stride : 1;
  for (std::int64_t i = 0; i < count; ++i) to[(j + i) * own_stride] = elements[i];
}

template <class T> void load_shared_value(std::byte* slot, const void* from) {
  *reinterpret_cast<compute_t<T>*>(slot) = load_shared<T>(from);
}

template <class T>
inline constexpr ElementFunctions element_functions = {&load_block<T>,        &gather_block<T>, &store_block<T>,
                                                       &load_shared_value<T>, &store_shared<T>, &store_sums<T>};

template <class T> TWILL_INLINE void fill_values(std::byte* to, T value, std::int64_t count) {
  constexpr int N = vector_bytes / static_cast<int>(sizeof(T));
  const Pack<T, N> all{value};
  T* next = reinterpret_cast<T*>(to);
  for (; count >= N; count -= N, next += N) store(next, all);
  for (; count > 0; --count) *next++ = value;
}

template <class T> TWILL_INLINE void fill_reciprocals(std::byte* to, const std::byte* value) {
  fill_values<T>(to, T{1} / *reinterpret_cast<const T*>(value), shared_pack_bytes / static_cast<int>(sizeof(T)));
}

} // namespace vector_detail

TWILL_BODY const ElementFunctions& functions_of_elements(DType type) {
  using namespace vector_detail;
  return with_model_scalar(type, []<class T>() -> const ElementFunctions& { return element_functions<T>; });
}

TWILL_BODY void fill_block(std::byte* to, const std::byte* value, int bytes, std::int64_t count) {
  if (bytes == 1)
    std::memset(to, static_cast<int>(*value), static_cast<std::size_t>(count));
  else if (bytes == 4)
    vector_detail::fill_values(to, vector_detail::read<std::uint32_t>(value), count);
  else
    vector_detail::fill_values(to, vector_detail::read<std::uint64_t>(value), count);
}

TWILL_BODY void fill_reciprocal(std::byte* to, const std::byte* value, bool is_double) {
  if (is_double)
    vector_detail::fill_reciprocals<double>(to, value);
  else
    vector_detail::fill_reciprocals<float>(to, value);
}

TWILL_BODY void load_indices(std::byte* to, std::int64_t at, std::int64_t stride, std::int64_t j, std::int64_t count) {
  constexpr int N = vector_bytes / 8;
  auto* indices = reinterpret_cast<std::int64_t*>(to);
  std::int64_t i = 0;
  for (; i + N <= count; i += N) store(indices + i, vector_detail::load_iota<N>(at, stride, j + i));
  const auto step = static_cast<std::uint64_t>(stride); // may wrap, which is fine as long as they are not used
  for (; i < count; ++i)
    indices[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(at) + static_cast<std::uint64_t>(j + i) * step);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
