#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/state_dict.hpp.

#include <twill/nn/state_dict.hpp>

#include <type_traits>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY double element_of(DType dtype, const std::byte* data, std::size_t index) {
  return with_scalar(dtype, [&]<class T>() {
    std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T> value{};
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return static_cast<double>(static_cast<T>(value));
  });
}

TWILL_BODY std::vector<std::byte> converted(const StoredTensor& tensor, DType dtype) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.shape.elements()) * size);
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    const std::uint64_t bits = kernel::bits_of(dtype, element_of(tensor.dtype, tensor.bytes.data(), i));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

TWILL_BODY bool fits(const graph::ParameterInfo& info, const StoredTensor& tensor, bool converts_types) {
  return info.shape.evaluate({}) == tensor.shape && (info.dtype == tensor.dtype || converts_types);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

TWILL_BODY std::string listed(std::string_view title, const std::vector<std::string>& names) {
  std::string text{};
  for (const std::string& name : names) text += (text.empty() ? std::string{title} : std::string{", "}) + name;
  return text;
}

TWILL_BODY std::string described(DType dtype, const Dims& shape) {
  return join_text({twill::name(dtype), " of shape ", to_string(shape)});
}

TWILL_BODY void require_fitting(std::string_view name, const graph::ParameterInfo& info, const StoredTensor& tensor,
                                bool converts_types) {
  if (detail::fits(info, tensor, converts_types)) return;
  const Dims shape = info.shape.evaluate({});
  if (!(shape == tensor.shape))
    throw ShapeError(join_text({"load_state_dict: '", name, "' has shape ", to_string(shape), " in the network, ",
                                to_string(tensor.shape), " in the state dictionary"}));
  throw ValueError(join_text({"load_state_dict: '", name, "' is ", twill::name(info.dtype), " in the network, ",
                              twill::name(tensor.dtype), " in the state dictionary; allow it with converts_types"}));
}

TWILL_BODY Matched match(ListView<graph::ParameterInfo> infos, const StateDict& state, const LoadOptions& options) {
  Matched result{.tensors = std::vector<const StoredTensor*>(infos.size())};
  LoadReport& report = result.report;
  std::vector<const StoredTensor*> known{};
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const std::string key = join_text({options.prefix, infos[i].name.view()});
    const StoredTensor* const tensor = state.find(key);
    if (tensor == nullptr) {
      report.missing.push_back(key);
      continue;
    }
    known.push_back(tensor);
    if (!options.skips_mismatched) require_fitting(key, infos[i], *tensor, options.converts_types);
    if (detail::fits(infos[i], *tensor, options.converts_types)) {
      report.loaded.push_back(key);
      result.tensors[i] = tensor;
    } else {
      report.mismatched.push_back(
          {key, described(infos[i].dtype, infos[i].shape.evaluate({})), described(tensor->dtype, tensor->shape)});
    }
  }
  std::sort(known.begin(), known.end());
  if (known.size() < state.size())
    for (const auto& [name, tensor] : state.entries())
      if (!std::binary_search(known.begin(), known.end(), &tensor)) report.unexpected.push_back(name);
  for (const auto& [name, tensor] : state.foreign())
    report.unexpected.push_back(name); // requested tensors were refused above
  if (options.is_strict && !(report.missing.empty() && report.unexpected.empty()))
    throw ValueError("load_state_dict: " + listed("missing: ", report.missing) +
                     (report.missing.empty() || report.unexpected.empty() ? "" : "; ") +
                     listed("unexpected: ", report.unexpected));
  return result;
}

}}}} // namespace twill::v0::nn::TWILL_ISA
