#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The safetensors format: eight bytes of length, a JSON header that names each tensor's type, shape and place, then the
// elements. Reading maps the file, so tensors take memory only where they are looked at; a damaged or hostile file is
// refused before any of it is used. Writing is atomic, at once or tensor by tensor. Source:
// huggingface.co/docs/safetensors. Read next: io/sharded.hpp, io/checkpoint.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/io/atomic_file.hpp>
#include <twill/io/files.hpp>
#include <twill/io/json.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

static_assert(std::endian::native == std::endian::little, "twill: safetensors: the format is little-endian");

namespace twill { inline namespace v0 { namespace io {

/// Free text beside the tensors.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Readers take no longer headers, as the format's own library.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

/// The content of a safetensors file. Tensors of types that twill does not have are bytes: `tensors.foreign()`.
struct Safetensors {
  nn::StateDict tensors{}; ///< names and tensors, in the order of the file
  Metadata metadata{};     ///< texts by name, as the file's header has them
};

/// The tensors in the bytes of a file that `owner` keeps, in the order of the file. `where` begins the messages:
/// "load_safetensors: 'x'". throws: ValueError naming the damage
[[nodiscard]] Safetensors parse_safetensors(std::string_view where, std::span<const std::byte> bytes,
                                            const std::shared_ptr<const void>& owner);

/// The tensors of a file, in its order. They share the mapped file, which lasts as long as they do.
/// throws: SystemError when it cannot be read, ValueError naming the damage
[[nodiscard]] Safetensors load_safetensors(const std::string& path);

/// A tensor of a file before its elements are there.
struct TensorPlan {
  std::string name{};           ///< as in a state dictionary
  DType dtype = DType::float32; ///< of its elements
  Dims shape{};                 ///< its extents
};

/// Writes a file tensor by tensor, in any order and each in one or several pieces, with no more memory than the
/// caller's. The file appears whole at `finish`, or not at all. Tensors of wide elements come first, so each begins at
/// a multiple of its element's size.
class SafetensorsWriter {
public:
  /// throws: SystemError, ValueError for names that cannot be
  SafetensorsWriter(const std::string& path, std::vector<TensorPlan> tensors, const Metadata& metadata = {});

  /// The next bytes of a tensor. throws: SystemError, ValueError for a name that was not planned or too many bytes
  void write(std::string_view name, std::span<const std::byte> bytes);

  /// Everything before the elements.
  [[nodiscard]] const std::string& start() const { return start_; }
  /// The names of the tensors, in the order of the file.
  [[nodiscard]] const std::vector<std::string>& order() const { return order_; }

  /// Overwrites bytes of the header, with a checksum for example.
  void overwrite_start(std::size_t position, std::string_view text) { file_.write_at(position, text); }

  /// Gives the file its name. throws: SystemError, ValueError naming a tensor that lacks bytes
  void finish();

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
[[nodiscard]] std::vector<TensorPlan> plan_of(const nn::StateDict& tensors);

/// Writes tensors; the file appears whole or not at all. throws: SystemError, ValueError for one of a foreign type
void save_safetensors(const std::string& path, const nn::StateDict& tensors, const Metadata& metadata = {});

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/safetensors.ipp>
#endif
