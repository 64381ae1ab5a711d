#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transforms of functions of traced values: tangents, pullbacks and Jacobians. A Jacobian shares the forward pass and
// is a loop over the unit vectors of the smaller side, so it is traced and compiled as one pass whatever its size; its
// kernels run once for each. Loops do not contain loops: in a function with a scan, and so in a Jacobian of a Jacobian,
// up to 32 passes are traced one by one. Read next: graph/tangent.hpp, compile/transforms.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/graph/loop.hpp>
#include <twill/graph/tangent.hpp>

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

inline constexpr std::int64_t most_traced_passes = 32;

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

[[nodiscard]] TWILL_CONSTEXPR bool has_loops(const Graph& graph, int begin) {
  if (graph.open_loop >= 0) return true;
  for (const LoopInfo& loop : graph.loops)
    if (loop.begin >= begin) return true;
  return false;
}

/// Derivatives for each unit vector in turn, each as a stack of one for each of them.
template <std::size_t Count> class UnitPasses {
public:
  /// `like`: the value whose unit vectors they are. `begin`: the first node of the function.
  constexpr UnitPasses(Value like, int begin) : graph_{&like.graph()}, dtype_{like.dtype()}, shape_{like.shape()} {
    is_loop_ = !has_loops(*graph_, begin) && !shape_.elements().is_one();
  }

  /// `pass` gives the ids of the derivatives for a unit vector, -1 for zero; `results` are of their types and shapes.
  template <class Pass>
  constexpr std::array<Value, Count> operator()(const std::array<Value, Count>& results, const Pass& pass) const {
    const Extent count = shape_.elements();
    Extents units{};
    units.append(count);
    units.append(count);
    Extents numbers{};
    numbers.append(count);
    const Value number = iota(*graph_, numbers);
    std::array<Value, Count> stacked{};
    if (!is_loop_) {
      const std::int64_t passes = count.is_static() ? count.factor : -1;
      if (passes < 0 || passes > most_traced_passes) {
        graph_->refuse(Problem::jacobian_of_a_function_with_a_scan_needs_at_most_32_passes, passes, most_traced_passes,
                       {});
        return results;
      }
      for (std::size_t k = 0; k < Count; ++k) stacked[k] = zeros(count, results[k]);
      for (std::int64_t i = 0; i < passes; ++i) {
        const Value is_row = equal(number, static_cast<int>(i));
        const List<int> found = pass(reshape(cast(is_row, dtype_), shape_));
        for (std::size_t k = 0; k < Count; ++k)
          if (found[k] >= 0)
            stacked[k] = choose(reshape(is_row, column(count, results[k])), Value{*graph_, found[k]}, stacked[k]);
      }
      return stacked;
    }
    const Value is_one =
        equal(broadcast_to(reshape(number, column(count, number)), units), broadcast_to(number, units));
    const Value rows = reshape(cast(is_one, dtype_), joined(numbers, shape_));
    LoopBuilder loop{*graph_, count, false};
    const List<int> found = pass(loop.slice(rows));
    List<int> carries{};
    List<int> stacks{};
    for (int id : found)
      if (id >= 0) stacks.push_back(id);
    loop.finish(carries, {}, stacks);
    std::size_t next = 0;
    for (std::size_t k = 0; k < Count; ++k)
      stacked[k] = found[k] >= 0 ? Value{*graph_, stacks[next++]} : zeros(count, results[k]);
    return stacked;
  }

private:
  /// (count, 1, …, 1), of one axis more than the value.
  [[nodiscard]] static TWILL_CONSTEXPR Extents column(Extent count, Value like) {
    Extents shape{};
    shape.append(count);
    for (int axis = 0; axis < like.rank(); ++axis) shape.append({1, 0});
    return shape;
  }
  [[nodiscard]] TWILL_CONSTEXPR Value zeros(Extent count, Value like) const {
    Extents shape{};
    shape.append(count);
    return filled(*graph_, like.dtype(), joined(shape, like.shape()), 0);
  }

  Graph* graph_;
  DType dtype_;
  Extents shape_;
  bool is_loop_ = true;
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
  Graph& graph = primals[0].graph();
  List<Direction> directions{};
  for (std::size_t i = 0; i < T; ++i) {
    detail::require_fit(primals[i], along[i], detail::of_tangents, site);
    primals[i] = detail::renamed(primals[i]);
    directions.push_back({primals[i].id(), along[i].id()});
  }
  const auto result = std::apply(f, primals);
  auto tangent = values_of(result);
  List<int> ids{};
  for (const Value& value : tangent) ids.push_back(value.id());
  if (!graph.fault.any()) {
    const List<int> found = tangents(graph, directions, ids);
    for (std::size_t i = 0; i < tangent.size(); ++i)
      tangent[i] = detail::value_or_zero(graph, found[i], tangent[i].dtype(), tangent[i].shape());
  }
  return WithTangent{only_or_all(values_of(result)), only_or_all(tangent)};
}

/// The value of f and its gradients by the first `By` arguments.
template <std::size_t By, class F, std::size_t N>
constexpr std::array<Value, By + 1> value_and_gradients(const F& f, std::array<Value, N> primals, CallSite site) {
  static_assert(By >= 1 && By <= N, "twill: there are fewer arguments than those to differentiate by");
  std::array<Value, By> x{};
  for (std::size_t i = 0; i < By; ++i) x[i] = primals[i] = detail::renamed(primals[i]);
  const Value value = std::apply(f, primals);
  const std::array<Value, By> by = graph::gradients(value, x, site);
  std::array<Value, By + 1> all{value};
  for (std::size_t i = 0; i < By; ++i) all[i + 1] = by[i];
  return all;
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
  for (Value& primal : primals) primal = detail::renamed(primal);
  const auto results = values_of(std::apply(f, primals));
  return std::pair{only_or_all(results), Pullback<std::tuple_size_v<decltype(results)>, N>{results, primals}};
}

/// The derivatives of each value of f by each of its first arguments, row after row: the axes of the value, then those
/// of the argument. By: how many arguments; further ones are constants.
template <std::size_t By, class F, std::size_t N>
[[nodiscard]] constexpr auto jacobian(const F& f, std::array<Value, N> primals, Along along,
                                      CallSite site = CallSite::here()) {
  static_assert(By >= 1 && By <= N, "twill: jacobian: by more arguments than there are");
  Graph& graph = primals[0].graph();
  const int begin = graph.size();
  std::array<Value, By> x{};
  for (std::size_t i = 0; i < By; ++i) {
    detail::require_fit(primals[i], primals[i], detail::of_tangents, site);
    x[i] = primals[i] = detail::renamed(primals[i]);
  }
  const auto y = values_of(std::apply(f, primals));
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
      const detail::UnitPasses<By> for_each_unit{y[m], begin};
      const std::array<Value, By> stacked = for_each_unit(x, pass);
      for (std::size_t i = 0; i < By && !graph.fault.any(); ++i)
        blocks[m * By + i] = reshape(stacked[i], detail::joined(y[m].shape(), x[i].shape()));
    }
  List<int> ids{};
  for (const Value& value : y) ids.push_back(value.id());
  for (std::size_t i = 0; i < By && !by_rows; ++i) {
    const auto pass = [&](Value unit) { return tangents(graph, {{x[i].id(), unit.id()}}, ids); };
    const detail::UnitPasses<results> for_each_unit{x[i], begin};
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
