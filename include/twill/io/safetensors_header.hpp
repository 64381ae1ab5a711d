#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The header of a safetensors file: JSON that names each tensor's type, shape and place, and free text. A hostile header is
// refused before memory is taken for its tensors: one pass keeps 40 bytes a tensor, whose entry has at least 48, and proves
// that names are there once and that places tile the file; only then is anything built. Source:
// huggingface.co/docs/safetensors. Read next: io/safetensors.hpp.

#include <twill/core/config.hpp>
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
  SafetensorsHeader(std::string_view where, std::string_view text, std::uint64_t element_bytes);

  /// The tensors, in the order in which they lie in the file.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] std::string name_of(const Place& place) const { return JsonReader{where_, text_}.unquoted(raw(place)); }
  /// As the file names it.
  [[nodiscard]] std::string_view type_of(const Place& place) const;
  /// Nothing for one that twill does not have.
  [[nodiscard]] std::optional<DType> dtype_of(const Place& place) const;
  [[nodiscard]] Dims shape_of(const Place& place) const;

  [[nodiscard]] Metadata metadata() const;

private:
  [[noreturn]] void refuse(std::string_view why) const { throw ValueError(join_text({where_, " is damaged: ", why})); }
  [[nodiscard]] std::string_view raw(const Place& place) const { return text_.substr(place.name_at, place.name_bytes); }

  /// How many tensors there can be: each says its dtype, and no text within quotes can contain quotes.
  [[nodiscard]] static std::size_t most_tensors(std::string_view text);

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

} // namespace twill::inline v0::io::detail

#if TWILL_HEADER_ONLY
#include <twill/io/safetensors_header.ipp>
#endif
