#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights and buffers of a network by name, like PyTorch's state_dict. A state dictionary is in host memory, whatever
// the network's device, and its tensors may share memory owned elsewhere, a mapped file for example. Loading checks
// everything before it writes anything. Read next: nn/stored_tensor.hpp, io/safetensors.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/shards.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A tensor that does not match the weight of its name.
struct Mismatch {
  std::string name{};            ///< of the weight
  std::string in_network{};      ///< "float32 of shape (7, 5)"
  std::string in_dictionary{};   ///< "float32 of shape (5, 7)"
  bool differs_in_shape = false; ///< not only in type
};

/// Outcome of loading for a network's weights and a dictionary's tensors.
struct LoadReport {
  std::vector<std::string> loaded{};     ///< names, in the network's order
  std::vector<std::string> missing{};    ///< weights that the dictionary lacks; they stay unchanged
  std::vector<std::string> unexpected{}; ///< tensors without a weight in the network
  std::vector<Mismatch> mismatched{};    ///< tensors of another shape or type, which were skipped
};

/// Options of loading: permitted differences between dictionary and network.
struct LoadOptions {
  bool is_strict = true;       ///< anything missing or unexpected is an error
  std::string_view prefix{};   ///< the dictionary's names begin with it, such as "module."; other names are unexpected
  bool converts_types = false; ///< element types may differ
  bool skips_mismatched = false; ///< tensors that do not match are reported, not refused
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// A tensor's elements as another type.
[[nodiscard]] std::vector<std::byte> converted(const StoredTensor& tensor, DType dtype);

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// "float32 of shape (7, 5)".
[[nodiscard]] std::string described(DType dtype, const Dims& shape);

/// Notes a tensor as loaded or mismatched; returns whether it has the shape and type of the weight.
bool compare(std::string name, const graph::ParameterInfo& info, const StoredTensor& tensor, bool converts_types,
             LoadReport& report);

/// One error that lists all that the options do not permit, and ends with the hint.
/// throws: ShapeError, ValueError naming the keys and both sides
void require_permitted(const LoadReport& report, const LoadOptions& options, std::string_view hint = {});

/// The tensor for each weight of a network, null if there is none to load, and the report of it.
struct Matched {
  std::vector<const StoredTensor*> tensors{}; ///< for each weight
  LoadReport report{};                        ///< of the comparison
};

/// Finds the tensors for weights by their names. throws: ShapeError, ValueError like `load_state_dict`
[[nodiscard]] Matched match(ListView<graph::ParameterInfo> infos, const StateDict& state, const LoadOptions& options);

/// Copies of all weights and buffers. Waits for the device.
template <class Network> [[nodiscard]] StateDict state_dict(const Network& network) {
  StateDict result{};
  for (const auto& view : network.parameters()) {
    auto [tensor, data] = StoredTensor::make(view.dtype, view.shape);
    copy_bytes(Cpu{}, data, view.buffer.device(), view.buffer.data(), tensor.bytes.size(), CopyOptions{});
    result.add(std::string{view.name}, std::move(tensor));
  }
  return result;
}

/// The report of `load_state_dict`, without loading. throws: what that would throw
template <class Network>
LoadReport require_loadable(const Network& /*network*/, const StateDict& state, LoadOptions options = {}) {
  return match(Network::parameter_infos(), state, options).report;
}

/// Overwrites the weights and buffers named by the dictionary, on any device of the network. Nothing is written when
/// something does not match.
/// throws: ShapeError, ValueError naming the key and both sides, or listing what is missing and unexpected
template <class Network>
LoadReport load_state_dict(Network& network, const StateDict& state, LoadOptions options = {}) {
  const auto views = network.parameters();
  Matched matched = match(Network::parameter_infos(), state, options);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const StoredTensor* const tensor = matched.tensors[i];
    if (tensor == nullptr) continue;
    const bool converts = tensor->dtype != views[i].dtype;
    const std::vector<std::byte> other =
        converts ? detail::converted(*tensor, views[i].dtype) : std::vector<std::byte>{};
    copy_bytes(views[i].buffer.device(), views[i].buffer.data(), Cpu{}, converts ? other.data() : tensor->bytes.data(),
               views[i].buffer.bytes(), CopyOptions{});
  }
  network.state()->note_update();
  return std::move(matched.report);
}

}}}} // namespace twill::v0::nn::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/nn/state_dict.ipp>
#endif
