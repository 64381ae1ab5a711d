#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sharded safetensors: a state in several files with an index, `model.safetensors.index.json`, as Hugging Signature's
// libraries write and read large models. The index is written last, so a folder without one has no state, and a save
// over an older state replaces it as a whole; a name that leaves the folder is refused. Read next: io/safetensors.hpp.

#include <twill/core/config.hpp>
#include <twill/io/safetensors.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

/// An index: the file of each tensor. It keeps places in the text, which has to outlive it, because a hostile text of
/// short names would take many times its size as strings.
class ShardIndex {
public:
  /// The places of two names in the text.
  struct Entry {
    std::uint32_t name_at = 0;    ///< of the tensor's name, with escapes
    std::uint32_t name_bytes = 0; ///< its length there
    std::uint32_t file_at = 0;    ///< of the file's name
    std::uint32_t file_bytes = 0; ///< its length
  };

  /// throws: ValueError naming the damage
  ShardIndex(std::string_view where, std::string_view text);

  /// Sorted by name.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// The name of a tensor.
  [[nodiscard]] std::string name_of(const Entry& entry) const;
  /// Its file.
  [[nodiscard]] std::string_view file_of(const Entry& entry) const;
  /// The file of a tensor, empty where the index does not name it.
  [[nodiscard]] std::string_view file_of(std::string_view name) const;
  /// The bytes of all elements, where the index has their number.
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const { return total_bytes_; }

private:
  static constexpr std::string_view ending = ".safetensors";
  static constexpr std::size_t least_entry_bytes = 19; ///< `"":"x.safetensors",`

  void read_entry(JsonReader& json, std::string_view name);

  std::string_view where_;
  std::string_view text_;
  std::vector<Entry> entries_{};
  std::optional<std::uint64_t> total_bytes_{};
};

/// Size and names of the files.
struct ShardOptions {
  std::uint64_t shard_bytes = std::uint64_t{5} << 30; ///< of elements in a file at most, unless one tensor has more
  std::string name = "model";                         ///< the beginning of all files' names
};

/// Writes `name-00001-of-00003.safetensors`, ..., and `name.safetensors.index.json` last. Where that index is there
/// already, the new files get other names than those in it, so a program that dies in between leaves the old state
/// whole; after the new index is written, the files of the old state are removed, and those that dead programs left of
/// it. One process writes to a folder at a time.    throws: SystemError, ValueError for a limit of zero
void save_sharded(const std::string& folder, const nn::StateDict& tensors, const ShardOptions& options = {});

/// The tensors of a sharded state by the path of its index. They share the mapped files.
/// throws: SystemError when a file cannot be read, ValueError naming file and tensor where index and files disagree
[[nodiscard]] nn::StateDict load_sharded(const std::string& path);

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/sharded.ipp>
#endif
