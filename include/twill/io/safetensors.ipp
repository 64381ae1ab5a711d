#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/safetensors.hpp.

#include <twill/io/safetensors.hpp>

namespace twill::inline v0::io {

TWILL_BODY Safetensors parse_safetensors(std::string_view where, std::span<const std::byte> bytes,
                                         const std::shared_ptr<const void>& owner) {
  std::uint64_t length = 0;
  if (bytes.size() >= sizeof(length)) std::memcpy(&length, bytes.data(), sizeof(length));
  if (bytes.size() < sizeof(length) || length > bytes.size() - sizeof(length) || length > detail::most_header_bytes)
    throw ValueError(join_text({where, " is damaged: a header of ", length, " bytes in a file of ", bytes.size()}));
  const char* const text = reinterpret_cast<const char*>(bytes.data()) + sizeof(length);
  const std::span<const std::byte> elements = bytes.subspan(sizeof(length) + static_cast<std::size_t>(length));
  const detail::SafetensorsHeader header{where, {text, static_cast<std::size_t>(length)}, elements.size()};
  Safetensors result{.metadata = header.metadata()};
  std::vector<nn::StateDict::Entry> entries{};
  std::vector<nn::StateDict::ForeignEntry> foreign{};
  entries.reserve(header.places().size());
  for (const detail::Place& place : header.places()) {
    const auto own =
        elements.subspan(static_cast<std::size_t>(place.begin), static_cast<std::size_t>(place.end - place.begin));
    const std::optional<DType> dtype = header.dtype_of(place);
    if (!dtype) {
      foreign.emplace_back(header.name_of(place),
                           nn::ForeignTensor{std::string{header.type_of(place)}, header.shape_of(place), own, owner});
      continue;
    }
    if (*dtype == DType::boolean)
      require_truth_values(join_text({where, ": '", header.name_of(place), "'"}), *dtype, own);
    entries.emplace_back(header.name_of(place), nn::StoredTensor{*dtype, header.shape_of(place), own, owner});
  }
  result.tensors = nn::StateDict{std::move(entries), std::move(foreign)};
  return result;
}

TWILL_BODY Safetensors load_safetensors(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return parse_safetensors(join_text({"load_safetensors: '", path, "'"}), file->bytes(), file);
}

TWILL_BODY SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<TensorPlan> tensors,
                                                const Metadata& metadata)
    : file_{path} {
  sort_stably(tensors, [](const TensorPlan& a, const TensorPlan& b) { return size_of(a.dtype) > size_of(b.dtype); });
  std::string text = "{";
  const auto next = [&] { return text.size() > 1 ? "," : ""; };
  for (const auto& [key, value] : metadata)
    text += (text.size() > 1 ? "," : "\"__metadata__\":{") + json_quoted(key) + ":" + json_quoted(value);
  if (!metadata.empty()) text += "}";
  std::uint64_t position = 0;
  for (const TensorPlan& tensor : tensors) {
    order_.push_back(tensor.name);
    const std::uint64_t bytes = checked_bytes("save_safetensors", tensor.dtype, tensor.shape);
    if (tensor.name == "__metadata__") throw ValueError("save_safetensors: '__metadata__' is no name for a tensor");
    text += next() + json_quoted(tensor.name) + ":{\"dtype\":\"";
    text += detail::format_names[static_cast<std::size_t>(tensor.dtype)].text;
    text += "\",\"shape\":[";
    for (int axis = 0; axis < tensor.shape.rank; ++axis)
      text += (axis > 0 ? "," : "") + std::to_string(tensor.shape[axis]);
    text += join_text({"],\"data_offsets\":[", position, ",", position + bytes, "]}"});
    parts_.push_back({tensor.name, position, bytes, 0});
    position += bytes;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' '); // elements begin at a multiple of eight bytes
  const std::uint64_t length = text.size();
  if (length > detail::most_header_bytes)
    throw ValueError(join_text(
        {"save_safetensors: the header has ", length, " bytes, readers take at most ", detail::most_header_bytes}));
  sort_stably(parts_, [](const Part& a, const Part& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < parts_.size(); ++i)
    if (parts_[i - 1].name == parts_[i].name)
      throw ValueError(join_text({"save_safetensors: '", parts_[i].name, "' is there twice"}));
  // What readers would refuse, such as names that are no UTF-8, is refused here.
  static_cast<void>(detail::SafetensorsHeader{"save_safetensors: what it would write", text, position}.metadata());
  start_.assign(reinterpret_cast<const char*>(&length), sizeof(length));
  start_ += text;
  file_.write(start_);
}

TWILL_BODY void SafetensorsWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  const auto part = std::lower_bound(parts_.begin(), parts_.end(), name,
                                     [](const Part& a, std::string_view wanted) { return a.name < wanted; });
  if (part == parts_.end() || part->name != name)
    throw ValueError(join_text({"save_safetensors: '", name, "' was not planned"}));
  if (bytes.size() > part->bytes - part->written)
    throw ValueError(
        join_text({"save_safetensors: '", name, "' has ", part->bytes, " bytes, got ", part->written + bytes.size()}));
  file_.write_at(start_.size() + part->begin + part->written, bytes);
  part->written += bytes.size();
}

TWILL_BODY void SafetensorsWriter::finish() {
  for (const Part& part : parts_)
    if (part.written != part.bytes)
      throw ValueError(
          join_text({"save_safetensors: '", part.name, "' has ", part.bytes, " bytes, got ", part.written}));
  file_.finish();
}

TWILL_BODY std::vector<TensorPlan> plan_of(const nn::StateDict& tensors) {
  std::vector<TensorPlan> plan{};
  for (const auto& [name, tensor] : tensors.entries()) plan.push_back({name, tensor.dtype, tensor.shape});
  return plan;
}

TWILL_BODY void save_safetensors(const std::string& path, const nn::StateDict& tensors, const Metadata& metadata) {
  tensors.require_no_foreign("save_safetensors");
  SafetensorsWriter file{path, plan_of(tensors), metadata};
  for (const auto& [name, tensor] : tensors.entries()) file.write(name, tensor.bytes);
  file.finish();
}

} // namespace twill::inline v0::io
