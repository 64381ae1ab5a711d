#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of CUDA's data types in memory, read and written as float64: what the stand-ins of libraries compute with.

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <library_types.h>

namespace ptxrun::libraries {

[[nodiscard]] constexpr bool is_complex(cudaDataType type) { return type == CUDA_C_64F || type == CUDA_C_32F; }

[[nodiscard]] constexpr std::int64_t bytes_of(cudaDataType type) {
  if (is_complex(type)) return type == CUDA_C_64F ? 16 : 8;
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

/// The nearest number of a 16-bit type with this many bits of exponent and fraction, ties to even.
[[nodiscard]] inline std::uint16_t narrowed(double value, int exponent_bits, int fraction_bits) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  if (value != value) return static_cast<std::uint16_t>(infinity | (1 << (fraction_bits - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0) return sign;
  int exponent = std::ilogb(value);
  exponent = exponent < 1 - bias ? 1 - bias : exponent; // of subnormal numbers
  const double steps = std::nearbyint(std::ldexp(std::abs(value), fraction_bits - exponent));
  // a fraction that was rounded up carries into the exponent by itself
  const auto bits =
      static_cast<std::int64_t>(steps) + (static_cast<std::int64_t>(exponent + bias - 1) << fraction_bits);
  return static_cast<std::uint16_t>(sign | (bits < infinity ? bits : infinity));
}

[[nodiscard]] inline double widened(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
  const int whole = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
  return sign * std::ldexp(whole, (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
}

namespace detail {
template <class T> T element(const void* first, std::int64_t index) {
  T value{};
  std::memcpy(&value, static_cast<const char*>(first) + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T> void set_element(void* first, std::int64_t index, T value) {
  std::memcpy(static_cast<char*>(first) + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}
} // namespace detail

/// float64, float32, float16 or bfloat16.
[[nodiscard]] inline double read_number(const void* first, cudaDataType type, std::int64_t index) {
  if (type == CUDA_R_64F) return detail::element<double>(first, index);
  if (type == CUDA_R_32F) return detail::element<float>(first, index);
  const auto bits = detail::element<std::uint16_t>(first, index);
  if (type == CUDA_R_16F) return widened(bits, 5, 10);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// complex64 or complex128.
[[nodiscard]] inline std::complex<double> read_complex(const void* first, cudaDataType type, std::int64_t index) {
  const cudaDataType part = type == CUDA_C_64F ? CUDA_R_64F : CUDA_R_32F;
  return {read_number(first, part, 2 * index), read_number(first, part, 2 * index + 1)};
}

inline void write_number(void* first, cudaDataType type, std::int64_t index, double value) {
  if (type == CUDA_R_64F)
    detail::set_element(first, index, value);
  else if (type == CUDA_R_32F)
    detail::set_element(first, index, static_cast<float>(value));
  else
    detail::set_element(first, index, type == CUDA_R_16F ? narrowed(value, 5, 10) : narrowed(value, 8, 7));
}

inline void write_complex(void* first, cudaDataType type, std::int64_t index, std::complex<double> value) {
  const cudaDataType part = type == CUDA_C_64F ? CUDA_R_64F : CUDA_R_32F;
  write_number(first, part, 2 * index, value.real());
  write_number(first, part, 2 * index + 1, value.imag());
}

} // namespace ptxrun::libraries
