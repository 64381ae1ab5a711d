#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Split of a tensor into views along an axis: `split` at equal distances or at given indices, `array_split` for unequal
// parts, `chunk` as in PyTorch. The parts share the memory of their tensor. Read next: expr/join.hpp, which joins them.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

template <int Axis, AnyTensor X> using Part = decltype(narrow<Axis>(std::declval<const X&>(), 0, 0));

[[noreturn]] void throw_sections(const char* operation, std::int64_t sections, std::int64_t extent, int axis);

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Equal parts. throws: ValueError when they cannot be equal
template <int Axis, AnyTensor X> [[nodiscard]] auto split(const X& x, std::int64_t sections) {
  constexpr int axis = axis_of<Axis, X::rank>;
  const std::int64_t extent = x.size(axis);
  if (sections < 1 || extent % sections != 0) detail::throw_sections("split", sections, extent, axis);
  const std::int64_t length = extent / sections;
  std::vector<detail::Part<axis, X>> parts;
  for (std::int64_t part = 0; part < sections; ++part) parts.push_back(narrow<axis>(x, part * length, length));
  return parts;
}

/// Parts that begin at these indices, and one before the first; indices beyond the end reach it, as in Python's slices.
template <int Axis, AnyTensor X> [[nodiscard]] auto split(const X& x, std::initializer_list<std::int64_t> begins) {
  constexpr int axis = axis_of<Axis, X::rank>;
  const std::int64_t extent = x.size(axis);
  const auto place = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + extent : index, 0, extent);
  };
  std::vector<detail::Part<axis, X>> parts;
  std::int64_t from = 0;
  for (const std::int64_t begin : begins) {
    const std::int64_t to = place(begin);
    parts.push_back(narrow<axis>(x, from, std::max<std::int64_t>(to - from, 0)));
    from = to;
  }
  parts.push_back(narrow<axis>(x, from, extent - from));
  return parts;
}

/// Equal parts whose extents the types know: `auto [a, b] = split<1, 2>(x)`.
template <int Axis, std::int64_t Sections, AnyTensor X> [[nodiscard]] auto split(const X& x) {
  constexpr int axis = axis_of<Axis, X::rank>;
  constexpr std::int64_t known = X::shape_type::extent(axis);
  static_assert(Sections > 0, "twill: split: there is at least one section");
  if constexpr (known != dyn && known % Sections != 0)
    static_cast<void>(
        sizeof(refused<Problem::sections_do_not_divide_the_axis, with::count<Sections>, with::extent<known>>));
  const std::int64_t extent = x.size(axis);
  if (extent % Sections != 0) detail::throw_sections("split", Sections, extent, axis);
  const std::int64_t length = extent / Sections;
  return [&]<std::size_t... Part>(std::index_sequence<Part...>) {
    if constexpr (known == dyn)
      return std::array{narrow<axis>(x, static_cast<std::int64_t>(Part) * length, length)...};
    else
      return std::array{narrow<axis, known / Sections>(x, static_cast<std::int64_t>(Part) * length)...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(Sections)>{});
}

/// The given number of parts, the first ones longer by one where they cannot be equal. throws: ValueError
template <int Axis, AnyTensor X> [[nodiscard]] auto array_split(const X& x, std::int64_t sections) {
  constexpr int axis = axis_of<Axis, X::rank>;
  const std::int64_t extent = x.size(axis);
  if (sections < 1) detail::throw_sections("array_split", sections, extent, axis);
  std::vector<detail::Part<axis, X>> parts;
  std::int64_t from = 0;
  for (std::int64_t part = 0; part < sections; ++part) {
    const std::int64_t length = extent / sections + (part < extent % sections ? 1 : 0);
    parts.push_back(narrow<axis>(x, from, length));
    from += length;
  }
  return parts;
}

/// At most the given number of parts, all of one length but the last, as PyTorch's chunk. throws: ValueError
template <int Axis, AnyTensor X> [[nodiscard]] auto chunk(const X& x, std::int64_t chunks) {
  constexpr int axis = axis_of<Axis, X::rank>;
  const std::int64_t extent = x.size(axis);
  if (chunks < 1) detail::throw_sections("chunk", chunks, extent, axis);
  const std::int64_t length = (extent + chunks - 1) / chunks;
  std::vector<detail::Part<axis, X>> parts;
  for (std::int64_t from = 0; from < extent; from += length)
    parts.push_back(narrow<axis>(x, from, std::min(length, extent - from)));
  if (extent == 0)
    for (std::int64_t part = 0; part < chunks; ++part) parts.push_back(narrow<axis>(x, 0, 0));
  return parts;
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/tensor/split.ipp>
#endif
