#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A JSON reader for the headers of files, which may be hostile, and quoted text for writers (RFC 8259). It is a place
// in the text, not a tree: callers say which value comes next, so it takes no memory beyond the header's bytes, and
// nesting is limited. A JSON library would build a tree of many times that size, and every program with twill in it
// would need the library. Read next: io/safetensors.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace io {

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

  /// The raw text of a string, without its quotes: valid UTF-8 with valid escapes.
  [[nodiscard]] std::string_view quoted();

  /// The text that a raw string stands for.
  [[nodiscard]] std::string unquoted(std::string_view raw) const;

  /// A number without sign, fraction and exponent, below 2^62.
  [[nodiscard]] std::uint64_t count();

  /// Skips a string, a number, true, false or null; deeper values are refused.
  void skip_simple();

  /// throws: ValueError where there is more text
  void end();

  /// How many bytes were read.
  [[nodiscard]] std::size_t position() const { return at_; }
  /// The text from a position on.
  [[nodiscard]] std::string_view from(std::size_t position) const { return text_.substr(position); }

  [[noreturn]] void refuse(std::string_view why) const;

private:
  void skip_space();
  [[nodiscard]] bool take(char wanted);
  void require(char wanted);
  [[nodiscard]] char byte();

  /// Reads an escape after its backslash. Returns the text that it stands for.
  [[nodiscard]] std::string escape();
  [[nodiscard]] std::uint32_t four_digits();

  std::string_view where_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Text in quotes, as JSON writes it.
[[nodiscard]] std::string json_quoted(std::string_view text);

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/json.ipp>
#endif
