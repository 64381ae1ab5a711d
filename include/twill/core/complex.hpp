#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers as elements of tensors: `complex64` and `complex128`, two floats or doubles side by side, as
// in std::complex, which converts to and from them without a cast. The type is twill's own because device code has no
// std::complex, and because <complex> is a long header. Functions of complex tensors are in expr/complex_functions.hpp.
// Read next: core/dtype.hpp.

#include <concepts>
#include <type_traits>

namespace twill { inline namespace v0 {

template <std::floating_point T> struct Complex;

namespace detail {
template <class Z> inline constexpr bool is_complex_number = false;
template <class T> inline constexpr bool is_complex_number<Complex<T>> = true;
} // namespace detail

/// std::complex<T>, or a type with its members and layout.
template <class Z, class T>
concept StandardComplex = std::is_class_v<Z> && !detail::is_complex_number<Z> && requires(const Z& z) {
  requires std::same_as<typename Z::value_type, T>;
  { z.real() } -> std::same_as<T>;
  { z.imag() } -> std::same_as<T>;
  requires sizeof(Z) == 2 * sizeof(T);
};

/// A complex number of two parts of type T.
template <std::floating_point T> struct alignas(2 * sizeof(T)) Complex {
  using value_type = T;

  T re = 0; ///< the real part
  T im = 0; ///< the imaginary part

  constexpr Complex() = default;
  /// A real number is a complex one.
  constexpr Complex(T real, T imag = 0) : re{real}, im{imag} {} // NOLINT: implicit on purpose
  /// From std::complex; one of a wider type is converted by a cast alone.
  template <class Z>
  requires(StandardComplex<Z, float> || StandardComplex<Z, double>) constexpr explicit(sizeof(Z) > 2 * sizeof(T))
      Complex(const Z& z)
      : re{static_cast<T>(z.real())}, im{static_cast<T>(z.imag())} {}
  /// Rounds or widens both parts.
  template <std::floating_point U>
  requires(!std::same_as<T, U>) constexpr explicit(sizeof(U) > sizeof(T)) Complex(const Complex<U>& z)
      : re{static_cast<T>(z.re)}, im{static_cast<T>(z.im)} {}

  /// To std::complex.
  template <StandardComplex<T> Z> constexpr operator Z() const { return Z(re, im); } // NOLINT: implicit on purpose

  /// std::complex's name of `re`.
  [[nodiscard]] constexpr T real() const { return re; }
  /// std::complex's name of `im`.
  [[nodiscard]] constexpr T imag() const { return im; }

  /// Equal parts.
  [[nodiscard]] friend constexpr bool operator==(const Complex& a, const Complex& b) {
    return a.re == b.re && a.im == b.im;
  }
  /// Part by part.
  [[nodiscard]] friend constexpr Complex operator+(const Complex& a, const Complex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  /// Part by part.
  [[nodiscard]] friend constexpr Complex operator-(const Complex& a, const Complex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  /// (a + bi)(c + di) = (ac - bd) + (ad + bc)i
  [[nodiscard]] friend constexpr Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Smith's algorithm, which does not overflow where the quotient does not.
  [[nodiscard]] friend constexpr Complex operator/(const Complex& a, const Complex& b) {
    const bool is_wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
    const T large = is_wide ? b.re : b.im;
    const T small = is_wide ? b.im : b.re;
    const T ratio = large == 0 ? T{0} : small / large;
    const T divisor = large + small * ratio;
    if (is_wide) return {(a.re + a.im * ratio) / divisor, (a.im - a.re * ratio) / divisor};
    return {(a.re * ratio + a.im) / divisor, (a.im * ratio - a.re) / divisor};
  }
  /// Both parts with the other sign.
  [[nodiscard]] friend constexpr Complex operator-(const Complex& z) { return {-z.re, -z.im}; }
  /// The number itself.
  [[nodiscard]] friend constexpr Complex operator+(const Complex& z) { return z; }
  /// a = a + b
  friend constexpr Complex& operator+=(Complex& a, const Complex& b) { return a = a + b; }
  /// a = a - b
  friend constexpr Complex& operator-=(Complex& a, const Complex& b) { return a = a - b; }
  /// a = a * b
  friend constexpr Complex& operator*=(Complex& a, const Complex& b) { return a = a * b; }
  /// a = a / b
  friend constexpr Complex& operator/=(Complex& a, const Complex& b) { return a = a / b; }

  /// The real part.
  [[nodiscard]] friend constexpr T real(const Complex& z) { return z.re; }
  /// The imaginary part.
  [[nodiscard]] friend constexpr T imag(const Complex& z) { return z.im; }
  /// The number with the other sign of the imaginary part.
  [[nodiscard]] friend constexpr Complex conj(const Complex& z) { return {z.re, -z.im}; }
};

/// A complex number of the language's side: one of the two above, or std::complex.
template <class Z>
concept ComplexNumber = detail::is_complex_number<Z> || StandardComplex<Z, float> || StandardComplex<Z, double>;

}} // namespace twill::v0
