#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Named tensors in host memory, of any origin and destination: networks, optimisers, files. Their types are values, and
// they may share memory owned elsewhere, a mapped file for example. Renaming shares the tensors: a state saved from a
// wrapper loads into the bare model, a stage's part of a pipeline into the stage's model, stages under other numbers.
// This header includes neither devices nor networks, so readers and writers of files cost little to compile. Read next:
// nn/state_dict.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace nn {

/// A tensor in host memory, row-major.
struct StoredTensor {
  DType dtype = DType::float32;        ///< of its elements
  Dims shape{};                        ///< its extents
  std::span<const std::byte> bytes{};  ///< the elements; kept alive by the dictionary
  std::shared_ptr<const void> owner{}; ///< keeps the bytes

  /// A tensor with its own memory, to be filled through the second.
  [[nodiscard]] static std::pair<StoredTensor, std::byte*> make(DType dtype, const Dims& shape);
};

/// A tensor of a file whose element type twill does not have: its bytes, unchanged.
struct ForeignTensor {
  std::string type{};                  ///< its name in the file: "F8_E4M3"
  Dims shape{};                        ///< its extents
  std::span<const std::byte> bytes{};  ///< the elements; kept alive by the dictionary
  std::shared_ptr<const void> owner{}; ///< keeps the bytes
};

/// Named tensors, in order.
class StateDict {
public:
  /// A name and its tensor.
  using Entry = std::pair<std::string, StoredTensor>;
  /// A name and its tensor.
  using ForeignEntry = std::pair<std::string, ForeignTensor>;

  StateDict() = default;
  /// throws: ValueError for a name that is there twice
  explicit StateDict(std::vector<Entry> entries, std::vector<ForeignEntry> foreign = {});

  /// throws: ValueError for a name that is there
  void add(std::string name, StoredTensor tensor);
  /// Null if there is none. throws: ValueError, a tensor of a type that twill does not have
  [[nodiscard]] const StoredTensor* find(std::string_view name) const;
  /// All pairs of name and tensor, in the order in which they were added:
  /// `for (const auto& [name, tensor] : state.entries())`.
  [[nodiscard]] std::span<const Entry> entries() const&;
  void entries() const&& = delete; // a range-for over a temporary would read freed memory
  /// `for (const auto& [name, tensor] : state)`.
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  /// After the last name and tensor.
  [[nodiscard]] auto end() const { return entries_.end(); }
  /// The number of tensors, except those of foreign types.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Tensors whose types twill does not have.
  [[nodiscard]] std::span<const ForeignEntry> foreign() const;
  /// throws: ValueError naming the operation, for one that needs types that twill has
  void require_no_foreign(std::string_view operation) const;

private:
  template <class T>
  [[nodiscard]] static const T* named(const std::vector<std::pair<std::string, T>>& entries, std::string_view name) {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == name; });
    return found == entries.end() ? nullptr : &found->second;
  }

  std::vector<Entry> entries_{};
  std::vector<ForeignEntry> foreign_{};
};

/// The state under the names given by `rename(name)`; std::nullopt drops the tensor.
/// throws: ValueError for a name that would be there twice
template <class F> [[nodiscard]] StateDict renamed(const StateDict& state, F&& rename) {
  const auto under_new_names = [&]<class E>(std::span<const E> before) {
    std::vector<E> entries{};
    entries.reserve(before.size());
    for (const auto& [name, tensor] : before)
      if (std::optional<std::string> now = rename(name)) entries.emplace_back(*std::move(now), tensor);
    return entries;
  };
  return StateDict{under_new_names(state.entries()), under_new_names(state.foreign())};
}

/// Every name with a prefix: `with_prefix(state, "module.")`.
[[nodiscard]] StateDict with_prefix(const StateDict& state, std::string_view prefix);

/// Removes the prefix from names that begin with it, like PyTorch's consume_prefix_in_state_dict_if_present.
[[nodiscard]] StateDict without_prefix(const StateDict& state, std::string_view prefix);

/// Only tensors whose names begin with the prefix, without it: `part(state, "1.")` is the second stage of a pipeline.
[[nodiscard]] StateDict part(const StateDict& state, std::string_view prefix);

/// Several states in one. throws: ValueError for a name that is in two of them
[[nodiscard]] StateDict joined(std::initializer_list<StateDict> parts);

/// The state of a pipeline whose stage i is now number `numbers[i]`: "0.weight" becomes "2.weight" for numbers {2, …}.
/// throws: ValueError naming a key that begins with no number of a stage
[[nodiscard]] StateDict renumbered_stages(const StateDict& state, std::span<const int> numbers);

}}} // namespace twill::v0::nn

#if TWILL_HEADER_ONLY
#include <twill/nn/stored_tensor.ipp>
#endif
