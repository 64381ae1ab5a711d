#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Declared inputs of a model's `forward`, compared with the tensors passed to it: a contradiction of types does not
// compile, and the first line of the error names both values. Extents known only at run time are checked when a run
// begins. Read next: nn/network.hpp.

#include <twill/core/config.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/graph/input.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// An input of a model, which declares itself in a graph.
template <class X>
concept DeclaresInput = requires(graph::Graph& graph) {
  X::declare(graph);
};

/// The inputs that a type of `forward` declares; none where it is not that of a model.
template <class F> struct InputsOf {
  static constexpr bool is_static = false;
  static constexpr bool takes_inputs = false;
  static constexpr bool returns_value = false;
  static constexpr bool are_declared = false;
  using type = std::tuple<>;
};
template <class R, class... Inputs> struct InputsOf<R (*)(Inputs...)> {
  static constexpr bool is_static = true;
  static constexpr bool takes_inputs = (DeclaresInput<std::remove_cvref_t<Inputs>> && ...);
  static constexpr bool returns_value = std::is_convertible_v<R, graph::Value>;
  static constexpr bool are_declared = takes_inputs && returns_value;
  using type = std::conditional_t<are_declared, std::tuple<std::remove_cvref_t<Inputs>...>, std::tuple<>>;
};
template <class R, class... Inputs> struct InputsOf<R (*)(Inputs...) noexcept> : InputsOf<R (*)(Inputs...)> {};

/// True; of no value where an error in the body of `forward` has left its type open, so that no more errors follow.
template <class F>
concept has_type_of_forward = InputsOf<F>::returns_value || !InputsOf<F>::returns_value;

/// Refuses a type of `forward` in a class of its own, so that nothing that follows is an error too.
template <class F> struct ForwardMistake {
  static_assert(InputsOf<F>::is_static, "twill: forward of a model is a static function: "
                                        "static constexpr auto forward(Input<Dim<\"batch\">, 784> x)");
  static_assert(!InputsOf<F>::is_static || InputsOf<F>::returns_value,
                "twill: forward of a model returns one value, the result of its last layer");
  static_assert(!InputsOf<F>::is_static || InputsOf<F>::takes_inputs,
                "twill: forward of a model takes inputs of known shapes, Input<Dim<\"batch\">, 784> or "
                "InputOf<std::int64_t, Dim<\"batch\">>, not values");
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A description of a model: `static constexpr Value forward(Input<...>, ...)`.
template <class M>
concept Model = requires {
  requires detail::has_type_of_forward<decltype(&M::forward)>;
};

/// The inputs that a model's `forward` declares.
template <Model M> using inputs_t = typename detail::InputsOf<decltype(&M::forward)>::type;

/// Defects of an argument: each enumerator is the sentence.
enum class InputProblem : std::uint8_t {
  number_of_arguments_differs_from_the_models_inputs,
  loss_takes_another_number_of_targets,
  input_has_another_rank_than_the_model_declares,
  input_has_another_extent_than_the_model_declares,
  input_has_another_element_type_than_the_model_declares,
  input_lies_on_another_kind_of_device_than_the_model,
  inputs_differ_in_a_dimension_of_the_same_name,
};

}}}} // namespace twill::v0::nn::TWILL_ISA

/// The values named by a refusal: the call that the program makes, the model, and what does not fit. Arguments count
/// from 1, those of `forward` and the targets each; axes count from 0, as everywhere.
namespace twill { inline namespace v0 { namespace nn { namespace with { inline namespace TWILL_ISA {

template <FixedString Name> struct call;
template <class M> struct model;
template <std::int64_t Value> struct declared;
template <std::int64_t Value> struct given;
template <DType Value> struct declared_type;
template <DType Value> struct given_type;
template <class D> struct models_device;
template <class D> struct given_device;
template <std::size_t Number> struct argument_of_forward;
template <std::size_t Number> struct target;
template <int Value> struct axis;
template <FixedString Label> struct dimension;

}}}}} // namespace twill::v0::nn::with::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Never defined: asking for its size is the error.
template <InputProblem P, class... Values> struct refused_input;

/// A call of a model's network, which its refusals name, with further words between the model and the call.
template <FixedString Call, class M, class... Words> struct CallOf {
  using model_type = M;
  /// Instantiating it is the error.
  template <InputProblem P, class... Values>
  using Refusal = Mistake<refused_input<P, Values..., with::model<M>, Words..., with::call<Call>>>;
};

/// One declared input of a model of element type T.
template <class Input, class T> struct DeclaredInput;
template <class Element, auto... Extents, class T> struct DeclaredInput<BasicInput<Element, Extents...>, T> {
  using value_type = std::conditional_t<std::is_void_v<Element>, T, Element>;
  using shape_type = Shape<graph::InputExtent{Extents}.number...>;
  template <class D> using tensor = Tensor<value_type, D, shape_type>;

  static constexpr std::array<std::string_view, sizeof...(Extents)> names{graph::InputExtent{Extents}.name...};
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The first axis along which both extents are known and differ, or the rank.
template <class Declared, class Given> consteval int differing_axis() {
  int axis = 0;
  for (; axis < Given::rank; ++axis)
    if (Declared::extent(axis) != dyn && Given::extent(axis) != dyn && Declared::extent(axis) != Given::extent(axis))
      break;
  return axis;
}

template <class Declared, class X>
inline constexpr bool is_declared = [] {
  if constexpr (Declared::shape_type::rank != X::rank)
    return false;
  else
    return std::same_as<typename Declared::value_type, typename X::value_type> &&
           differing_axis<typename Declared::shape_type, typename X::shape_type>() == X::rank;
}();

/// Checks one tensor against declared input I of the model of element type T. `Where` is the call and the model.
template <class Where, class Input, class T, class X, std::size_t I> consteval void check_input() {
  using Declared = DeclaredInput<Input, T>;
  if constexpr (Declared::shape_type::rank != X::rank)
    static_cast<void>(
        sizeof(typename Where::template Refusal<InputProblem::input_has_another_rank_than_the_model_declares,
                                                with::declared<Declared::shape_type::rank>, with::given<X::rank>,
                                                with::argument_of_forward<I + 1>>));
  else if constexpr (!std::same_as<typename Declared::value_type, typename X::value_type>)
    static_cast<void>(
        sizeof(typename Where::template Refusal<InputProblem::input_has_another_element_type_than_the_model_declares,
                                                with::declared_type<dtype_of<typename Declared::value_type>>,
                                                with::given_type<dtype_of<typename X::value_type>>,
                                                with::argument_of_forward<I + 1>>));
  else if constexpr (constexpr int axis = differing_axis<typename Declared::shape_type, typename X::shape_type>();
                     axis < X::rank)
    static_cast<void>(
        sizeof(typename Where::template Refusal<InputProblem::input_has_another_extent_than_the_model_declares,
                                                with::declared<Declared::shape_type::extent(axis)>,
                                                with::given<X::shape_type::extent(axis)>,
                                                with::argument_of_forward<I + 1>, with::axis<axis>>));
}

/// Two axes of the arguments to which the model gives one name.
struct NamedPair {
  bool differ = false;
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::size_t left_input = 0;
  std::size_t right_input = 0;
  int left_axis = 0;
  int right_axis = 0;
  std::string_view name{};
};

/// The first pair of different static extents with one name in the model.
template <class T, class... Input, class... X>
consteval NamedPair differing_pair(std::type_identity<std::tuple<Input...>>, std::type_identity<std::tuple<X...>>) {
  struct Axis {
    std::string_view name{};
    std::int64_t extent = dyn;
    std::size_t input = 0;
    int axis = 0;
  };
  std::array<Axis, (std::size_t{0} + ... + static_cast<std::size_t>(X::rank))> axes{};
  std::size_t count = 0;
  std::size_t input = 0;
  const auto collect = [&]<class Declared, class Given>() {
    for (int axis = 0; axis < Given::rank; ++axis)
      axes[count++] = {Declared::names[static_cast<std::size_t>(axis)], Given::shape_type::extent(axis), input, axis};
    ++input;
  };
  (collect.template operator()<DeclaredInput<Input, T>, X>(), ...);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (!axes[i].name.empty() && axes[i].name == axes[k].name && axes[i].extent != dyn && axes[k].extent != dyn &&
          axes[i].extent != axes[k].extent)
        return {true,          axes[k].extent, axes[i].extent, axes[k].input,
                axes[i].input, axes[k].axis,   axes[i].axis,   axes[i].name};
  return {};
}

template <class T, class Inputs, class Given>
inline constexpr NamedPair named_pair = differing_pair<T>(std::type_identity<Inputs>{}, std::type_identity<Given>{});

/// Its name as a template argument.
template <const NamedPair& Pair> consteval auto fixed_string() {
  char text[Pair.name.size() + 1]{};
  for (std::size_t i = 0; i < Pair.name.size(); ++i) text[i] = Pair.name[i];
  return FixedString<Pair.name.size() + 1>{text};
}

/// A traced value for each number. A class: nvcc loses the pack in the expansion of an alias that ignores its argument.
template <std::size_t> struct ValueFor { using type = graph::Value; };

/// Argument I of a step whose model has `Inputs` of them, as a refusal names it.
template <std::size_t I, std::size_t Inputs>
using ArgumentName = std::conditional_t<(I < Inputs), with::argument_of_forward<I + 1>, with::target<I - Inputs + 1>>;

template <class Where, class D, class X, std::size_t I, std::size_t Inputs> consteval void check_device() {
  if constexpr (!std::same_as<D, typename X::device_type>)
    static_cast<void>(
        sizeof(typename Where::template Refusal<InputProblem::input_lies_on_another_kind_of_device_than_the_model,
                                                with::models_device<D>, with::given_device<typename X::device_type>,
                                                ArgumentName<I, Inputs>>));
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Whether there is an argument for each input of model M, and for each target that loss L takes; L is void where there
/// are none.
template <Model M, class L, AnyTensor... X>
inline constexpr bool counts_fit = [] {
  constexpr std::size_t inputs = std::tuple_size_v<inputs_t<M>>;
  if constexpr (sizeof...(X) < inputs || std::is_void_v<L>)
    return sizeof...(X) == inputs;
  else
    return []<std::size_t... Target>(std::index_sequence<Target...>) {
      return std::is_invocable_v<const L&, graph::Value, typename detail::ValueFor<Target>::type...>;
    }
  (std::make_index_sequence<sizeof...(X) - inputs>{});
}();

/// Whether the arguments are of the numbers, ranks, element types and kind of device that `check_inputs` asks for; what
/// runs them is not compiled otherwise.
template <Model M, class T, class D, class L, AnyTensor... X>
inline constexpr bool arguments_fit = [] {
  if constexpr (!counts_fit<M, L, X...>)
    return false;
  else
    return []<std::size_t... I>(std::index_sequence<I...>) {
      using Inputs = inputs_t<M>;
      using Given = std::tuple<X...>;
      return (... && std::same_as<D, typename X::device_type>)&&(
          ... &&
          detail::is_declared<DeclaredInput<std::tuple_element_t<I, Inputs>, T>, std::tuple_element_t<I, Given>>);
    }
  (std::make_index_sequence<std::tuple_size_v<inputs_t<M>>>{});
}();

/// Refuses arguments of a call, a `CallOf`, whose types contradict the inputs of its model with elements of type T on
/// devices of kind D. Arguments after the inputs are the targets of loss L; only their number and kind of device are
/// known. L is void where there are none.
template <class Where, FloatingScalar T, ComputeDevice D, class L, AnyTensor... X> consteval void check_inputs() {
  using M = typename Where::model_type;
  using Inputs = inputs_t<M>;
  using Given = std::tuple<X...>;
  constexpr std::size_t count = std::tuple_size_v<Inputs>;
  if constexpr (!counts_fit<M, L, X...>) {
    if constexpr (sizeof...(X) < count || std::is_void_v<L>)
      static_cast<void>(
          sizeof(typename Where::template Refusal<InputProblem::number_of_arguments_differs_from_the_models_inputs,
                                                  with::declared<count>, with::given<sizeof...(X)>>));
    else
      static_cast<void>(sizeof(typename Where::template Refusal<InputProblem::loss_takes_another_number_of_targets,
                                                                with::given<sizeof...(X) - count>>));
  } else {
    []<std::size_t... I, std::size_t... All>(std::index_sequence<I...>, std::index_sequence<All...>) {
      if constexpr (!arguments_fit<M, T, D, L, X...>) {
        (detail::check_device<Where, D, X, All, count>(), ...);
        (detail::check_input<Where, std::tuple_element_t<I, Inputs>, T, std::tuple_element_t<I, Given>, I>(), ...);
      }
      if constexpr ((... && (DeclaredInput<std::tuple_element_t<I, Inputs>, T>::shape_type::rank ==
                             std::tuple_element_t<I, Given>::rank))) {
        constexpr const auto& pair = detail::named_pair<T, Inputs, std::tuple<std::tuple_element_t<I, Given>...>>;
        if constexpr (pair.differ)
          static_cast<void>(sizeof(
              typename Where::template Refusal<
                  InputProblem::inputs_differ_in_a_dimension_of_the_same_name,
                  with::dimension<detail::fixed_string<pair>()>, with::given<pair.left>,
                  with::argument_of_forward<pair.left_input + 1>, with::axis<pair.left_axis>, with::given<pair.right>,
                  with::argument_of_forward<pair.right_input + 1>, with::axis<pair.right_axis>>));
      }
    }
    (std::make_index_sequence<count>{}, std::index_sequence_for<X...>{});
  }
}

}}}} // namespace twill::v0::nn::TWILL_ISA
