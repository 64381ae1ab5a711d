#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Device names at run time: `with_device("cpu:1", f)` calls `f(Cpu{1})`, and `f` is compiled for each possible kind. A
// name is a kind, which means the current device of that kind, or a kind and an ordinal. A header that adds a kind
// overloads `with_device` for functions that accept the new kind, by means of `visit_device`.
// Read next: device/device.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/device/current.hpp>
#include <twill/device/meta/meta.hpp>

#include <charconv>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace twill { inline namespace v0 {

namespace detail {

/// The device of kind `D` with this name; nothing when the name is of another kind. throws: ValueError when the part
/// after the kind is no ordinal, DeviceError when there is no such device
template <DeviceName D> [[nodiscard]] std::optional<D> device_named(std::string_view name) {
  const std::string_view kind{D::kind};
  if (name.substr(0, kind.size()) != kind) return std::nullopt;
  std::string_view rest = name.substr(kind.size());
  D device = current_device<D>();
  if (!rest.empty()) {
    if (rest.front() != ':') return std::nullopt;
    rest.remove_prefix(1);
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), device.index);
    const bool plain = !rest.empty() && rest.front() != '-' && end == rest.data() + rest.size();
    if (!plain || (status != std::errc{} && status != std::errc::result_out_of_range))
      throw ValueError(
          join_text({"with_device: \"", name, "\" is not a device; write \"", kind, "\" or \"", kind, ":0\""}));
    if (status == std::errc::result_out_of_range)
      throw DeviceError(
          join_text({"with_device: there is no ", name, "; this process has ", D::count(), " ", kind, " devices"}));
  }
  require_exists(device, "with_device");
  return device;
}

/// Throws the error for an unknown name.
[[noreturn]] void refuse_device_name(std::string_view name, std::initializer_list<std::string_view> kinds);

/// Tries one kind after the other.
template <class Result, DeviceName Kind, DeviceName... Rest, class F>
Result visit_first(std::string_view name, F& function, std::initializer_list<std::string_view> kinds) {
  if (const auto device = device_named<Kind>(name)) return static_cast<Result>(function(*device));
  if constexpr (sizeof...(Rest) > 0) {
    return visit_first<Result, Rest...>(name, function, kinds);
  } else {
    refuse_device_name(name, kinds);
  }
}

/// The first of several kinds.
template <class Kind, class...> struct FirstKind { using type = Kind; };

} // namespace detail

/// Calls `function` with the device that `name` means, one of the given kinds, and returns its result, which has the
/// type that the first kind yields.
/// throws: DeviceError for a device that does not exist, ValueError for an invalid ordinal
template <DeviceName... Kinds, class F>
requires(sizeof...(Kinds) > 0) auto visit_device(std::string_view name, F&& function)
    -> std::invoke_result_t<F&, typename detail::FirstKind<Kinds...>::type> {
  using Result = std::invoke_result_t<F&, typename detail::FirstKind<Kinds...>::type>;
  return detail::visit_first<Result, Kinds...>(name, function, {std::string_view{Kinds::kind}...});
}

/// Calls `function` with the device that `name` means: "cpu", "cpu:1", "meta".
/// throws: DeviceError for a device that is not available, ValueError for an invalid ordinal
template <class F>
requires std::invocable<F&, Cpu> && std::invocable<F&, Meta>
auto with_device(std::string_view name, F&& function) -> std::invoke_result_t<F&, Cpu> {
  return visit_device<Cpu, Meta>(name, function);
}

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/names.ipp>
#endif
