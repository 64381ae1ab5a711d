#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/hooks.hpp.

#include <twill/nn/hooks.hpp>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY AnyHookList::AnyHookList() : hooks_{std::make_shared<Hooks>()} {}
TWILL_BODY AnyHookList::~AnyHookList() = default;

TWILL_BODY void AnyHookList::remove(std::uint64_t number) {
  const std::lock_guard lock{mutex_};
  auto changed = std::make_shared<Hooks>();
  for (const Hook& hook : *hooks_)
    if (hook.number != number) changed->push_back(hook);
  replace(std::move(changed));
}

TWILL_BODY std::uint64_t AnyHookList::append(std::shared_ptr<void> callable, AnyFunction call) {
  const std::lock_guard lock{mutex_};
  auto changed = std::make_shared<Hooks>(*hooks_);
  changed->push_back({++last_number_, std::move(callable), call});
  replace(std::move(changed));
  return last_number_;
}

TWILL_BODY std::shared_ptr<const AnyHookList::Hooks> AnyHookList::hooks() const {
  const std::lock_guard lock{mutex_};
  return hooks_;
}

TWILL_BODY void AnyHookList::replace(std::shared_ptr<const Hooks> changed) {
  hooks_ = std::move(changed);
  count_.store(hooks_->size(), std::memory_order_release);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

TWILL_BODY void HookHandle::remove() {
  if (const auto list = list_.lock()) list->remove(number_);
  list_.reset();
}

}}}} // namespace twill::v0::nn::TWILL_ISA
