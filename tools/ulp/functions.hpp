#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The functions whose errors are measured, each beside its references: libm in float64 for float32, libm in long double for
// float64. The accuracy test of tests/kernel/ measures the same list more coarsely.

#include "sweep.hpp"

#include <twill/kernel/apply_pack.hpp>

#include <cmath>
#include <string_view>

#define TWILL_ULP_HAS_VECTOR_LIBM 0
#if defined(__GLIBC__) && defined(__x86_64__) && defined(TWILL_ULP_WITH_LIBMVEC)
#undef TWILL_ULP_HAS_VECTOR_LIBM
#define TWILL_ULP_HAS_VECTOR_LIBM 1
#endif

namespace ulp {

namespace vector_libm {
#if TWILL_ULP_HAS_VECTOR_LIBM && defined(__AVX512F__)
Wide exp(Wide) asm("_ZGVeN8v_exp");
Wide expm1(Wide) asm("_ZGVeN8v_expm1");
Wide exp2(Wide) asm("_ZGVeN8v_exp2");
Wide log(Wide) asm("_ZGVeN8v_log");
Wide log1p(Wide) asm("_ZGVeN8v_log1p");
Wide log2(Wide) asm("_ZGVeN8v_log2");
Wide log10(Wide) asm("_ZGVeN8v_log10");
Wide cbrt(Wide) asm("_ZGVeN8v_cbrt");
Wide sin(Wide) asm("_ZGVeN8v_sin");
Wide cos(Wide) asm("_ZGVeN8v_cos");
Wide tan(Wide) asm("_ZGVeN8v_tan");
Wide asin(Wide) asm("_ZGVeN8v_asin");
Wide acos(Wide) asm("_ZGVeN8v_acos");
Wide atan(Wide) asm("_ZGVeN8v_atan");
Wide sinh(Wide) asm("_ZGVeN8v_sinh");
Wide cosh(Wide) asm("_ZGVeN8v_cosh");
Wide tanh(Wide) asm("_ZGVeN8v_tanh");
Wide asinh(Wide) asm("_ZGVeN8v_asinh");
Wide acosh(Wide) asm("_ZGVeN8v_acosh");
Wide atanh(Wide) asm("_ZGVeN8v_atanh");
Wide erf(Wide) asm("_ZGVeN8v_erf");
Wide erfc(Wide) asm("_ZGVeN8v_erfc");
#elif TWILL_ULP_HAS_VECTOR_LIBM && defined(__AVX2__)
Wide exp(Wide) asm("_ZGVdN4v_exp");
Wide expm1(Wide) asm("_ZGVdN4v_expm1");
Wide exp2(Wide) asm("_ZGVdN4v_exp2");
Wide log(Wide) asm("_ZGVdN4v_log");
Wide log1p(Wide) asm("_ZGVdN4v_log1p");
Wide log2(Wide) asm("_ZGVdN4v_log2");
Wide log10(Wide) asm("_ZGVdN4v_log10");
Wide cbrt(Wide) asm("_ZGVdN4v_cbrt");
Wide sin(Wide) asm("_ZGVdN4v_sin");
Wide cos(Wide) asm("_ZGVdN4v_cos");
Wide tan(Wide) asm("_ZGVdN4v_tan");
Wide asin(Wide) asm("_ZGVdN4v_asin");
Wide acos(Wide) asm("_ZGVdN4v_acos");
Wide atan(Wide) asm("_ZGVdN4v_atan");
Wide sinh(Wide) asm("_ZGVdN4v_sinh");
Wide cosh(Wide) asm("_ZGVdN4v_cosh");
Wide tanh(Wide) asm("_ZGVdN4v_tanh");
Wide asinh(Wide) asm("_ZGVdN4v_asinh");
Wide acosh(Wide) asm("_ZGVdN4v_acosh");
Wide atanh(Wide) asm("_ZGVdN4v_atanh");
Wide erf(Wide) asm("_ZGVdN4v_erf");
Wide erfc(Wide) asm("_ZGVdN4v_erfc");
#else
inline constexpr NearlyExact exp = nullptr;
inline constexpr NearlyExact expm1 = nullptr;
inline constexpr NearlyExact exp2 = nullptr;
inline constexpr NearlyExact log = nullptr;
inline constexpr NearlyExact log1p = nullptr;
inline constexpr NearlyExact log2 = nullptr;
inline constexpr NearlyExact log10 = nullptr;
inline constexpr NearlyExact cbrt = nullptr;
inline constexpr NearlyExact sin = nullptr;
inline constexpr NearlyExact cos = nullptr;
inline constexpr NearlyExact tan = nullptr;
inline constexpr NearlyExact asin = nullptr;
inline constexpr NearlyExact acos = nullptr;
inline constexpr NearlyExact atan = nullptr;
inline constexpr NearlyExact sinh = nullptr;
inline constexpr NearlyExact cosh = nullptr;
inline constexpr NearlyExact tanh = nullptr;
inline constexpr NearlyExact asinh = nullptr;
inline constexpr NearlyExact acosh = nullptr;
inline constexpr NearlyExact atanh = nullptr;
inline constexpr NearlyExact erf = nullptr;
inline constexpr NearlyExact erfc = nullptr;
#endif
} // namespace vector_libm

using namespace twill;
using kernel::Primitive;

template <Primitive P> void evaluate(const float* x, float* y) {
  constexpr int lanes = kernel::vector_bytes / 4;
  for (int i = 0; i < block; i += lanes) kernel::store(y + i, kernel::apply<P>(kernel::load<float, lanes>(x + i)));
}

/// A function of one float32.
struct Unary {
  std::string_view name;
  Evaluate evaluate;
  Exact exact;
  NearlyExact nearly_exact;
  double bound;             ///< the largest error that was measured, rounded up
  double bound_without_fma; ///< where the instruction set has no fused multiply-add
};

// clang-format off
inline constexpr Unary unary_functions[] = {
    {"exp", evaluate<Primitive::exp>, [](double x) { return std::exp(x); }, vector_libm::exp, 1.1, 1.1},
    {"expm1", evaluate<Primitive::expm1>, [](double x) { return std::expm1(x); }, vector_libm::expm1, 1.6, 1.75},
    {"exp2", evaluate<Primitive::exp2>, [](double x) { return std::exp2(x); }, vector_libm::exp2, 0.9, 1.1},
    {"log", evaluate<Primitive::log>, [](double x) { return std::log(x); }, vector_libm::log, 1.03, 1.03},
    {"log1p", evaluate<Primitive::log1p>, [](double x) { return std::log1p(x); }, vector_libm::log1p, 1.5, 1.5},
    {"log2", evaluate<Primitive::log2>, [](double x) { return std::log2(x); }, vector_libm::log2, 1.06, 1.9},
    {"log10", evaluate<Primitive::log10>, [](double x) { return std::log10(x); }, vector_libm::log10, 0.9, 1.8},
    {"cbrt", evaluate<Primitive::cbrt>, [](double x) { return std::cbrt(x); }, vector_libm::cbrt, 0.51, 1},
    {"sin", evaluate<Primitive::sin>, [](double x) { return std::sin(x); }, vector_libm::sin, 1.6, 300},
    {"cos", evaluate<Primitive::cos>, [](double x) { return std::cos(x); }, vector_libm::cos, 1.6, 300},
    {"tan", evaluate<Primitive::tan>, [](double x) { return std::tan(x); }, vector_libm::tan, 3.8, 500},
    {"asin", evaluate<Primitive::asin>, [](double x) { return std::asin(x); }, vector_libm::asin, 2.1, 2.1},
    {"acos", evaluate<Primitive::acos>, [](double x) { return std::acos(x); }, vector_libm::acos, 1.35, 1.35},
    {"atan", evaluate<Primitive::atan>, [](double x) { return std::atan(x); }, vector_libm::atan, 1.8, 1.8},
    {"sinh", evaluate<Primitive::sinh>, [](double x) { return std::sinh(x); }, vector_libm::sinh, 1.7, 1.75},
    {"cosh", evaluate<Primitive::cosh>, [](double x) { return std::cosh(x); }, vector_libm::cosh, 1.6, 1.6},
    {"tanh", evaluate<Primitive::tanh>, [](double x) { return std::tanh(x); }, vector_libm::tanh, 5, 5.5},
    {"tanh_accurate", evaluate<Primitive::tanh_accurate>, [](double x) { return std::tanh(x); }, vector_libm::tanh, 1.4, 1.4},
    {"asinh", evaluate<Primitive::asinh>, [](double x) { return std::asinh(x); }, vector_libm::asinh, 0.51, 0.51},
    {"acosh", evaluate<Primitive::acosh>, [](double x) { return std::acosh(x); }, vector_libm::acosh, 0.51, 0.51},
    {"atanh", evaluate<Primitive::atanh>, [](double x) { return std::atanh(x); }, vector_libm::atanh, 0.51, 0.51},
    {"erf", evaluate<Primitive::erf>, [](double x) { return std::erf(x); }, vector_libm::erf, 6, 6.5},
    {"erf_accurate", evaluate<Primitive::erf_accurate>, [](double x) { return std::erf(x); }, vector_libm::erf, 1.2, 1.7},
    {"erfc", evaluate<Primitive::erfc>, [](double x) { return std::erfc(x); }, vector_libm::erfc, 0.51, 0.51},
    {"lgamma", evaluate<Primitive::lgamma>, [](double x) { return kernel::detail::log_gamma(x); }, nullptr, 0.51, 0.51},
    {"digamma", evaluate<Primitive::digamma>, [](double x) { return kernel::detail::polygamma_of(0, x); }, nullptr, 0.51, 0.51},
    {"erfinv", evaluate<Primitive::erfinv>, [](double x) { return kernel::detail::erfinv_of(x); }, nullptr, 0.51, 0.51},
    {"ndtri", evaluate<Primitive::ndtri>, [](double x) { return kernel::detail::ndtri_of(x); }, nullptr, 0.51, 0.51},
    {"i0", evaluate<Primitive::i0>, [](double x) { return kernel::detail::bessel_i(0, x); }, nullptr, 0.51, 0.51},
    {"i1", evaluate<Primitive::i1>, [](double x) { return kernel::detail::bessel_i(1, x); }, nullptr, 0.51, 0.51},
    {"bessel_j0", evaluate<Primitive::bessel_j0>, [](double x) { return ::j0(x); }, nullptr, 0.51, 0.51},
    {"bessel_j1", evaluate<Primitive::bessel_j1>, [](double x) { return ::j1(x); }, nullptr, 0.51, 0.51},
    {"sqrt", evaluate<Primitive::sqrt>, [](double x) { return std::sqrt(x); }, nullptr, 0.51, 0.51},
    {"rsqrt", evaluate<Primitive::rsqrt>, [](double x) { return 1 / std::sqrt(x); }, nullptr, 1.5, 1.5},
    {"reciprocal", evaluate<Primitive::reciprocal>, [](double x) { return 1 / x; }, nullptr, 0.51, 0.51},
};
// clang-format on

/// How far a function may be off where this file is compiled.
[[nodiscard]] constexpr double bound_of(const Unary& function) {
#if defined(__FMA__)
  return function.bound;
#else
  return function.bound_without_fma;
#endif
}

/// A function of two floats, with whatever signs and sizes are of interest.
struct Binary {
  std::string_view name;
  void (*evaluate)(const float* a, const float* b, float* y);
  double (*exact)(double a, double b);
  double bound;
};
template <Primitive P> void evaluate_two(const float* a, const float* b, float* y) {
  constexpr int lanes = kernel::vector_bytes / 4;
  for (int i = 0; i < block; i += lanes)
    kernel::store(y + i, kernel::apply<P>(kernel::load<float, lanes>(a + i), kernel::load<float, lanes>(b + i)));
}

// clang-format off
inline constexpr Binary binary_functions[] = {
    {"power", evaluate_two<Primitive::power>, [](double a, double b) { return std::pow(a, b); }, 0.51},
    {"atan2", evaluate_two<Primitive::atan2>, [](double a, double b) { return std::atan2(a, b); }, 1.85},
    {"hypot", evaluate_two<Primitive::hypot>, [](double a, double b) { return std::hypot(a, b); }, 0.51},
    {"fmod", evaluate_two<Primitive::fmod>, [](double a, double b) { return std::fmod(a, b); }, 0},
};
// clang-format on

/// A function of one double.
struct UnaryDouble {
  std::string_view name;
  void (*evaluate)(const double* x, double* y);
  long double (*exact)(long double);
  double bound;
};
template <Primitive P> void evaluate_double(const double* x, double* y) {
  constexpr int lanes = kernel::vector_bytes / 8;
  for (int i = 0; i < block; i += lanes) kernel::store(y + i, kernel::apply<P>(kernel::load<double, lanes>(x + i)));
}

// clang-format off
inline constexpr UnaryDouble double_functions[] = {
    {"exp", evaluate_double<Primitive::exp>, [](long double x) { return std::exp(x); }, 1.4},
    {"log", evaluate_double<Primitive::log>, [](long double x) { return std::log(x); }, 1.4},
    {"sin", evaluate_double<Primitive::sin>, [](long double x) { return std::sin(x); }, 1.5},
    {"cos", evaluate_double<Primitive::cos>, [](long double x) { return std::cos(x); }, 1.5},
    {"tanh", evaluate_double<Primitive::tanh>, [](long double x) { return std::tanh(x); }, 1.4},
};
// clang-format on

} // namespace ulp
