#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `with_device("cuda:1", f)` calls `f(Cuda{1})`: the names of device/names.hpp, and those of GPUs beside them, for functions
// that accept all kinds. On a machine without a GPU such a name is refused with the reason. Read next: device/names.hpp.

#include <twill/device/cuda/cuda.cuh>
#include <twill/device/names.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 {

/// Calls `function` with the device that `name` means: "cpu", "cpu:1", "cuda" (the current one), "cuda:1", "meta".
/// throws: DeviceError for names of no device here, ValueError for an ordinal that is none
template <class F>
requires std::invocable<F&, Cpu> && std::invocable<F&, Meta> && std::invocable<F&, Cuda>
auto with_device(std::string_view name, F&& function) -> std::invoke_result_t<F&, Cpu> {
  return visit_device<Cpu, Cuda, Meta>(name, function);
}

}} // namespace twill::v0
