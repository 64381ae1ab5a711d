#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of expressions with products. One product of the statement is computed in the destination, if shape and
// type allow, and the elementwise rest follows it row by row in place; the other products, and those under reductions,
// are computed into memory of their own first. A destination never overlaps an operand: `assign` and `store` see to
// that. Read next: expr/contraction.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/contraction.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_reductions.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/product.hpp>
#include <twill/expr/program.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/kernel/launch_watch.hpp>
#include <twill/kernel/run.hpp>
#include <twill/kernel/summary.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

template <class E> inline constexpr bool is_product = false;
template <class Rule, class... A> inline constexpr bool is_product<Product<Rule, A...>> = true;

/// An operand of a product as a tensor: expressions are evaluated.
template <class T, class D, class S> [[nodiscard]] const Tensor<T, D, S>& as_tensor(const Borrowed<T, D, S>& leaf) {
  return *leaf.tensor;
}
template <class T, class D, class S> [[nodiscard]] const Tensor<T, D, S>& as_tensor(const Held<T, D, S>& leaf) {
  return leaf.tensor;
}
template <LazyValue E> [[nodiscard]] auto as_tensor(const E& expression) {
  return evaluate_as<typename E::shape_type>(expression);
}

template <class T, class D, class S>
[[nodiscard]] Factor<T> factor_of(const Tensor<T, D, S>& tensor, const AxisLabels& axes) {
  return {tensor.data(), axes.set(), strides_by_label(axes, tensor.shape(), tensor.strides())};
}

/// Finds the order at compile time when all extents are known.
template <class P> [[nodiscard]] ContractionOrder order_of(const LabelExtents& extents) {
  if constexpr (P::rule::pattern.count > 2 && P::shape_is_proven) {
    static constexpr ContractionOrder order = contraction_order(P::rule::pattern, P::known);
    return order;
  } else {
    return contraction_order(P::rule::pattern, extents);
  }
}

/// Computes one product into memory of its element type, and the work that follows it.
template <class Rule, class... A, class D>
void run_product(const Product<Rule, A...>& product, const D& device, void* to, const Dims& to_strides,
                 const Epilogue* epilogue = nullptr) {
  using P = Product<Rule, A...>;
  using T = typename P::value_type;
  constexpr const Pattern& pattern = Rule::pattern;
  const LabelExtents extents = product.extents();
  const Dims to_shape = result_extents(pattern, extents);
  if (to_shape.elements() == 0) return;
  product.operands.apply([&](const auto&... operand) {
    [&](const auto&... tensor) { // here the evaluated operands live until the last launch
      std::array<Factor<T>, 2 * max_factors> factors{};
      std::size_t next = 0;
      ((factors[next] = factor_of(tensor, pattern.operands[next]), ++next), ...);
      const Factor<T> result{static_cast<T*>(to), pattern.result.set(),
                             strides_by_label(pattern.result, to_shape, to_strides)};
      contract<needs_of(pattern), T>(device, pattern, extents, order_of<P>(extents), factors.data(), result, epilogue);
    }(as_tensor(operand)...);
  });
}

/// The products of an expression are counted from left to right; which one can be computed into the destination?
template <class E, DType To, int Rank> struct Products {
  static constexpr int count = is_product<E> ? 1 : 0;
  static constexpr int chosen = -1;
  static constexpr bool is_elementwise = !E::has_reductions || is_product<E>;
};
template <class Rule, class... A, DType To, int Rank> struct Products<Product<Rule, A...>, To, Rank> {
  using P = Product<Rule, A...>;
  static constexpr int count = 1;
  static constexpr int chosen = P::dtype == To && P::shape_type::rank == Rank ? 0 : -1;
  static constexpr bool is_elementwise = true;
};
template <class Op, class... A, DType To, int Rank> struct Products<Node<Op, A...>, To, Rank> {
  static constexpr int count = (Products<A, To, Rank>::count + ...);
  static constexpr bool is_elementwise = (Products<A, To, Rank>::is_elementwise && ...);
  static constexpr int chosen = [] {
    int before = 0;
    int found = -1;
    ((found = found < 0 && Products<A, To, Rank>::chosen >= 0 ? before + Products<A, To, Rank>::chosen : found,
      before += Products<A, To, Rank>::count),
     ...);
    return found;
  }();
};
template <class Op, unsigned Mask, Rest Remains, class... A, DType To, int Rank>
struct Products<Reduced<Op, Mask, Remains, A...>, To, Rank> {
  static constexpr int count = (Products<A, To, Rank>::count + ...);
  static constexpr bool is_elementwise = false;
  static constexpr int chosen = -1;
};

template <class E> inline constexpr int products_in = Products<E, DType::float32, 0>::count;

template <int Number, class First, class... Rest>
[[nodiscard]] constexpr const auto& product_among(const First& first, const Rest&... rest);

/// The product with a number, counted from left to right.
template <int Number, class E> [[nodiscard]] constexpr const auto& product_at(const E& part) {
  if constexpr (is_product<E>) {
    return part;
  } else {
    return part.operands.apply([](const auto&... operand) -> const auto& { return product_among<Number>(operand...); });
  }
}
template <int Number, class First, class... Rest>
[[nodiscard]] constexpr const auto& product_among(const First& first, const Rest&... rest) {
  if constexpr (Number < products_in<First>)
    return product_at<Number>(first);
  else
    return product_among<Number - products_in<First>>(rest...);
}

/// The expression with its products computed, except that the chosen one is `place`, where it will be computed.
template <int Chosen, class E, class Place> [[nodiscard]] auto with_computed(const E& part, const Place& place) {
  if constexpr (!has_products<E>) {
    return part;
  } else if constexpr (is_product<E>) {
    using S = typename E::shape_type;
    if constexpr (Chosen == 0)
      return place;
    else
      return Held<typename E::value_type, typename E::device_type, S>{evaluate_as<S>(part)};
  } else {
    return part.operands.apply([&]<class... A>(const A&... operand) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        constexpr auto before = [](std::size_t place_of) {
          const int counts[] = {products_in<A>...};
          int sum = 0;
          for (std::size_t i = 0; i < place_of; ++i) sum += counts[i];
          return sum;
        };
        return rebuilt(static_cast<const E*>(nullptr), with_computed<Chosen - before(I)>(operand, place)...);
      }
      (std::index_sequence_for<A...>{});
    });
  }
}

/// An elementwise statement bound to its operands, with the kernels of its two programs as one type.
struct BoundStatement {
  std::array<kernel::Operand, kernel::max_following_operands> operands{};
  const OperandMap* map = nullptr;
  const StatementProgram* program = nullptr;
};

template <class Source>
void run_panel(const kernel::AnyTeam& team, const kernel::Grid& grid, const kernel::Operand* operands) {
  kernel::run(typename ProgramOf<Source>::type{}, team, grid, operands);
}

template <class Source>
inline constexpr StatementProgram program_of{
    &run_panel<Source>, kernel::summary_of<typename ProgramOf<Source>::type>.lines.data(),
    static_cast<int>(kernel::summary_of<typename ProgramOf<Source>::type>.lines.size())};

template <DType To, class E>
[[nodiscard]] BoundStatement bind_statement(const E& statement, void* to, const Dims& to_strides, const Dims& extents) {
  using Source = Elementwise<E, To>;
  BoundStatement bound{.map = &operand_map<Source>, .program = &program_of<Source>};
  Leaves<E> leaves(statement);
  complete_operands(*bound.map, leaves.operands(), E::shape_type::rank, to, to_strides, extents);
  std::memcpy(bound.operands.data(), leaves.operands(), bound.map->count * sizeof(kernel::Operand));
  return bound;
}

/// Runs a bound statement by itself.
template <class D> [[gnu::noinline]] void run_bound(const D& device, BoundStatement bound, kernel::Grid grid) {
  simplify(grid, bound.operands.data(), bound.map->count, 0, grid.rank - 1, true);
  keep_shared(grid, bound.operands.data(), *bound.map);
  if (kernel::is_watched(device)) [[unlikely]]
    return kernel::launch_watched(
        device,
        {.lines = bound.program->lines,
         .line_count = bound.program->line_count,
         .grid = &grid,
         .operands = bound.operands.data()},
        [&](const Team& team) { bound.program->run(kernel::AnyTeam{team}, grid, bound.operands.data()); });
  launch(device, [run = bound.program->run, grid, operands = bound.operands](const auto& team) {
    run(kernel::AnyTeam{team}, grid, operands.data());
  });
}

/// Lets a bound statement follow the rows of a product: sorts its axes into batch, rows and columns. False when they
/// are not in this order or do not merge into one each.
[[nodiscard]] bool follow_rows(Epilogue& epilogue, const BoundStatement& bound, const Dims& extents,
                               const Pattern& pattern);

template <DType To, class E, class D>
void run_with_products(const E& expression, const D& device, void* to, const Dims& to_strides, const Dims& extents) {
  using Found = Products<E, To, E::shape_type::rank>;
  if (extents.elements() == 0) return;
  if constexpr (is_product<E> && E::dtype == To) {
    if (expression.shape() == extents) return run_product(expression, device, to, to_strides);
  }
  if constexpr (is_complex(E::dtype) || is_complex(To)) { // no program of complex numbers follows a product's rows
    run<To>(with_computed<-1>(expression, 0), device, to, to_strides, extents);
  } else if constexpr (is_product<E>) {
    run<To>(make_node<Convert<To>>(evaluate_as<typename E::shape_type>(expression)), device, to, to_strides, extents);
  } else if constexpr (Found::is_elementwise && Found::chosen >= 0) {
    const auto& product = product_at<Found::chosen>(expression);
    using P = std::remove_cvref_t<decltype(product)>;
    using Target = Tensor<typename P::value_type, D, typename P::shape_type>;
    const bool is_in_place = layout::is_contiguous(extents, to_strides) && product.shape() == extents;
    Target computed(is_in_place
                        ? Target(memory::Buffer<D>{}, static_cast<typename P::value_type*>(to), extents, to_strides)
                        : Target(device, product.shape()));
    const auto rest =
        with_computed<Found::chosen>(expression, Held<typename P::value_type, D, typename P::shape_type>{computed});
    if constexpr (HostDevice<D> && Operands<Elementwise<std::remove_cv_t<decltype(rest)>, To>>::count <=
                                       static_cast<std::size_t>(kernel::max_following_operands)) {
      const BoundStatement bound = bind_statement<To>(rest, to, to_strides, extents);
      constexpr PatternNeeds needs = needs_of(P::rule::pattern);
      if constexpr (P::rule::pattern.count == 2 && needs.products && !needs.sums) {
        Epilogue epilogue{};
        if (is_in_place && follow_rows(epilogue, bound, extents, P::rule::pattern))
          return run_product(product, device, to, to_strides, &epilogue);
      }
      run_product(product, device, computed.data(), computed.strides());
      run_bound(device, bound, extents);
    } else {
      run_product(product, device, computed.data(), computed.strides());
      run<To>(rest, device, to, to_strides, extents);
    }
  } else {
    run<To>(with_computed<-1>(expression, 0), device, to, to_strides, extents);
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/evaluate_products.ipp>
#endif
