#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Image layout for oneDNN's fastest convolutions. With AVX-512 that is channels-last, which images already have; with
// narrower registers convolutions of larger kernels take 1.3 to 1.5 times as long on it as on blocks of eight channels,
// and reordering there and back is a few hundredths of that. Read next: device/cpu/onednn_convolution.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/device/convolution.hpp>
#include <twill/device/cpu/onednn_objects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace cpu {

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2

/// Whether it may pay to bring the images of a convolution into the library's order.
[[nodiscard]] inline bool may_bring_pictures(DType dtype, const ConvolutionShape& s) {
  static const bool has_wide_registers =
      (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
  constexpr std::int64_t multiply_adds_worth_an_element = 100;
  constexpr std::int64_t block = 8;
  return !has_wide_registers && dtype == DType::float32 && s.groups == 1 && s.kernel[0] * s.kernel[1] > 1 &&
         s.in_channels % block == 0 && s.out_channels % block == 0 &&
         s.multiply_adds() >= multiply_adds_worth_an_element * (s.x_elements() + s.y_elements());
}

/// The number of images for one call of a plan: all of them, or if they may be reordered, as many as stay in a cache
/// meanwhile, and enough that reordering the weights each time costs little in comparison. A gradient of weights is a
/// sum over all of them.
[[nodiscard]] std::int64_t images_at_once(ConvolutionPart part, DType dtype, const ConvolutionShape& s);

namespace detail {

/// One of the two image tensors of a plan, in its tensor's order and, if that differs, in the library's order.
class DnnlPicture {
public:
  /// `offset` is its position in the working memory in the library's order; false if an object cannot be made.
  [[nodiscard]] bool prepare(const dnnl_memory_desc_t& outer, const dnnl_memory_desc_t& inner, bool is_written,
                             std::size_t offset);

  /// Bytes of its working memory; 0 where the library takes it without reordering.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The memory that the library reads or writes.
  [[nodiscard]] dnnl_memory_t inner() const { return inner_ ? inner_.get() : outer_.get(); }

  /// Sets the image and the working memory, and brings an input into the library's order.
  [[nodiscard]] bool bring(void* data, std::byte* scratch);
  /// Brings an output into the order of its tensor.
  [[nodiscard]] bool fetch() { return !inner_ || !is_written_ || reorder(inner_.get(), outer_.get()); }

private:
  [[nodiscard]] bool reorder(dnnl_memory_t from, dnnl_memory_t to);

  Dnnl<dnnl_memory_t> outer_{}, inner_{};
  Dnnl<dnnl_primitive_t> way_{};
  std::size_t offset_ = 0, bytes_ = 0;
  bool is_written_ = false;
};

} // namespace detail

#endif

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/onednn_pictures.ipp>
#endif
