#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Options for the vendor's matrix and neural network libraries: time their algorithms once for each problem (called
// `benchmark` elsewhere), choose the same algorithm in every run, round float32 factors to TF32 for tensor cores. One
// setting for the process; it is read when an algorithm is chosen, so set it before the first step. A captured step
// keeps its options. Read next: device/gpu/library_choices.hpp, device/cuda/gemm.hpp.

#include <twill/core/config.hpp>

#include <atomic>
#include <cstdint>

namespace twill { inline namespace v0 {

/// How vendor libraries choose their algorithms: by search or by rule, repeatable or not.
struct LibraryOptions {
  bool autotune = false;         ///< time the best candidates once for each new problem and keep the fastest
  bool is_deterministic = false; ///< equal bits in every run on one kind of device; disables autotuning
  bool allows_tf32_in_products =
      false; ///< factors of float32 may be rounded to 10 bits of mantissa, which is much faster
  bool allows_tf32_in_convolutions = true; ///< also for convolutions; both defaults are PyTorch's
  bool uses_cudnn = true; ///< cuDNN computes convolutions if it is installed and has an engine, else twill

  friend constexpr bool operator==(const LibraryOptions&, const LibraryOptions&) = default;
};

namespace detail {
TWILL_EXPORT inline std::atomic<std::uint8_t>& library_option_bits() {
  static std::atomic<std::uint8_t> bits{0};
  return bits;
}
} // namespace detail

/// The options in force.
[[nodiscard]] inline LibraryOptions library_options() {
  const unsigned bits = detail::library_option_bits().load(std::memory_order_relaxed);
  return {.autotune = (bits & 1U) != 0,
          .is_deterministic = (bits & 2U) != 0,
          .allows_tf32_in_products = (bits & 4U) != 0,
          .allows_tf32_in_convolutions = (bits & 16U) == 0,
          .uses_cudnn = (bits & 8U) == 0};
}

/// Sets the options for all later problems; plans that were made under other options are kept separately.
inline void set_library_options(const LibraryOptions& options) {
  detail::library_option_bits().store(
      static_cast<std::uint8_t>((options.autotune ? 1U : 0U) | (options.is_deterministic ? 2U : 0U) |
                                (options.allows_tf32_in_products ? 4U : 0U) | (options.uses_cudnn ? 0U : 8U) |
                                (options.allows_tf32_in_convolutions ? 0U : 16U)),
      std::memory_order_relaxed);
}

}} // namespace twill::v0
