#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The safetensors format: eight bytes of length, a JSON header that names each tensor's type, shape and place, then the
// elements. Reading maps the file, so tensors cost memory only where they are looked at; a damaged or hostile file is refused
// before anything is used of it. Writing is atomic, at once or tensor by tensor. Source: huggingface.co/docs/safetensors.
// Read next: io/sharded.hpp, io/checkpoint.hpp.

#include <twill/core/stable_order.hpp>
#include <twill/io/atomic_file.hpp>
#include <twill/io/mapped_file.hpp>
#include <twill/io/safetensors_header.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

static_assert(std::endian::native == std::endian::little, "twill: safetensors: the format is little-endian");

namespace twill::inline v0::io {

/// The content of a safetensors file. Tensors of types that twill does not have are bytes: `tensors.foreign()`.
struct Safetensors {
  nn::StateDict tensors{}; ///< names and tensors, in the order of the file
  Metadata metadata{};     ///< texts by name, as the file's header has them
};

/// The tensors in the bytes of a file that `owner` keeps, in the order in which they lie there. `where` begins the messages:
/// "load_safetensors: 'x'". throws: ValueError naming what is wrong
[[nodiscard]] inline Safetensors parse_safetensors(std::string_view where, std::span<const std::byte> bytes,
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

/// The tensors of a file, in the order in which they lie there. They share the mapped file, which lasts as long as they do.
/// throws: SystemError when it cannot be read, ValueError naming what is wrong with it
[[nodiscard]] inline Safetensors load_safetensors(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return parse_safetensors(join_text({"load_safetensors: '", path, "'"}), file->bytes(), file);
}

/// What a tensor of a file will be, before its elements are there.
struct TensorPlan {
  std::string name{};           ///< as in a state dictionary
  DType dtype = DType::float32; ///< of its elements
  Dims shape{};                 ///< its extents
};

/// Writes a file tensor by tensor, in any order and each in one or several pieces, with no more memory than the caller's. The
/// file appears whole at `finish`, or not at all. Tensors of wide elements lie first, so each begins at a multiple of its
/// element's size.
class SafetensorsWriter {
public:
  /// throws: SystemError, ValueError for names that cannot be
  SafetensorsWriter(const std::string& path, std::vector<TensorPlan> tensors, const Metadata& metadata = {})
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

  /// The next bytes of a tensor. throws: SystemError, ValueError for a name that was not planned or too many bytes
  void write(std::string_view name, std::span<const std::byte> bytes) {
    const auto part = std::lower_bound(parts_.begin(), parts_.end(), name,
                                       [](const Part& a, std::string_view wanted) { return a.name < wanted; });
    if (part == parts_.end() || part->name != name)
      throw ValueError(join_text({"save_safetensors: '", name, "' was not planned"}));
    if (bytes.size() > part->bytes - part->written)
      throw ValueError(join_text(
          {"save_safetensors: '", name, "' has ", part->bytes, " bytes, got ", part->written + bytes.size()}));
    file_.write_at(start_.size() + part->begin + part->written, bytes);
    part->written += bytes.size();
  }

  /// Everything before the elements, and the names of the tensors in the order in which they lie behind it.
  [[nodiscard]] const std::string& start() const { return start_; }
  /// The names, in the order in which they will stand in the file.
  [[nodiscard]] const std::vector<std::string>& order() const { return order_; }

  /// Changes bytes of the header that were left for what is known only now, a checksum for example.
  void overwrite_start(std::size_t position, std::string_view text) { file_.write_at(position, text); }

  /// Puts the file in its place. throws: SystemError, ValueError naming a tensor that lacks bytes
  void finish() {
    for (const Part& part : parts_)
      if (part.written != part.bytes)
        throw ValueError(
            join_text({"save_safetensors: '", part.name, "' has ", part.bytes, " bytes, got ", part.written}));
    file_.finish();
  }

private:
  struct Part {
    std::string name{};
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t written = 0;
  };

  AtomicFile file_;
  std::vector<Part> parts_{}; ///< by name
  std::vector<std::string> order_{};
  std::string start_{};
};

/// The plan of a file of these tensors.
[[nodiscard]] inline std::vector<TensorPlan> plan_of(const nn::StateDict& tensors) {
  std::vector<TensorPlan> plan{};
  for (const auto& [name, tensor] : tensors.entries()) plan.push_back({name, tensor.dtype, tensor.shape});
  return plan;
}

/// Writes tensors; the file appears whole or not at all. throws: SystemError, ValueError for one of a foreign type
inline void save_safetensors(const std::string& path, const nn::StateDict& tensors, const Metadata& metadata = {}) {
  tensors.require_no_foreign("save_safetensors");
  SafetensorsWriter file{path, plan_of(tensors), metadata};
  for (const auto& [name, tensor] : tensors.entries()) file.write(name, tensor.bytes);
  file.finish();
}

} // namespace twill::inline v0::io
