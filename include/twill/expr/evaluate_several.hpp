#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Several results of one pass over memory: `auto [m, v] = eval(mean<1>(x), var<1>(x));`. Expressions over the same
// elements become one kernel with an output for each: elementwise ones of one shape, rows and totals of rows, or
// reductions down the same columns. A tensor used in several of them, or several times in one, is one operand, found by
// address at run time. Other expressions are evaluated one after the other. Read next: expr/domain.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/domain.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_reductions.hpp>
#include <twill/expr/row_form.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// How expressions can share a kernel.
enum class Together : std::uint8_t { apart, elementwise, rows, columns };

/// The domain of an expression, as far as its type tells.
struct Part {
  Form form = Form::staged;
  int trailing = 0; ///< how many last axes are reduced, 0 for elementwise ones
  bool keep = false;
  unsigned mask = 0; ///< of a column reduction
  Dims domain{};
};

template <class Op, unsigned Mask, Rest Remains, class... A>
[[nodiscard]] constexpr unsigned mask_of(const Reduced<Op, Mask, Remains, A...>*) {
  return Mask;
}

template <class E> [[nodiscard]] constexpr Part part_of() {
  constexpr Form form = form_of<E>();
  Part part{.form = form, .domain = dims_of<typename E::shape_type>};
  if constexpr (gathers<E> || is_complex(E::dtype)) {
    part.form = Form::staged;
  } else if constexpr (form == Form::rows) {
    part.trailing = 1;
  } else if constexpr (form == Form::totals) {
    constexpr Outermost found = outermost_of<E>;
    part.trailing = found.trailing;
    part.keep = found.keep;
    part.domain = found.domain;
  } else if constexpr (form == Form::columns) {
    part.mask = mask_of(static_cast<const E*>(nullptr));
    part.domain = dims_of<typename E::domain_type>;
  }
  return part;
}

template <std::size_t Count> [[nodiscard]] constexpr Together together(const std::array<Part, Count>& parts) {
  bool all_elementwise = true, all_columns = true;
  int trailing = 0;
  for (const Part& part : parts) {
    const bool is_row = part.form == Form::rows || part.form == Form::totals;
    all_elementwise = all_elementwise && part.form == Form::elementwise;
    all_columns = all_columns && part.form == Form::columns && part.mask == parts[0].mask;
    if (!detail::compatible(part.domain, parts[0].domain) || part.domain.rank == 0) return Together::apart;
    if (part.form == Form::permuted || part.form == Form::staged) return Together::apart;
    if (is_row && trailing != 0 && part.trailing != trailing) return Together::apart;
    if (is_row) trailing = part.trailing;
  }
  if (all_elementwise) return Together::elementwise;
  if (all_columns) return Together::columns;
  for (const Part& part : parts)
    if (part.form == Form::columns) return Together::apart;
  return Together::rows;
}

/// Expressions whose leaves are visited one after the other.
template <class... E> struct Several {
  std::tuple<const E&...> expressions;
  template <class F> void each_leaf(F& f) const {
    std::apply([&](const auto&... one) { (one.each_leaf(f), ...); }, expressions);
  }
};

/// The domain of an expression at run time.
template <class E> [[nodiscard]] Dims domain_of(const E& expression, const Dims& extents) {
  constexpr Part part = part_of<E>();
  if constexpr (part.form == Form::columns) {
    return expression.domain();
  } else if constexpr (part.form == Form::totals) {
    Dims domain{};
    join_domain(expression, domain);
    for (int axis = 0; axis < domain.rank - part.trailing; ++axis) domain[axis] = extents[axis];
    return domain;
  } else {
    return extents;
  }
}

template <class E>
using stored_part =
    Stored<E, E::dtype, part_of<E>().form == Form::totals, part_of<E>().form == Form::totals && !part_of<E>().keep>;

/// New tensors with the values of several expressions.
template <class... E> [[nodiscard]] auto evaluate_several(const E&... expressions) {
  constexpr std::array parts{part_of<E>()...};
  constexpr Together how = together(parts);
  const auto apart = [&] { return std::tuple(evaluate_as<typename E::shape_type>(expressions)...); };
  if constexpr (how == Together::apart) {
    return apart();
  } else {
    const std::array domains{domain_of(expressions, extents_of(expressions))...};
    bool is_one = domains[0].elements() > 0;
    for (const Dims& domain : domains) is_one = is_one && domain == domains[0];
    (require_same_device("eval", std::get<0>(std::tie(expressions...)).device(), expressions.device()), ...);
    if (!is_one) return apart();
    using D = typename std::tuple_element_t<0, std::tuple<E...>>::device_type;
    std::tuple results{
        Tensor<typename E::value_type, D, typename E::shape_type>(expressions.device(), extents_of(expressions))...};
    const Several<E...> all{{expressions...}};
    run_together<how>(all, results, domains[0]);
    return results;
  }
}

template <Together How, class... E, class... R>
void run_together(const Several<E...>& all, std::tuple<R...>& results, const Dims& extents) {
  constexpr std::array parts{part_of<E>()...};
  using D = typename std::tuple_element_t<0, std::tuple<E...>>::device_type;
  const auto device = std::get<0>(results).device();
  if constexpr (How == Together::columns) {
    constexpr unsigned mask = parts[0].mask;
    const int rank = extents.rank;
    const Domain domain{extents, mask, false};
    std::tuple sums{Tensor<scalar_t<partial_type<E>>, typename R::device_type, typename E::shape_type>(
        device,
        reduced_dims(extents, mask, E::shape_type::rank == E::domain_type::rank ? Rest::kept : Rest::dropped))...};
    const auto targets = std::apply(
        [rank](const auto&... sum) {
          return std::array{
              OutputView{sum.data(), sum.shape(), sum.strides(), std::remove_cvref_t<decltype(sum)>::rank != rank}...};
        },
        sums);
    using Apart = ColumnProgram<Merging::none, Stored<E, partial_type<E>>...>;
    using Alike = ColumnProgram<Merging::alike, Stored<E, partial_type<E>>...>;
    if constexpr (gains(Alike::code, Apart::code, false))
      run_domain(Programs<Apart, Alike>{}, all, device, targets.data(), domain, true);
    else
      run_domain(Programs<Apart>{}, all, device, targets.data(), domain, true);
    const auto finish = [&]<std::size_t... I>(std::index_sequence<I...>) {
      (finish_columns<dtype_of<typename R::value_type>>(std::get<I>(all.expressions), std::get<I>(sums), extents,
                                                        std::get<I>(results).data(), std::get<I>(results).strides()),
       ...);
    };
    finish(std::index_sequence_for<E...>{});
  } else {
    // elementwise expressions alone run over one row where they can
    constexpr int rank = parts[0].domain.rank;
    constexpr int trailing = [] {
      int found = 0;
      for (const Part& part : std::array{part_of<E>()...}) found = part.trailing > found ? part.trailing : found;
      return found == 0 ? 1 : found;
    }();
    constexpr unsigned mask = (1U << rank) - (1U << (rank - trailing));
    constexpr std::int64_t length = parts[0].domain[rank - 1];
    std::apply([&](const auto&... one) { (require_rows(one, extents, trailing), ...); }, all.expressions);
    std::size_t next = 0;
    const auto drops = [&] {
      const Part& part = parts[next++];
      return part.form == Form::totals && !part.keep;
    };
    const auto targets = std::apply(
        [&](const auto&... result) {
          return std::array{OutputView{result.data(), result.shape(), result.strides(), drops()}...};
        },
        results);
    run_domain(row_programs<D, length, (trailing > 1), stored_part<E>...>(), all, device, targets.data(),
               Domain{extents, mask, true});
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Evaluates several expressions, in one pass over memory where they run over the same elements:
/// `auto [least, greatest] = eval(min<1>(x), max<1>(x))`. Returns a tuple of tensors.
/// throws: ShapeError, DeviceError, OutOfMemoryError
template <LazyValue First, LazyValue... Rest>
requires(sizeof...(Rest) > 0) [[nodiscard]] auto eval(First&& first, Rest&&... rest) {
  expr::require_usable<First>();
  (expr::require_usable<Rest>(), ...);
  return expr::evaluate_several(first, rest...);
}

}}} // namespace twill::v0::TWILL_ISA
