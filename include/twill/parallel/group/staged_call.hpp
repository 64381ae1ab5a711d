#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Staging of a call's elements in memory that any thread and any network can address, and of its result back. Memory of
// `Cpu` is used directly, after earlier work of the device is done; that of another kind is only accessed by its own
// device's stream and is copied through the host; devices without memory take part without data.

#include <twill/core/config.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// A call with elements addressable by any thread, made from one with elements on a device.
template <ComputeDevice D> class StagedCall {
public:
  StagedCall(const D& device, const Call& call, int rank) : device_{device}, call_{call}, device_target_{call.target} {
    if constexpr (!D::has_memory) {
      call_.source.data = nullptr;
      call_.target.data = nullptr;
    } else if constexpr (std::same_as<D, Cpu>) {
      launch(device, [](const Team&) {}); // earlier work of the device has to be done
    } else {
      if (reads_source(call, rank)) copy_in();
      if (writes_target(call, rank))
        target_ = stage(call_.target.bytes(), [&](void* data) { call_.target.data = data; });
    }
  }

  [[nodiscard]] const Call& call() const { return call_; }

  /// Copies the result to the device, in the order of its stream.
  void finish() {
    if constexpr (D::has_memory && !std::same_as<D, Cpu>) {
      if (target_ == nullptr || target_->empty()) return;
      if constexpr (!HostDevice<D>)
        copy_bytes(device_, device_target_.data, Cpu{}, target_->data(), target_->size(), CopyOptions{});
      else
        launch(device_, [staged = target_, to = device_target_.data](const Team&) {
          std::memcpy(to, staged->data(), staged->size());
        });
    }
  }

private:
  using Bytes = std::vector<std::byte>;

  template <class Place> [[nodiscard]] static std::shared_ptr<Bytes> stage(std::size_t bytes, Place place) {
    auto staged = std::make_shared<Bytes>(bytes);
    place(staged->data());
    return staged;
  }
  void copy_in() {
    const void* from = call_.source.data;
    source_ = stage(call_.source.bytes(), [&](void* data) { call_.source.data = data; });
    if (source_->empty()) return;
    if constexpr (!HostDevice<D>) {
      copy_bytes(Cpu{}, source_->data(), device_, from, source_->size(), CopyOptions{});
    } else {
      launch(device_, [staged = source_, from](const Team&) { std::memcpy(staged->data(), from, staged->size()); });
      synchronize(device_);
    }
  }

  D device_;
  Call call_;
  Elements device_target_;
  std::shared_ptr<Bytes> source_;
  std::shared_ptr<Bytes> target_;
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
