#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Extents of a tensor, compact: only the `dyn` ones are stored. Also the checks and reads that all tensors share and
// that need not be compiled again for each. Read next: tensor/tensor.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/device.hpp>
#include <twill/tensor/shapes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace detail {

/// Extents of a shape type; the static ones cost nothing.
template <AnyShape S> class Extents {
  static constexpr std::size_t dynamic_count = [] {
    std::size_t count = 0;
    for (int axis = 0; axis < S::rank; ++axis)
      if (S::extent(axis) == dyn) ++count;
    return count;
  }();

public:
  constexpr Extents() = default;
  constexpr explicit Extents(const Dims& dims) {
    std::size_t next = 0;
    for (int axis = 0; axis < S::rank; ++axis)
      if (S::extent(axis) == dyn) values_[next++] = dims[axis];
  }

  [[nodiscard]] constexpr Dims dims() const {
    Dims result = dims_of<S>;
    std::size_t next = 0;
    for (int axis = 0; axis < S::rank; ++axis)
      if (S::extent(axis) == dyn) result[axis] = values_[next++];
    return result;
  }
  [[nodiscard]] constexpr std::int64_t operator[](int axis) const { return dims()[axis]; }
  template <int Axis> [[nodiscard]] constexpr std::int64_t at() const {
    if constexpr (S::extent(Axis) != dyn) {
      return S::extent(Axis);
    } else {
      constexpr std::size_t before = [] {
        std::size_t count = 0;
        for (int axis = 0; axis < Axis; ++axis) count += S::extent(axis) == dyn ? 1U : 0U;
        return count;
      }();
      return values_[before];
    }
  }

private:
  std::array<std::int64_t, dynamic_count> values_{};
};

template <int Rank> [[nodiscard]] constexpr auto strides_array(const Dims& strides) {
  std::array<std::int64_t, static_cast<std::size_t>(Rank)> result{};
  for (int axis = 0; axis < Rank; ++axis) result[static_cast<std::size_t>(axis)] = strides[axis];
  return result;
}

[[noreturn]] void throw_misfit(const char* operation, const Dims& known, const Dims& extents,
                               std::size_t element_bytes);

/// throws: ShapeError when extents contradict the shape, are negative, or take more bytes than 64 bits can count
template <AnyShape S> void require_fit(const char* operation, const Dims& extents, std::size_t element_bytes) {
  if (!S::admits(extents) || counted_bytes(extents, element_bytes) < 0) [[unlikely]]
    throw_misfit(operation, dims_of<S>, extents, element_bytes);
}

/// Copies contiguous elements between devices. `copy_bytes` of the two kinds orders the copy with the work of both.
template <class To, class From, class Storage>
void transfer(const To& to_device, void* to, const From& from_device, const void* from, std::int64_t elements,
              std::size_t element_bytes, CopyOptions options, [[maybe_unused]] const Storage& keeps_source_alive) {
  if (elements > 0)
    copy_bytes(to_device, to, from_device, from, static_cast<std::size_t>(elements) * element_bytes, options);
}

}}} // namespace twill::v0::detail

namespace twill { inline namespace v0 {

/// The device whose stream reads a value back: a host device reads its own.
[[nodiscard]] inline Cpu reader_of(Cpu device) { return device; }
template <class D> [[nodiscard]] Cpu reader_of(const D&) { return current_device<Cpu>(); }

/// The value of the only element; waits for the device. `extents` are those of its tensor.
/// throws: ShapeError for several elements, DeviceError on a device without memory, ValueError without data
template <Scalar T, Device D> [[nodiscard]] T read_item(const D& device, const T* data, const Dims& extents) {
  if (extents.elements() != 1)
    throw ShapeError("item: shape " + to_string(extents) + " has " + std::to_string(extents.elements()) +
                     " elements; item reads a tensor of exactly one");
  if constexpr (!D::has_memory) {
    throw DeviceError("item: a tensor on " + to_string(device) + " has no values; run on a device that has memory");
  } else {
    if (data == nullptr)
      throw ValueError("item: the tensor holds no elements; it was never assigned, moved from or reset");
    T value{};
    copy_bytes(reader_of(device), &value, device, data, sizeof(T));
    return value;
  }
}

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/tensor/extents.ipp>
#endif
