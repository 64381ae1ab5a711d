#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint of a training run in one file: states in sections ("model", "optimiser"), and numbers and texts of the
// user's own. The file is a safetensors file, which other tools open, with a checksum of everything in it: one changed
// bit is found before anything is used. Read next: io/checkpoint_folder.hpp, io/training.hpp.

#include <twill/core/config.hpp>
#include <twill/io/safetensors.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

/// Tensors in named sections, and named values: all that a program needs to go on bit for bit.
class Checkpoint {
public:
  /// Adds a state, whose tensors are shared, not copied. throws: ValueError for a section that is there, or a tensor of
  /// a foreign type
  void add(std::string_view section, const nn::StateDict& state);
  /// Whether a section was added or loaded, even an empty one.
  [[nodiscard]] bool has(std::string_view section) const;
  /// The state of a section. throws: ValueError listing the sections
  [[nodiscard]] nn::StateDict state(std::string_view section) const;

  /// Sets a number or a text; an earlier one of this name is overwritten. Floating numbers keep every bit.
  template <std::integral T> void set(std::string_view name, T value) {
    values_.insert_or_assign(std::string{name}, join_text({"i", static_cast<std::int64_t>(value)}));
  }
  void set(std::string_view name, double value);
  void set(std::string_view name, std::string_view text);
  void set(std::string_view name, const char* text) { set(name, std::string_view{text}); }

  /// Whether there is a value of this name.
  [[nodiscard]] bool has_value(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// An integer. throws, like the two below: ValueError listing the names, or giving the value of another kind
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  /// A floating number.
  [[nodiscard]] double number(std::string_view name) const { return number<double>(name, 'f', "a floating number"); }
  /// A text.
  [[nodiscard]] std::string text(std::string_view name) const { return value(name, 't', "a text"); }

  /// All tensors, named "section/name".
  [[nodiscard]] std::span<const nn::StateDict::Entry> tensors() const { return tensors_; }
  /// The names of all sections, in their order.
  [[nodiscard]] const std::vector<std::string>& sections() const { return sections_; }
  /// All values as they are written: the letter of the kind, then the text.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

private:
  friend Checkpoint parse_checkpoint(std::string_view, std::span<const std::byte>, const std::shared_ptr<const void>&);

  [[nodiscard]] static std::string listed(const std::vector<std::string>& names);
  [[nodiscard]] std::string value(std::string_view name, char kind, std::string_view wanted) const;
  template <class T> [[nodiscard]] T number(std::string_view name, char kind, std::string_view wanted) const {
    const std::string text = value(name, kind, wanted);
    T result{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc{} || end != text.data() + text.size())
      throw ValueError(join_text({"checkpoint: '", name, "' is '", text, "', not ", wanted}));
    return result;
  }

  std::vector<std::string> sections_{};                      ///< sorted
  std::vector<nn::StateDict::Entry> tensors_{};              ///< "section/name"
  std::map<std::string, std::string, std::less<>> values_{}; ///< with a letter for the kind in front
};

namespace detail {

/// The checksum of bytes in parts, XXH64 with seed 0 in 16 hexadecimal digits, so any tool with that algorithm can
/// verify a file.
[[nodiscard]] std::string checksum_of(const std::vector<std::span<const std::byte>>& parts);

/// No text in JSON can contain these quotes, so the checksum follows them.
inline constexpr std::string_view checksum_mark = "\"twill.checksum\":\"";
inline constexpr std::string_view no_checksum = "0000000000000000";

} // namespace detail

/// Writes a checkpoint; the file appears whole or not at all. throws: SystemError
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// The checkpoint in the bytes of a file that `owner` keeps. throws: ValueError naming the damage
[[nodiscard]] Checkpoint parse_checkpoint(std::string_view where, std::span<const std::byte> bytes,
                                          const std::shared_ptr<const void>& owner);

/// Reads a checkpoint, whose tensors share the mapped file. throws: SystemError when it cannot be read, ValueError
/// naming the damage
[[nodiscard]] Checkpoint load_checkpoint(const std::string& path);

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/checkpoint.ipp>
#endif
