#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Choice of the kernels for attention on a GPU: a vendor's library for 16-bit types without a mask, where it is
// installed, allowed and has an engine, otherwise twill's streamed ones (kernel/gpu/attention.hpp). No form keeps the
// scores. Choices are noted with their reasons, for library_choices(). The library is a template argument, so the
// choice is tested without CUDA. Read next: kernel/cuda/cudnn.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/attention.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/attention.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// A library that may compute attention: `name`, whether it `is_present()`, and both passes, which may say why not.
template <class L, class Queue>
concept AttentionLibrary = requires(const Queue& queue, const nvidia::Attention& described,
                                    const AttentionInputs<half>& inputs, half* out, float* logsumexp,
                                    const AttentionGradients<half>& gradients) {
  {std::string_view{L::name}};
  { L::is_present() } -> std::same_as<bool>;
  { L::attend(queue, described, inputs, out, logsumexp) } -> std::same_as<nvidia::PlanSummary>;
  { L::attend_backward(queue, described, inputs, gradients) } -> std::same_as<nvidia::PlanSummary>;
};

/// The attention of dense (batches, rows, width), in the library's description.
template <class T> [[nodiscard]] nvidia::Attention described_attention(const AttentionInputs<T>& inputs) {
  const AttentionShape& s = inputs.shape;
  nvidia::Attention described{.dtype = dtype_of<T>,
                              .batch = s.batches,
                              .queries = s.queries,
                              .keys = s.keys,
                              .width = s.width,
                              .value_width = s.value_width};
  described.q = nvidia::rows_within_heads(s.queries, 1, s.width);
  described.k = nvidia::rows_within_heads(s.keys, 1, s.width);
  described.v = nvidia::rows_within_heads(s.keys, 1, s.value_width);
  described.o = nvidia::rows_within_heads(s.queries, 1, s.value_width);
  described.scale = static_cast<float>(s.scale);
  described.is_causal = s.is_causal;
  return described;
}

/// The reason why a library is not asked; empty when it is.
template <class T> [[nodiscard]] std::string_view attention_refusal(const AttentionInputs<T>& inputs) {
  if (inputs.mask.keep != nullptr || inputs.mask.added != nullptr) return "a mask is given";
  if (inputs.shape.keys == 0 || inputs.shape.width == 0 || inputs.shape.value_width == 0) return "an extent is 0";
  if (!library_options().uses_cudnn) return "LibraryOptions::uses_cudnn is off";
  return {};
}

/// Lets the library compute a pass, `run(described)`, or reports that it did not; notes the choice.
template <class Library, bool IsBackward, twill::gpu::Runtime R, class T, class F>
requires AttentionLibrary<Library, twill::gpu::Queue<R>>
[[nodiscard]] bool give_attention(const twill::gpu::Queue<R>& queue, const AttentionInputs<T>& inputs, const F& run) {
  if (inputs.shape.batches == 0 || inputs.shape.queries == 0) return false;
  const nvidia::Attention described = described_attention(inputs);
  const std::string_view refused = attention_refusal(inputs);
  nvidia::PlanSummary summary{};
  const bool is_asked = refused.empty() && Library::is_present();
  if (is_asked) summary = run(described);
  const LibraryOptions options = library_options();
  twill::gpu::ChoiceKey key = nvidia::key_of(described);
  constexpr std::uint64_t of_attention = std::uint64_t{1} << 62;
  key[0] |= of_attention | (IsBackward ? 1U << 16 : 0U) | (refused.empty() ? 0U : 1U << 17) |
            nvidia::key_bits(options, options.autotune) << 24;
  twill::gpu::choice_log<R>(queue.device()).note(key, [&] {
    return LibraryChoice{.problem = join_text({IsBackward ? "gradients of " : "", to_string(described)}),
                         .by = std::string{summary.exists ? std::string_view{Library::name} : "twill"},
                         .reason = is_asked           ? to_string(summary)
                                   : !refused.empty() ? std::string{refused}
                                                      : join_text({Library::name, " is not there"}),
                         .workspace_bytes = summary.workspace_bytes,
                         .options = options};
  });
  return summary.exists;
}

/// The forward pass. throws: GpuError
template <class Library, twill::gpu::Runtime R, class T>
void attend(const twill::gpu::Queue<R>& queue, const AttentionInputs<T>& inputs, T* out, compute_t<T>* logsumexp) {
  if constexpr (sizeof(T) == 2) { // libraries would round float32 to TF32
    const auto run = [&](const nvidia::Attention& described) {
      return Library::attend(queue, described, inputs, out, logsumexp);
    };
    if (give_attention<Library, false>(queue, inputs, run)) return;
  }
  attend_directly(queue, inputs, out, logsumexp);
}

/// The backward pass. throws: GpuError
template <class Library, twill::gpu::Runtime R, class T>
void attend_backward(const twill::gpu::Queue<R>& queue, const AttentionInputs<T>& inputs,
                     const AttentionGradients<T>& gradients) {
  if constexpr (sizeof(T) == 2) {
    const auto run = [&](const nvidia::Attention& described) {
      return Library::attend_backward(queue, described, inputs, gradients);
    };
    const bool is_whole = gradients.dq != nullptr && gradients.dk != nullptr && gradients.dv != nullptr;
    if (is_whole && give_attention<Library, true>(queue, inputs, run)) return;
  }
  attend_backward_directly(queue, inputs, gradients);
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA
