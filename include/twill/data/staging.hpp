#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Staging memory on the host, which a loader's workers fill, and its copy to a device. On most kinds it is ordinary
// memory, copied while the consumer waits; a kind that can do better specialises `Staging`. Read next:
// data/gpu/staging.hpp.

#include <twill/device/device.hpp>

#include <concepts>
#include <cstddef>
#include <memory>

namespace twill { inline namespace v0 { namespace data {

/// The elements of one field of a batch, before they go to a device of kind D.
template <class D> struct Staging {
  /// Whether the memory of a batch serves none before the next but one: here it may serve the next.
  static constexpr bool keeps_last_batch = false;

  template <class T> class Field {
  public:
    Field() = default;
    explicit Field(std::size_t count) : elements_{std::make_unique_for_overwrite<T[]>(count)} {}
    [[nodiscard]] T* data() const { return elements_.get(); }

  private:
    std::unique_ptr<T[]> elements_{};
  };

  /// A scope in which tensors of the device are made where batches arrive: here where all others are.
  class Arrival {
  public:
    explicit Arrival(const D&) {}
    /// Later work of this thread on the device comes after all copies so far, and may use the tensors.
    template <class... X> void hand_over(const X&...) {}
  };

  /// Brings a field to memory of the device, in the order of its stream; the field may go when this returns.
  static void copy(const D& device, void* to, const void* from, std::size_t bytes) {
    if constexpr (std::same_as<D, Cpu>)
      copy_bytes(device, to, device, from, bytes, CopyOptions{});
    else
      copy_bytes(device, to, Cpu{}, from, bytes, CopyOptions{});
  }
};

}}} // namespace twill::v0::data
