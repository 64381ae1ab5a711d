#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transforms of functions of traced values: tangents, pullbacks and Jacobians. A Jacobian shares the forward pass and
// is one batched pass over the unit vectors of the smaller side, so its kernels run once whatever its size; what they
// keep has that many copies. Read next: graph/tangent.hpp, graph/vmap.hpp, compile/transforms.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/batching.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/graph/tangent.hpp>
#include <twill/graph/variables.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace graph { namespace transforms {

/// The side of a Jacobian along which it is computed: a gradient for each row, or a tangent for each column.
enum class Along : std::uint8_t { rows, columns, shorter_side };

/// Values as an array: one alone, an array, or a tuple.
constexpr std::array<Value, 1> values_of(Value value) { return {value}; }
template <std::size_t N> constexpr std::array<Value, N> values_of(const std::array<Value, N>& values) { return values; }
template <class... Values>
constexpr std::array<Value, sizeof...(Values)> values_of(const std::tuple<Values...>& values) {
  return std::apply([](const auto&... each) { return std::array<Value, sizeof...(Values)>{each...}; }, values);
}

/// One value alone, several as an array.
template <std::size_t N> constexpr auto only_or_all(const std::array<Value, N>& values) {
  if constexpr (N == 1)
    return values[0];
  else
    return values;
}

namespace detail {

using namespace graph::detail;

/// The problems of a direction that does not fit to its value.
struct Misfits {
  Problem type;
  Problem rank;
  Problem extent;
};
inline constexpr Misfits of_tangents{Problem::tangent_has_another_type_than_its_primal,
                                     Problem::tangent_has_another_rank_than_its_primal,
                                     Problem::tangent_has_another_extent_than_its_primal};
inline constexpr Misfits of_cotangents{Problem::cotangent_has_another_type_than_its_result,
                                       Problem::cotangent_has_another_rank_than_its_result,
                                       Problem::cotangent_has_another_extent_than_its_result};

/// Refuses a direction of another type or shape than its value.
TWILL_CONSTEXPR void require_fit(Value value, Value direction, const Misfits& misfits, CallSite site) {
  Graph& graph = value.graph();
  if (!is_floating(value.dtype()))
    return graph.refuse(Problem::gradient_with_respect_to_a_value_that_is_not_floating, static_cast<int>(value.dtype()),
                        0, site);
  if (value.dtype() != direction.dtype())
    return graph.refuse(misfits.type, static_cast<int>(value.dtype()), static_cast<int>(direction.dtype()), site);
  const Extents wanted = value.shape();
  const Extents given = direction.shape();
  if (wanted.rank != given.rank) return graph.refuse(misfits.rank, wanted.rank, given.rank, site);
  for (int axis = 0; axis < wanted.rank; ++axis)
    if (!unify(graph, wanted[axis], given[axis]))
      graph.refuse(misfits.extent, wanted[axis].is_static() ? wanted[axis].factor : -1,
                   given[axis].is_static() ? given[axis].factor : -1, site);
}

[[nodiscard]] TWILL_CONSTEXPR Extents joined(const Extents& first, const Extents& second) {
  Extents both = first;
  for (int axis = 0; axis < second.rank; ++axis) both.append(second[axis]);
  return both;
}

/// Derivatives for all unit vectors of a value in one pass, each as a stack of one for each of them.
template <std::size_t Count> class UnitPasses {
public:
  /// `like`: the value whose unit vectors they are.
  constexpr explicit UnitPasses(Value like) : graph_{&like.graph()}, dtype_{like.dtype()}, shape_{like.shape()} {}

  /// `pass` gives the ids of the derivatives for a unit vector, -1 for zero; `results` are of their types and shapes.
  template <class Pass>
  constexpr std::array<Value, Count> operator()(const std::array<Value, Count>& results, const Pass& pass) const {
    const Extent count = shape_.elements();
    List<int> found{};
    List<int> reached{};
    if (count.is_one()) {
      found = pass(filled(*graph_, dtype_, shape_, 1));
      reached = found;
    } else {
      BatchBuilder passes{*graph_, count};
      found = pass(passes.element(unit_vectors(count)));
      for (int id : found)
        if (id >= 0) reached.push_back(id);
      reached = passes.finish(reached);
    }
    std::array<Value, Count> stacked{};
    std::size_t next = 0;
    for (std::size_t k = 0; k < Count; ++k) {
      const Extents shape = with_batch(count, results[k].shape());
      if (found[k] < 0)
        stacked[k] = filled(*graph_, results[k].dtype(), shape, 0);
      else
        stacked[k] = reshape({*graph_, reached[count.is_one() ? k : next++]}, shape);
    }
    return stacked;
  }

private:
  /// (count, …): row i is the unit vector of element i.
  [[nodiscard]] constexpr Value unit_vectors(Extent count) const {
    Extents numbers{};
    numbers.append(count);
    const Value number = iota(*graph_, numbers);
    const Value is_one = equal(unsqueeze(number, 1), number);
    return reshape(cast(is_one, dtype_), joined(numbers, shape_));
  }

  Graph* graph_;
  DType dtype_;
  Extents shape_;
};

/// The elements of some values, -1 if they are not known to the compiler.
template <std::size_t N> constexpr std::int64_t elements_of(const std::array<Value, N>& values) {
  std::int64_t sum = 0;
  for (const Value& value : values) {
    const Extent own = value.shape().elements();
    if (!own.is_static()) return -1;
    sum += own.factor;
  }
  return sum;
}

/// The tangents of results, zero where one reads no variable, for those of the first arguments.
template <std::size_t Results, std::size_t Arguments, std::size_t T>
constexpr std::array<Value, Results> tangents_along(std::array<Value, Results> results,
                                                    const std::array<Value, Arguments>& arguments,
                                                    const std::array<Value, T>& along) {
  Graph& graph = arguments[0].graph();
  if (graph.fault.any()) return results;
  List<Direction> directions{};
  List<int> ids{};
  for (std::size_t i = 0; i < T; ++i) directions.push_back({arguments[i].id(), along[i].id()});
  for (const Value& value : results) ids.push_back(value.id());
  const List<int> found = tangents(graph, directions, ids);
  for (std::size_t i = 0; i < Results; ++i)
    results[i] = value_or_zero(graph, found[i], results[i].dtype(), results[i].shape());
  return results;
}

/// Calls a function that is to be batched.
template <class F, std::size_t N> constexpr auto of_one_example(const F& f, const std::array<Value, N>& arguments) {
  Graph& graph = arguments[0].graph();
  const bool was_one_example = graph.is_one_example;
  graph.is_one_example = true;
  auto results = std::apply(f, arguments);
  graph.is_one_example = was_one_example;
  return results;
}

} // namespace detail

/// A value, and its derivative along some directions.
template <class Result, class Tangent> struct WithTangent {
  Result value{};    ///< of the function: one, or an array of several
  Tangent tangent{}; ///< of the value, or of its gradients
};
template <class Result, class Tangent> WithTangent(Result, Tangent) -> WithTangent<Result, Tangent>;

/// The values of f and their derivatives along tangents of its first arguments; further ones are constants.
template <class F, std::size_t N, std::size_t T>
[[nodiscard]] constexpr auto jvp(const F& f, std::array<Value, N> primals, const std::array<Value, T>& along,
                                 CallSite site = CallSite::here()) {
  static_assert(T >= 1 && T <= N, "twill: jvp: there has to be a tangent for each of the first primals");
  for (std::size_t i = 0; i < T; ++i) detail::require_fit(primals[i], along[i], detail::of_tangents, site);
  primals = variables_of<T>(primals);
  const auto results = values_of(std::apply(f, primals));
  return WithTangent{only_or_all(results), only_or_all(detail::tangents_along(results, primals, along))};
}

/// All but the first.
template <std::size_t N> constexpr std::array<Value, N - 1> without_first(const std::array<Value, N>& values) {
  std::array<Value, N - 1> rest{};
  for (std::size_t i = 1; i < N; ++i) rest[i - 1] = values[i];
  return rest;
}

/// The value of a scalar function and its Hessian times directions of its first arguments, forward over reverse.
template <class F, std::size_t N, std::size_t T>
[[nodiscard]] constexpr auto hvp(const F& f, const std::array<Value, N>& primals, const std::array<Value, T>& along,
                                 CallSite site = CallSite::here()) {
  const auto gradients_of = [&](const auto&... arguments) {
    return value_and_gradients<T>(f, std::array<Value, N>{arguments...}, site);
  };
  const auto found = jvp(gradients_of, primals, along, site);
  return WithTangent{found.value[0], only_or_all(without_first(found.tangent))};
}

/// The linear function u -> J'u of a call: from cotangents of its results to those of its arguments.
template <std::size_t Results, std::size_t Arguments> class Pullback {
public:
  constexpr Pullback(const std::array<Value, Results>& results, const std::array<Value, Arguments>& arguments)
      : results_{results}, arguments_{arguments} {}

  /// J'u for one cotangent of each result: one value, or an array of those of several arguments.
  template <std::derived_from<Value>... Values> [[nodiscard]] constexpr auto operator()(const Values&... given) const {
    static_assert(sizeof...(Values) == Results, "twill: vjp: there has to be a cotangent for each result");
    return of({given...}, CallSite::here());
  }

private:
  constexpr auto of(const std::array<Value, Results>& given, CallSite site) const {
    Graph& graph = given[0].graph();
    for (std::size_t i = 0; i < Results; ++i) detail::require_fit(results_[i], given[i], detail::of_cotangents, site);
    std::array<Value, Arguments> found = arguments_;
    if (graph.fault.any()) return only_or_all(found);
    List<Seed> seeds{};
    List<int> variables{};
    for (std::size_t i = 0; i < Results; ++i) seeds.push_back({results_[i].id(), given[i].id()});
    for (const Value& argument : arguments_) variables.push_back(argument.id());
    const List<int> ids = gradients(graph, seeds, variables);
    for (std::size_t i = 0; i < Arguments; ++i)
      found[i] = detail::value_or_zero(graph, ids[i], found[i].dtype(), found[i].shape());
    return only_or_all(found);
  }

  std::array<Value, Results> results_{};
  std::array<Value, Arguments> arguments_{};
};

/// The values of f, one or an array of several, and the pullback of the call.
template <class F, std::size_t N> [[nodiscard]] constexpr auto vjp(const F& f, std::array<Value, N> primals) {
  primals = variables_of<N>(primals);
  const auto results = values_of(std::apply(f, primals));
  return std::pair{only_or_all(results), Pullback<std::tuple_size_v<decltype(results)>, N>{results, primals}};
}

/// The linear function t -> J t of a call, whose primal part has been computed: from tangents of its first arguments,
/// the others being constants, to those of its results.
template <std::size_t Results, std::size_t Arguments> class Linearised {
public:
  constexpr Linearised(const std::array<Value, Results>& results, const std::array<Value, Arguments>& arguments)
      : results_{results}, arguments_{arguments} {}

  /// J t: one value, or an array of those of several results.
  template <std::derived_from<Value>... Values> [[nodiscard]] constexpr auto operator()(const Values&... given) const {
    static_assert(sizeof...(Values) >= 1 && sizeof...(Values) <= Arguments,
                  "twill: linearize: there has to be a tangent for each of the first primals");
    const std::array<Value, sizeof...(Values)> along{given...};
    for (std::size_t i = 0; i < along.size(); ++i)
      detail::require_fit(arguments_[i], along[i], detail::of_tangents, CallSite::here());
    return only_or_all(detail::tangents_along(results_, arguments_, along));
  }

private:
  std::array<Value, Results> results_{};
  std::array<Value, Arguments> arguments_{};
};

/// The values of f, one or an array of several, and the linear function of the call.
template <class F, std::size_t N> [[nodiscard]] constexpr auto linearize(const F& f, std::array<Value, N> primals) {
  primals = variables_of<N>(primals);
  const auto results = values_of(std::apply(f, primals));
  return std::pair{only_or_all(results), Linearised<std::tuple_size_v<decltype(results)>, N>{results, primals}};
}

/// The derivatives of each value of f by each of its first arguments, row after row: the axes of the value, then those
/// of the argument. By: how many arguments; further ones are constants.
template <std::size_t By, class F, std::size_t N>
[[nodiscard]] constexpr auto jacobian(const F& f, std::array<Value, N> primals, Along along,
                                      CallSite site = CallSite::here()) {
  Graph& graph = primals[0].graph();
  primals = variables_of<By>(primals);
  std::array<Value, By> x{};
  for (std::size_t i = 0; i < By; ++i) {
    detail::require_fit(primals[i], primals[i], detail::of_tangents, site);
    x[i] = primals[i];
  }
  const auto y = values_of(detail::of_one_example(f, primals));
  constexpr std::size_t results = std::tuple_size_v<decltype(y)>;
  std::array<Value, results * By> blocks{};
  for (std::size_t m = 0; m < results; ++m)
    for (std::size_t i = 0; i < By; ++i) {
      blocks[m * By + i] = y[m];
      if (y[m].rank() + x[i].rank() > max_rank)
        graph.refuse(Problem::jacobian_has_more_than_8_axes, y[m].rank() + x[i].rank(), max_rank, site);
    }
  if (graph.fault.any()) return blocks;
  List<int> variables{};
  for (const Value& value : x) variables.push_back(value.id());
  const std::int64_t rows = detail::elements_of(y);
  const std::int64_t columns = detail::elements_of(x);
  const bool by_rows = along == Along::rows || (along == Along::shorter_side && (rows <= columns || columns < 0));
  if (by_rows)
    for (std::size_t m = 0; m < results; ++m) {
      const auto pass = [&](Value unit) { return gradients(graph, {{y[m].id(), unit.id()}}, variables); };
      const detail::UnitPasses<By> for_each_unit{y[m]};
      const std::array<Value, By> stacked = for_each_unit(x, pass);
      for (std::size_t i = 0; i < By && !graph.fault.any(); ++i)
        blocks[m * By + i] = reshape(stacked[i], detail::joined(y[m].shape(), x[i].shape()));
    }
  List<int> ids{};
  for (const Value& value : y) ids.push_back(value.id());
  for (std::size_t i = 0; i < By && !by_rows; ++i) {
    const auto pass = [&](Value unit) { return tangents(graph, {{x[i].id(), unit.id()}}, ids); };
    const detail::UnitPasses<results> for_each_unit{x[i]};
    const std::array<Value, results> stacked = for_each_unit(y, pass);
    for (std::size_t m = 0; m < results && !graph.fault.any(); ++m) {
      Extents matrix{};
      matrix.append(x[i].shape().elements());
      matrix.append(y[m].shape().elements());
      blocks[m * By + i] = reshape(transpose(reshape(stacked[m], matrix)), detail::joined(y[m].shape(), x[i].shape()));
    }
  }
  return blocks;
}

}}}} // namespace twill::v0::graph::transforms
