#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/sharded.hpp.

#include <twill/io/sharded.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unistd.h>
#include <utility>

namespace twill { inline namespace v0 { namespace io {

TWILL_BODY ShardIndex::ShardIndex(std::string_view where, std::string_view text) : where_{where}, text_{text} {
  if (text.size() > max_header_bytes)
    throw ValueError(join_text(
        {where, " is damaged: an index of ", text.size(), " bytes, at most ", max_header_bytes, " are read"}));
  bool has_map = false;
  JsonReader json{where, text};
  json.object([&](std::string_view part) {
    if (part == "metadata") {
      json.object([&](std::string_view name) {
        if (name != "total_size") return json.skip_simple();
        total_bytes_ = json.count();
      });
    } else if (part == "weight_map" && !std::exchange(has_map, true)) {
      entries_.reserve(text.size() / least_entry_bytes);
      json.object([&](std::string_view name) { read_entry(json, name); });
    } else {
      json.refuse(join_text({"'", part, "' is not expected"}));
    }
  });
  json.end();
  if (!has_map) json.refuse("it has no weight_map");
  const auto is_before = [&](const Entry& a, const Entry& b) { return name_of(a) < name_of(b); };
  std::sort(entries_.begin(), entries_.end(), is_before);
  for (std::size_t i = 1; i < entries_.size(); ++i)
    if (!is_before(entries_[i - 1], entries_[i]))
      json.refuse(join_text({"'", name_of(entries_[i]), "' is there twice"}));
}

TWILL_BODY std::string ShardIndex::name_of(const Entry& entry) const {
  return JsonReader{where_, text_}.unquoted(text_.substr(entry.name_at, entry.name_bytes));
}

TWILL_BODY std::string_view ShardIndex::file_of(const Entry& entry) const {
  return text_.substr(entry.file_at, entry.file_bytes);
}

TWILL_BODY std::string_view ShardIndex::file_of(std::string_view name) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), name,
                       [&](const Entry& entry, std::string_view wanted) { return name_of(entry) < wanted; });
  return found != entries_.end() && name_of(*found) == name ? file_of(*found) : std::string_view{};
}

TWILL_BODY void ShardIndex::read_entry(JsonReader& json, std::string_view name) {
  const std::string_view file = json.quoted();
  if (file.size() <= ending.size() || !file.ends_with(ending) || file.find_first_of("/\\") != std::string_view::npos)
    json.refuse(join_text({"'", name, "' is in '", file, "', which is not a safetensors file of this folder"}));
  const auto at = [&](std::string_view piece) { return static_cast<std::uint32_t>(piece.data() - text_.data()); };
  entries_.push_back(
      {at(name), static_cast<std::uint32_t>(name.size()), at(file), static_cast<std::uint32_t>(file.size())});
}

namespace detail {

using Names = std::set<std::string, std::less<>>;
inline constexpr std::string_view index_ending = ".safetensors.index.json";

/// The files that an index of a folder names; none where it is not there.
TWILL_BODY Names files_of_index(const std::string& folder, const Names& present, const std::string& index) {
  Names files{};
  if (!present.contains(index)) return files;
  const MappedFile file{join_text({folder, "/", index})};
  const ShardIndex known{index, file.text()};
  for (const ShardIndex::Entry& entry : known.entries()) files.emplace(known.file_of(entry));
  return files;
}

/// "model-00002-of-00003.safetensors", and "model-save1-00002-of-00003.safetensors" of a later save, which must not
/// touch the files of the one before.
TWILL_BODY std::string shard_file(const std::string& name, int save, std::size_t shard, std::size_t shards) {
  const auto number = [](std::size_t n) {
    const std::string digits = std::to_string(n);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return join_text({name, save == 0 ? std::string{} : join_text({"-save", save}), "-", number(shard + 1), "-of-",
                    number(shards), ".safetensors"});
}

/// Whether a file has the name of a shard of some save.
TWILL_BODY bool is_shard_file(std::string_view file, std::string_view name) {
  const auto skips = [&](std::string_view text) {
    if (!file.starts_with(text)) return false;
    file.remove_prefix(text.size());
    return true;
  };
  const auto skips_digits = [&](std::size_t least) {
    const std::size_t count = std::min(file.find_first_not_of("0123456789"), file.size());
    file.remove_prefix(count);
    return count >= least;
  };
  if (!skips(name)) return false;
  if (skips("-save") && !skips_digits(1)) return false;
  return skips("-") && skips_digits(5) && skips("-of-") && skips_digits(5) && file == ".safetensors";
}

/// Files without an index, which are removed where the save fails.
struct NewShards {
  std::vector<std::string> paths{};
  bool is_kept = false;

  NewShards() = default;
  NewShards(const NewShards&) = delete;
  NewShards& operator=(const NewShards&) = delete;
  ~NewShards() {
    for (const std::string& path : paths)
      if (!is_kept) ::unlink(path.c_str());
  }
};

/// The files of a folder that have names of shards of this state, or of temporary files of them and of its index, and
/// that no other index claims: "model-save1-00001-of-00002.safetensors" may be a shard of "model-save1". None where an
/// index that may claim them cannot be read.
TWILL_BODY Names left_shards(const std::string& folder, const Names& present, const std::string& name) {
  const std::string own_index = join_text({name, index_ending});
  Names of_others{};
  std::vector<std::string_view> others{};
  for (const std::string& file : present) {
    if (!file.ends_with(index_ending) || file == own_index) continue;
    others.push_back(std::string_view{file}.substr(0, file.size() - index_ending.size()));
    try {
      of_others.merge(files_of_index(folder, present, file));
    } catch (const Error&) {
      return {};
    }
  }
  Names result{};
  for (const std::string& file : present) {
    const std::string_view finished = finished_name(file).empty() ? std::string_view{file} : finished_name(file);
    const bool is_index = finished != file && finished == own_index;
    const auto is_shard_of = [&](std::string_view other) {
      return other.size() > name.size() && is_shard_file(finished, other);
    };
    const bool is_others = of_others.contains(finished) || std::any_of(others.begin(), others.end(), is_shard_of);
    if (!is_others && (is_index || is_shard_file(finished, name))) result.insert(file);
  }
  return result;
}

/// The tensors of each shard, in their order.
TWILL_BODY std::vector<std::vector<const nn::StateDict::Entry*>> shards_of(const nn::StateDict& tensors,
                                                                           std::uint64_t most_bytes) {
  std::vector<std::vector<const nn::StateDict::Entry*>> shards{};
  std::uint64_t filled = 0;
  for (const nn::StateDict::Entry& entry : tensors.entries()) {
    const std::uint64_t bytes = entry.second.bytes.size();
    if (shards.empty() || (filled > 0 && filled + bytes > most_bytes)) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(&entry);
    filled += bytes;
  }
  return shards;
}

/// The first save whose files would replace none, and are not the beginning of another state's.
TWILL_BODY int free_save(const Names& present, const std::string& name, std::size_t shards) {
  for (int save = 0;; ++save) {
    bool is_free = save == 0 || !present.contains(join_text({name, "-save", save, index_ending}));
    for (std::size_t i = 0; i < shards && is_free; ++i) is_free = !present.contains(shard_file(name, save, i, shards));
    if (is_free) return save;
  }
}

} // namespace detail

TWILL_BODY void save_sharded(const std::string& folder, const nn::StateDict& tensors, const ShardOptions& options) {
  if (options.shard_bytes == 0) throw ValueError("save_sharded: shard_bytes is at least 1, got 0");
  const auto path_of = [&](std::string_view file) { return join_text({folder, "/", file}); };
  const std::string index_name = join_text({options.name, detail::index_ending});
  detail::Names present{};
  for (std::string& name : names_in(folder)) present.insert(std::move(name));
  detail::Names before{};
  try {
    before = detail::files_of_index(folder, present, index_name);
  } catch (const ValueError&) { // a damaged index names nothing that could be loaded
  }
  const auto shards = detail::shards_of(tensors, options.shard_bytes);
  const int save = detail::free_save(present, options.name, shards.size());
  detail::NewShards made{};
  std::map<std::string_view, std::string> file_of{};
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string file = detail::shard_file(options.name, save, i, shards.size());
    std::vector<TensorPlan> plan{};
    for (const auto* entry : shards[i]) plan.push_back({entry->first, entry->second.dtype, entry->second.shape});
    made.paths.push_back(path_of(file));
    SafetensorsWriter writer{made.paths.back(), std::move(plan), {{"format", "pt"}}};
    for (const auto* entry : shards[i]) {
      writer.write(entry->first, entry->second.bytes);
      file_of[entry->first] = file;
      total += entry->second.bytes.size();
    }
    writer.finish();
  }
  std::string text = join_text({"{\n  \"metadata\": {\n    \"total_size\": ", total, "\n  },\n  \"weight_map\": {"});
  for (bool is_first = true; const auto& [name, file] : file_of) {
    text += std::exchange(is_first, false) ? "\n    " : ",\n    ";
    text += json_quoted(name) + ": " + json_quoted(file);
  }
  AtomicFile index{path_of(index_name)};
  index.write(text + "\n  }\n}\n");
  try {
    index.finish();
  } catch (...) {
    made.is_kept = index.is_in_place();
    throw;
  }
  made.is_kept = true;
  detail::Names old = detail::left_shards(folder, present, options.name);
  for (const std::string& file : before) // the index may have named files of another state
    if (file.starts_with(options.name + "-")) old.insert(file);
  for (const auto& [tensor, file] : file_of) old.erase(file);
  for (const std::string& file : old) // programs that have mapped one keep it
    if (detail::finished_name(file).empty())
      remove_file(path_of(file));
    else
      detail::remove_unfinished(path_of(file));
}

TWILL_BODY nn::StateDict load_sharded(const std::string& path) {
  const std::string where = join_text({"load_sharded: '", path, "'"});
  const MappedFile file{path};
  const ShardIndex index{where, file.text()};
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? std::string{} : path.substr(0, slash + 1);
  detail::Names read{};
  std::vector<nn::StateDict::Entry> entries{};
  std::vector<nn::StateDict::ForeignEntry> foreign{};
  std::uint64_t total = 0;
  for (const ShardIndex::Entry& entry : index.entries()) {
    const std::string_view shard = index.file_of(entry);
    if (read.contains(shard)) continue;
    const Safetensors content = load_safetensors(join_text({folder, shard}));
    read.emplace(shard);
    const auto take = [&](const std::string& name, const auto& tensor, auto& to) {
      if (const std::string_view known = index.file_of(name); known != shard)
        throw ValueError(
            join_text({where, ": '", shard, "' holds '", name, "', which the index ",
                       known.empty() ? "does not name" : "says is in '", known, known.empty() ? "" : "'"}));
      total += tensor.bytes.size();
      to.emplace_back(name, tensor);
    };
    for (const auto& [name, tensor] : content.tensors.entries()) take(name, tensor, entries);
    for (const auto& [name, tensor] : content.tensors.foreign()) take(name, tensor, foreign);
  }
  if (entries.size() + foreign.size() != index.entries().size()) {
    std::set<std::string_view> held{};
    for (const auto& entry : entries) held.insert(entry.first);
    for (const auto& entry : foreign) held.insert(entry.first);
    for (const ShardIndex::Entry& entry : index.entries())
      if (const std::string name = index.name_of(entry); !held.contains(name))
        throw ValueError(
            join_text({where, ": '", index.file_of(entry), "' lacks '", name, "', which the index says is there"}));
  }
  if (index.total_bytes().value_or(total) != total)
    throw ValueError(
        join_text({where, " says that all tensors have ", *index.total_bytes(), " bytes, they have ", total}));
  return nn::StateDict{std::move(entries), std::move(foreign)};
}

}}} // namespace twill::v0::io
