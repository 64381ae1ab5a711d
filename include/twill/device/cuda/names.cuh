#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Device names with GPUs: `with_device("cuda:1", f)` calls `f(Cuda{1})`, beside all names of device/names.hpp, for
// functions of all kinds. Without a GPU such a name is refused with the reason. Read next: device/names.hpp.

#include <twill/device/cuda/cuda.cuh>
#include <twill/device/names.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 {

/// Calls `function` with the device that `name` means: "cpu", "cpu:1", "cuda" (the current one), "cuda:1", "meta".
/// throws: DeviceError for a device that is not available, ValueError for an invalid ordinal
template <class F>
requires std::invocable<F&, Cpu> && std::invocable<F&, Meta> && std::invocable<F&, Cuda>
auto with_device(std::string_view name, F&& function) -> std::invoke_result_t<F&, Cpu> {
  return visit_device<Cpu, Cuda, Meta>(name, function);
}

}} // namespace twill::v0
