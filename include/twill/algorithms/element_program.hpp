#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of a fused program for one element, by the scalar primitives of kernel/apply.hpp: iterators over
// expressions compute with it, on hosts and in kernels. Read next: algorithms/lazy_iterator.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// The lines of a program over one element.
template <class P> struct ElementProgram;
template <class... Lines> struct ElementProgram<kernel::Program<Lines...>> {
  using P = kernel::Program<Lines...>;
  template <std::size_t I> static constexpr kernel::Line line_at() { return kernel::summary_of<P>.lines[I]; }
  template <std::size_t I> using value_t = kernel::compute_t<scalar_t<line_at<I>().type>>;
  template <class Indices> struct Values;
  template <std::size_t... I> struct Values<std::index_sequence<I...>> { using type = std::tuple<value_t<I>...>; };
  static constexpr std::size_t count = sizeof...(Lines) - 1; // all but the output
  using values_type = typename Values<std::make_index_sequence<count>>::type;

  template <std::size_t I, std::size_t... A>
  static constexpr auto step(const values_type& values, std::index_sequence<A...>) {
    return kernel::apply<line_at<I>().primitive>(
        std::get<static_cast<std::size_t>(line_at<I>().arguments[A])>(values)...);
  }

  template <std::size_t I, class Operand>
  static constexpr value_t<I> line(const values_type& values, const Operand* operands, const std::int64_t* offsets) {
    constexpr kernel::Line entry = line_at<I>();
    using T = scalar_t<entry.type>;
    if constexpr (entry.kind == kernel::LineKind::input) {
      return static_cast<value_t<I>>(static_cast<const T*>(operands[entry.operand].data)[offsets[entry.operand]]);
    } else if constexpr (entry.kind == kernel::LineKind::immediate) {
      T element;
      std::memcpy(static_cast<void*>(&element), &operands[entry.operand].bits, sizeof(T));
      return static_cast<value_t<I>>(element);
    } else if constexpr (entry.kind == kernel::LineKind::cast) {
      return kernel::cast_element<T>(std::get<static_cast<std::size_t>(entry.arguments[0])>(values));
    } else if constexpr (entry.kind == kernel::LineKind::gather) {
      const auto moved = std::get<static_cast<std::size_t>(entry.arguments[0])>(values);
      return static_cast<value_t<I>>(
          static_cast<const T*>(operands[entry.operand].data)[offsets[entry.operand] + moved]);
    } else {
      static_assert(entry.kind == kernel::LineKind::step,
                    "twill: begin: this expression has no single elements; evaluate it");
      return static_cast<value_t<I>>(step<I>(values, std::make_index_sequence<entry.arity>{}));
    }
  }

  /// The last value before the store.
  template <class Result, class Operand>
  static constexpr Result run(const Operand* operands, const std::int64_t* offsets) {
    values_type values{};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((std::get<I>(values) = line<I>(values, operands, offsets)), ...);
    }
    (std::make_index_sequence<count>{});
    return static_cast<Result>(std::get<static_cast<std::size_t>(line_at<count>().arguments[0])>(values));
  }
};

}}}} // namespace twill::v0::algorithms::TWILL_ISA
