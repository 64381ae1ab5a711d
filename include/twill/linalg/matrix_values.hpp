#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traced matrices of real or of complex numbers, for formulas that are written once for both: what is transposed for
// real matrices is conjugate as well for complex ones. Operations see complex numbers as pairs along a last axis of
// extent 2, which in memory are complex64 or complex128, so their kernels are those of complex tensors. Read next:
// linalg/triangular.hpp, linalg/complex_values.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/complex.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/program.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/ops/complex_moves.hpp>
#include <twill/ops/complex_value.hpp>
#include <twill/ops/triangles.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

using graph::ComplexValue;

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// A traced stack of real or complex matrices.
template <class V>
concept MatrixValue = std::same_as<V, Value> || std::same_as<V, ComplexValue>;

/// What functions of traced values take: real or complex ones, and what stands for a real one.
template <class X>
concept TracedOperand = std::convertible_to<const X&, Value> || std::same_as<std::remove_cvref_t<X>, ComplexValue>;

/// A result of a function, and the info of each matrix where it reports.
template <MatrixValue V> struct Reported {
  V result{};
  Value info{};
};

// What complex numbers have as well, for real ones.
template <class F> [[nodiscard]] constexpr Value each_part(Value a, F linear) { return linear(a); }
[[nodiscard]] constexpr DType part_type(Value a) { return a.dtype(); }
[[nodiscard]] constexpr DType part_type(const ComplexValue& a) { return a.part_dtype(); }
[[nodiscard]] constexpr Value real_part(Value a) { return a; }
[[nodiscard]] constexpr Value real_part(const ComplexValue& a) { return a.re; }
[[nodiscard]] constexpr Value conjugate(Value a) { return a; }
[[nodiscard]] constexpr ComplexValue conjugate(const ComplexValue& a) { return conj(a); }

/// Matrices with conjugate elements, rows and columns exchanged.
[[nodiscard]] constexpr Value adjoint(Value a) { return transpose(a); }
[[nodiscard]] constexpr ComplexValue adjoint(const ComplexValue& a) { return {transpose(a.re), -transpose(a.im)}; }

/// Real numbers as those of a kind of matrix.
template <MatrixValue V> [[nodiscard]] constexpr V from_real(Value a) {
  if constexpr (std::same_as<V, Value>)
    return a;
  else
    return {a, zeros_like(a)};
}

// The value that operations see, its extents, and the way back.
[[nodiscard]] constexpr Value stored(Value a) { return a; }
[[nodiscard]] constexpr Value stored(const ComplexValue& a) { return view_as_real(a); }
template <MatrixValue V> [[nodiscard]] constexpr Extents stored_shape(Extents shape) {
  if (std::same_as<V, ComplexValue>) shape.append(Extent{2, 0});
  return shape;
}
template <MatrixValue V> [[nodiscard]] constexpr V value_of(Value stored_value) {
  if constexpr (std::same_as<V, Value>)
    return stored_value;
  else
    return view_as_complex(stored_value);
}

/// The gradient of result k of an operation, which has one.
template <MatrixValue V>
[[nodiscard]] constexpr V cotangent_of(Graph& graph, const graph::Cotangents& cotangents, int k) {
  return value_of<V>({graph, cotangents[static_cast<std::size_t>(k)]});
}

/// One of two operations: that of real or that of complex matrices.
template <MatrixValue V, const graph::Operation& Real, const graph::Operation& Complex>
[[nodiscard]] constexpr const graph::Operation& operation_of() {
  if constexpr (std::same_as<V, Value>) // the other one and its gradient are no part of the program
    return Real;
  else
    return Complex;
}

/// Matrices with zeros on one side of a diagonal.
template <MatrixValue V> [[nodiscard]] constexpr V lower_part(const V& a, std::int64_t offset = 0) {
  return each_part(a, [&](Value part) { return tril(part, offset); });
}
template <MatrixValue V> [[nodiscard]] constexpr V upper_part(const V& a, std::int64_t offset = 0) {
  return each_part(a, [&](Value part) { return triu(part, offset); });
}

/// Matrices whose diagonal is halved.
template <MatrixValue V> [[nodiscard]] constexpr V with_half_diagonal(const V& a) {
  return each_part(a, [](Value part) { return where(on_diagonal(part), part * 0.5, part); });
}

/// (A + A^H) / 2.
template <MatrixValue V> [[nodiscard]] constexpr V hermitian_part(const V& a) { return (a + adjoint(a)) * 0.5; }

/// Identity matrices of the shape and type of a stack of square matrices.
template <MatrixValue V> [[nodiscard]] constexpr V identities_of(const V& a) {
  return from_real<V>(identity_like(real_part(a)));
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Complex operands in parts of float32 or float64. errors: fewer than two axes, 16 bits
[[nodiscard]] TWILL_CONSTEXPR ComplexValue checked_matrix(const ComplexValue& a, CallSite site) {
  const Value re = checked_matrix(a.re, site);
  return {re, cast(a.im, re.dtype())};
}

/// Complex operands whose matrices are square.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue checked_square(const ComplexValue& a, CallSite site) {
  const Value re = checked_square(a.re, site);
  return {re, cast(a.im, re.dtype())};
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// The kernel of an operation on pairs of parts: that of another operation for complex numbers. Which operands and
/// results are pairs, whose last axis goes, is told in their order.
template <const graph::Operation* O, bool... IsPair> struct ComplexKernel {
  template <class T, class Queue> static void run(const Queue& queue, const kernel::Launch& launch) {
    static_assert(
        std::same_as<Queue, Team>,
        "twill: linalg: in models complex matrices are decomposed on hosts; move their parts there with to(Cpu{0})");
    const Pairs pairs{launch, dtype_of<Complex<T>>};
    if constexpr (std::same_as<Queue, Team>) KernelOf<O>::template run<Complex<T>>(queue, pairs.of(launch));
  }
  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    const Pairs pairs{launch, dtype_of<Complex<T>>};
    if constexpr (requires { KernelOf<O>::template reserve<Complex<T>>(team, launch); })
      KernelOf<O>::template reserve<Complex<T>>(team, pairs.of(launch));
  }

private:
  struct Pairs {
    static constexpr bool is_pair[] = {IsPair...};
    Dims shapes[sizeof...(IsPair)]{};
    DType dtypes[sizeof...(IsPair)]{};

    Pairs(const kernel::Launch& launch, DType dtype) {
      for (std::size_t i = 0; i < sizeof...(IsPair); ++i) {
        shapes[i] = launch.shapes[i];
        dtypes[i] = is_pair[i] ? dtype : launch.dtypes[i];
        if (is_pair[i] && shapes[i].rank > 0) --shapes[i].rank; // a result that nobody reads has no axes
      }
    }
    [[nodiscard]] kernel::Launch of(const kernel::Launch& launch) const {
      kernel::Launch result = launch;
      result.shapes = shapes;
      result.dtypes = dtypes;
      return result;
    }
  };
};

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA
