#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// As much JSON as headers of files need: a reader that is asked for what it should find, and quoted text for writers. The
// text may be hostile. Nothing is built of it: a reader is a place in the text, and takes memory only for a string that it is
// asked for, so a header costs no more than itself, and depth is what the caller asks for. Source: RFC 8259.
// Read next: io/safetensors.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace twill::inline v0::io {

class JsonReader {
public:
  /// `where` begins every message: "load_safetensors: 'x'".
  JsonReader(std::string_view where, std::string_view text) : where_{where}, text_{text} {}

  /// Calls `member(raw name)` for each member, which has to read the value; `unquoted` turns the name into text.
  template <class F> void object(F&& member) {
    require('{');
    if (take('}')) return;
    do {
      const std::string_view name = quoted();
      require(':');
      member(name);
    } while (take(','));
    require('}');
  }

  /// Calls `element()` for each element, which has to read it.
  template <class F> void array(F&& element) {
    require('[');
    if (take(']')) return;
    do element();
    while (take(','));
    require(']');
  }

  /// A string as it stands there, without its quotes: valid UTF-8 with valid escapes.
  [[nodiscard]] std::string_view quoted();

  [[nodiscard]] std::string string() { return unquoted(quoted()); }

  /// The text that a raw string stands for.
  [[nodiscard]] std::string unquoted(std::string_view raw) const;

  /// A number without sign, fraction and exponent, 2^62 or a little more at most.
  [[nodiscard]] std::uint64_t count();

  /// Passes over a string, a number, true, false or null; deeper values are refused.
  void skip_simple();

  void end();

  /// How many bytes were read.
  [[nodiscard]] std::size_t position() const { return at_; }
  /// The text from a place on.
  [[nodiscard]] std::string_view from(std::size_t position) const { return text_.substr(position); }
  [[nodiscard]] std::string_view where() const { return where_; }

  [[noreturn]] void refuse(std::string_view why) const;

private:
  void skip_space();
  [[nodiscard]] bool take(char wanted);
  void require(char wanted);
  [[nodiscard]] unsigned char byte();

  [[nodiscard]] std::uint32_t four_digits();

  /// What follows a backslash; appends what it means.
  void escape(std::string* to);

  static void append_utf8(std::string& to, std::uint32_t point);

  /// The rest of a character that begins with `first`.
  void utf8(unsigned char first);

  std::string_view where_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Text in quotes, as JSON writes it.
[[nodiscard]] std::string json_quoted(std::string_view text);

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/json.ipp>
#endif
