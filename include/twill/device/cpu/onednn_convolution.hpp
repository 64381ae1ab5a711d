#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by oneDNN 2, only in the calling thread: a team splits the batch itself. Weights are brought into the
// library's order in working memory that the caller lends, so none is allocated in a steady step, or kept in that
// order in a `KeptOrder`; their gradients can stay in it while they are added up. Images are also reordered where
// that pays: with AVX-512 the library's fastest layout is channels-last, which images already have; with narrower
// registers convolutions of larger kernels take 1.3 to 1.5 times as long on it as on blocks of eight channels, and
// reordering there and back is a few hundredths of that. Each thread has its own plans, for the last shapes that it
// used. Read next: kernel/convolution.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/device/convolution.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/device/cpu/kept_orders.hpp>
#include <twill/device/cpu/onednn.hpp>
#include <twill/device/cpu/recent_plans.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace twill { inline namespace v0 { namespace cpu {

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
inline constexpr bool has_onednn_convolution = true;

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

/// The number of an order of weights, equal in all threads. There are few: each shape of weights has one or two.
[[nodiscard]] inline int number_of_order(const dnnl_memory_desc_t& order) {
  struct Known {
    dnnl_memory_desc_t order; // its type has no name of its own, and nvcc's front end then cannot destroy elements
  };
  struct Orders {
    std::mutex mutex{};
    std::vector<Known> known{};
  };
  static Orders& orders = *new Orders; // never destroyed: threads may still ask while the process ends
  const std::lock_guard lock(orders.mutex);
  for (std::size_t i = 0; i < orders.known.size(); ++i)
    if (dnnl_memory_desc_equal(&orders.known[i].order, &order) != 0) return static_cast<int>(i);
  orders.known.push_back({order});
  return static_cast<int>(orders.known.size()) - 1;
}

/// One part of one convolution, ready to run.
class DnnlConvolution {
public:
  DnnlConvolution(ConvolutionPart part, DType dtype, const ConvolutionShape& shape);

  [[nodiscard]] bool is_for(ConvolutionPart part, DType dtype, const ConvolutionShape& shape) const;
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  /// Whether the library wants the weights in another order than their own.
  [[nodiscard]] bool reorders() const { return reorder_ != nullptr; }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// Whether a gradient of weights may stay in the library's order: another than its tensor's, and no larger.
  [[nodiscard]] bool can_stay_in_order() const { return stays_in_order_; }
  /// The number of the library's order, where it reorders.
  [[nodiscard]] int order() const { return order_; }

  /// Reads the weights from `kept`, if it is not null, in the library's order, and leaves them there for other calls.
  /// requires: is_ready(), and `scratch` has scratch_bytes() bytes from a cache line on
  [[nodiscard]] bool run(void* x, void* w, void* y, std::byte* scratch, KeptOrder* kept = nullptr);

  /// The gradient of the weights, in the library's order.    requires: can_stay_in_order(), and `scratch` as for `run`
  [[nodiscard]] bool run_in_order(void* x, void* w, void* y, std::byte* scratch);
  /// Brings such gradients, or their sum, into the order of their tensor.    requires: as for run_in_order
  [[nodiscard]] bool leave_order(void* w, std::byte* scratch);
  /// Brings a gradient that was made elsewhere into the library's order.    requires: as for run_in_order
  [[nodiscard]] bool enter_order(void* w, std::byte* scratch);

private:
  static void set(const Dnnl<dnnl_memory_t>& memory, void* data);

  [[nodiscard]] static const dnnl_memory_desc_t* order_of(const Dnnl<dnnl_memory_t>& memory);
  /// The bytes of the weights in the order of their tensor.
  [[nodiscard]] std::size_t plain_bytes() const;

  /// Runs the convolution with the weights that have been set.
  [[nodiscard]] bool convolve(void* x, void* y, std::byte* scratch);

  [[nodiscard]] bool reorder(dnnl_memory_t from, dnnl_memory_t to);

  [[nodiscard]] bool prepare();

  /// The most elements of images that are reordered together, for a gradient of weights.
  static constexpr std::int64_t most_brought = 1 << 24;

  ConvolutionPart part_;
  DType dtype_;
  ConvolutionShape shape_;
  bool is_ready_ = false;
  std::size_t weight_bytes_ = 0;  ///< of the weights in the library's order; 0 where it takes them without reordering
  std::size_t scratch_bytes_ = 0; ///< with those, then the library's own, then of images in its order
  int order_ = 0;                 ///< the number of the library's order
  bool stays_in_order_ = false;   ///< gradients may have that order for a while
  Dnnl<dnnl_primitive_t> convolve_{};
  Dnnl<dnnl_primitive_t> reorder_{};
  DnnlPicture x_{}, y_{};
  Dnnl<dnnl_memory_t> w_{}, inner_w_{}, scratchpad_{};
};

} // namespace detail

/// The plan of a part of a convolution of float32 or bfloat16; null where the library has none. cost: the first time in
/// a thread about a millisecond, then a search among the plans
[[nodiscard]] detail::DnnlConvolution* find_convolution(ConvolutionPart part, DType dtype,
                                                        const ConvolutionShape& shape);

#else
inline constexpr bool has_onednn_convolution = false;
#endif

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/onednn_convolution.ipp>
#endif
