#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the suites of tests/gpu run on when a host compiler compiles them.

#include <tests/support/emulated_attention.hpp>
#include <tests/support/emulated_device.hpp>
#include <tests/support/emulated_library.hpp>
#include <tests/support/emulated_products.hpp>
#include <tests/support/host_sort.hpp>

#include <twill/compile/run/gpu/capture.hpp>
#include <twill/compile/run/gpu/numbers.hpp>
#include <twill/compile/run/gpu/observer.hpp>
#include <twill/data/gpu/staging.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/product.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace twill::test {
using TestedDevice = Emulated;

/// The library that convolutions are given to.
inline constexpr bool has_library = true;
inline constexpr std::string_view library_name = emulation::ConvolutionLibrary::name;
using emulation::LibraryEngine;
inline constexpr bool counts_engines = true;
inline std::vector<long> engine_runs() { return emulation::ConvolutionLibrary::state()->runs; }
inline void install_engines(std::vector<LibraryEngine> engines) {
  emulation::ConvolutionLibrary::install(std::move(engines));
}

/// The library that products and attention are given to, or taken from again.
inline constexpr std::string_view product_library_name = emulation::ProductLibrary::name;
inline constexpr std::string_view attention_library_name = emulation::AttentionLibrary::name;
inline void install_products(bool is_installed) { emulation::ProductLibrary::is_installed() = is_installed; }
} // namespace twill::test
