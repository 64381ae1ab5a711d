#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The weights and buffers of a network by their names, as PyTorch's state_dict has them. A state dictionary lies in host
// memory, whatever device the network is on, and its tensors may share memory that somebody else owns, a mapped file for
// example. Loading checks everything before it writes anything. Read next: io/safetensors.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/network.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::nn::inline TWILL_ISA {

/// A tensor in host memory, row-major.
struct StoredTensor {
  DType dtype = DType::float32;
  Dims shape{};
  std::span<const std::byte> bytes{};
  std::shared_ptr<const void> owner{}; ///< keeps the bytes

  /// With memory of its own, to be filled through the second.
  [[nodiscard]] static std::pair<StoredTensor, std::byte*> make(DType dtype, const Dims& shape) {
    const auto size = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    std::shared_ptr<std::byte[]> memory(new std::byte[size]);
    std::byte* const data = memory.get();
    return {{dtype, shape, {data, size}, std::move(memory)}, data};
  }
};

/// Named tensors, in order.
class StateDict {
public:
  using Entry = std::pair<std::string, StoredTensor>;

  StateDict() = default;
  /// throws: ValueError for a name that is there twice
  explicit StateDict(std::vector<Entry> entries) : entries_{std::move(entries)} {
    std::vector<std::string_view> names{};
    for (const Entry& entry : entries_) names.push_back(entry.first);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) throw ValueError("state_dict: '" + std::string{*twice} + "' is there twice");
  }

  /// throws: ValueError for a name that is there
  void add(std::string name, StoredTensor tensor) {
    if (find(name) != nullptr) throw ValueError("state_dict: '" + name + "' is there twice");
    entries_.emplace_back(std::move(name), std::move(tensor));
  }
  /// Null where there is none.
  [[nodiscard]] const StoredTensor* find(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.first == name) return &entry.second;
    return nullptr;
  }
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
  std::vector<Entry> entries_{};
};

/// What a network and a state dictionary do not have in common.
struct LoadReport {
  std::vector<std::string> missing{};    ///< weights that the dictionary lacks; they stay as they are
  std::vector<std::string> unexpected{}; ///< tensors that the network has no place for
};

struct LoadOptions {
  bool is_strict = true;       ///< anything missing or unexpected is an error
  std::string_view prefix{};   ///< the dictionary's names begin with it, such as "module."; other names are unexpected
  bool converts_types = false; ///< element types may differ
};

} // namespace twill::inline v0::nn::inline TWILL_ISA

namespace twill::inline v0::nn::detail::inline TWILL_ISA {

/// Number `index` of an array of elements.
[[nodiscard]] inline double element_of(DType dtype, const std::byte* data, std::size_t index) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  };
  switch (dtype) {
  case DType::boolean:
    return read(std::uint8_t{}) != 0;
  case DType::uint8:
    return read(std::uint8_t{});
  case DType::int32:
    return read(std::int32_t{});
  case DType::int64:
    return read(std::int64_t{});
  case DType::float16:
    return read(half{});
  case DType::bfloat16:
    return read(bfloat16{});
  case DType::float32:
    return read(float{});
  case DType::float64:
    return read(double{});
  }
  return 0;
}

/// A tensor's elements as another type.
[[nodiscard]] inline std::vector<std::byte> converted(const StoredTensor& tensor, DType dtype) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.shape.elements()) * size);
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    const std::uint64_t bits = compile::bits_of(dtype, element_of(tensor.dtype, tensor.bytes.data(), i));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

[[nodiscard]] inline std::string listed(std::string_view title, const std::vector<std::string>& names) {
  std::string text{};
  for (const std::string& name : names) text += (text.empty() ? std::string{title} : std::string{", "}) + name;
  return text;
}

/// throws: ValueError naming the key and both sides
inline void require_fitting(std::string_view name, const graph::ParameterInfo& info, const StoredTensor& tensor,
                            bool converts_types) {
  const Dims shape = info.shape.evaluate({});
  if (!(shape == tensor.shape))
    throw ShapeError(join_text({"load_state_dict: '", name, "' has shape ", to_string(shape), " in the network, ",
                                to_string(tensor.shape), " in the state dictionary"}));
  if (info.dtype != tensor.dtype && !converts_types)
    throw ValueError(join_text({"load_state_dict: '", name, "' is ", twill::name(info.dtype), " in the network, ",
                                twill::name(tensor.dtype), " in the state dictionary; allow it with converts_types"}));
}

} // namespace twill::inline v0::nn::detail::inline TWILL_ISA

namespace twill::inline v0::nn::inline TWILL_ISA {

/// Copies of all weights and buffers. Waits for the device.
template <class Network> [[nodiscard]] StateDict state_dict(const Network& network) {
  StateDict result{};
  for (const auto& view : network.parameters()) {
    auto [tensor, data] = StoredTensor::make(view.dtype, view.shape);
    copy_bytes(Cpu{}, data, network.device(), view.buffer.data(), tensor.bytes.size(), CopyOptions{});
    result.add(std::string{view.name}, std::move(tensor));
  }
  return result;
}

/// Overwrites the weights and buffers that the dictionary names. Nothing is written when something does not fit.
/// throws: ShapeError, ValueError naming the key and both sides, or listing what is missing and unexpected
template <class Network>
LoadReport load_state_dict(Network& network, const StateDict& state, LoadOptions options = {}) {
  const auto views = network.parameters();
  const auto infos = Network::parameter_infos();
  LoadReport report{};
  std::vector<const StoredTensor*> found(views.size());
  std::size_t used = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::string key = std::string{options.prefix} + std::string{views[i].name};
    found[i] = state.find(key);
    if (found[i] == nullptr)
      report.missing.push_back(key);
    else
      detail::require_fitting(key, infos[i], *found[i], options.converts_types);
    used += found[i] != nullptr;
  }
  if (used < state.size())
    for (const auto& [name, tensor] : state.entries()) {
      bool known = false;
      for (const StoredTensor* tensor_found : found) known = known || tensor_found == &tensor;
      if (!known) report.unexpected.push_back(name);
    }
  if (options.is_strict && !(report.missing.empty() && report.unexpected.empty()))
    throw ValueError("load_state_dict: " + detail::listed("missing: ", report.missing) +
                     (report.missing.empty() || report.unexpected.empty() ? "" : "; ") +
                     detail::listed("unexpected: ", report.unexpected));
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (found[i] == nullptr) continue;
    const bool converts = found[i]->dtype != views[i].dtype;
    const std::vector<std::byte> other =
        converts ? detail::converted(*found[i], views[i].dtype) : std::vector<std::byte>{};
    copy_bytes(network.device(), views[i].buffer.data(), Cpu{}, converts ? other.data() : found[i]->bytes.data(),
               views[i].buffer.bytes(), CopyOptions{});
  }
  network.state()->note_update();
  return report;
}

} // namespace twill::inline v0::nn::inline TWILL_ISA
