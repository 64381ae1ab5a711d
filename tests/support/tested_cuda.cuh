#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the suites of tests/gpu run on when nvcc compiles them: no umbrella of models, which takes nvcc longer than most
// suites.

#include <tests/support/other_launches.cuh>

#include <twill/compile/run/gpu/capture.hpp>
#include <twill/compile/run/gpu/numbers.hpp>
#include <twill/compile/run/gpu/observer.hpp>
#include <twill/data/gpu/staging.hpp>
#include <twill/expr.cuh>
#include <twill/kernel/cuda/radix.cuh>

#include <cstddef>
#include <string_view>
#include <vector>

namespace twill::test {
using TestedDevice = Cuda;

/// The library that convolutions are given to, whose engines are its own.
inline constexpr bool has_library = kernel::gpu::Cudnn::is_present();
inline constexpr std::string_view library_name = kernel::gpu::Cudnn::name;
struct LibraryEngine {
  nvidia::EngineNotes notes{};
  std::size_t workspace_bytes = 0;
  bool can_be_built = true;
  bool can_run = true;
  double seconds = 1;
};
inline constexpr bool counts_engines = false;
inline std::vector<long> engine_runs() { return {}; }
inline void install_engines(const std::vector<LibraryEngine>&) {}

/// The library that products are given to, which is always there.
inline constexpr std::string_view product_library_name = kernel::gpu::CublasLt::name;
inline constexpr std::string_view attention_library_name = has_library ? library_name : std::string_view{"twill"};
inline void install_products(bool) {}
} // namespace twill::test
