#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Hooks: functions that a network calls in its staged runs, with the tensors of the run. They observe: a hook changes
// no result unless it writes through its arguments. A network shares its lists of hooks with its replicas, which call
// them concurrently, each in its own task and with its own tensors. Read next: nn/layer_hooks.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/declared_inputs.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// A list of hooks of any signature, compiled once for all. Hooks are stored as functions without arguments; the
/// derived list, which knows the type, calls them with it.
class AnyHookList {
public:
  /// Removes a hook, if it is still there.
  void remove(std::uint64_t number);

  /// Whether there is no hook, so that nothing needs to be called.
  [[nodiscard]] bool is_empty() const { return count_.load(std::memory_order_acquire) == 0; }

protected:
  using AnyFunction = void (*)();
  struct Hook {
    std::uint64_t number = 0;
    std::shared_ptr<void> callable{};
    AnyFunction call = nullptr;
  };
  using Hooks = std::vector<Hook>;

  AnyHookList();
  AnyHookList(const AnyHookList&) = delete;
  AnyHookList& operator=(const AnyHookList&) = delete;
  ~AnyHookList();

  std::uint64_t append(std::shared_ptr<void> callable, AnyFunction call);

  [[nodiscard]] std::shared_ptr<const Hooks> hooks() const;

private:
  void replace(std::shared_ptr<const Hooks> changed);

  mutable std::mutex mutex_;
  std::shared_ptr<const Hooks> hooks_;
  std::atomic<std::size_t> count_{0}; ///< so that a run without hooks takes no lock
  std::uint64_t last_number_ = 0;
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The handle of one hook. The hook stays when the handle is destroyed; only `remove` removes it.
class HookHandle {
public:
  HookHandle() = default;
  /// A handle of hook `number` in a list that may be destroyed earlier.
  HookHandle(std::weak_ptr<detail::AnyHookList> list, std::uint64_t number) : list_{std::move(list)}, number_{number} {}

  /// Stops calls of the hook; runs in progress may still be in it. A second call, or one after the network's end, does
  /// nothing.
  void remove();

private:
  std::weak_ptr<detail::AnyHookList> list_{};
  std::uint64_t number_ = 0;
};

/// Functions of the same arguments, called in the order in which they were added. Lists may be called and changed by
/// several threads concurrently: a call uses the hooks that existed when it began.
template <class... Arguments> class HookList : public detail::AnyHookList {
  using Function = void (*)(void* callable, const Arguments&... arguments);

public:
  HookList() = default;

  /// Returns the number by which the hook is removed.
  template <class F> std::uint64_t add(F&& function) {
    using Callable = std::decay_t<F>;
    static_assert(
        std::is_invocable_v<Callable&, const Arguments&...>,
        "twill: a hook takes the tensors that it looks at: on_forward_begin the inputs, on_forward the inputs and "
        "the output, on_backward the output's gradient");
    const Function call = [](void* callable, const Arguments&... arguments) {
      static_cast<void>((*static_cast<Callable*>(callable))(arguments...));
    };
    return append(std::make_shared<Callable>(std::forward<F>(function)), reinterpret_cast<AnyFunction>(call));
  }

  /// throws: what a hook throws; the hooks after it are not called
  void operator()(const Arguments&... arguments) const {
    const std::shared_ptr<const Hooks> called = hooks();
    for (const Hook& hook : *called) reinterpret_cast<Function>(hook.call)(hook.callable.get(), arguments...);
  }
};

/// The hooks of a network: on its declared inputs, then on its output.
template <class Output, class... Inputs> struct NetworkHooks {
  HookList<Inputs...> forward_begin{};   ///< before the layer's forward pass, with its inputs
  HookList<Inputs..., Output> forward{}; ///< after it, with inputs and output
  HookList<Output> backward{};           ///< with the gradient of the output
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

template <class T, class D, class Output, class Inputs> struct HooksOf;
template <class T, class D, class Output, class... Inputs> struct HooksOf<T, D, Output, std::tuple<Inputs...>> {
  using type = NetworkHooks<Output, typename DeclaredInput<Inputs, T>::template tensor<D>...>;
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The hooks of a network of model M with elements of type T on devices of kind D.
template <Model M, class T, class D, class Output>
using hooks_t = typename detail::HooksOf<T, D, Output, inputs_t<M>>::type;

}}}} // namespace twill::v0::nn::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/nn/hooks.ipp>
#endif
