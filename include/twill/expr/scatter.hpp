#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Writing by index: every element of the values goes to the place that a gathered read of the same indices would read.
// Positions are visited in row-major order by one thread, so the last of several writes to one place wins, and sums
// have one order; a GPU gets the same result by sorting (kernel/gpu/scatter.hpp). Read next: expr/put.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/gather.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

enum class Writing : std::uint8_t { replace, add };

inline constexpr std::size_t max_indices = 3;

/// Destinations of the elements of a grid: strides of everything along the grid, and the offsets that indices add.
struct ScatterPlan {
  Dims extents{};
  Dims to_strides{};
  Dims from_strides{};
  std::size_t count = 0; ///< of index tensors
  const std::int64_t* index[max_indices]{};
  Dims index_strides[max_indices]{};
  std::int64_t step[max_indices]{};

  void add(const std::int64_t* data, const Dims& own, const Dims& strides, std::int64_t step_of_it);
};

template <Writing W, class T> void scatter_elements(const ScatterPlan& plan, T* to, const T* from) {
  const Dims& extents = plan.extents;
  if (extents.elements() == 0) return;
  std::int64_t position[max_rank]{};
  for (;;) {
    std::int64_t target = 0;
    std::int64_t source = 0;
    for (int axis = 0; axis < extents.rank; ++axis) {
      target += position[axis] * plan.to_strides[axis];
      source += position[axis] * plan.from_strides[axis];
    }
    for (std::size_t k = 0; k < plan.count; ++k) {
      std::int64_t place = 0;
      for (int axis = 0; axis < extents.rank; ++axis) place += position[axis] * plan.index_strides[k][axis];
      target += plan.index[k][place] * plan.step[k];
    }
    if constexpr (W == Writing::replace)
      to[target] = from[source];
    else if constexpr (std::is_same_v<T, bool>)
      to[target] = to[target] || from[source];
    else
      to[target] = static_cast<T>(to[target] + from[source]);
    int axis = extents.rank - 1;
    while (axis >= 0 && ++position[axis] == extents[axis]) position[axis--] = 0;
    if (axis < 0) return;
  }
}

/// Whether two tensors may share an element.
template <class A, class B> [[nodiscard]] bool share_memory(const A& a, const B& b) {
  return detail::ranges_overlap(a.data(), sizeof(typename A::value_type), layout::touched(a.shape(), a.strides()),
                                b.data(), sizeof(typename B::value_type), layout::touched(b.shape(), b.strides()));
}

/// Writes values, which are converted and broadcast, to the places that a node reads. throws: ShapeError
template <Writing W, class Node, class X> void scatter(const char* operation, const Node& node, const X& values) {
  using T = typename Node::value_type;
  const auto device = node.device();
  require_same_device(operation, device, values.device());
  const auto whole = node.shape();
  const auto own = values.template to<T>();
  const auto converted = share_memory(own, node.source) ? own.clone() : own;
  ScatterPlan plan{.extents = whole, .to_strides = node.moves.strides()};
  plan.from_strides = layout::expanded(operation, {converted.shape(), converted.strides(), 0}, whole).strides;
  node.indices.apply([&](const auto&... index) {
    const auto run = [&](const auto&... places) {
      std::size_t k = 0;
      (plan.add(places.data(), places.shape(), places.strides(), node.steps[k++]), ...);
      T* const to = node.moves.data();
      const T* const from = converted.data();
      if constexpr (kernel::has_queue<typename Node::device_type>) {
        const layout::Span span = layout::touched(node.source.shape(), node.source.strides());
        kernel::gpu::scatter_elements<W == Writing::add>(device, plan, span.first, span.last, to, from);
      } else {
        launch(device, [plan, to, from](const auto&) { scatter_elements<W>(plan, to, from); });
      }
    };
    run((share_memory(index.tensor, node.source) ? index.tensor.clone() : index.tensor).template to<std::int64_t>()...);
  });
}

}}}} // namespace twill::v0::expr::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/scatter.ipp>
#endif
