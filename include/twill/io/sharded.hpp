#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A state in several safetensors files with an index, `model.safetensors.index.json`, as Hugging Face's libraries write and
// read large models. The index is written last, so a folder without one is none, and a save over an older one replaces it as
// a whole; a name that leaves the folder is refused.
// Read next: io/safetensors.hpp.

#include <twill/core/config.hpp>
#include <twill/io/folder.hpp>
#include <twill/io/json.hpp>
#include <twill/io/mapped_file.hpp>
#include <twill/io/safetensors.hpp>
#include <twill/io/unfinished.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace twill::inline v0::io {

/// An index: the file in which each tensor lies. It keeps places in the text, which has to outlive it, because a hostile text of
/// short names would take many times its size as strings.
class ShardIndex {
public:
  /// Which file of a set a tensor lies in.
  struct Entry {
    std::uint32_t name_at = 0;    ///< as it stands in the text, with escapes
    std::uint32_t name_bytes = 0; ///< of the tensor's name
    std::uint32_t file_at = 0;    ///< where the file's name begins in the texts
    std::uint32_t file_bytes = 0; ///< of the file's name
  };

  /// throws: ValueError naming what is wrong
  ShardIndex(std::string_view where, std::string_view text);

  /// Sorted by name.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// The name of a tensor of the set.
  [[nodiscard]] std::string name_of(const Entry& entry) const;
  /// The file that it lies in.
  [[nodiscard]] std::string_view file_of(const Entry& entry) const;
  /// The file of a tensor, empty where the index does not name it.
  [[nodiscard]] std::string_view file_of(std::string_view name) const;
  /// The bytes of all elements, where the index says them.
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

/// How large each file of a set may become.
struct ShardOptions {
  std::uint64_t shard_bytes = std::uint64_t{5} << 30; ///< of elements in a file at most, unless one tensor has more
  std::string name = "model";                         ///< what files begin with
};

namespace detail {

/// The files that an index in a folder names: none where there is no index, or one that nobody can read.
[[nodiscard]] std::set<std::string, std::less<>> files_of_index(const std::vector<std::string>& names,
                                                                const std::string& folder, const std::string& index);

/// "model-00002-of-00003.safetensors", and of a later set, which must not touch the files of the one before,
/// "model-save1-00002-of-00003.safetensors".
[[nodiscard]] std::string shard_file(const std::string& name, int set, std::size_t shard, std::size_t shards);

/// Whether a file's name is one of those that shards of a name have, in whatever set.
[[nodiscard]] bool is_shard_file(std::string_view file, std::string_view name);

/// The files of a set without an index, which go again where the save fails.
struct NewShards {
  std::vector<std::string> paths{};
  bool is_kept = false;

  NewShards() = default;
  NewShards(const NewShards&) = delete;
  NewShards& operator=(const NewShards&) = delete;
  ~NewShards();
};

/// The files of a folder that look like shards of this name, or like temporary files of them and of its index, and that no other
/// index claims: "model-save1-00001-of-00002.safetensors" may be the first set of "model-save1". None where an index that may
/// claim them cannot be read.
[[nodiscard]] std::vector<std::string> left_shards(const std::vector<std::string>& names, const std::string& folder,
                                                   const std::string& name);

} // namespace detail

/// Writes `name-00001-of-00003.safetensors`, ..., and `name.safetensors.index.json` last. Where that index is there already,
/// the new files have other names than those it knows, so a program that dies in between leaves the old set whole; when
/// the new index is in its place, the old set's files of this name are removed, and with them what programs that died have
/// left of it. One process writes to a folder at a time.
/// throws: SystemError, ValueError for a limit of zero
void save_sharded(const std::string& folder, const nn::StateDict& tensors, const ShardOptions& options = {});

/// The tensors of a sharded state, which share the mapped files; `path` is that of the index.
/// throws: SystemError when a file cannot be read, ValueError naming file and tensor where index and files disagree
[[nodiscard]] nn::StateDict load_sharded(const std::string& path);

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/sharded.ipp>
#endif
