#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/sharded.hpp.

#include <twill/io/sharded.hpp>

namespace twill::inline v0::io {

TWILL_BODY ShardIndex::ShardIndex(std::string_view where, std::string_view text) : where_{where}, text_{text} {
  if (text.size() > detail::most_header_bytes)
    throw ValueError(join_text(
        {where, " is damaged: an index of ", text.size(), " bytes, at most ", detail::most_header_bytes, " are read"}));
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
      json.refuse(join_text({"'", part, "' does not belong there"}));
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
    json.refuse(join_text({"'", name, "' lies in '", file, "', which is no safetensors file of this folder"}));
  const auto at = [&](std::string_view piece) { return static_cast<std::uint32_t>(piece.data() - text_.data()); };
  entries_.push_back(
      {at(name), static_cast<std::uint32_t>(name.size()), at(file), static_cast<std::uint32_t>(file.size())});
}

namespace detail {

TWILL_BODY std::set<std::string, std::less<>> files_of_index(const std::vector<std::string>& names,
                                                             const std::string& folder, const std::string& index) {
  std::set<std::string, std::less<>> files{};
  if (std::find(names.begin(), names.end(), index) == names.end()) return files;
  const MappedFile file{join_text({folder, "/", index})};
  const std::string_view text{reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  const ShardIndex known{index, text};
  for (const ShardIndex::Entry& entry : known.entries()) files.emplace(known.file_of(entry));
  return files;
}

TWILL_BODY std::string shard_file(const std::string& name, int set, std::size_t shard, std::size_t shards) {
  const auto number = [](std::size_t n) {
    const std::string digits = std::to_string(n);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return join_text({name, set == 0 ? std::string{} : join_text({"-save", set}), "-", number(shard + 1), "-of-",
                    number(shards), ".safetensors"});
}

TWILL_BODY bool is_shard_file(std::string_view file, std::string_view name) {
  const auto passes = [&](std::string_view text) {
    if (!file.starts_with(text)) return false;
    file.remove_prefix(text.size());
    return true;
  };
  const auto passes_digits = [&](std::size_t least) {
    const std::size_t count = std::min(file.find_first_not_of("0123456789"), file.size());
    file.remove_prefix(count);
    return count >= least;
  };
  if (!passes(name)) return false;
  if (passes("-save") && !passes_digits(1)) return false;
  return passes("-") && passes_digits(5) && passes("-of-") && passes_digits(5) && file == ".safetensors";
}

TWILL_BODY NewShards::~NewShards() {
  for (const std::string& path : paths)
    if (!is_kept) ::unlink(path.c_str());
}

TWILL_BODY std::vector<std::string> left_shards(const std::vector<std::string>& names, const std::string& folder,
                                                const std::string& name) {
  constexpr std::string_view index_end = ".safetensors.index.json";
  const std::string own_index = join_text({name, index_end});
  std::set<std::string, std::less<>> of_others{};
  std::vector<std::string_view> others{};
  for (const std::string& file : names) {
    if (!file.ends_with(index_end) || file == own_index) continue;
    others.push_back(std::string_view{file}.substr(0, file.size() - index_end.size()));
    try {
      of_others.merge(files_of_index(names, folder, file));
    } catch (const Error&) {
      return {};
    }
  }
  std::vector<std::string> result{};
  for (const std::string& file : names) {
    const std::string_view finished = finished_name(file).empty() ? std::string_view{file} : finished_name(file);
    const bool is_index = finished != file && finished == own_index;
    const auto is_shard_of = [&](std::string_view other) {
      return other.size() > name.size() && is_shard_file(finished, other);
    };
    const bool is_others = of_others.contains(finished) || std::any_of(others.begin(), others.end(), is_shard_of);
    if (!is_others && (is_index || is_shard_file(finished, name))) result.push_back(file);
  }
  return result;
}

} // namespace detail

TWILL_BODY void save_sharded(const std::string& folder, const nn::StateDict& tensors, const ShardOptions& options) {
  if (options.shard_bytes == 0) throw ValueError("save_sharded: shard_bytes is at least 1, got 0");
  std::vector<std::vector<const nn::StateDict::Entry*>> shards{};
  std::uint64_t filled = 0;
  std::uint64_t total = 0;
  for (const nn::StateDict::Entry& entry : tensors.entries()) {
    const std::uint64_t bytes = entry.second.bytes.size();
    if (shards.empty() || (filled > 0 && filled + bytes > options.shard_bytes)) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(&entry);
    filled += bytes;
    total += bytes;
  }
  const std::string index_name = options.name + ".safetensors.index.json";
  const std::vector<std::string> names = names_in(folder);
  std::set<std::string, std::less<>> before{};
  try {
    before = detail::files_of_index(names, folder, index_name);
  } catch (const ValueError&) { // what it named cannot be loaded anyway
  }
  const std::set<std::string_view> present{names.begin(), names.end()};
  int set = 0;
  const auto touches_files = [&] { // or is the beginning of another name's
    if (set > 0 && present.contains(join_text({options.name, "-save", set, ".safetensors.index.json"}))) return true;
    for (std::size_t i = 0; i < shards.size(); ++i)
      if (present.contains(detail::shard_file(options.name, set, i, shards.size()))) return true;
    return false;
  };
  while (touches_files()) ++set;
  detail::NewShards made{};
  std::map<std::string_view, std::string> file_of{};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string file = detail::shard_file(options.name, set, i, shards.size());
    std::vector<TensorPlan> plan{};
    for (const auto* entry : shards[i]) plan.push_back({entry->first, entry->second.dtype, entry->second.shape});
    made.paths.push_back(join_text({folder, "/", file}));
    SafetensorsWriter writer{made.paths.back(), std::move(plan), {{"format", "pt"}}};
    for (const auto* entry : shards[i]) {
      writer.write(entry->first, entry->second.bytes);
      file_of[entry->first] = file;
    }
    writer.finish();
  }
  std::string text = join_text({"{\n  \"metadata\": {\n    \"total_size\": ", total, "\n  },\n  \"weight_map\": {"});
  bool is_first = true;
  for (const auto& [name, file] : file_of) {
    text += std::exchange(is_first, false) ? "\n    " : ",\n    ";
    text += json_quoted(name) + ": " + json_quoted(file);
  }
  text += "\n  }\n}\n";
  AtomicFile index{join_text({folder, "/", index_name})};
  index.write(text);
  try {
    index.finish();
  } catch (...) {
    made.is_kept = index.is_in_place();
    throw;
  }
  made.is_kept = true;
  std::set<std::string, std::less<>> old{};
  for (const std::string& file : before)
    if (file.starts_with(join_text({options.name, "-"}))) old.insert(file); // the index named somebody else's file too
  for (std::string& file : detail::left_shards(names, folder, options.name)) old.insert(std::move(file));
  for (const auto& [tensor, file] : file_of) old.erase(file);
  for (const std::string& file : old) { // whoever has mapped one keeps it
    const std::string path = join_text({folder, "/", file});
    if (!detail::finished_name(file).empty())
      detail::remove_unfinished(path);
    else if (detail::call_fails("remove", path) || (::unlink(path.c_str()) != 0 && errno != ENOENT))
      detail::fail_call("remove", path);
  }
}

TWILL_BODY nn::StateDict load_sharded(const std::string& path) {
  const std::string where = join_text({"load_sharded: '", path, "'"});
  const MappedFile file{path};
  const std::string_view text{reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  const ShardIndex index{where, text};
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? std::string{} : path.substr(0, slash + 1);
  std::set<std::string, std::less<>> read{};
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

} // namespace twill::inline v0::io
