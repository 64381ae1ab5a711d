#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Row operations on expressions over axes that the type names: a reduction, whose axes disappear or stay with extent
// one, or a function of whole rows such as softmax, whose result has the shape of its operands. Each computes a
// function of symbols, so variance and argmax are written once and run as one kernel with two reductions in a row.
// expr/row_form.hpp decides how it is run. Read next: expr/row_form.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/cut.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/reduction_operations.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/tensor/shapes.hpp>

#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The fate of the axes along which a row operation runs.
enum class Rest : std::uint8_t { dropped, kept, whole };

/// Axes of a tensor as bits, counted from the front.
template <int Rank, int... Axes> consteval unsigned axes_mask() {
  if constexpr (sizeof...(Axes) == 0) return (1U << Rank) - 1U;
  unsigned mask = 0;
  unsigned count = 0;
  ((mask |= 1U << static_cast<unsigned>(axis_of<Axes, Rank>), ++count), ...);
  unsigned bits = 0;
  for (int axis = 0; axis < Rank; ++axis) bits += mask >> axis & 1U;
  if (bits != count) return ~0U;
  return mask;
}

[[nodiscard]] constexpr Dims reduced_dims(const Dims& dims, unsigned mask, Rest rest) {
  Dims result{};
  for (int axis = 0; axis < dims.rank; ++axis) {
    const bool is_reduced = (mask >> axis & 1U) != 0 && rest != Rest::whole;
    if (!is_reduced || rest == Rest::kept) result[result.rank++] = is_reduced ? 1 : dims[axis];
  }
  return result;
}

/// `Op` has a name and a static `emit(Symbol...)`; with `needs_elements` it is refused for no elements.
template <class Op, unsigned Mask, Rest Remains, class... A>
struct Reduced : Evaluates<Reduced<Op, Mask, Remains, A...>> {
  static constexpr bool owns = (A::owns && ...);
  static constexpr bool has_reductions = true;
  static constexpr bool reduces_reductions = (A::has_reductions || ...);
  static constexpr bool shape_is_proven = (A::shape_is_proven && ...);
  static constexpr DType dtype = result_of<Op, A...>();
  using value_type = scalar_t<dtype>;
  using device_type = typename CommonDevice<typename A::device_type...>::type;
  using domain_type = typename CommonShape<typename A::shape_type...>::type; ///< of the reduced operand
  using shape_type = shape_t<reduced_dims(dims_of<domain_type>, Mask, Remains)>;

  Fields<A...> operands;

  constexpr explicit Reduced(A... a) : operands{std::move(a)...} {}

  /// Inside a row program: the row of the frame is the reduced operand.
  static constexpr int lower(Code& code, Frame frame) {
    frame.outside = false;
    return lower_ordered(code, {A::lower(code, frame)...});
  }
  template <class F> void each_leaf(F& f) const { operands.each_leaf(f); }
  /// The extents of the reduced operand. throws: ShapeError that names the operation and both shapes
  [[nodiscard]] Dims domain() const { return operands.joined(Op::name()); }
  [[nodiscard, gnu::noinline]] Dims shape() const { return reduced_dims(domain(), Mask, Remains); }
  /// throws: DeviceError that names the operation and both devices
  [[nodiscard]] device_type device() const { return common_device<device_type>(Op::name(), operands); }

private:
  static constexpr int lower_ordered(Code& code, const int (&lines)[sizeof...(A)]) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return Op::emit(Symbol{code, lines[I]}...).line(); }
    (std::index_sequence_for<A...>{});
  }
};

template <class Op, unsigned Mask, Rest Remains, class... A>
inline constexpr bool has_products<Reduced<Op, Mask, Remains, A...>> = (has_products<A> || ...);
template <class Op, unsigned Mask, Rest Remains, class... A>
inline constexpr bool gathers<Reduced<Op, Mask, Remains, A...>> = (gathers<A> || ...);

template <class Op, unsigned Mask, Rest Remains, class... A>
inline constexpr int lines_of<Reduced<Op, Mask, Remains, A...>> = own_lines<Op, A...>() + (lines_of<A> + ...);

/// Rebuilds an operation on other operands.
template <class Op, unsigned Mask, Rest Remains, class... Old, class... A>
[[nodiscard]] auto rebuilt(const Reduced<Op, Mask, Remains, Old...>*, A... operands) {
  return Reduced<Op, Mask, Remains, A...>(std::move(operands)...);
}
template <class Op, unsigned Mask, Rest Remains, class... A>
[[nodiscard]] auto owned(const Reduced<Op, Mask, Remains, A...>& reduced) {
  return reduced.operands.apply([](const auto&... operand) {
    return Reduced<Op, Mask, Remains, decltype(owned(operand))...>(owned(operand)...);
  });
}

/// A row operation over axes of the broadcast shape of operands that are leaves or nodes.
template <class Op, Rest Remains, int... Axes, class... A> [[nodiscard]] auto reduced_over(A... operands) {
  constexpr int rank = CommonShape<typename A::shape_type...>::type::rank;
  constexpr unsigned mask = axes_mask<rank, Axes...>();
  if constexpr (mask == ~0U)
    static_cast<void>(sizeof(Mistake<refused<Problem::axis_is_named_twice, with::axis<Axes>...>>));
  return Reduced<Op, mask, Remains, A...>(std::move(operands)...);
}
/// A row operation over operands of any kind; numbers beside tensors take the common type.
template <class Op, Rest Remains, int... Axes, class... X> [[nodiscard]] auto reduced_node(X&&... x) {
  constexpr DType numbers = common_type<X...>();
  static_assert(
      !(is_complex(typed<X>().type) || ...) || requires { requires Op::takes_complex; },
      "twill: complex numbers have no order and no such statistic; reduce abs(x), real(x) or imag(x)");
  static_assert(!(is_float8(typed<X>().type) || ...),
                "twill: floats of 8 bits are stored, not computed with; convert the operand with cast<float>(x)");
  return reduced_over<Op, Remains, Axes...>(operand<numbers>(std::forward<X>(x))...);
}

}}}} // namespace twill::v0::expr::TWILL_ISA
