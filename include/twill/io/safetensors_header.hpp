#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The header of a safetensors file: JSON that names each tensor's type, shape and place, and free text. A hostile header is
// refused before memory is taken for its tensors: one pass keeps 40 bytes a tensor, whose entry has at least 48, and proves
// that names are there once and that places tile the file; only then is anything built. Source:
// huggingface.co/docs/safetensors. Read next: io/safetensors.hpp.

#include <twill/io/checked.hpp>
#include <twill/io/json.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::io {

/// Free text beside the tensors.
using Metadata = std::vector<std::pair<std::string, std::string>>;

} // namespace twill::inline v0::io

namespace twill::inline v0::io::detail {

inline constexpr std::uint64_t most_header_bytes = 100'000'000; ///< as the format's own library has it
inline constexpr std::size_t most_metadata = 4096;   ///< a file of more would take more memory than it has bytes
inline constexpr std::size_t least_entry_bytes = 48; ///< `"":{"dtype":"U8","shape":[],"data_offsets":[0,1]}`

struct FormatName {
  std::string_view text;
  DType dtype;
};
inline constexpr std::array<FormatName, 8> format_names{{{"BOOL", DType::boolean},
                                                         {"U8", DType::uint8},
                                                         {"I32", DType::int32},
                                                         {"I64", DType::int64},
                                                         {"F16", DType::float16},
                                                         {"BF16", DType::bfloat16},
                                                         {"F32", DType::float32},
                                                         {"F64", DType::float64}}};

/// Where a file's tensor lies, and where the header speaks of it.
struct Place {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t hash = 0; ///< of the name
  std::uint32_t name_at = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t shape_at = 0;
  std::uint32_t type_at = 0;
};

class SafetensorsHeader {
public:
  /// Proves the header of a file that has so many bytes of elements. throws: ValueError
  SafetensorsHeader(std::string_view where, std::string_view text, std::uint64_t element_bytes)
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

  /// The tensors, in the order in which they lie in the file.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] std::string name_of(const Place& place) const { return JsonReader{where_, text_}.unquoted(raw(place)); }
  /// As the file names it.
  [[nodiscard]] std::string_view type_of(const Place& place) const {
    return JsonReader{where_, text_.substr(place.type_at)}.quoted();
  }
  /// Nothing for one that twill does not have.
  [[nodiscard]] std::optional<DType> dtype_of(const Place& place) const {
    const std::string_view type = type_of(place);
    for (const FormatName& format : format_names)
      if (format.text == type) return format.dtype;
    return std::nullopt;
  }
  [[nodiscard]] Dims shape_of(const Place& place) const {
    JsonReader json{where_, text_.substr(place.shape_at)};
    return read_shape(json, place);
  }

  [[nodiscard]] Metadata metadata() const {
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

private:
  [[noreturn]] void refuse(std::string_view why) const { throw ValueError(join_text({where_, " is damaged: ", why})); }
  [[nodiscard]] std::string_view raw(const Place& place) const { return text_.substr(place.name_at, place.name_bytes); }

  /// How many tensors there can be: each says its dtype, and no text within quotes can contain quotes.
  [[nodiscard]] static std::size_t most_tensors(std::string_view text) {
    constexpr std::string_view field = "\"dtype\"";
    std::size_t count = 0;
    for (std::size_t at = text.find(field); at != std::string_view::npos; at = text.find(field, at + field.size()))
      ++count;
    return std::min(count, text.size() / least_entry_bytes);
  }

  void read_metadata(JsonReader& json) {
    if (metadata_at_ != 0) refuse("'__metadata__' is there twice");
    metadata_at_ = json.position();
    std::size_t count = 0;
    json.object([&](std::string_view) {
      static_cast<void>(json.quoted());
      if (++count > most_metadata) refuse(join_text({"it has more than ", most_metadata, " pieces of metadata"}));
    });
  }

  [[nodiscard]] Place read_place(JsonReader& json, std::string_view name) const {
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

  [[nodiscard]] Dims read_shape(JsonReader& json, const Place& place) const {
    Dims shape{};
    json.array([&] {
      if (shape.rank == max_rank)
        throw ValueError(join_text(
            {where_, ": '", raw(place), "' has more dimensions than ", max_rank, ", the most a tensor can have"}));
      shape[shape.rank++] = static_cast<std::int64_t>(json.count());
    });
    return shape;
  }

  void refuse_same_names() {
    // equal names have equal hashes; only then, which is rare, are they looked at
    std::sort(places_.begin(), places_.end(), [&](const Place& a, const Place& b) {
      return a.hash != b.hash ? a.hash < b.hash : raw(a) != raw(b) && name_of(a) < name_of(b);
    });
    for (std::size_t i = 1; i < places_.size(); ++i)
      if (places_[i - 1].hash == places_[i].hash && name_of(places_[i - 1]) == name_of(places_[i]))
        refuse(join_text({"'", name_of(places_[i]), "' is there twice"}));
  }

  /// All bytes belong to exactly one tensor.
  void require_tiling(std::uint64_t bytes) const {
    std::uint64_t position = 0;
    for (const Place& place : places_) {
      if (place.begin != position)
        refuse(
            join_text({"'", name_of(place), "' begins at ", place.begin, ", the tensor before it ends at ", position}));
      position = place.end;
    }
    if (position != bytes) refuse(join_text({"tensors take ", position, " bytes, the file has ", bytes}));
  }

  std::string_view where_;
  std::string_view text_;
  std::vector<Place> places_{};
  std::size_t metadata_at_ = 0;
};

} // namespace twill::inline v0::io::detail
