#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reading by index as a node of an expression: an index tensor chooses places along an axis, and the read fuses with
// the code around it. The indices are checked before the node exists, by a kernel over their least and greatest, so
// nothing is written when one is wrong; negative ones are counted from the front in a copy. Read next: expr/take.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

template <class X> [[nodiscard]] auto evaluated(X&& x) {
  if constexpr (AnyTensor<X>)
    return std::remove_cvref_t<X>(std::forward<X>(x));
  else
    return eval(std::forward<X>(x));
}

/// The range of the indices of one tensor.
struct IndexRange {
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};

[[noreturn]] void throw_index(std::string_view operation, IndexRange found, std::int64_t extent, int axis);

/// One kernel over all indices and a read; nothing on a device without memory, and for no indices.
template <class T, class D, class S> [[nodiscard]] IndexRange range_of(const Tensor<T, D, S>& index) {
  if constexpr (D::has_memory) {
    if (index.elements() == 0) return {};
    using kernel::Reduce;
    using Lines = kernel::Program<kernel::In<T, kernel::Access::contiguous>, Reduce<kernel::Reduction::min, 0>,
                                  Reduce<kernel::Reduction::max, 0>, kernel::Out<T, 1>, kernel::Out<T, 2>>;
    const auto ordered = index.contiguous();
    const Tensor<T, D, Shape<2>> found(index.device());
    const std::array operands{detail::memory_operand(ordered.data(), Dims(1)),
                              detail::memory_operand(found.data(), Dims(0)),
                              detail::memory_operand(found.data() + 1, Dims(0))};
    kernel::launch(Lines{}, index.device(), Dims(index.elements()), operands.data());
    T ends[2]{};
    copy_bytes(reader_of(index.device()), ends, index.device(), found.data(), sizeof(ends));
    return {static_cast<std::int64_t>(ends[0]), static_cast<std::int64_t>(ends[1])};
  } else {
    return {};
  }
}

template <class T> constexpr void require_integers() {
  if constexpr (std::is_same_v<T, bool> || is_floating(dtype_of<T>))
    static_cast<void>(sizeof(Mistake<refused<Problem::index_tensor_must_hold_integers, with::left_type<dtype_of<T>>>>));
}

/// The indices if they are inside an axis, counted from its front. throws: IndexError
template <class T, class D, class S>
[[nodiscard]] Tensor<T, D, S> checked_indices(std::string_view operation, const Tensor<T, D, S>& index,
                                              std::int64_t extent, int axis) {
  const IndexRange found = range_of(index);
  if (index.elements() > 0 && D::has_memory && (found.least < -extent || found.greatest >= extent))
    throw_index(operation, found, extent, axis);
  if (found.least >= 0) return index;
  using enum kernel::Primitive;
  using kernel::Immediate;
  using kernel::Step;
  // where(i < 0, i + extent, i)
  using Long = std::int64_t;
  using Lines = kernel::Program<kernel::In<T, kernel::Access::contiguous>, kernel::Cast<Long, 0>, Immediate<Long>,
                                Immediate<Long>, Step<less, 1, 2>, Step<add, 1, 3>, Step<where, 4, 5, 1>,
                                kernel::Cast<T, 6>, kernel::Out<T, 7>>;
  const auto ordered = index.contiguous();
  Tensor<T, D, S> result(index.device(), index.shape());
  const std::array operands{detail::memory_operand(ordered.data(), Dims(1)), detail::immediate_operand(Long{0}),
                            detail::immediate_operand(extent), detail::memory_operand(result.data(), Dims(1))};
  kernel::launch(Lines{}, index.device(), Dims(index.elements()), operands.data());
  return result;
}

/// Elements of a source at offsets that index tensors give. S is the result's shape; the indices are views that
/// broadcast to it and count steps of `steps[k]` elements, `moves` is the source along the result's axes.
template <class Source, class S, bool AlongRow, bool Owned, class... Index>
struct GatherNode : Evaluates<GatherNode<Source, S, AlongRow, Owned, Index...>> {
  using value_type = typename Source::value_type;
  using device_type = typename Source::device_type;
  using shape_type = S;
  using Moves = Tensor<value_type, device_type, S>;
  static constexpr DType dtype = dtype_of<value_type>;
  static constexpr bool owns = Owned;
  static constexpr bool has_reductions = false;
  static constexpr bool shape_is_proven = S::is_static;
  static constexpr bool is_gather = true;

  Source source;
  Moves moves;
  Fields<Held<typename Index::value_type, device_type, typename Index::shape_type>...> indices;
  std::array<std::int64_t, sizeof...(Index)> steps;

  static constexpr int lower(Code& code, const Frame& frame) {
    const int lines[]{scaled<Index>(code, frame)...};
    Symbol offset{code, lines[0]};
    for (std::size_t k = 1; k < sizeof...(Index); ++k) offset = offset + Symbol{code, lines[k]};
    const bool moves = AlongRow ? expected_access<S>(frame) != kernel::Access::uniform
                                : frame.other_axis && !frame.outside && S::rank > 0;
    const kernel::Access access = moves ? kernel::Access::strided : kernel::Access::uniform;
    return code.gather(dtype, access, offset.line(), frame.outside, known_elements<S>());
  }
  template <class F> void each_leaf(F& f) const {
    constexpr std::int64_t parts = is_complex(dtype) ? 2 : 1; // of an element, by which offsets count then
    std::size_t k = 0;
    indices.apply([&](const auto&... index) { ((index.each_leaf(f), f(parts * steps[k++])), ...); });
    if constexpr (is_complex(dtype)) {
      f.gathered(detail::part_of(moves, 0), detail::part_of(source, 0));
      f.gathered(detail::part_of(moves, 1), detail::part_of(source, 1));
    } else {
      f.gathered(moves, source);
    }
  }
  [[nodiscard]] Dims shape() const { return moves.shape(); }
  [[nodiscard]] device_type device() const { return source.device(); }

private:
  template <class I> static constexpr int scaled(Code& code, const Frame& frame) {
    const Symbol index{code, Held<typename I::value_type, device_type, typename I::shape_type>::lower(code, frame)};
    const Symbol step{code, code.constant(DType::int64)};
    return (index.to(DType::int64) * step).line();
  }
};

/// A lazy expression keeps indices of its own: those were checked, and the caller's may change.
template <class Source, class S, bool AlongRow, bool Owned, class... Index>
[[nodiscard]] auto owned(const GatherNode<Source, S, AlongRow, Owned, Index...>& node) {
  return node.indices.apply([&](const auto&... index) {
    return GatherNode<Source, S, AlongRow, true, Index...>{
        {}, node.source, node.moves, {{index.tensor.clone()}...}, node.steps};
  });
}

/// An expression in which all gathered parts are evaluated.
template <class E> [[nodiscard]] auto settled(const E& part) {
  if constexpr (!gathers<E>)
    return part;
  else if constexpr (requires { E::is_gather; })
    return Held<typename E::value_type, typename E::device_type, typename E::shape_type>{
        evaluate_as<typename E::shape_type>(part)};
  else
    return settled_parts(part);
}
template <class E> [[nodiscard]] auto settled_parts(const E& part) {
  return part.operands.apply(
      [](const auto&... operand) { return rebuilt(static_cast<const E*>(nullptr), settled(operand)...); });
}

}}}} // namespace twill::v0::expr::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/gather.ipp>
#endif
