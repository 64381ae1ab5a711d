#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Hooks on layers and taps, by name: they receive copies of values at a layer's borders, and of gradients, in staged
// and planned runs. The table lists the taps; a hook is a function with a pattern of names. Read next: nn/hooked.hpp.

#include <twill/compile/report/observation.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/hooks.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Hooks on layers by name. They receive copies, after the run that made them; see nn/tap.hpp and nn/hooked.hpp.
class LayerHooks final : public HookList<compile::Observation> {
public:
  /// Returns the number by which the hook is removed.
  template <class F> std::uint64_t add(F&& hook) {
    run_tapped_.store(&compile::run_tapped, std::memory_order_relaxed); // before the hook is counted
    return HookList::add(std::forward<F>(hook));
  }

  /// Makes a run and shows its tapped values. requires: there was a hook
  void show(const compile::WatchedRun& run) const {
    for (const compile::Observation& seen : run_tapped_.load(std::memory_order_relaxed)(run)) (*this)(seen);
  }

private:
  /// Programs without hooks on layers hold no code for them.
  std::atomic<decltype(&compile::run_tapped)> run_tapped_{nullptr};
};

/// Runs an executor and shows its tapped values to hooks, if there are any.
template <class Executor, class Run> void run_with_hooks(Executor& executor, const LayerHooks* hooks, const Run& run) {
  if (hooks == nullptr || hooks->is_empty()) return run();
  hooks->show(compile::WatchedRun::of(executor, run));
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// throws: ValueError that lists all taps, unless one of them matches the pattern
void require_tap(ListView<graph::TapInfo> taps, std::string_view where, std::string_view pattern, graph::TapKind kind);

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Adds a hook on all taps that match a pattern, optionally on gradients only or on values only.
/// throws: ValueError that lists all taps, unless one of them matches
template <class F>
HookHandle hang_on_layers(const std::shared_ptr<LayerHooks>& hooks, ListView<graph::TapInfo> taps,
                          std::string_view where, std::string_view pattern, graph::TapKind kind,
                          std::optional<bool> of_gradient, F&& hook) {
  detail::require_tap(taps, where, pattern, kind);
  const std::uint64_t number = hooks->add([pattern = std::string{pattern}, kind, of_gradient,
                                           hook = std::forward<F>(hook)](const compile::Observation& seen) mutable {
    if (seen.kind == kind && of_gradient.value_or(seen.is_gradient) == seen.is_gradient && matches(pattern, seen.layer))
      hook(seen);
  });
  return {hooks, number};
}

}}}} // namespace twill::v0::nn::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/nn/layer_hooks.ipp>
#endif
