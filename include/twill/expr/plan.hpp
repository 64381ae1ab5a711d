#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plans of expressions, for people and for assertions: the number of kernels, the bytes they read and write, the
// elements a kernel computes together, and for each operand how it moves and why that is not by whole vectors.
// `static_assert(plan<decltype(tanh(a * b + c))>().kernels == 1)` asks the types, which tell all but run-time extents
// and strides; `plan(tanh(a * b + c))` asks the tensors (expr/planned.hpp). Read next: expr/planned.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_reductions.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/program.hpp>
#include <twill/expr/row_form.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 {

/// Movement of an operand along the rows of a kernel. Vectors and broadcasts are the fast path.
enum class Pace : std::uint8_t {
  vector,    ///< whole vectors, one after another
  broadcast, ///< one element for a whole row
  strided,   ///< element by element: neighbours of a row are not adjacent
  indexed,   ///< element by element, at places that a tensor of indices gives
  copied,    ///< copied into another order first: several reduced axes are not one in memory
};

/// Bytes known only at run time.
inline constexpr std::int64_t unknown_bytes = -1;

/// One operand of one kernel.
struct PlannedOperand {
  DType dtype = DType::boolean; ///< as it is stored
  Pace pace = Pace::vector;     ///< how it is walked through
  bool is_output = false;       ///< whether it is written
  int kernel = 0;               ///< which of the plan's kernels
  int passes = 1;            ///< how often the kernel goes over its elements; all but the first find them in the cache
  std::int64_t stride = dyn; ///< along the row, in elements; `dyn` where unknown
  std::int64_t bytes = unknown_bytes; ///< of different elements

  /// Whether whole vectors are loaded, or one element for all.
  [[nodiscard]] constexpr bool is_fast() const { return pace == Pace::vector || pace == Pace::broadcast; }

  /// Why the operand is not on the fast path; empty when it is.
  [[nodiscard]] constexpr std::string_view why() const {
    constexpr std::string_view reasons[] = {
        "", "", "the elements of a row do not lie side by side; contiguous() makes a copy in which they do",
        "a tensor of indices says where each element lies",
        "the reduced axes are not one axis in memory; permute the tensor so that they are"};
    return reasons[static_cast<int>(pace)];
  }
};

/// The kernels and operands that an expression becomes.
struct ExpressionPlan {
  static constexpr int most_operands = 48; ///< described; those of further kernels still count
  int kernels = 0;                         ///< how many launches the statement takes
  int products = 0;                        ///< of the kernels: matrix products
  int vector_width = 0;           ///< elements that the last kernel computes together; on a GPU, `thread_width`
  int thread_width = 0;           ///< the elements that a thread of a GPU would compute together
  std::int64_t bytes_read = 0;    ///< from memory, each element once for each kernel; `unknown_bytes`
  std::int64_t bytes_written = 0; ///< temporaries included
  int operand_count = 0;          ///< how many of `operands` count
  std::array<PlannedOperand, most_operands> operands{}; ///< inputs in order of their first use, then the output

  /// Whether every operand of every kernel moves by whole vectors or is broadcast.
  [[nodiscard]] constexpr bool is_fast() const {
    for (int i = 0; i < operand_count; ++i)
      if (!operands[static_cast<std::size_t>(i)].is_fast()) return false;
    return true;
  }

  /// Appends an operand.
  constexpr void add(const PlannedOperand& operand) {
    std::int64_t& bytes = operand.is_output ? bytes_written : bytes_read;
    bytes = bytes == unknown_bytes || operand.bytes == unknown_bytes ? unknown_bytes : bytes + operand.bytes;
    if (operand_count < most_operands) operands[static_cast<std::size_t>(operand_count++)] = operand;
  }
};

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Whether an expression's kernels run on a GPU.
template <class E>
concept on_gpu = requires {
  typename std::remove_cvref_t<E>::device_type::Runtime;
};

[[nodiscard]] constexpr std::int64_t bytes_of(std::int64_t elements, DType type) {
  return elements == dyn ? unknown_bytes : elements * static_cast<std::int64_t>(size_of(type));
}

[[nodiscard]] constexpr Pace pace_of(const kernel::Line& line) {
  if (line.kind == kernel::LineKind::gather) return Pace::indexed;
  return line.access == kernel::Access::contiguous ? Pace::vector
         : line.access == kernel::Access::uniform  ? Pace::broadcast
                                                   : Pace::strided;
}

/// One kernel, from the code of its program. `along`: the layout of the reduced axes along the row.
template <class Source>
constexpr void add_kernel(ExpressionPlan& plan, std::int64_t result_elements, Pace along = Pace::vector) {
  using Program = typename ProgramOf<Source>::type;
  constexpr const auto& code = Source::code;
  constexpr const auto& loops = kernel::plan_of<Program>;
  for (int i = 0; along == Pace::copied && i < code.count; ++i) {
    const kernel::Line& line = code[i];
    if (line.kind != kernel::LineKind::input || line.access == kernel::Access::uniform || code.source_of(i).outside)
      continue;
    const std::int64_t bytes = bytes_of(code.source_of(i).elements, line.type);
    plan.add({.dtype = line.type, .pace = Pace::copied, .kernel = plan.kernels, .bytes = bytes});
    plan.add({.dtype = line.type, .is_output = true, .kernel = plan.kernels, .stride = 1, .bytes = bytes});
    ++plan.kernels;
  }
  for (int i = 0; i < code.count; ++i) {
    const kernel::Line& line = code[i];
    const bool is_output = line.kind == kernel::LineKind::output;
    if (line.kind != kernel::LineKind::input && line.kind != kernel::LineKind::gather && !is_output) continue;
    PlannedOperand operand{.dtype = line.type, .is_output = is_output, .kernel = plan.kernels};
    operand.bytes = bytes_of(is_output ? result_elements : code.source_of(i).elements, line.type);
    operand.passes = std::popcount(loops[i].computed);
    operand.pace = is_output ? Pace::vector : pace_of(line);
    if (operand.pace == Pace::vector && !is_output && along == Pace::strided) operand.pace = Pace::strided;
    operand.stride = operand.pace == Pace::vector ? 1 : operand.pace == Pace::broadcast ? 0 : dyn;
    plan.add(operand);
  }
  plan.vector_width = kernel::vector_bytes / loops.element_bytes;
  plan.thread_width = kernel::chunk_elements(kernel::summary_of<Program>.lines.data(), code.count);
  ++plan.kernels;
}

/// Whether the reduced axes of a contiguous tensor of this shape are one axis in memory.
[[nodiscard]] constexpr bool reduces_one_stretch(const Dims& dims, unsigned mask) {
  int stretches = 0;
  bool inside = false;
  for (int axis = 0; axis < dims.rank; ++axis) {
    if (dims[axis] == 1) continue;
    const bool is_reduced = (mask >> axis & 1U) != 0;
    stretches += is_reduced && !inside ? 1 : 0;
    inside = is_reduced;
  }
  return stretches <= 1;
}

/// The launches of each kind of expression, as evaluation would make them.
template <class E> struct Launches;

template <class E, DType To> constexpr void add_launches(ExpressionPlan& plan) {
  constexpr std::int64_t elements = known_elements<typename E::shape_type>();
  if constexpr (!E::has_reductions) {
    add_kernel<Elementwise<E, To>>(plan, elements);
  } else {
    constexpr Form form = form_of<E>();
    constexpr bool gathers_along_rows = form == Form::rows || (form == Form::totals && outermost_of<E>.trailing == 1);
    if constexpr (gathers<E> && !gathers_along_rows) {
      Launches<E>::gathered(plan);
      add_launches<decltype(settled(std::declval<const E&>())), To>(plan);
    } else if constexpr (form == Form::rows) {
      constexpr std::int64_t length = dims_of<typename E::shape_type>[E::shape_type::rank - 1];
      add_kernel<RowProgram<length, false, Merging::none, Stored<E, To>>>(plan, elements);
    } else if constexpr (form == Form::totals) {
      constexpr Outermost found = outermost_of<E>;
      constexpr std::int64_t length = found.rank == 0 ? 1 : found.domain[found.rank - 1];
      add_kernel<RowProgram<length, (found.trailing > 1), Merging::none, Stored<E, To, true, !found.keep>>>(plan,
                                                                                                            elements);
    } else if constexpr (form == Form::columns || form == Form::permuted) {
      Launches<E>::template alone<To>(plan);
    } else if constexpr (is_reduced<E>) {
      Launches<E>::parts(plan);
      add_launches<decltype(staged_operands(std::declval<const E&>())), To>(plan);
    } else {
      Launches<E>::parts(plan);
      add_launches<decltype(staged(std::declval<const E&>())), To>(plan);
    }
  }
}

/// An evaluation of its own, as `staged` and `settled` make them.
template <class E> constexpr void add_evaluation(ExpressionPlan& plan) { add_launches<E, E::dtype>(plan); }

template <class E> struct Launches {
  static constexpr void outermost(ExpressionPlan&) {}
  static constexpr void gathered(ExpressionPlan& plan) {
    if constexpr (gathers<E>) add_evaluation<E>(plan);
  }
};
template <class Op, class... A> struct Launches<Node<Op, A...>> {
  /// Every outermost reduction in it.
  static constexpr void outermost(ExpressionPlan& plan) { (Launches<A>::outermost(plan), ...); }
  static constexpr void parts(ExpressionPlan& plan) { outermost(plan); }
  static constexpr void gathered(ExpressionPlan& plan) { (Launches<A>::gathered(plan), ...); }
};
template <class Op, unsigned Mask, Rest Remains, class... A> struct Launches<Reduced<Op, Mask, Remains, A...>> {
  using E = Reduced<Op, Mask, Remains, A...>;
  static constexpr void outermost(ExpressionPlan& plan) { add_evaluation<E>(plan); }
  static constexpr void parts(ExpressionPlan& plan) { (Launches<A>::outermost(plan), ...); }
  static constexpr void gathered(ExpressionPlan& plan) { (Launches<A>::gathered(plan), ...); }

  template <DType To> static constexpr void alone(ExpressionPlan& plan) {
    constexpr std::int64_t elements = known_elements<typename E::shape_type>();
    if constexpr (form_of<E>() == Form::columns) {
      constexpr DType partial = partial_type<E>;
      add_kernel<ColumnProgram<Merging::none, Stored<E, partial>>>(plan, elements);
      using Sums = Tensor<scalar_t<partial>, typename E::device_type, typename E::shape_type>;
      using Number = scalar_t<partial>;
      if constexpr (Op::is_mean)
        add_launches<decltype(apply_node<Primitive::divide>(std::declval<const Sums&>(), Number{})), To>(plan);
      else if constexpr (partial != To)
        add_launches<decltype(make_node<Convert<To>>(std::declval<const Sums&>())), To>(plan);
    } else {
      constexpr Dims domain = dims_of<typename E::domain_type>;
      constexpr bool has_last = domain.rank == 0 || (Mask >> (domain.rank - 1) & 1U) != 0;
      constexpr Pace along = !reduces_one_stretch(domain, Mask) ? Pace::copied
                             : has_last                         ? Pace::vector
                                                                : Pace::strided;
      add_kernel<RowProgram<dyn, true, Merging::none, Stored<E, To>>>(plan, elements, along);
    }
  }
};

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The plan of an expression's type, `plan<decltype(tanh(a * b + c))>()`: for tensors in row-major order without gaps
/// as far as their types allow. A tensor that is named twice counts twice.
template <LazyValue E> [[nodiscard]] consteval ExpressionPlan plan() {
  static_assert(!expr::has_products<E>, "twill: how a product is computed is known at run time; ask plan(expression)");
  ExpressionPlan result{};
  if constexpr (!expr::has_products<E>) expr::add_launches<E, E::dtype>(result); // else refused
  if constexpr (expr::on_gpu<E>) result.vector_width = result.thread_width;
  return result;
}

}}} // namespace twill::v0::TWILL_ISA
