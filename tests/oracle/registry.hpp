#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The table of functions that the oracle test knows: a name, the element types of the operands, how close NumPy's result
// has to be, and code that builds the operands' views and runs twill. A function is given once, as a lambda over operands of
// any element type; the templates here make one entry for each type. Operands are tensors of rank 4 with leading axes of
// extent 1 unless a function asks for another rank, so that ranks cost no instantiations. Read next: arithmetic.cpp.

#include "tests/oracle/case.hpp"
#include "tests/oracle/views.hpp"

#include <twill/expr.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace oracle {

using twill::bfloat16;
using twill::half;

/// How far a floating result may lie from NumPy's, in units in the last place of the result's type, or absolutely. All
/// zero: equal bits, but for the payload of NaN. Integers and booleans are always equal.
struct Tolerance {
  double narrow = 0; ///< float16, bfloat16
  double single = 0;
  double wide = 0;
  double absolute = 0;
  bool zeros_are_equal = false; ///< whatever their signs: NumPy's depend on the order in which it compares
};
inline constexpr Tolerance exact{};
inline constexpr Tolerance zeros_equal{.zeros_are_equal = true};

using Runner = std::vector<Values> (*)(const Case&);

struct Entry {
  std::string name{};
  std::vector<DType> operands{};
  Tolerance tolerance{};
  Runner run = nullptr;
};

using Registry = std::vector<Entry>;

template <Scalar... T> struct Types {};
using Booleans = Types<bool>;
using Integers = Types<std::uint8_t, std::int32_t, std::int64_t>;
using Floats = Types<half, bfloat16, float, double>;
using Numbers = Types<std::uint8_t, std::int32_t, std::int64_t, half, bfloat16, float, double>;
using Everything = Types<bool, std::uint8_t, std::int32_t, std::int64_t, half, bfloat16, float, double>;

/// The values of whatever a function returned.
template <class E> [[nodiscard]] std::vector<Values> finished(const Case& test, E&& result) {
  if constexpr (twill::AnyTensor<E>) {
    using Bare = std::remove_cvref_t<E>;
    return {Views<typename Bare::value_type, Bare::rank>::values_of(result)};
  } else {
    using Bare = std::remove_cvref_t<E>;
    const Destination<typename Bare::value_type, Bare::shape_type::rank> to(result.shape(), test.out);
    to.target(twill::ellipsis) = std::forward<E>(result);
    return {to.values()};
  }
}

/// The function with the case's numbers, where it takes them.
template <class F, class... X> [[nodiscard]] decltype(auto) called(const Case& test, const X&... x) {
  if constexpr (std::invocable<F, const X&..., const std::vector<double>&>)
    return F{}(x..., test.numbers);
  else
    return F{}(x...);
}

template <class F, int Rank, Scalar A> std::vector<Values> run_one(const Case& test) {
  const auto a = Views<A, Rank>::make(test.operands.at(0));
  return finished(test, called<F>(test, a));
}
template <class F, int Rank, Scalar A, Scalar B> std::vector<Values> run_two(const Case& test) {
  const auto a = Views<A, Rank>::make(test.operands.at(0));
  const auto b = Views<B, Rank>::make(test.operands.at(1));
  return finished(test, called<F>(test, a, b));
}
template <class F, int Rank, Scalar A, Scalar B, Scalar C> std::vector<Values> run_three(const Case& test) {
  const auto a = Views<A, Rank>::make(test.operands.at(0));
  const auto b = Views<B, Rank>::make(test.operands.at(1));
  const auto c = Views<C, Rank>::make(test.operands.at(2));
  return finished(test, called<F>(test, a, b, c));
}

/// One operand, of each of the types.
template <int Rank = 4, class F, Scalar... T>
void unary(Registry& to, const std::string& name, Types<T...>, Tolerance tolerance, F) {
  (to.push_back({name, {twill::dtype_of<T>}, tolerance, run_one<F, Rank, T>}), ...);
}
/// Two operands of one type.
template <int Rank = 4, class F, Scalar... T>
void binary(Registry& to, const std::string& name, Types<T...>, Tolerance tolerance, F) {
  (to.push_back({name, {twill::dtype_of<T>, twill::dtype_of<T>}, tolerance, run_two<F, Rank, T, T>}), ...);
}
/// Two operands, the first of one type, the second of each.
template <int Rank = 4, Scalar A, class F, Scalar... T>
void binary_with(Registry& to, const std::string& name, Types<T...>, Tolerance tolerance, F) {
  (to.push_back({name, {twill::dtype_of<A>, twill::dtype_of<T>}, tolerance, run_two<F, Rank, A, T>}), ...);
}
/// Two operands of any types.
template <class F, Scalar... T>
void binary_of_all(Registry& to, const std::string& name, Types<T...> types, Tolerance tolerance, F f) {
  (binary_with<4, T>(to, name, types, tolerance, f), ...);
}
/// Three operands, the last two of one type.
template <int Rank = 4, Scalar A, class F, Scalar... T>
void ternary_with(Registry& to, const std::string& name, Types<T...>, Tolerance tolerance, F) {
  (to.push_back(
       {name, {twill::dtype_of<A>, twill::dtype_of<T>, twill::dtype_of<T>}, tolerance, run_three<F, Rank, A, T, T>}),
   ...);
}
/// Three operands of one type.
template <int Rank = 4, class F, Scalar... T>
void ternary(Registry& to, const std::string& name, Types<T...> types, Tolerance tolerance, F f) {
  (ternary_with<Rank, T>(to, name, Types<T>{}, tolerance, f), ...);
  static_cast<void>(types);
}

void add_rounding(Registry& to);
void add_transcendental(Registry& to);
void add_arithmetic(Registry& to);
void add_comparison(Registry& to);
void add_promotion(Registry& to);
void add_reductions(Registry& to);
void add_shapes(Registry& to);
void add_products(Registry& to);
void add_special(Registry& to);
void add_numeric(Registry& to);
void add_statistics(Registry& to);
void add_algorithms(Registry& to);
void add_transforms(Registry& to);
void add_draws(Registry& to);
void add_small_types(Registry& to);
void add_complex_types(Registry& to);
void add_linalg(Registry& to);
void add_sparse(Registry& to);
void add_losses(Registry& to);
void add_layers(Registry& to);

} // namespace oracle
