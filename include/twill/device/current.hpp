#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Current device of each kind, per thread, as in `torch.cuda.current_device`, and functions that all kinds share
// because they follow from `D::kind`, `D::count()` and the ordinal: names, existence, equality of operands' devices.
// Additional functions of a kind are found by overload; call them unqualified. Read next: device/device.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 {

/// A value that names one device: a kind, known as a type, and an ordinal.
template <class D>
concept DeviceName = std::regular<D> && requires(D device) {
  { D::kind } -> std::convertible_to<std::string_view>;
  { D::has_memory } -> std::convertible_to<bool>;
  { D::count() } -> std::same_as<int>;
  { device.index } -> std::convertible_to<int>;
};

/// "cpu:1".
template <DeviceName D> [[nodiscard]] std::string to_string(const D& device) {
  return join_text({std::string_view{D::kind}, ":", device.index});
}

/// The number of devices of a kind.
template <DeviceName D> [[nodiscard]] int device_count() { return D::count(); }

/// Every device of a kind, in the order of their ordinals.
template <DeviceName D> [[nodiscard]] std::vector<D> all_devices() {
  std::vector<D> devices{};
  for (int index = 0; index < D::count(); ++index) devices.push_back(D{index});
  return devices;
}

/// Whether this process has any device of the kind.
template <DeviceName D> [[nodiscard]] bool is_available() { return D::count() > 0; }

/// Whether this device exists.
template <DeviceName D> [[nodiscard]] bool is_available(const D& device) {
  return device.index >= 0 && device.index < D::count();
}

namespace detail {

[[noreturn]] void refuse_missing_device(std::string_view where, std::string_view kind, int index, int count);

[[noreturn]] void refuse_two_devices(std::string_view operation, std::string_view kind, int left, int right);

} // namespace detail

/// throws: DeviceError unless the device exists, naming it and the available devices
template <DeviceName D> void require_exists(const D& device, std::string_view where) {
  if (!is_available(device)) detail::refuse_missing_device(where, D::kind, device.index, D::count());
}

/// throws: DeviceError naming both devices unless the operands of an operation are on one device
template <DeviceName D> void require_same_device(std::string_view operation, const D& left, const D& right) {
  if (!(left == right)) detail::refuse_two_devices(operation, D::kind, left.index, right.index);
}

namespace detail {
template <class D> TWILL_EXPORT inline constinit thread_local int current_index = 0;
}

/// The device of the kind that this thread uses by default; ordinal 0 at first. Inside a submitted task it is the
/// task's device.
template <DeviceName D> [[nodiscard]] D current_device() { return D{detail::current_index<D>}; }

/// Makes a device the current one of its kind for this thread. A kind whose driver needs to know overloads `activate`,
/// and `activate_again` for the way back, which does not throw. throws: DeviceError when the device does not exist
template <DeviceName D> void set_device(const D& device) {
  require_exists(device, "set_device");
  if constexpr (requires { activate(device); }) activate(device);
  detail::current_index<D> = device.index;
}

/// Makes a device current again that was current before; does not throw.
template <DeviceName D> void restore_device(const D& device) noexcept {
  if constexpr (requires { activate_again(device); }) activate_again(device);
  detail::current_index<D> = device.index;
}

/// Makes a device current for a scope and restores the previous one afterwards.
template <DeviceName D> class DeviceGuard {
public:
  /// Makes the device current; the destructor restores the previous one.
  explicit DeviceGuard(const D& device) : previous_{current_device<D>()} { set_device(device); }
  ~DeviceGuard() { restore_device(previous_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

private:
  D previous_;
};

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/current.ipp>
#endif
