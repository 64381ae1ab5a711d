#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/stored_tensor.hpp.

#include <twill/nn/stored_tensor.hpp>

namespace twill { inline namespace v0 { namespace nn {

TWILL_BODY std::pair<StoredTensor, std::byte*> StoredTensor::make(DType dtype, const Dims& shape) {
  const auto size = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  std::shared_ptr<std::byte[]> memory(new std::byte[size]);
  std::byte* const data = memory.get();
  return {{dtype, shape, {data, size}, std::move(memory)}, data};
}

TWILL_BODY StateDict::StateDict(std::vector<Entry> entries, std::vector<ForeignEntry> foreign)
    : entries_{std::move(entries)}, foreign_{std::move(foreign)} {
  std::vector<std::string_view> names{};
  for (const Entry& entry : entries_) names.push_back(entry.first);
  for (const ForeignEntry& entry : foreign_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw ValueError("state_dict: '" + std::string{*twice} + "' is there twice");
}

TWILL_BODY void StateDict::add(std::string name, StoredTensor tensor) {
  if (named(entries_, name) != nullptr || named(foreign_, name) != nullptr)
    throw ValueError("state_dict: '" + name + "' is there twice");
  entries_.emplace_back(std::move(name), std::move(tensor));
}

TWILL_BODY const StoredTensor* StateDict::find(std::string_view name) const {
  if (const ForeignTensor* const found = named(foreign_, name); found != nullptr)
    throw ValueError("state_dict: '" + std::string{name} + "' has type " + found->type +
                     ", which twill does not have; foreign() has its bytes");
  return named(entries_, name);
}

TWILL_BODY void StateDict::require_no_foreign(std::string_view operation) const {
  if (!foreign_.empty())
    throw ValueError(std::string{operation} + ": '" + foreign_.front().first + "' has type " +
                     foreign_.front().second.type + ", which twill does not have");
}

}}} // namespace twill::v0::nn
