#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/safetensors_header.hpp.

#include <twill/io/safetensors_header.hpp>

namespace twill::inline v0::io::detail {

TWILL_BODY SafetensorsHeader::SafetensorsHeader(std::string_view where, std::string_view text,
                                                std::uint64_t element_bytes)
    : where_{where}, text_{text} {
  places_.reserve(most_tensors(text));
  JsonReader json{where, text};
  json.object([&](std::string_view name) {
    if (name == "__metadata__")
      read_metadata(json);
    else
      places_.push_back(read_place(json, name));
  });
  json.end();
  refuse_same_names();
  std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    return std::pair{a.begin, a.end} < std::pair{b.begin, b.end};
  });
  require_tiling(element_bytes);
}

TWILL_BODY std::string_view SafetensorsHeader::type_of(const Place& place) const {
  return JsonReader{where_, text_.substr(place.type_at)}.quoted();
}

TWILL_BODY std::optional<DType> SafetensorsHeader::dtype_of(const Place& place) const {
  const std::string_view type = type_of(place);
  for (const FormatName& format : format_names)
    if (format.text == type) return format.dtype;
  return std::nullopt;
}

TWILL_BODY Dims SafetensorsHeader::shape_of(const Place& place) const {
  JsonReader json{where_, text_.substr(place.shape_at)};
  return read_shape(json, place);
}

TWILL_BODY Metadata SafetensorsHeader::metadata() const {
  Metadata result{};
  if (metadata_at_ == 0) return result;
  JsonReader json{where_, text_.substr(metadata_at_)};
  json.object([&](std::string_view name) {
    std::string key = json.unquoted(name);
    result.emplace_back(std::move(key), json.string());
  });
  std::vector<std::string_view> keys{};
  for (const auto& entry : result) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
    refuse(join_text({"the metadata '", *twice, "' is there twice"}));
  return result;
}

TWILL_BODY std::size_t SafetensorsHeader::most_tensors(std::string_view text) {
  constexpr std::string_view field = "\"dtype\"";
  std::size_t count = 0;
  for (std::size_t at = text.find(field); at != std::string_view::npos; at = text.find(field, at + field.size()))
    ++count;
  return std::min(count, text.size() / least_entry_bytes);
}

TWILL_BODY void SafetensorsHeader::read_metadata(JsonReader& json) {
  if (metadata_at_ != 0) refuse("'__metadata__' is there twice");
  metadata_at_ = json.position();
  std::size_t count = 0;
  json.object([&](std::string_view) {
    static_cast<void>(json.quoted());
    if (++count > most_metadata) refuse(join_text({"it has more than ", most_metadata, " pieces of metadata"}));
  });
}

TWILL_BODY Place SafetensorsHeader::read_place(JsonReader& json, std::string_view name) const {
  Place place{.name_at = static_cast<std::uint32_t>(name.data() - text_.data()),
              .name_bytes = static_cast<std::uint32_t>(name.size())};
  bool has_places = false;
  json.object([&](std::string_view field) {
    if (field == "dtype" && place.type_at == 0) {
      place.type_at = static_cast<std::uint32_t>(json.position());
      static_cast<void>(json.quoted());
    } else if (field == "shape" && place.shape_at == 0) {
      place.shape_at = static_cast<std::uint32_t>(json.position());
      static_cast<void>(read_shape(json, place));
    } else if (field == "data_offsets" && !has_places) {
      has_places = true;
      std::uint64_t ends[2]{};
      std::size_t count = 0;
      json.array([&] {
        if (count == 2) refuse(join_text({"'", name, "' has more than two data_offsets"}));
        ends[count++] = json.count();
      });
      if (count != 2) refuse(join_text({"'", name, "' has ", count, " data_offsets, two belong there"}));
      place.begin = ends[0];
      place.end = ends[1];
    } else {
      refuse(join_text({"'", name, "' has '", field, "' twice, or should not have it"}));
    }
  });
  if (place.type_at == 0 || place.shape_at == 0 || !has_places)
    refuse(join_text({"'", name, "' lacks its dtype, shape or data_offsets"}));
  const Dims shape = shape_of(place);
  const std::optional<DType> dtype = dtype_of(place);
  if (!dtype && place.end < place.begin)
    refuse(join_text({"'", name, "' has a place from ", place.begin, " to ", place.end}));
  if (dtype) {
    const std::uint64_t bytes = checked_bytes(join_text({where_, ": '", name, "'"}), *dtype, shape);
    if (place.end < place.begin || place.end - place.begin != bytes)
      refuse(join_text(
          {"'", name, "' has ", bytes, " bytes by its shape, its place is ", place.begin, " to ", place.end}));
  }
  place.hash = name.find('\\') == std::string_view::npos ? std::hash<std::string_view>{}(name)
                                                         : std::hash<std::string>{}(name_of(place));
  return place;
}

TWILL_BODY Dims SafetensorsHeader::read_shape(JsonReader& json, const Place& place) const {
  Dims shape{};
  json.array([&] {
    if (shape.rank == max_rank)
      throw ValueError(join_text(
          {where_, ": '", raw(place), "' has more dimensions than ", max_rank, ", the most a tensor can have"}));
    shape[shape.rank++] = static_cast<std::int64_t>(json.count());
  });
  return shape;
}

TWILL_BODY void SafetensorsHeader::refuse_same_names() {
  // equal names have equal hashes; only then, which is rare, are they looked at
  std::sort(places_.begin(), places_.end(), [&](const Place& a, const Place& b) {
    return a.hash != b.hash ? a.hash < b.hash : raw(a) != raw(b) && name_of(a) < name_of(b);
  });
  for (std::size_t i = 1; i < places_.size(); ++i)
    if (places_[i - 1].hash == places_[i].hash && name_of(places_[i - 1]) == name_of(places_[i]))
      refuse(join_text({"'", name_of(places_[i]), "' is there twice"}));
}

TWILL_BODY void SafetensorsHeader::require_tiling(std::uint64_t bytes) const {
  std::uint64_t position = 0;
  for (const Place& place : places_) {
    if (place.begin != position)
      refuse(
          join_text({"'", name_of(place), "' begins at ", place.begin, ", the tensor before it ends at ", position}));
    position = place.end;
  }
  if (position != bytes) refuse(join_text({"tensors take ", position, " bytes, the file has ", bytes}));
}

} // namespace twill::inline v0::io::detail
