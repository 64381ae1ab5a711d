#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Operations of the reductions in expr/reductions.hpp and expr/statistics.hpp, as functions of symbols with a name. One
// that is a single associative combination (`Combine`, `Mean`) also says how it is prepared, and so can run down
// columns. Read next: expr/reduced.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/row_symbols.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/kernel/program.hpp>

#include <limits>
#include <string_view>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// A reduction that is one associative combination.
template <kernel::Reduction R> struct Combine {
  static constexpr std::string_view name() { return R == kernel::Reduction::product ? "prod" : kernel::name(R); }
  static constexpr bool needs_elements = R == kernel::Reduction::max || R == kernel::Reduction::min;
  static constexpr bool is_mean = false;
  static constexpr bool takes_complex = R == kernel::Reduction::any || R == kernel::Reduction::all;

  static constexpr DType result(DType type) {
    if (R == kernel::Reduction::any || R == kernel::Reduction::all) return DType::boolean;
    return needs_elements ? type : sum_type(type);
  }
  /// For truth values the greatest means whether any holds.
  static constexpr kernel::Reduction reduction_of(DType type) {
    if (type != DType::boolean || !needs_elements) return R;
    return R == kernel::Reduction::max ? kernel::Reduction::any : kernel::Reduction::all;
  }
  static constexpr Symbol prepare(Symbol x) { return x.to(result(x.type())); }
  static constexpr Symbol emit(Symbol x) { return reduce_row(reduction_of(x.type()), prepare(x)); }
};

struct Mean {
  static constexpr std::string_view name() { return "mean"; }
  static constexpr bool is_mean = true;
  static constexpr DType result(DType type) { return floating_type(type); }
  static constexpr kernel::Reduction reduction_of(DType) { return kernel::Reduction::sum; }
  /// Down columns the sum is stored before it is divided, so the 16-bit types need room.
  static constexpr Symbol prepare(Symbol x) { return widened(x); }
  static constexpr Symbol emit(Symbol x) { return mean(x).to(result(x.type())); }
};

/// sum((x - mean)^2) / (n - Correction), or its root
template <int Correction, bool Root = false> struct Variance {
  static constexpr std::string_view name() { return Root ? "stddev" : "var"; }
  static constexpr DType result(DType type) { return floating_type(type); }
  static constexpr Symbol emit(Symbol x) {
    return (Root ? stddev(x, Correction) : var(x, Correction)).to(result(x.type()));
  }
};

/// The index of the first greatest or least element; of the first NaN if there is one.
template <kernel::Reduction R> struct ArgumentOf {
  static constexpr std::string_view name() { return R == kernel::Reduction::max ? "argmax" : "argmin"; }
  static constexpr bool needs_elements = true;
  static constexpr DType result(DType) { return DType::int64; }
  static constexpr Symbol emit(Symbol x) {
    if (x.type() == DType::boolean) x = x.to(DType::uint8);
    Symbol found = x == reduce_row(R, x);
    if (is_floating(x.type())) found = apply(Primitive::logical_or, found, isnan(x));
    const Symbol beyond{x.code(), x.code().number(DType::int64, 9.0e18)};
    return reduce_row(kernel::Reduction::min, where(found, row_index(x), beyond));
  }
};

struct LogSumExp {
  static constexpr std::string_view name() { return "logsumexp"; }
  static constexpr DType result(DType type) { return floating_type(type); }
  static constexpr Symbol emit(Symbol x) { return logsumexp(x).to(result(x.type())); }
};

/// The distance between the greatest and the least element.
struct PeakToPeak {
  static constexpr std::string_view name() { return "ptp"; }
  static constexpr bool needs_elements = true;
  static constexpr DType result(DType type) { return type; }
  static constexpr Symbol emit(Symbol x) { return max(x) - min(x); }
};

/// sum(x w) / sum(w)
struct WeightedMean {
  static constexpr std::string_view name() { return "average"; }
  static constexpr DType result(DType x, DType w) { return floating_type(promote(x, w)); }
  static constexpr Symbol emit(Symbol x, Symbol w) {
    const DType type = result(x.type(), w.type());
    const Symbol weight = w.to(compute_type(type));
    return (sum(x.to(compute_type(type)) * weight) / sum(weight)).to(type);
  }
};

// Reductions that skip NaN -----------------------------------------------------------------------------------------

/// x, and a number where it is NaN.
[[nodiscard]] constexpr Symbol without_nan(Symbol x, double instead) {
  return is_floating(x.type()) ? where(isnan(x), x.number(instead), x) : x;
}
/// 1 where x is not NaN, else 0.
[[nodiscard]] constexpr Symbol presence(Symbol x, DType type) { return logical_not(isnan(x)).to(type); }

template <kernel::Reduction R> struct CombineNumbers : Combine<R> {
  static constexpr std::string_view name() { return R == kernel::Reduction::sum ? "nansum" : "nanprod"; }
  static constexpr Symbol prepare(Symbol x) {
    return Combine<R>::prepare(without_nan(x, R == kernel::Reduction::sum ? 0 : 1));
  }
  static constexpr Symbol emit(Symbol x) { return reduce_row(R, prepare(x)); }
};

/// NaN if there are no numbers.
template <kernel::Reduction R> struct ExtremeNumber {
  static constexpr std::string_view name() { return R == kernel::Reduction::max ? "nanmax" : "nanmin"; }
  static constexpr bool needs_elements = true;
  static constexpr DType result(DType type) { return type; }
  static constexpr Symbol emit(Symbol x) {
    if (!is_floating(x.type())) return R == kernel::Reduction::max ? max(x) : min(x);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Symbol extreme = reduce_row(R, without_nan(x, R == kernel::Reduction::max ? -infinity : infinity));
    return where(any(logical_not(isnan(x))), extreme, x.number(std::numeric_limits<double>::quiet_NaN()));
  }
};

struct MeanOfNumbers {
  static constexpr std::string_view name() { return "nanmean"; }
  static constexpr DType result(DType type) { return floating_type(type); }
  static constexpr Symbol emit(Symbol x) {
    const Symbol value = widened(x);
    return (sum(without_nan(value, 0)) / sum(presence(value, value.type()))).to(result(x.type()));
  }
};

template <int Correction, bool Root = false> struct VarianceOfNumbers {
  static constexpr std::string_view name() { return Root ? "nanstd" : "nanvar"; }
  static constexpr DType result(DType type) { return floating_type(type); }
  static constexpr Symbol emit(Symbol x) {
    const Symbol value = widened(x);
    const Symbol count = sum(presence(value, value.type()));
    const Symbol number = without_nan(value, 0);
    const Symbol scale = square_scale(x.type(), number);
    const Symbol scaled = without_nan((value - sum(number) / count) * scale, 0);
    const ScaledVariance found = scaled_variance(scaled, scale, count, Correction);
    return (Root ? found.deviation() : found.variance()).to(result(x.type()));
  }
};

}}}} // namespace twill::v0::expr::TWILL_ISA
