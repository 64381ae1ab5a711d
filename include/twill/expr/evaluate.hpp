#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of expressions. `Tensor c = a * b` and `c = a * b` give c a new value (in its own memory, if no other
// handle holds it and it fits), `x[0] = a * b` and `x += a` write through. One statement is one kernel, whose program
// serves operands of any strides, unless it is too long (expr/cut.hpp). Read next: expr/reductions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/cut.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/program.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/tensor/tensor.hpp>

#include <iosfwd>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The program of an elementwise expression whose result is stored as To.
template <class E, DType To> struct Elementwise {
  static constexpr Code code = [] {
    using S = typename E::shape_type;
    Code result{};
    const Frame frame{.row_extent = S::rank == 0 ? 1 : dims_of<S>[S::rank - 1]};
    result.output(To, result.cast(To, E::lower(result, frame)));
    return result;
  }();
};

/// Whether an expression runs after parts of it: reductions, products, or what one program has no room for.
template <class E> inline constexpr bool runs_in_parts = true;
template <class E>
requires(!E::has_reductions) inline constexpr bool runs_in_parts<E> = is_cut(Elementwise<E, E::dtype>::code);

/// The bound leaves of an elementwise expression, and the extents of its result; of expressions that evaluate parts of
/// themselves first, the extents alone.
template <class E> class Leaves {
public:
  explicit Leaves(const E&) {}
  [[nodiscard]] const Dims& extents_of(const E& expression) { return extents_ = expression.shape(); }

private:
  Dims extents_{};
};
template <class E>
requires(!runs_in_parts<E>) class Leaves<E>
    : public BoundLeaves<Operands<Elementwise<E, E::dtype>>::count, E::shape_type::rank> {
public:
  explicit Leaves(const E& expression)
      : BoundLeaves<Operands<Elementwise<E, E::dtype>>::count, E::shape_type::rank>{
            expression, Operands<Elementwise<E, E::dtype>>::leaf.data()} {}
  [[nodiscard]] const Dims& extents_of(const E& expression) {
    if constexpr (E::shape_is_proven) return dims_of<typename E::shape_type>;
    if (!this->agree()) [[unlikely]]
      this->extents_ = expression.shape();
    return this->extents_;
  }
};

/// The extents of an expression's result. throws: ShapeError
template <class E> [[nodiscard]] Dims extents_of(const E& expression) {
  return Leaves<E>(expression).extents_of(expression);
}

/// Runs the program of an elementwise statement over the extents into memory that it does not read in another order.
/// Its leaves are bound along the last `rank` axes.
template <class D>
void run_elementwise(const OperandMap& map, const kernel::LaunchedProgram& program, kernel::Operand* operands, int rank,
                     const D& device, void* to, const Dims& to_strides, const Dims& extents) {
  if (extents.elements() == 0) return;
  kernel::Grid grid{};
  bind_elementwise(map, operands, rank, grid, to, to_strides, extents);
  kernel::launch(program, device, grid, operands);
}

template <DType To, class E, class D>
void run_elementwise(Leaves<E>& leaves, const D& device, void* to, const Dims& to_strides, const Dims& extents) {
  using Source = Elementwise<E, To>;
  using P = typename ProgramOf<Source>::type;
  if constexpr (kernel::launches_tables<D>) {
    run_elementwise(operand_map<Source>, kernel::launched_program<P>, leaves.operands(), E::shape_type::rank, device,
                    to, to_strides, extents);
  } else {
    if (extents.elements() == 0) return;
    kernel::Grid grid{};
    bind_elementwise(operand_map<Source>, leaves.operands(), E::shape_type::rank, grid, to, to_strides, extents);
    kernel::launch(P{}, device, grid, leaves.operands());
  }
}

/// Runs any expression.
template <DType To, class E, class D>
void run(const E& expression, [[maybe_unused]] Leaves<E>& leaves, const D& device, void* to, const Dims& to_strides,
         const Dims& extents) {
  if constexpr (has_products<E>)
    run_with_products<To>(expression, device, to, to_strides, extents);
  else if constexpr (E::has_reductions)
    run_with_reductions<To>(expression, device, to, to_strides, extents);
  else if constexpr (runs_in_parts<E>)
    run<To>(shortened(expression), device, to, to_strides, extents);
  else
    run_elementwise<To>(leaves, device, to, to_strides, extents);
}
template <DType To, class E, class D>
void run(const E& expression, const D& device, void* to, const Dims& to_strides, const Dims& extents) {
  Leaves<E> leaves(expression);
  run<To>(expression, leaves, device, to, to_strides, extents);
}

/// Whether statements over E on D run by their operands alone.
template <class E, class D> inline constexpr bool runs_by_operands = !runs_in_parts<E> && kernel::launches_tables<D>;

/// A new tensor with the values of an elementwise program, whose leaves are bound.
template <class T, class S, class D>
[[nodiscard]] TWILL_INLINE Tensor<T, D, S>
evaluate_operands(const OperandMap& map, const kernel::LaunchedProgram& program, kernel::Operand* operands,
                  const D& device, const Dims& extents) {
  Tensor<T, D, S> result(device, extents);
  run_elementwise(map, program, operands, S::rank, device, result.data(), result.strides(), extents);
  return result;
}

/// A new tensor with the values of an expression.
template <AnyShape S, class E> [[nodiscard]] auto evaluate_as(const E& expression) {
  using T = typename E::value_type;
  using D = typename E::device_type;
  Leaves<E> leaves(expression);
  if constexpr (runs_by_operands<E, D>) {
    using Source = Elementwise<E, E::dtype>;
    return evaluate_operands<T, S>(operand_map<Source>, kernel::launched_program<typename ProgramOf<Source>::type>,
                                   leaves.operands(), expression.device(), leaves.extents_of(expression));
  } else {
    Tensor<T, D, S> result(expression.device(), leaves.extents_of(expression));
    run<E::dtype>(expression, leaves, result.device(), result.data(), result.strides(), result.shape());
    return result;
  }
}

template <class E> constexpr void require_usable() {
  static_assert(
      !std::is_lvalue_reference_v<E> || std::remove_cvref_t<E>::owns,
      "twill: a stored expression refers to tensors that may be gone; evaluate it (Tensor c = a * b) or keep it "
      "with lazy(a * b)");
}

/// Whether a result of these extents may be written into a tensor: no view and no other handle can see its old value
/// change.
template <class T, class D, class S>
[[nodiscard]] bool is_reusable(const Tensor<T, D, S>& target, const D& device, const Dims& extents) {
  return target.storage().use_count() == 1 && !target.storage().is_lent() && target.device() == device &&
         target.shape() == extents && layout::is_contiguous(target.shape(), target.strides());
}

/// `c = expression` by an elementwise program, whose leaves are bound. Inline: a call would take several nanoseconds.
template <class T, class D, class S>
TWILL_INLINE void assign_operands(Tensor<T, D, S>& target, const OperandMap& map,
                                  const kernel::LaunchedProgram& program, kernel::Operand* operands, const D& device,
                                  const Dims& extents) {
  const bool reuses = is_reusable(target, device, extents);
  Tensor<T, D, S> made{};
  if (!reuses) made = Tensor<T, D, S>(device, extents);
  const Tensor<T, D, S>& to = reuses ? target : made;
  run_elementwise(map, program, operands, S::rank, device, to.data(), to.strides(), extents);
  if (!reuses) target = std::move(made);
}

/// An expression without its type, for the functions that statements share.
template <class D> struct ErasedExpression {
  const void* expression = nullptr;
  void (*run)(const void* expression, const D& device, void* to, const Dims& to_strides, const Dims& extents) = nullptr;
  void (*visit)(const void* expression, OverlapFinder& finder) = nullptr;
};
template <DType To, class E, class D> [[nodiscard]] ErasedExpression<D> erased(const E& expression) {
  return {&expression,
          [](const void* own, const D& device, void* to, const Dims& to_strides, const Dims& extents) {
            expr::run<To>(*static_cast<const E*>(own), device, to, to_strides, extents);
          },
          [](const void* own, OverlapFinder& finder) { static_cast<const E*>(own)->each_leaf(finder); }};
}

/// `c = expression` for one that reads elements after it has written others.
template <class T, class D, class S>
[[gnu::noinline]] void assign_erased(Tensor<T, D, S>& target, const ErasedExpression<D>& what, const D& device,
                                     const Dims& extents) {
  bool reuses = is_reusable(target, device, extents);
  if (reuses) {
    const Dims strides = target.strides();
    OverlapFinder finder{target.data(), sizeof(T), extents, strides};
    what.visit(what.expression, finder);
    reuses = !finder.touches;
  }
  Tensor<T, D, S> made{};
  if (!reuses) made = Tensor<T, D, S>(device, extents);
  const Tensor<T, D, S>& to = reuses ? target : made;
  what.run(what.expression, device, to.data(), to.strides(), extents);
  if (!reuses) target = std::move(made);
}

/// `c = expression`.
template <class T, class D, class S, LazyValue E> void assign(Tensor<T, D, S>& target, E&& expression) {
  using Bare = std::remove_cvref_t<E>;
  using From = typename Bare::shape_type;
  require_usable<E>();
  static_assert(
      std::same_as<D, typename Bare::device_type>,
      "twill: the expression and the tensor live on different kinds of device; evaluate it first, then use to(device)");
  if constexpr (Bare::dtype != dtype_of<T>)
    static_cast<void>(sizeof(
        Mistake<refused<Problem::element_types_differ, with::left_type<dtype_of<T>>, with::right_type<Bare::dtype>>>));
  if constexpr (!FitsShape<From, S>) detail::refuse_shapes<S, From>();
  if constexpr (runs_by_operands<Bare, D>) {
    using Source = Elementwise<Bare, Bare::dtype>;
    Leaves<Bare> leaves(expression);
    const Dims& extents = leaves.extents_of(expression);
    assign_operands(target, operand_map<Source>, kernel::launched_program<typename ProgramOf<Source>::type>,
                    leaves.operands(), expression.device(), extents);
  } else if constexpr (runs_in_parts<Bare>) {
    assign_erased(target, erased<Bare::dtype, Bare, D>(expression), expression.device(), extents_of<Bare>(expression));
  } else {
    Leaves<Bare> leaves(expression);
    const Dims& extents = leaves.extents_of(expression);
    const auto device = expression.device();
    const bool reuses = is_reusable(target, device, extents);
    Tensor<T, D, S> made{};
    if (!reuses) made = Tensor<T, D, S>(device, extents);
    const Tensor<T, D, S>& to = reuses ? target : made;
    run<Bare::dtype>(expression, leaves, device, to.data(), to.strides(), extents);
    if (!reuses) target = std::move(made);
  }
}

/// `x[0] = expression`: writes through a view, broadcasting and converting. Source and target may share memory.
template <class T, class D, class S, LazyValue E> void store(const Tensor<T, D, S>& target, E&& expression) {
  using Bare = std::remove_cvref_t<E>;
  require_usable<E>();
  static_assert(
      std::same_as<D, typename Bare::device_type>,
      "twill: the expression and the tensor live on different kinds of device; evaluate it first, then use to(device)");
  static_cast<void>(detail::checked_broadcast<typename Bare::shape_type, S>());
  require_same_device("assign", target.device(), expression.device());
  const Dims extents = target.shape();
  const Dims strides = target.strides();
  const Dims from = extents_of(expression);
  if (detail::broadcast_conflict(from, extents) >= 0 || detail::broadcast_dims(from, extents) != extents)
    throw ShapeError("assign: shape " + to_string(from) + " does not broadcast to " + to_string(extents));
  OverlapFinder finder{target.data(), sizeof(T), extents, strides};
  expression.each_leaf(finder);
  if (finder.hazard || (gathers<Bare> && finder.touches) ||
      (runs_in_parts<Bare> && (finder.touches || from != extents)))
    target.copy_from(evaluate_as<typename Bare::shape_type>(expression));
  else
    run<dtype_of<T>>(expression, target.device(), target.data(), strides, extents);
}

/// `x += b` and similar statements.
template <Primitive P, class X, class B> void update(const X& target, B&& b) {
  constexpr DType own = dtype_of<typename X::value_type>;
  static_assert(
      category(result_type(P, common_type<X, B>())) <= category(own),
      "twill: the result of this in-place operation does not fit the tensor's element type; write x = x op y");
  store(target, apply_node<P>(target, std::forward<B>(b)));
}

/// Rebuilds an expression whose leaves are handles.
template <class T, class D, class S> [[nodiscard]] auto owned(const Borrowed<T, D, S>& leaf) {
  return Held<T, D, S>{*leaf.tensor};
}
template <class T, class D, class S> [[nodiscard]] auto owned(const Held<T, D, S>& leaf) { return leaf; }
template <class T> [[nodiscard]] auto owned(const Constant<T>& leaf) { return leaf; }
template <class Op, class... A> [[nodiscard]] auto owned(const Node<Op, A...>& node) {
  return node.operands.apply(
      [](const auto&... operand) { return Node<Op, decltype(owned(operand))...>(owned(operand)...); });
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Evaluates: `auto c = eval(a * b)`.
template <LazyValue E> [[nodiscard]] auto eval(E&& expression) {
  expr::require_usable<E>();
  return expr::evaluate_as<typename std::remove_cvref_t<E>::shape_type>(expression);
}

/// `std::cout << a * b`: evaluates, and writes the text of `to_string`.
template <class Character, class Traits, LazyValue E>
std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out, E&& expression) {
  return out << eval(std::forward<E>(expression));
}

/// An expression that owns handles to its tensors: it can be stored, returned and used many times.
template <LazyValue E> [[nodiscard]] auto lazy(E&& expression) {
  expr::require_usable<E>();
  return owned(expression);
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 {

/// `Tensor c = a * b` deduces the type of c.
template <LazyValue E> Tensor(E) -> Tensor<typename E::value_type, typename E::device_type, typename E::shape_type>;

}} // namespace twill::v0

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {
TWILL_INSTANCE template void run_elementwise(const OperandMap&, const kernel::LaunchedProgram&, kernel::Operand*, int,
                                             const Cpu&, void*, const Dims&, const Dims&);
}}}} // namespace twill::v0::expr::TWILL_ISA
#endif
