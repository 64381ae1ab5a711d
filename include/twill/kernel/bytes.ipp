#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/bytes.hpp.

#include <twill/kernel/bytes.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

TWILL_BODY void clear_bytes(std::byte* to, std::int64_t bytes) {
  for (std::int64_t b = 0; b < bytes; b += vector_bytes) store(byte_address(to + b), RegisterBytes{0});
}

TWILL_BODY void copy_bytes(std::byte* to, std::byte* from, std::int64_t bytes) {
  for (std::int64_t b = 0; b < bytes; b += vector_bytes)
    store(byte_address(to + b), load<signed char, vector_bytes>(byte_address(from + b)));
}

TWILL_BODY void restore_bytes(std::byte* vector, std::byte* before, std::int64_t bytes, std::int64_t first,
                              std::int64_t last) {
  const RegisterBytes numbers = lane_numbers<signed char, vector_bytes>();
  const auto clamped = [](std::int64_t x) {
    return RegisterBytes{static_cast<signed char>(x < 0 ? 0 : x > vector_bytes ? vector_bytes : x)};
  };
  for (std::int64_t b = 0; b < bytes; b += vector_bytes) {
    const auto keeps = (numbers >= clamped(first - b)) & (numbers < clamped(last - b));
    // a vector narrower than a register is followed by other vectors: there, every byte beyond `bytes` is kept
    const auto beyond = numbers >= clamped(bytes - b);
    store(byte_address(vector + b), select(keeps | beyond, load<signed char, vector_bytes>(byte_address(vector + b)),
                                           load<signed char, vector_bytes>(byte_address(before + b))));
  }
}

TWILL_BODY void repeat(std::byte* to, const std::byte* row, std::int64_t bytes, std::int64_t times) {
  if (bytes < vector_bytes) {
    alignas(vector_bytes) std::byte once[vector_bytes];
    fill_register(once, row, bytes);
    const auto value = load<signed char, vector_bytes>(byte_address(once));
    for (std::int64_t i = 0; i < times; ++i) store(byte_address(to + i * bytes), value);
  } else {
    for (std::int64_t i = 0; i < times; ++i) std::memcpy(to + i * bytes, row, static_cast<std::size_t>(bytes));
  }
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
