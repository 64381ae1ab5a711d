#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensors modelled on another tensor. `zeros_like(x)` and its family also take the shape, `new_zeros<S>(x)` and its
// family only the element type and the device. Both can be overridden, a device always last: `zeros_like<double>(x)`,
// `new_zeros<Shape<2>, double>(x, Cpu{1})`. Read next: tensor/create.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <type_traits>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The requested element type; the source's for void.
template <class T, class X> using element_or_own = std::conditional_t<std::is_void_v<T>, typename X::value_type, T>;

template <AnyTensor X> [[nodiscard]] const auto& device_or_own(const X& source) { return source.device(); }
template <AnyTensor X, Device D> [[nodiscard]] const D& device_or_own(const X&, const D& device) { return device; }

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Uninitialised elements in the shape of another tensor.
template <class T = void, AnyTensor X, Device... Where>
requires(sizeof...(Where) <= 1) [[nodiscard]] auto empty_like(const X& source, const Where&... device) {
  return empty<detail::element_or_own<T, X>, typename X::shape_type>(source.shape(),
                                                                     detail::device_or_own(source, device...));
}
/// Filled with a value; shape, element type and device of the source by default.
template <class T = void, AnyTensor X, Device... Where>
requires(sizeof...(Where) <= 1)
    [[nodiscard]] auto full_like(const X& source, detail::element_or_own<T, X> value, const Where&... device) {
  return full<detail::element_or_own<T, X>, typename X::shape_type>(source.shape(), value,
                                                                    detail::device_or_own(source, device...));
}
/// Zeros; shape, element type and device of the source by default.
template <class T = void, AnyTensor X, Device... Where>
requires(sizeof...(Where) <= 1) [[nodiscard]] auto zeros_like(const X& source, const Where&... device) {
  return full_like<T>(source, detail::element_or_own<T, X>{}, device...);
}
/// Ones; shape, element type and device of the source by default.
template <class T = void, AnyTensor X, Device... Where>
requires(sizeof...(Where) <= 1) [[nodiscard]] auto ones_like(const X& source, const Where&... device) {
  return full_like<T>(source, static_cast<detail::element_or_own<T, X>>(1), device...);
}

/// Uninitialised elements with the element type and device of another tensor.
template <AnyShape S, class T = void, AnyTensor X, Device... Where>
requires(sizeof...(Where) <= 1)
    [[nodiscard]] auto new_empty(const X& source, const Dims& extents, const Where&... device) {
  return empty<detail::element_or_own<T, X>, S>(extents, detail::device_or_own(source, device...));
}
/// Uninitialised elements with the element type and device of another tensor.
template <AnyShape S, class T = void, AnyTensor X, Device... Where>
requires(S::is_static && sizeof...(Where) <= 1) [[nodiscard]] auto new_empty(const X& source, const Where&... device) {
  return new_empty<S, T>(source, S::dims(), device...);
}
/// Filled with a value; element type and device of the source by default.
template <AnyShape S, class T = void, AnyTensor X, Device... Where>
requires(sizeof...(Where) <= 1)
    [[nodiscard]] auto new_full(const X& source, const Dims& extents, detail::element_or_own<T, X> value,
                                const Where&... device) {
  return full<detail::element_or_own<T, X>, S>(extents, value, detail::device_or_own(source, device...));
}
template <AnyShape S, class T = void, AnyTensor X, Device... Where>
requires(S::is_static && sizeof...(Where) <= 1)
    [[nodiscard]] auto new_full(const X& source, detail::element_or_own<T, X> value, const Where&... device) {
  return new_full<S, T>(source, S::dims(), value, device...);
}
/// Zeros; element type and device of the source by default.
template <AnyShape S, class T = void, AnyTensor X, Device... Where>
requires(sizeof...(Where) <= 1)
    [[nodiscard]] auto new_zeros(const X& source, const Dims& extents, const Where&... device) {
  return new_full<S, T>(source, extents, detail::element_or_own<T, X>{}, device...);
}
/// Zeros; element type and device of the source by default.
template <AnyShape S, class T = void, AnyTensor X, Device... Where>
requires(S::is_static && sizeof...(Where) <= 1) [[nodiscard]] auto new_zeros(const X& source, const Where&... device) {
  return new_zeros<S, T>(source, S::dims(), device...);
}
/// Ones; element type and device of the source by default.
template <AnyShape S, class T = void, AnyTensor X, Device... Where>
requires(sizeof...(Where) <= 1)
    [[nodiscard]] auto new_ones(const X& source, const Dims& extents, const Where&... device) {
  return new_full<S, T>(source, extents, static_cast<detail::element_or_own<T, X>>(1), device...);
}
/// Ones; element type and device of the source by default.
template <AnyShape S, class T = void, AnyTensor X, Device... Where>
requires(S::is_static && sizeof...(Where) <= 1) [[nodiscard]] auto new_ones(const X& source, const Where&... device) {
  return new_ones<S, T>(source, S::dims(), device...);
}

}}} // namespace twill::v0::TWILL_ISA
