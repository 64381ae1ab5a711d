#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of host devices, and their gradients. A team shares out the images, or the rows of one image; each
// thread calls oneDNN where it can, otherwise unfolds patches of the input into a matrix ("im2col", Chellapilla et al.,
// 2006) and multiplies. float16 computes in float. Gradients of weights are summed over the threads in thread order.
// Read next: kernel/product.hpp, kernel/gpu/convolution.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/device/convolution.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/device/cpu/kept_orders.hpp>
#include <twill/device/cpu/onednn_convolution.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/any_team.hpp>
#include <twill/kernel/product.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// A part of a convolution and its three tensors; the part says which of them is written.
template <class T> struct Convolution {
  ConvolutionPart part = ConvolutionPart::output;
  ConvolutionShape shape{};
  T* x = nullptr;
  T* w = nullptr;
  T* y = nullptr;
};

}}}} // namespace twill::v0::kernel::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { namespace detail { inline namespace TWILL_ISA {

/// Output pixels [first, first + count) of an image as rows of a matrix: all inputs that meet the weights of a group,
/// in the order of the weights. `fold` adds the rows back onto the image instead.
template <bool Fold, class T>
void unfold(const ConvolutionShape& s, T* image, std::int64_t group, std::int64_t first, std::int64_t count, T* rows) {
  const std::int64_t channels = s.in_channels / s.groups;
  const std::int64_t area = s.kernel[0] * s.kernel[1];
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t top = (first + i) / s.output[1] * s.stride[0] - s.padding[0];
    const std::int64_t left = (first + i) % s.output[1] * s.stride[1] - s.padding[1];
    T* const row = rows + i * s.taps();
    for (std::int64_t tap = 0; tap < area; ++tap) {
      const std::int64_t h = top + tap / s.kernel[1] * s.dilation[0];
      const std::int64_t v = left + tap % s.kernel[1] * s.dilation[1];
      const bool is_inside = h >= 0 && h < s.input[0] && v >= 0 && v < s.input[1];
      T* const pixel = is_inside ? image + (h * s.input[1] + v) * s.in_channels + group * channels : nullptr;
      for (std::int64_t c = 0; c < channels; ++c) {
        if constexpr (Fold) {
          if (is_inside) pixel[c] += row[c * area + tap];
        } else {
          row[c * area + tap] = is_inside ? pixel[c] : T{};
        }
      }
    }
  }
}

/// How many output pixels have their patches unfolded at once.
[[nodiscard]] std::int64_t pixels_at_once(const ConvolutionShape& s);

/// Convolves by unfolding and matrix products, in the calling thread.
template <class T> void convolve_plainly(const Convolution<T>& convolution) {
  const ConvolutionShape& s = convolution.shape;
  const std::int64_t filters = s.out_channels / s.groups;
  const std::int64_t taps = s.taps();
  const std::int64_t at_once = pixels_at_once(s);
  T* const rows = Scratch::of_thread<T>(at_once * taps);
  if (convolution.part == ConvolutionPart::input_gradient) std::fill_n(convolution.x, s.x_elements(), T{});
  if (convolution.part == ConvolutionPart::weight_gradient) std::fill_n(convolution.w, s.w_elements(), T{});
  for (std::int64_t image = 0; image < s.batch; ++image)
    for (std::int64_t group = 0; group < s.groups; ++group)
      for (std::int64_t first = 0; first < s.out_pixels(); first += at_once) {
        const std::int64_t count = std::min(at_once, s.out_pixels() - first);
        T* const x = convolution.x + image * s.in_pixels() * s.in_channels;
        T* const w = convolution.w + group * filters * taps;
        T* const y = convolution.y + (image * s.out_pixels() + first) * s.out_channels + group * filters;
        if (convolution.part != ConvolutionPart::input_gradient) unfold<false>(s, x, group, first, count, rows);
        if (convolution.part == ConvolutionPart::output) {
          product<T>(AnyTeam{}, false, true, count, filters, taps, T{1}, rows, taps, w, taps, T{}, y, s.out_channels);
        } else if (convolution.part == ConvolutionPart::input_gradient) {
          product<T>(AnyTeam{}, false, false, count, taps, filters, T{1}, y, s.out_channels, w, taps, T{}, rows, taps);
          unfold<true>(s, x, group, first, count, rows);
        } else {
          product<T>(AnyTeam{}, true, false, filters, taps, count, T{1}, y, s.out_channels, rows, taps, T{1}, w, taps);
        }
      }
}

/// Images [first, last) of a convolution.
template <class T>
[[nodiscard]] Convolution<T> images_of(const Convolution<T>& whole, std::int64_t first, std::int64_t last) {
  Convolution<T> some = whole;
  some.shape.batch = last - first;
  some.x += first * whole.shape.in_pixels() * whole.shape.in_channels;
  some.y += first * whole.shape.out_pixels() * whole.shape.out_channels;
  return some;
}

#if defined(TWILL_WITH_ONEDNN)
/// Calls `f(first, last)` for as many images as the library takes at once, until it returns false; returns whether it
/// always returned true.
template <class F>
[[nodiscard]] bool in_pieces(ConvolutionPart part, DType dtype, const ConvolutionShape& shape, const F& f) {
  const std::int64_t at_once = cpu::images_at_once(part, dtype, shape);
  for (std::int64_t first = 0; first < shape.batch; first += at_once)
    if (!f(first, std::min(first + at_once, shape.batch))) return false;
  return true;
}
#endif

/// Convolves in the calling thread, for a known type. Weights may be kept in the order of the kernel that reads them.
template <class T> void convolve_in_thread(const Convolution<T>& convolution, cpu::KeptOrder* kept = nullptr) {
#if defined(TWILL_WITH_ONEDNN)
  if constexpr (cpu::has_onednn_convolution && (std::same_as<T, float> || std::same_as<T, bfloat16>)) {
    const auto run = [&](std::int64_t first, std::int64_t last) {
      const Convolution<T> some = images_of(convolution, first, last);
      auto* const plan = cpu::find_convolution(some.part, dtype_of<T>, some.shape);
      return plan != nullptr && plan->run(some.x, some.w, some.y, Scratch::of_thread(plan->scratch_bytes()), kept);
    };
    if (in_pieces(convolution.part, dtype_of<T>, convolution.shape, run)) return;
  }
#endif
  static_cast<void>(kept);
  if constexpr (NarrowFloat<T>) {
    const ConvolutionShape& s = convolution.shape;
    float* const x = Scratch::of_thread<float, ScratchSlot::widened>(s.x_elements() + s.w_elements() + s.y_elements());
    float* const w = x + s.x_elements();
    float* const y = w + s.w_elements();
    const auto widen = [](const T* from, std::int64_t count, float* to) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = float{from[i]};
    };
    if (convolution.part != ConvolutionPart::input_gradient) widen(convolution.x, s.x_elements(), x);
    if (convolution.part != ConvolutionPart::weight_gradient) widen(convolution.w, s.w_elements(), w);
    if (convolution.part != ConvolutionPart::output) widen(convolution.y, s.y_elements(), y);
    convolve_in_thread<float>({convolution.part, s, x, w, y});
    const auto narrow = [](const float* from, std::int64_t count, T* to) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = T{from[i]};
    };
    if (convolution.part == ConvolutionPart::output) narrow(y, s.y_elements(), convolution.y);
    if (convolution.part == ConvolutionPart::input_gradient) narrow(x, s.x_elements(), convolution.x);
    if (convolution.part == ConvolutionPart::weight_gradient) narrow(w, s.w_elements(), convolution.w);
  } else {
    convolve_plainly(convolution);
  }
}

/// Reserves the memory that the calling thread will need for such a convolution.
template <class T> void reserve_in_thread(ConvolutionPart part, const ConvolutionShape& s) {
#if defined(TWILL_WITH_ONEDNN)
  if constexpr (cpu::has_onednn_convolution && (std::same_as<T, float> || std::same_as<T, bfloat16>))
    if (in_pieces(part, dtype_of<T>, s, [&](std::int64_t first, std::int64_t last) {
          ConvolutionShape some = s;
          some.batch = last - first;
          const auto* const plan = cpu::find_convolution(part, dtype_of<T>, some);
          if (plan != nullptr) Scratch::reserve(plan->scratch_bytes());
          return plan != nullptr;
        }))
      return;
#endif
  if constexpr (NarrowFloat<T>) {
    Scratch::reserve<float, ScratchSlot::widened>(s.x_elements() + s.w_elements() + s.y_elements());
    reserve_in_thread<float>(part, s);
  } else {
    Scratch::reserve<T>(pixels_at_once(s) * s.taps());
  }
}

/// Changes the order of a gradient of weights in place: that of a sum into that of its tensor, or that of a fresh one
/// into that of the sum.
/// throws: Error where the library no longer does what it did
template <bool Enter> void change_order(const cpu::GradientOrder& kept, float* gradient) {
#if defined(TWILL_WITH_ONEDNN)
  if constexpr (cpu::has_onednn_convolution)
    if (auto* const plan = cpu::find_convolution(ConvolutionPart::weight_gradient, DType::float32, kept.shape);
        plan != nullptr && plan->can_stay_in_order() && plan->order() == kept.order) {
      std::byte* const scratch = Scratch::of_thread(plan->scratch_bytes());
      if (Enter ? plan->enter_order(gradient, scratch) : plan->leave_order(gradient, scratch)) return;
    }
#endif
  static_cast<void>(kept);
  static_cast<void>(gradient);
  throw Error("convolution: the library refuses an order in which it has left a gradient of weights");
}

/// Whether several threads work on a convolution.
[[nodiscard]] bool is_shared(const Team& team, const ConvolutionShape& shape);

/// Computes output rows [first, last) of a convolution of one image: a convolution of the input rows that they need.
template <class T>
[[nodiscard]] Convolution<T> rows_of(const Convolution<T>& whole, std::int64_t first, std::int64_t last) {
  Convolution<T> some = whole;
  ConvolutionShape& s = some.shape;
  const std::int64_t top = first * s.stride[0] - s.padding[0];
  const std::int64_t begin = std::clamp<std::int64_t>(top, 0, s.input[0] - 1);
  const std::int64_t end =
      std::clamp<std::int64_t>((last - 1) * s.stride[0] - s.padding[0] + s.reach(0), begin + 1, s.input[0]);
  s.padding[0] = begin - top;
  s.input[0] = end - begin;
  s.output[0] = last - first;
  some.x += begin * s.input[1] * s.in_channels;
  some.y += first * s.output[1] * s.out_channels;
  return some;
}

/// Whether threads share out the output rows of each image because there are too few images.
template <class T> [[nodiscard]] bool shares_rows(const Team& team, const Convolution<T>& convolution) {
  return convolution.part == ConvolutionPart::output && convolution.shape.batch < team.size();
}

/// Calls `f(some, rank)` for the output rows of one image that each thread has.
template <class T, class F> void share_rows(const Team& team, const Convolution<T>& image, const F& f) {
  team.parallel([&](int rank, int size) {
    const std::int64_t first = image.shape.output[0] * rank / size;
    const std::int64_t last = image.shape.output[0] * (rank + 1) / size;
    if (first < last) f(rows_of(image, first, last), rank);
  });
}

/// Calls `f(some, rank)` for the images that each of the first `parts` threads has.
template <class T, class F>
void share_images(const Team& team, const Convolution<T>& whole, std::int64_t parts, const F& f) {
  team.parallel([&](int rank, int) {
    if (rank >= parts) return;
    const std::int64_t first = whole.shape.batch * rank / parts;
    const std::int64_t last = whole.shape.batch * (rank + 1) / parts;
    if (first < last) f(images_of(whole, first, last), rank);
  });
}

/// How many threads have a gradient of weights of their own.
[[nodiscard]] std::int64_t gradients_of(const Team& team, const ConvolutionShape& shape);

/// The gradient of weights: each thread's of its images, then their sum in the order of the threads.
template <class T> void share_weight_gradient(const Team& team, const Convolution<T>& convolution) {
  const std::int64_t parts = gradients_of(team, convolution.shape);
  const std::int64_t count = convolution.shape.w_elements();
  T* const partial = Scratch::of_thread<T, ScratchSlot::parts>((parts - 1) * count);
  share_images(team, convolution, parts, [&](Convolution<T> some, int rank) {
    if (rank > 0) some.w = partial + (rank - 1) * count;
    convolve_in_thread(some);
  });
  team.parallel([&](int rank, int size) {
    for (std::int64_t other = 0; other < parts - 1; ++other) {
      const T* const from = partial + other * count;
      for (std::int64_t i = count * rank / size; i < count * (rank + 1) / size; ++i)
        convolution.w[i] =
            static_cast<T>(static_cast<compute_t<T>>(convolution.w[i]) + static_cast<compute_t<T>>(from[i]));
    }
  });
}

}}}}} // namespace twill::v0::kernel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Computes one part of a convolution; weights may be kept in the order of the kernel that reads them. Other kinds of
/// team overload it. Call it unqualified.
template <class T>
void run_convolution(const Team& team, const Convolution<T>& convolution, cpu::KeptOrder* kept = nullptr) {
  const ConvolutionShape& s = convolution.shape;
  if (s.multiply_adds() == 0) {
    if (convolution.part == ConvolutionPart::input_gradient) std::fill_n(convolution.x, s.x_elements(), T{});
    if (convolution.part == ConvolutionPart::weight_gradient) std::fill_n(convolution.w, s.w_elements(), T{});
    return;
  }
  const auto convolve = [=](const Convolution<T>& some, int) { detail::convolve_in_thread(some, kept); };
  if (!detail::is_shared(team, s)) return convolve(convolution, 0);
  if (convolution.part == ConvolutionPart::weight_gradient) return detail::share_weight_gradient(team, convolution);
  if (!detail::shares_rows(team, convolution)) return detail::share_images(team, convolution, team.size(), convolve);
  for (std::int64_t image = 0; image < s.batch; ++image)
    detail::share_rows(team, detail::images_of(convolution, image, image + 1), convolve);
}

/// Takes the working memory of such a convolution in each thread that will need it, and makes the library's plans.
template <class T> TWILL_COLD void reserve_convolution(const Team& team, const Convolution<T>& convolution) {
  const ConvolutionShape& s = convolution.shape;
  if (s.multiply_adds() == 0) return;
  const auto reserve = [](const Convolution<T>& some, int) { detail::reserve_in_thread<T>(some.part, some.shape); };
  if (!detail::is_shared(team, s)) return reserve(convolution, 0);
  if (detail::shares_rows(team, convolution))
    return detail::share_rows(team, detail::images_of(convolution, 0, 1), reserve); // all images need the same
  const bool is_gradient = convolution.part == ConvolutionPart::weight_gradient;
  const std::int64_t parts = is_gradient ? detail::gradients_of(team, s) : team.size();
  if (is_gradient) Scratch::reserve<T, ScratchSlot::parts>((parts - 1) * s.w_elements());
  detail::share_images(team, convolution, parts, reserve);
}

/// The gradient of weights, left in the order of the earlier ones to which it will be added: the first one decides. One
/// thread leaves it in the library's order, several add theirs up in the order of the tensor.
/// throws: Error where a library refuses what it did before
void run_weight_gradient(const Team& team, const Convolution<float>& convolution, cpu::GradientOrder& kept);

/// Brings the sum of such gradients into the order of its tensor; the next gradient decides anew.
/// throws: as run_weight_gradient
void leave_order(cpu::GradientOrder& kept, void* gradient);

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/convolution.ipp>
#endif
