#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of training/rule_options.hpp.

#include <twill/training/rule_options.hpp>

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY DType dtype_of_option(const optim::Option& option) {
  if (option.is_settled()) return DType::uint8;
  return option.number != nullptr ? DType::float64 : DType::boolean;
}

TWILL_BODY nn::StoredTensor stored_option(const optim::Option& option) {
  const Dims shape = option.is_settled() ? Dims(static_cast<std::int64_t>(option.settled.size())) : Dims{};
  auto [tensor, data] = nn::StoredTensor::make(dtype_of_option(option), shape);
  if (option.is_settled())
    std::copy_n(reinterpret_cast<const std::byte*>(option.settled.data()), option.settled.size(), data);
  else if (option.number != nullptr)
    std::memcpy(data, option.number, sizeof(double));
  else
    *data = static_cast<std::byte>(*option.flag);
  return tensor;
}

TWILL_BODY nn::StoredTensor stored_mark() {
  auto [tensor, data] = nn::StoredTensor::make(DType::boolean, Dims{});
  *data = std::byte{1};
  return tensor;
}

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

TWILL_BODY nn::StateDict states_alone(const nn::StateDict& state) {
  std::vector<nn::StateDict::Entry> entries{};
  for (const nn::StateDict::Entry& entry : state.entries())
    if (!entry.first.starts_with(options_prefix)) entries.push_back(entry);
  return nn::StateDict{std::move(entries)};
}

TWILL_BODY OptionsReport LoadedOptions::set() {
  assign(list_);
  return std::move(report_);
}

TWILL_BODY void LoadedOptions::assign(const optim::OptionList& list) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (list.options()[i].number != nullptr) *list.options()[i].number = values_[i];
    if (list.options()[i].flag != nullptr) *list.options()[i].flag = values_[i] != 0;
  }
}

TWILL_BODY void LoadedOptions::compare(const nn::StateDict& state) {
  std::vector<std::string> keys{};
  for (const optim::Option& option : list_.options()) keys.push_back(join_text({options_prefix, option.name}));
  const bool are_left_out = state.find(detail::left_out) != nullptr;
  if (states_.size() + (are_left_out ? 1 : 0) == state.size()) {
    for (const optim::Option& option : list_.options())
      (are_left_out ? report_.kept : report_.missing).push_back(option.name);
    return;
  }
  nn::LoadReport differences{};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const nn::StoredTensor* const tensor = state.find(keys[i]))
      values_.push_back(compared(keys[i], list_.options()[i], *tensor));
    else
      differences.missing.push_back(keys[i]);
  }
  for (const nn::StateDict::Entry& entry : state.entries())
    if (entry.first.starts_with(options_prefix) && entry.first != detail::left_out &&
        std::find(keys.begin(), keys.end(), entry.first) == keys.end())
      differences.unexpected.push_back(entry.first);
  nn::require_permitted(differences, {}, hint);
}

TWILL_BODY double LoadedOptions::compared(const std::string& key, const optim::Option& option,
                                          const nn::StoredTensor& tensor) {
  if (tensor.dtype != detail::dtype_of_option(option) || tensor.shape.rank != (option.is_settled() ? 1 : 0)) {
    const std::string wanted = option.is_settled() ? join_text({"the text '", option.settled, "'"})
                                                   : nn::described(detail::dtype_of_option(option), Dims{});
    throw ValueError(join_text({"load_state_dict: '", key, "' is ", wanted, " in the rule, ",
                                nn::described(tensor.dtype, tensor.shape), " in the state dictionary"}));
  }
  report_.loaded.push_back(option.name);
  if (option.is_settled()) {
    require_settled(key, option, tensor);
    return 0;
  }
  double value = 0;
  if (option.number != nullptr)
    std::memcpy(&value, tensor.bytes.data(), sizeof(value));
  else
    value = tensor.bytes[0] == std::byte{0} ? 0 : 1;
  const bool is_number = option.number != nullptr;
  if (is_number && !optim::allows(option.allowed, value))
    throw ValueError(join_text({"load_state_dict: '", key, "' is ", number_text(value),
                                " in the state dictionary, has to be ", optim::allowed_text(option.allowed), hint}));
  std::string before = is_number ? number_text(*option.number) : detail::flag_text(*option.flag);
  std::string now = is_number ? number_text(value) : detail::flag_text(value != 0);
  if (before != now) report_.changed.push_back({option.name, std::move(before), std::move(now)});
  return value;
}

TWILL_BODY void LoadedOptions::require_settled(const std::string& key, const optim::Option& option,
                                               const nn::StoredTensor& tensor) {
  constexpr std::size_t most = 64; // a damaged file could hold any text
  const std::string_view text{reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
  if (text != option.settled)
    throw ValueError(
        join_text({"load_state_dict: '", key, "' is '", option.settled, "' in the rule, '", text.substr(0, most),
                   "' in the state dictionary; it is part of the rule's type, and ", hint.substr(2)}));
}

TWILL_BODY nn::StateDict without_options(const nn::StateDict& state) {
  nn::StateDict result = states_alone(state);
  result.add(std::string{detail::left_out}, detail::stored_mark());
  return result;
}

}}}} // namespace twill::v0::training::TWILL_ISA
