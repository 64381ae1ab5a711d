#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Choice between libraries and twill's kernel for convolutions on a GPU: a vendor's library where it is installed,
// allowed and has an engine, otherwise twill's kernel (kernel/gpu/convolution.hpp). Each choice is noted once with its
// reason, for library_choices(), and the first slow one of a device is a warning. The library is a template argument,
// so the choice is tested without CUDA. Read next: kernel/cuda/cudnn.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/convolution.hpp>
#include <twill/device/cuda/convolution.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/library_memory.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/convolution.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// A library that may compute convolutions: `name`, whether it `is_present()`, and convolve(queue, part, described, x,
/// w, y), which computes it or returns why not.
template <class L, class Queue>
concept ConvolutionLibrary = requires(const Queue& queue, ConvolutionPart part, const nvidia::Convolution& described,
                                      void* data) {
  {std::string_view{L::name}};
  { L::is_present() } -> std::same_as<bool>;
  { L::convolve(queue, part, described, data, data, data) } -> std::same_as<nvidia::PlanSummary>;
};

/// The alignment in bytes that all three tensors have, at most 16.
[[nodiscard]] inline std::int64_t common_alignment(const void* x, const void* w, const void* y) {
  constexpr std::uintptr_t most = 16; // the lowest bit that is set in any of them
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(w) |
                              reinterpret_cast<std::uintptr_t>(y) | most;
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

[[nodiscard]] TWILL_COLD inline std::string problem_text(ConvolutionPart part, const nvidia::Convolution& described) {
  const std::string_view what = part == ConvolutionPart::output           ? ""
                                : part == ConvolutionPart::input_gradient ? "gradient by the input of a "
                                                                          : "gradient by the weights of a ";
  return join_text({what, to_string(described)});
}

/// Multiplications from which on a convolution is large enough to be worth a library.
inline constexpr std::int64_t large_convolution = std::int64_t{1} << 24;

/// Warns of the first large problem of a device that twill's own kernel computes against the user's will, and of the
/// first for which engines were refused for their memory.
template <twill::gpu::Runtime R>
TWILL_COLD void warn_of_slow_choice(const twill::gpu::Queue<R>& queue, const LibraryChoice& choice,
                                    const nvidia::PlanSummary& summary, std::int64_t multiply_adds,
                                    std::string_view library) {
  using twill::gpu::SlowChoice;
  twill::gpu::ChoiceLog& log = twill::gpu::choice_log<R>(queue.device());
  const int refused = summary.objections[static_cast<std::size_t>(nvidia::Objection::workspace)];
  if (refused > 0 && log.is_first(SlowChoice::working_memory))
    warn(join_text({choice.problem, " on ", R::name, ":", queue.device(), ": ", refused, " engines of ", library,
                    " need more than ", twill::gpu::library_bytes(queue),
                    " bytes of working memory; try a smaller batch, library_choices() lists what computes instead"}));
  if (!summary.exists && choice.options.uses_cudnn && multiply_adds >= large_convolution &&
      log.is_first(SlowChoice::own_kernel))
    warn(join_text({choice.problem, " on ", R::name, ":", queue.device(), " runs twill's own kernel, which is slow: ",
                    choice.reason, "; install ", library, " and configure the program again"}));
}

/// Computes one part of a convolution, after the queue's earlier work. throws: GpuError
template <class Library, twill::gpu::Runtime R, class T>
requires ConvolutionLibrary<Library, twill::gpu::Queue<R>>
void convolve(const twill::gpu::Queue<R>& queue, const Convolution<T>& c) {
  if (c.shape.multiply_adds() == 0) return convolve_directly(queue, c);
  const LibraryOptions options = library_options();
  nvidia::Convolution described = nvidia::convolution_of(dtype_of<T>, c.shape);
  described.alignment_bytes = common_alignment(c.x, c.w, c.y);
  nvidia::PlanSummary summary{};
  const bool is_asked = options.uses_cudnn && Library::is_present();
  if (is_asked) summary = Library::convolve(queue, c.part, described, c.x, c.w, c.y);
  if (!summary.exists) convolve_directly(queue, c);
  twill::gpu::ChoiceKey key{static_cast<std::uint64_t>(c.part),
                            nvidia::key_bits(options, options.autotune) | (options.uses_cudnn ? 0U : 8U)};
  const auto words = nvidia::key_of(described);
  static_assert(words.size() + 2 <= twill::gpu::choice_key_words);
  for (std::size_t i = 0; i < words.size(); ++i) key[i + 2] = words[i];
  LibraryChoice choice{};
  const bool is_new = twill::gpu::choice_log<R>(queue.device()).note(key, [&] {
    choice = {.problem = problem_text(c.part, described),
              .by = std::string{summary.exists ? std::string_view{Library::name} : "twill"},
              .reason = is_asked             ? to_string(summary)
                        : options.uses_cudnn ? join_text({Library::name, " is not there"})
                                             : "LibraryOptions::uses_cudnn is off",
              .workspace_bytes = summary.workspace_bytes,
              .options = options};
    return choice;
  });
  if (is_new) warn_of_slow_choice(queue, choice, summary, c.shape.multiply_adds(), Library::name);
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA
