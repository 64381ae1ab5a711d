#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies of lines before and after a library's transforms on a GPU: into rows without gaps, with zeros after their end,
// and back along any axis, scaled and conjugated on the way; and the passes that make cosine transforms of real Fourier
// transforms (Makhoul, 1980). One thread for each element. Read next: fft/gpu/transform_lines.hpp.

#include <twill/core/complex.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/axes.hpp>
#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/tile.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// What an element of the result is made of.
enum class Move : std::uint8_t {
  element,        ///< the element in its place
  cosine_2_order, ///< real numbers in the order that a cosine transform of type 2 takes
  cosine_2_turn,  ///< the type's result of a spectrum
  cosine_3_turn,  ///< a spectrum of the numbers of type 3
  cosine_3_order, ///< the type's result in its order
};

/// Lines in memory; distances count real numbers.
template <class T> struct LinesAt {
  T* first = nullptr;
  T* first_imaginary =
      nullptr; ///< the number after the first one, or an array of its own in the layout of the real one
  std::int64_t step = 1;
  kernel::gpu::Axes lines{};

  [[nodiscard]] constexpr std::int64_t offset(std::int64_t line, std::int64_t k) const {
    return lines.offset(line) + k * step;
  }
};

/// The element of a cosine transform's operand or result that is element j of what is transformed.
[[nodiscard]] constexpr std::int64_t place_of_cosine(std::int64_t j, std::int64_t n) {
  return 2 * j < n ? 2 * j : 2 * (n - j) - 1;
}

/// exp(-i x) for 0 <= x <= pi / 4, where series of nine terms are exact to rounding.
template <class T> [[nodiscard]] constexpr Complex<T> turned_by(T x) {
  const T square = x * x;
  T cosine = 1;
  T sine = 1;
  for (int term = 16; term > 0; term -= 2) { // unrolled, so that the quotients are constants
    cosine = 1 - square * (T{1} / static_cast<T>(term * (term - 1))) * cosine;
    sine = 1 - square * (T{1} / static_cast<T>(term * (term + 1))) * sine;
  }
  return {cosine, -x * sine};
}

template <class T> struct MoveParameters {
  Move move = Move::element;
  bool reads_complex = false;
  bool writes_complex = false;
  bool conjugates = false;
  bool is_hermitian = false; ///< imaginary parts of coefficient 0 and n / 2 are not read
  bool lines_first = false;  ///< neighbouring threads have neighbouring lines, else elements of one
  std::int64_t n = 0;        ///< the length of the lines that are not Hermitian
  std::int64_t given = 0;    ///< elements of a line that are read; those after them are zeros
  std::int64_t count = 0;    ///< elements of the result
  kernel::gpu::IndexDivisor divisor{};
  LinesAt<const T> from{};
  LinesAt<T> to{};
  T scale = 1;
  T first_scale = 1; ///< further factor of coefficient 0 of a cosine transform
  T quarter = 0;     ///< pi / 2n

  /// exp(-pi i k / 2n) for 2k <= n
  [[nodiscard]] constexpr Complex<T> turn(std::int64_t k) const { return turned_by(static_cast<T>(k) * quarter); }
};

template <class T> struct MoveLines {
  static constexpr int most_threads = kernel::gpu::tile_threads;
  using P = MoveParameters<T>;

  template <class Block> constexpr void operator()(const Block& block, const P& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      const auto parts = p.divisor.parts(i);
      const std::int64_t line = p.lines_first ? parts.rest : parts.quotient;
      const std::int64_t k = p.lines_first ? parts.quotient : parts.rest;
      const Complex<T> value = moved(p, line, k);
      const std::int64_t place = p.move == Move::cosine_3_order ? place_of_cosine(k, p.n) : k;
      const std::int64_t offset = p.to.offset(line, place);
      p.to.first[offset] = value.re * p.scale;
      if (p.writes_complex) p.to.first_imaginary[offset] = value.im * p.scale;
    });
  }

private:
  static constexpr T real_at(const P& p, std::int64_t line, std::int64_t k) {
    return k < p.given ? p.from.first[p.from.offset(line, k)] : T{0};
  }

  static constexpr Complex<T> moved(const P& p, std::int64_t line, std::int64_t k) {
    switch (p.move) {
    case Move::cosine_2_order:
      return real_at(p, line, place_of_cosine(k, p.n));
    case Move::cosine_2_turn: { // y_k = 2 Re(u^k V_k), y_(n-k) = -2 Im(u^k V_k), where u = exp(-pi i / 2n)
      const bool is_mirrored = 2 * k > p.n;
      const std::int64_t place = is_mirrored ? p.n - k : k;
      const std::int64_t offset = p.from.offset(line, place);
      const Complex<T> v{p.from.first[offset], p.from.first_imaginary[offset]};
      const Complex<T> u = p.turn(place);
      if (is_mirrored) return -2 * (v.re * u.im + v.im * u.re);
      return 2 * (v.re * u.re - v.im * u.im) * (k == 0 ? p.first_scale : T{1});
    }
    case Move::cosine_3_turn: { // V_k = conj(u^k) (x_k - i x_(n-k))
      const Complex<T> u = p.turn(k);
      const T re = real_at(p, line, k) * (k == 0 ? p.first_scale : T{1});
      const T im = k == 0 ? T{0} : -real_at(p, line, p.n - k);
      return {re * u.re + im * u.im, im * u.re - re * u.im};
    }
    default:
      break;
    }
    if (k >= p.given) return {};
    const std::int64_t offset = p.from.offset(line, k);
    Complex<T> value{p.from.first[offset]};
    if (p.reads_complex && !(p.is_hermitian && (k == 0 || 2 * k == p.n))) {
      value.im = p.from.first_imaginary[offset];
      if (p.conjugates) value.im = -value.im;
    }
    return value;
  }
};

}}}} // namespace twill::v0::fft::detail
