#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The safetensors format: eight bytes of length, a JSON header that names each tensor's type, shape and place, then the
// elements. Reading maps the file, so tensors cost memory only where they are looked at; a damaged or hostile file is refused
// before anything is used of it. Writing is atomic. Not in the umbrella: this is the only file of io/ that needs a JSON
// library (nlohmann-json). Source: huggingface.co/docs/safetensors.

#include <twill/core/text.hpp>
#include <twill/io/atomic_file.hpp>
#include <twill/io/mapped_file.hpp>
#include <twill/nn/state_dict.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

static_assert(std::endian::native == std::endian::little, "twill: safetensors: the format is little-endian");

namespace twill::inline v0::io {

/// Free text beside the tensors.
using Metadata = std::vector<std::pair<std::string, std::string>>;

struct Safetensors {
  nn::StateDict tensors{};
  Metadata metadata{};
};

} // namespace twill::inline v0::io

namespace twill::inline v0::io::detail {

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

/// Where a file's tensor lies.
struct Place {
  std::string name{};
  DType dtype = DType::float32;
  Dims shape{};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Header {
public:
  Header(std::string_view path, std::string_view text) : path_{path} {
    const nlohmann::json parsed = parse(text);
    if (!parsed.is_object()) refuse("the header is no object");
    for (const auto& [name, entry] : parsed.items()) {
      if (name == "__metadata__")
        read_metadata(entry);
      else
        places.push_back(place_of(name, entry));
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::pair{a.begin, a.end} < std::pair{b.begin, b.end};
    });
  }

  /// All bytes belong to exactly one tensor.
  void require_tiling(std::uint64_t bytes) const {
    std::uint64_t position = 0;
    for (const Place& place : places) {
      if (place.begin != position)
        refuse(join_text({"'", place.name, "' begins at ", place.begin, ", the tensor before it ends at ", position}));
      position = place.end;
    }
    if (position != bytes) refuse(join_text({"tensors take ", position, " bytes, the file has ", bytes}));
  }

  std::vector<Place> places{};
  Metadata metadata{};

  [[noreturn]] void refuse(std::string_view why) const {
    throw ValueError(join_text({"load_safetensors: '", path_, "' is damaged: ", why}));
  }

private:
  /// Refuses names that stand twice, which the library would merge.
  [[nodiscard]] nlohmann::json parse(std::string_view text) const {
    std::vector<std::vector<std::string>> names{};
    const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
      using Event = nlohmann::json::parse_event_t;
      if (event == Event::object_start) names.emplace_back();
      if (event == Event::object_end) names.pop_back();
      if (names.size() > 3) refuse("the header is nested too deeply");
      if (event == Event::key) {
        const auto& name = value.get_ref<const std::string&>();
        auto& known = names.back();
        const auto place = std::lower_bound(known.begin(), known.end(), name);
        if (place != known.end() && *place == name) refuse("'" + name + "' is there twice");
        known.insert(place, name);
      }
      return true;
    };
    try {
      return nlohmann::json::parse(text, watch);
    } catch (const nlohmann::json::exception& error) {
      refuse(join_text({"the header is no JSON: ", error.what()}));
    }
  }

  void read_metadata(const nlohmann::json& entry) {
    if (!entry.is_object()) refuse("the metadata is no object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) refuse("the metadata '" + key + "' is no text");
      metadata.emplace_back(key, value.get<std::string>());
    }
  }

  [[nodiscard]] Place place_of(const std::string& name, const nlohmann::json& entry) const {
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
        !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
        entry["data_offsets"].size() != 2)
      refuse("'" + name + "' lacks its dtype, shape or data_offsets");
    Place place{.name = name};
    const auto& type = entry["dtype"].get_ref<const std::string&>();
    const auto known = std::find_if(format_names.begin(), format_names.end(),
                                    [&](const FormatName& format) { return format.text == type; });
    if (known == format_names.end())
      throw ValueError(
          join_text({"load_safetensors: '", path_, "': '", name, "' has type ", type, ", which twill does not have"}));
    place.dtype = known->dtype;
    if (entry["shape"].size() > max_rank)
      throw ValueError(join_text({"load_safetensors: '", path_, "': '", name, "' has ", entry["shape"].size(),
                                  " dimensions, tensors have at most ", max_rank}));
    std::uint64_t bytes = size_of(place.dtype);
    for (const nlohmann::json& extent : entry["shape"]) {
      const std::uint64_t count = number(name, extent);
      if (__builtin_mul_overflow(bytes, count, &bytes))
        refuse("'" + name + "' has more bytes than there are addresses");
      place.shape[place.shape.rank++] = static_cast<std::int64_t>(count);
    }
    place.begin = number(name, entry["data_offsets"][0]);
    place.end = number(name, entry["data_offsets"][1]);
    if (place.end < place.begin || place.end - place.begin != bytes)
      refuse(join_text(
          {"'", name, "' has ", bytes, " bytes by its shape, its place is ", place.begin, " to ", place.end}));
    return place;
  }

  [[nodiscard]] std::uint64_t number(const std::string& name, const nlohmann::json& value) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::uint64_t{1} << 62)
      refuse("'" + name + "' has an extent or a place that is no count");
    return value.get<std::uint64_t>();
  }

  std::string_view path_;
};

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

/// The tensors of a file, in the order in which they lie there. They share the mapped file, which lasts as long as they do.
/// throws: SystemError when it cannot be read, ValueError naming what is wrong with it
[[nodiscard]] inline Safetensors load_safetensors(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> all = file->bytes();
  constexpr std::uint64_t most_header_bytes = 100'000'000; // as the format's own library has it
  std::uint64_t length = 0;
  if (all.size() >= sizeof(length)) std::memcpy(&length, all.data(), sizeof(length));
  if (all.size() < sizeof(length) || length > all.size() - sizeof(length) || length > most_header_bytes)
    throw ValueError(join_text(
        {"load_safetensors: '", path, "' is damaged: a header of ", length, " bytes in a file of ", all.size()}));
  const char* const text = reinterpret_cast<const char*>(all.data()) + sizeof(length);
  const detail::Header header{path, {text, static_cast<std::size_t>(length)}};
  const std::span<const std::byte> elements = all.subspan(sizeof(length) + static_cast<std::size_t>(length));
  header.require_tiling(elements.size());
  std::vector<nn::StateDict::Entry> entries{};
  for (const detail::Place& place : header.places)
    entries.emplace_back(place.name,
                         nn::StoredTensor{place.dtype, place.shape,
                                          elements.subspan(static_cast<std::size_t>(place.begin),
                                                           static_cast<std::size_t>(place.end - place.begin)),
                                          file});
  return {nn::StateDict{std::move(entries)}, header.metadata};
}

/// Writes tensors in their order; the file appears whole or not at all. throws: SystemError
inline void save_safetensors(const std::string& path, const nn::StateDict& tensors, const Metadata& metadata = {}) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto& [key, value] : metadata) header["__metadata__"][key] = value;
  std::uint64_t position = 0;
  for (const auto& [name, tensor] : tensors.entries()) {
    if (name == "__metadata__") throw ValueError("save_safetensors: '__metadata__' is no name for a tensor");
    nlohmann::ordered_json& entry = header[name];
    entry["dtype"] = detail::format_names[static_cast<std::size_t>(tensor.dtype)].text;
    entry["shape"] = nlohmann::ordered_json::array();
    for (int axis = 0; axis < tensor.shape.rank; ++axis) entry["shape"].push_back(tensor.shape[axis]);
    entry["data_offsets"] = {position, position + tensor.bytes.size()};
    position += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // elements begin at a multiple of eight bytes
  const std::uint64_t length = text.size();
  AtomicFile file{path};
  file.write(std::as_bytes(std::span{&length, 1}));
  file.write(std::as_bytes(std::span{text}));
  for (const auto& entry : tensors.entries()) file.write(entry.second.bytes);
  file.finish();
}

} // namespace twill::inline v0::io
