#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/state_dict.hpp.

#include <twill/nn/state_dict.hpp>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::vector<std::byte> converted(const StoredTensor& tensor, DType dtype) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.shape.elements()) * size);
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    const std::uint64_t bits = kernel::bits_of(dtype, element_of(tensor.dtype, tensor.bytes.data(), i));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

TWILL_BODY std::string described(DType dtype, const Dims& shape) {
  return join_text({twill::name(dtype), " of shape ", to_string(shape)});
}

TWILL_BODY bool compare(std::string name, const graph::ParameterInfo& info, const StoredTensor& tensor,
                        bool converts_types, LoadReport& report) {
  const Dims shape = info.shape.evaluate({});
  const bool differs_in_shape = !(shape == tensor.shape);
  const bool fits = !differs_in_shape && (info.dtype == tensor.dtype || (converts_types && !is_complex(tensor.dtype)));
  if (fits)
    report.loaded.push_back(std::move(name));
  else
    report.mismatched.push_back(
        {std::move(name), described(info.dtype, shape), described(tensor.dtype, tensor.shape), differs_in_shape});
  return fits;
}

TWILL_BODY void require_permitted(const LoadReport& report, const LoadOptions& options, std::string_view hint) {
  std::string text{};
  const auto list = [&text](std::string_view title, const std::vector<std::string>& names) {
    std::string_view separator = text.empty() ? "" : "; ";
    for (const std::string& name : names) {
      text += join_text({separator, title, name});
      separator = ", ";
      title = {};
    }
  };
  bool has_other_shape = false;
  bool has_other_type = false;
  if (!options.skips_mismatched)
    for (const Mismatch& each : report.mismatched) {
      (each.differs_in_shape ? has_other_shape : has_other_type) = true;
      text += join_text({text.empty() ? "" : "; ", "'", each.name, "' is ", each.in_network, " in the network, ",
                         each.in_dictionary, " in the state dictionary"});
    }
  if (options.is_strict) {
    list("missing: ", report.missing);
    list("unexpected: ", report.unexpected);
  }
  if (text.empty()) return;
  text = join_text({"load_state_dict: ", text, has_other_type ? "; allow other types with converts_types" : "", hint});
  if (has_other_shape) throw ShapeError(text);
  throw ValueError(text);
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
    if (compare(key, infos[i], *tensor, options.converts_types, report)) result.tensors[i] = tensor;
  }
  std::sort(known.begin(), known.end());
  if (known.size() < state.size())
    for (const auto& [name, tensor] : state.entries())
      if (!std::binary_search(known.begin(), known.end(), &tensor)) report.unexpected.push_back(name);
  for (const auto& [name, tensor] : state.foreign())
    report.unexpected.push_back(name); // requested tensors were refused above
  require_permitted(report, options);
  return result;
}

}}}} // namespace twill::v0::nn::TWILL_ISA
