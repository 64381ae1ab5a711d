#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/checkpoint.hpp.

#include <twill/io/checkpoint.hpp>

namespace twill::inline v0::io {

TWILL_BODY void Checkpoint::add(std::string_view section, const nn::StateDict& state) {
  state.require_no_foreign("checkpoint");
  if (section.find('/') != std::string_view::npos)
    throw ValueError(join_text({"checkpoint: '", section, "' is no name of a section; it has a '/'"}));
  const auto place = std::lower_bound(sections_.begin(), sections_.end(), section);
  if (place != sections_.end() && *place == section)
    throw ValueError(join_text({"checkpoint: section '", section, "' is there twice"}));
  sections_.emplace(place, section);
  for (const auto& [name, tensor] : state.entries()) tensors_.emplace_back(join_text({section, "/", name}), tensor);
}

TWILL_BODY bool Checkpoint::has(std::string_view section) const {
  return std::binary_search(sections_.begin(), sections_.end(), section);
}

TWILL_BODY nn::StateDict Checkpoint::state(std::string_view section) const {
  if (!has(section))
    throw ValueError(join_text({"checkpoint: there is no section '", section, "'; there are: ", listed(sections_)}));
  const std::string prefix = join_text({section, "/"});
  std::vector<nn::StateDict::Entry> entries{};
  for (const auto& [name, tensor] : tensors_)
    if (name.starts_with(prefix)) entries.emplace_back(name.substr(prefix.size()), tensor);
  return nn::StateDict{std::move(entries)};
}

TWILL_BODY void Checkpoint::set(std::string_view name, double value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  values_.insert_or_assign(std::string{name}, "f" + std::string(digits, end));
}

TWILL_BODY void Checkpoint::set(std::string_view name, std::string_view text) {
  values_.insert_or_assign(std::string{name}, join_text({"t", text}));
}

TWILL_BODY std::int64_t Checkpoint::integer(std::string_view name) const {
  return number<std::int64_t>(name, 'i', "an integer");
}

TWILL_BODY std::string Checkpoint::listed(const std::vector<std::string>& names) {
  std::string text{};
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

TWILL_BODY std::string Checkpoint::value(std::string_view name, char kind, std::string_view wanted) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    std::vector<std::string> names{};
    for (const auto& entry : values_) names.push_back(entry.first);
    throw ValueError(join_text({"checkpoint: there is no value '", name, "'; there are: ", listed(names)}));
  }
  if (found->second.empty() || found->second[0] != kind)
    throw ValueError(join_text({"checkpoint: '", name, "' is '", found->second, "', not ", wanted}));
  return found->second.substr(1);
}

TWILL_BODY void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  Metadata metadata{{"twill.checksum", std::string{detail::no_checksum}},
                    {"twill.checkpoint", std::string{detail::checkpoint_version}}};
  std::string sections{};
  for (const std::string& section : checkpoint.sections()) sections += section + "/";
  metadata.emplace_back("twill.sections", std::move(sections));
  for (const auto& [name, value] : checkpoint.values()) metadata.emplace_back("value." + name, value);
  std::vector<TensorPlan> plan{};
  std::map<std::string_view, std::span<const std::byte>> bytes{};
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    plan.push_back({name, tensor.dtype, tensor.shape});
    bytes.emplace(name, tensor.bytes);
  }
  SafetensorsWriter file{path, std::move(plan), metadata};
  Checksum checksum{};
  checksum.add(std::as_bytes(std::span{file.start()}));
  for (const std::string& name : file.order()) {
    checksum.add(bytes.at(name));
    file.write(name, bytes.at(name));
  }
  file.overwrite_start(file.start().find(detail::checksum_mark) + detail::checksum_mark.size(), checksum.text());
  file.finish();
}

TWILL_BODY Checkpoint parse_checkpoint(std::string_view where, std::span<const std::byte> bytes,
                                       const std::shared_ptr<const void>& owner) {
  const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  constexpr std::size_t most_start = 64; // the checksum is the first thing in the header
  const std::size_t mark = all.substr(0, most_start).find(detail::checksum_mark);
  const std::size_t at = mark + detail::checksum_mark.size();
  if (mark == std::string_view::npos || at + detail::no_checksum.size() > all.size())
    throw ValueError(join_text({where, " is no checkpoint: it does not begin with a checksum"}));
  Checksum checksum{};
  checksum.add(bytes.first(at));
  checksum.add(std::as_bytes(std::span{detail::no_checksum}));
  checksum.add(bytes.subspan(at + detail::no_checksum.size()));
  if (const std::string text = checksum.text(); all.substr(at, text.size()) != text)
    throw ValueError(
        join_text({where, " is damaged: its checksum is ", text, ", recorded is ", all.substr(at, text.size())}));
  Safetensors read = parse_safetensors(where, bytes, owner);
  read.tensors.require_no_foreign(where);
  Checkpoint result{};
  for (auto& [key, value] : read.metadata) {
    if (key == "twill.checkpoint" && value != detail::checkpoint_version)
      throw ValueError(join_text({where, " has version ", value, ", known is ", detail::checkpoint_version}));
    if (key.starts_with("value.")) {
      result.values_.insert_or_assign(key.substr(6), std::move(value));
      continue;
    }
    if (key != "twill.sections") continue;
    for (std::size_t begin = 0; begin < value.size();) {
      const std::size_t end = std::min(value.find('/', begin), value.size());
      if (result.sections_.size() == detail::most_sections)
        throw ValueError(join_text({where, " is damaged: it has more than ", detail::most_sections, " sections"}));
      result.sections_.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::sort(result.sections_.begin(), result.sections_.end());
  result.tensors_.assign(read.tensors.entries().begin(), read.tensors.entries().end());
  return result;
}

TWILL_BODY Checkpoint load_checkpoint(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return parse_checkpoint(join_text({"load_checkpoint: '", path, "'"}), file->bytes(), file);
}

} // namespace twill::inline v0::io
