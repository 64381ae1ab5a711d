#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/safetensors.hpp.

#include <twill/io/safetensors.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

namespace twill { inline namespace v0 { namespace io {

namespace detail {

inline constexpr std::size_t most_metadata = 4096;   ///< more would take more memory than the file has bytes
inline constexpr std::size_t least_entry_bytes = 48; ///< `"":{"dtype":"U8","shape":[],"data_offsets":[0,1]}`

struct FormatName {
  std::string_view text;
  DType dtype;
};
inline constexpr FormatName format_names[]{{"BOOL", DType::boolean},
                                           {"U8", DType::uint8},
                                           {"I32", DType::int32},
                                           {"I64", DType::int64},
                                           {"F16", DType::float16},
                                           {"BF16", DType::bfloat16},
                                           {"F32", DType::float32},
                                           {"F64", DType::float64},
                                           {"I8", DType::int8},
                                           {"I16", DType::int16},
                                           {"U16", DType::uint16},
                                           {"U32", DType::uint32},
                                           {"U64", DType::uint64},
                                           {"F8_E4M3", DType::float8_e4m3fn},
                                           {"F8_E5M2", DType::float8_e5m2},
                                           {"C64", DType::complex64}};

/// The place of a tensor in a file, and of its description in the header.
struct Place {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t hash = 0; ///< of the name
  std::uint32_t name_at = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t shape_at = 0;
  std::uint32_t type_at = 0;
};

/// The header of a file. A hostile one is refused before memory is taken for its tensors: one pass keeps 40 bytes a
/// tensor, whose entry has at least 48, and checks that each name is there once and that the places tile the file.
class SafetensorsHeader {
public:
  /// throws: ValueError for the header of a file that has not this number of bytes of elements
  SafetensorsHeader(std::string_view where, std::string_view text, std::uint64_t element_bytes);

  /// The tensors, in the order of the file.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] std::string name_of(const Place& place) const { return JsonReader{where_, text_}.unquoted(raw(place)); }
  [[nodiscard]] std::string_view type_of(const Place& place) const { return reader_at(place.type_at).quoted(); }
  /// Nothing for a type that twill does not have.
  [[nodiscard]] std::optional<DType> dtype_of(const Place& place) const;
  [[nodiscard]] Dims shape_of(const Place& place) const;
  [[nodiscard]] Metadata metadata() const;

private:
  [[noreturn]] void refuse(std::string_view why) const { throw ValueError(join_text({where_, " is damaged: ", why})); }
  [[nodiscard]] std::string_view raw(const Place& place) const { return text_.substr(place.name_at, place.name_bytes); }
  [[nodiscard]] JsonReader reader_at(std::size_t position) const { return {where_, text_.substr(position)}; }

  void read_metadata(JsonReader& json);
  [[nodiscard]] Place read_place(JsonReader& json, std::string_view name) const;
  [[nodiscard]] Dims read_shape(JsonReader& json, const Place& place) const;
  void refuse_same_names();
  /// All bytes belong to exactly one tensor.
  void require_tiling(std::uint64_t bytes) const;

  std::string_view where_;
  std::string_view text_;
  std::vector<Place> places_{};
  std::size_t metadata_at_ = 0;
};

/// An upper bound: each tensor says its dtype, and no text within quotes can contain quotes.
[[nodiscard]] inline std::size_t most_tensors(std::string_view text) {
  constexpr std::string_view field = "\"dtype\"";
  std::size_t count = 0;
  for (std::size_t at = text.find(field); at != std::string_view::npos; at = text.find(field, at + 1)) ++count;
  return std::min(count, text.size() / least_entry_bytes);
}

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

TWILL_BODY std::optional<DType> SafetensorsHeader::dtype_of(const Place& place) const {
  const std::string_view type = type_of(place);
  for (const FormatName& format : format_names)
    if (format.text == type) return format.dtype;
  return std::nullopt;
}

TWILL_BODY Dims SafetensorsHeader::shape_of(const Place& place) const {
  JsonReader json = reader_at(place.shape_at);
  return read_shape(json, place);
}

TWILL_BODY Metadata SafetensorsHeader::metadata() const {
  Metadata result{};
  if (metadata_at_ == 0) return result;
  JsonReader json = reader_at(metadata_at_);
  json.object([&](std::string_view name) {
    const std::string_view value = json.quoted();
    result.emplace_back(json.unquoted(name), json.unquoted(value));
  });
  std::vector<std::string_view> keys{};
  for (const auto& entry : result) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
    refuse(join_text({"the metadata '", *twice, "' is there twice"}));
  return result;
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
      if (count != 2) refuse(join_text({"'", name, "' has ", count, " data_offsets instead of two"}));
      place.begin = ends[0];
      place.end = ends[1];
    } else {
      refuse(join_text({"'", name, "' has '", field, "' twice, or it is not expected"}));
    }
  });
  if (place.type_at == 0 || place.shape_at == 0 || !has_places)
    refuse(join_text({"'", name, "' lacks its dtype, shape or data_offsets"}));
  const Dims shape = shape_of(place);
  const std::optional<DType> dtype = dtype_of(place);
  if (!dtype && place.end < place.begin)
    refuse(join_text({"'", name, "' has data_offsets [", place.begin, ", ", place.end, "]"}));
  if (dtype) {
    const std::uint64_t bytes = checked_bytes(join_text({where_, ": '", name, "'"}), *dtype, shape);
    if (place.end < place.begin || place.end - place.begin != bytes)
      refuse(join_text(
          {"'", name, "' has ", bytes, " bytes by its shape, but data_offsets [", place.begin, ", ", place.end, "]"}));
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

} // namespace detail

TWILL_BODY Safetensors parse_safetensors(std::string_view where, std::span<const std::byte> bytes,
                                         const std::shared_ptr<const void>& owner) {
  std::uint64_t length = 0;
  if (bytes.size() >= sizeof(length)) std::memcpy(&length, bytes.data(), sizeof(length));
  if (bytes.size() < sizeof(length) || length > bytes.size() - sizeof(length) || length > max_header_bytes)
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
    if (tensor.name == "__metadata__") throw ValueError("save_safetensors: '__metadata__' cannot name a tensor");
    if (tensor.dtype == DType::complex128)
      throw ValueError(join_text({"save_safetensors: '", tensor.name,
                                  "' is complex128, which the format does not have; convert it to complex64"}));
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
  if (length > max_header_bytes)
    throw ValueError(
        join_text({"save_safetensors: the header has ", length, " bytes, readers accept at most ", max_header_bytes}));
  sort_stably(parts_, [](const Part& a, const Part& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < parts_.size(); ++i)
    if (parts_[i - 1].name == parts_[i].name)
      throw ValueError(join_text({"save_safetensors: '", parts_[i].name, "' is there twice"}));
  // Readers would refuse names that are no UTF-8, for example, so they are refused here.
  static_cast<void>(detail::SafetensorsHeader{"save_safetensors: the header", text, position}.metadata());
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

}}} // namespace twill::v0::io
