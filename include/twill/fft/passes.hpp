#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Passes of Stockham's transform (1966), which leave their results in order: each takes one factor from the length of
// many lines that are interleaved in memory, so that all its loops run over whole vectors. Radices are 2, 4 and the odd
// numbers to 13. Read next: fft/plan.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/pack.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// Complex numbers as two arrays.
template <class T> struct Planes {
  T* re = nullptr;
  T* im = nullptr;

  /// A forward transform between exchanged parts is the inverse one.
  [[nodiscard]] Planes exchanged() const { return {im, re}; }
};

/// One pass: a length `radix * rest` becomes `radix` of length `rest`.
template <class T> struct Pass {
  int radix = 1;
  std::int64_t rest = 1;
  std::vector<T> turns{}; ///< for each p < rest: real parts of w^(p j), 1 <= j < radix, then imaginary ones
  std::vector<T> units{}; ///< of odd radices: cos(2 pi j / radix) for all j, then the sines
};

/// The lines that are computed side by side: those that a cache line holds.
template <class T> inline constexpr std::int64_t strip_lines = 64 / static_cast<std::int64_t>(sizeof(T));

/// The greatest odd radix.
inline constexpr int greatest_radix = 13;

inline namespace TWILL_ISA {

template <class T> using Lanes = kernel::Pack<T, kernel::vector_bytes / static_cast<int>(sizeof(T))>;

/// A vector of complex numbers.
template <class V> struct ComplexLanes {
  V re;
  V im;

  friend TWILL_INLINE ComplexLanes operator+(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend TWILL_INLINE ComplexLanes operator-(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend TWILL_INLINE ComplexLanes operator*(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend TWILL_INLINE ComplexLanes operator*(const ComplexLanes& a, const V& b) { return {a.re * b, a.im * b}; }
};

template <class T> [[nodiscard]] TWILL_INLINE ComplexLanes<Lanes<T>> lanes_at(const Planes<T>& x, std::int64_t at) {
  return {kernel::load<T, Lanes<T>::lanes>(x.re + at), kernel::load<T, Lanes<T>::lanes>(x.im + at)};
}
template <class T>
TWILL_INLINE void put_lanes(const Planes<T>& y, std::int64_t at, const ComplexLanes<Lanes<T>>& value) {
  kernel::store(y.re + at, value.re);
  kernel::store(y.im + at, value.im);
}

/// The transform of an odd length: t_j = a_j + a_(R-j) go with cosines, u_j = a_j - a_(R-j) with sines.
template <int R, class T, class V> TWILL_INLINE void odd_butterfly(ComplexLanes<V>* a, const T* units) {
  constexpr int half = R / 2;
  ComplexLanes<V> t[half];
  ComplexLanes<V> u[half];
  const ComplexLanes<V> first = a[0];
  for (int j = 1; j <= half; ++j) {
    t[j - 1] = a[j] + a[R - j];
    u[j - 1] = a[j] - a[R - j];
    a[0] = a[0] + t[j - 1];
  }
  for (int k = 1; k <= half; ++k) {
    ComplexLanes<V> c = first + t[0] * V(units[k]);
    ComplexLanes<V> d = u[0] * V(units[R + k]);
    for (int j = 2; j <= half; ++j) {
      c = c + t[j - 1] * V(units[j * k % R]);
      d = d + u[j - 1] * V(units[R + j * k % R]);
    }
    a[k] = {c.re + d.im, c.im - d.re};
    a[R - k] = {c.re - d.im, c.im + d.re};
  }
}

template <int R, class T, class V> TWILL_INLINE void butterfly(ComplexLanes<V>* a, [[maybe_unused]] const T* units) {
  if constexpr (R == 2) {
    const ComplexLanes<V> sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (R == 4) {
    const ComplexLanes<V> even = a[0] + a[2];
    const ComplexLanes<V> odd = a[1] + a[3];
    const ComplexLanes<V> e = a[0] - a[2];
    const ComplexLanes<V> o = a[1] - a[3];
    a[0] = even + odd;
    a[1] = {e.re + o.im, e.im - o.re};
    a[2] = even - odd;
    a[3] = {e.re - o.im, e.im + o.re};
  } else {
    odd_butterfly<R>(a, units);
  }
}

/// y[q + s (R p + j)] = w^(p j) sum_i x[q + s (p + m i)] exp(-2 pi i j / R) for q < s, p < m
template <int R, class T> void run_pass(const Pass<T>& pass, const Planes<T>& x, const Planes<T>& y, std::int64_t s) {
  using V = Lanes<T>;
  const std::int64_t m = pass.rest;
  const T* turns = pass.turns.data();
  for (std::int64_t p = 0; p < m; ++p, turns += 2 * (R - 1)) {
    ComplexLanes<V> w[R - 1];
    for (int j = 0; j < R - 1; ++j) w[j] = {V(turns[j]), V(turns[R - 1 + j])};
    for (std::int64_t q = 0; q < s; q += V::lanes) {
      ComplexLanes<V> a[R];
      for (int j = 0; j < R; ++j) a[j] = lanes_at(x, s * (p + m * j) + q);
      butterfly<R>(a, pass.units.data());
      const std::int64_t to = s * R * p + q;
      put_lanes(y, to, a[0]);
      if (p == 0) // w is 1: the last pass has no other p
        for (int j = 1; j < R; ++j) put_lanes(y, to + s * j, a[j]);
      else
        for (int j = 1; j < R; ++j) put_lanes(y, to + s * j, a[j] * w[j - 1]);
    }
  }
}

/// All passes of s interleaved lines, s a multiple of the lanes. The result is in x or in y.
template <class T>
[[nodiscard]] Planes<T> run_passes(const std::vector<Pass<T>>& passes, Planes<T> x, Planes<T> y, std::int64_t s) {
  for (const Pass<T>& pass : passes) {
    switch (pass.radix) {
    case 2:
      run_pass<2>(pass, x, y, s);
      break;
    case 3:
      run_pass<3>(pass, x, y, s);
      break;
    case 4:
      run_pass<4>(pass, x, y, s);
      break;
    case 5:
      run_pass<5>(pass, x, y, s);
      break;
    case 7:
      run_pass<7>(pass, x, y, s);
      break;
    case 11:
      run_pass<11>(pass, x, y, s);
      break;
    default:
      run_pass<greatest_radix>(pass, x, y, s);
    }
    std::swap(x, y);
    s *= pass.radix;
  }
  return x;
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail
