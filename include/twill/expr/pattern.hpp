#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Patterns of products, as values: every axis of every operand and of the result has a label. Axes with one label move
// together, and labels that the result lacks are summed over; matrix products, `tensordot` and `einsum` differ in
// nothing else. Patterns are made from text or from ranks and checked at compile time. Read next:
// expr/contraction_order.hpp, expr/product.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

inline constexpr int max_labels = 32;
inline constexpr int max_factors = 8;

/// A set of labels, one bit each.
using LabelSet = std::uint32_t;

/// The labels of the axes of one tensor.
struct AxisLabels {
  int rank = 0;
  std::array<std::int8_t, max_rank> of{};

  [[nodiscard]] constexpr int operator[](int axis) const { return of[static_cast<std::size_t>(axis)]; }
  constexpr void append(int label) { of[static_cast<std::size_t>(rank++)] = static_cast<std::int8_t>(label); }
  [[nodiscard]] constexpr LabelSet set() const {
    LabelSet labels = 0;
    for (int axis = 0; axis < rank; ++axis) labels |= 1U << (*this)[axis];
    return labels;
  }
};

/// Faults in the text of a pattern.
enum class PatternFault : std::uint8_t {
  none,
  operands,
  rank,
  unknown_letter,
  letter_twice,
  character,
  ellipsis,
  axes
};

struct Pattern {
  int count = 0; ///< of operands
  int labels = 0;
  std::array<AxisLabels, max_factors> operands{};
  AxisLabels result{};
  LabelSet stretched = 0;                 ///< labels along which an extent of 1 is repeated
  std::array<char, max_labels> letters{}; ///< as the text names them; 0 for labels without a letter

  PatternFault fault = PatternFault::none;
  std::int64_t left = 0; ///< the two values that the fault is about
  std::int64_t right = 0;

  [[nodiscard]] constexpr const AxisLabels& operator[](int operand) const {
    return operands[static_cast<std::size_t>(operand)];
  }
  [[nodiscard]] constexpr AxisLabels& operator[](int operand) { return operands[static_cast<std::size_t>(operand)]; }
  [[nodiscard]] constexpr Pattern failed(PatternFault what, std::int64_t first, std::int64_t second = 0) const {
    Pattern faulty = *this;
    faulty.fault = what;
    faulty.left = first;
    faulty.right = second;
    return faulty;
  }
};

/// The place of a word in a text, npos if it is absent. By hand: with a sanitizer the standard one is not a constant.
[[nodiscard]] constexpr std::size_t position_of(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; at + word.size() <= text.size(); ++at) {
    std::size_t same = 0;
    while (same < word.size() && text[at + same] == word[same]) ++same;
    if (same == word.size()) return at;
  }
  return std::string_view::npos;
}

/// Reads "ij,jk->ik", NumPy's language: spaces mean nothing, without an arrow the result has the letters that occur
/// once in alphabetical order, and `...` means leading axes that broadcast.
class PatternReader {
public:
  constexpr PatternReader(std::string_view text, const int* ranks, int count) : text_{text}, ranks_{ranks} {
    pattern_.count = count;
    label_of_.fill(-1);
  }

  [[nodiscard]] constexpr Pattern read() {
    const std::size_t arrow = position_of(text_, "->");
    const bool has_arrow = arrow != std::string_view::npos;
    const std::string_view inputs = has_arrow ? text_.substr(0, arrow) : text_;
    for (const char character : text_)
      if (!is_letter(character) && position_of(" ,.->", {&character, 1}) == std::string_view::npos)
        return pattern_.failed(PatternFault::character, character);
    int written = 1;
    for (const char character : inputs) written += character == ',' ? 1 : 0;
    if (written != pattern_.count) return pattern_.failed(PatternFault::operands, written, pattern_.count);
    // the ellipsis first: its axes get the lowest labels, aligned from the right
    for (int operand = 0; operand < written; ++operand) {
      const std::string_view part = part_of(inputs, operand);
      const int hidden = ranks_[operand] - letters_in(part);
      if (has_ellipsis(part) ? hidden < 0 : hidden != 0)
        return pattern_.failed(PatternFault::rank, letters_in(part), ranks_[operand]);
      if (hidden > ellipsis_) ellipsis_ = hidden;
    }
    pattern_.labels = ellipsis_;
    pattern_.stretched = (1U << ellipsis_) - 1U;
    for (int operand = 0; operand < written; ++operand) {
      const std::string_view part = part_of(inputs, operand);
      if (!read_axes(part, pattern_[operand], ranks_[operand] - letters_in(part), true)) return pattern_;
    }
    if (has_arrow)
      read_result(text_.substr(arrow + 2));
    else
      write_result();
    return pattern_;
  }

private:
  [[nodiscard]] static constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  [[nodiscard]] static constexpr int letters_in(std::string_view part) {
    int count = 0;
    for (const char character : part) count += is_letter(character) ? 1 : 0;
    return count;
  }
  [[nodiscard]] static constexpr bool has_ellipsis(std::string_view part) {
    return position_of(part, "...") != std::string_view::npos;
  }
  [[nodiscard]] static constexpr std::string_view part_of(std::string_view inputs, int operand) {
    for (; operand > 0; --operand) inputs = inputs.substr(position_of(inputs, ",") + 1);
    return inputs.substr(0, position_of(inputs, ","));
  }

  /// False after a fault.
  constexpr bool read_axes(std::string_view part, AxisLabels& axes, int hidden, bool may_define) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const char character = part[i];
      if (character == ' ') continue;
      if (part.substr(i, 3) == "...") {
        for (int distance = hidden; distance > 0; --distance) axes.append(ellipsis_ - distance);
        i += 2;
        continue;
      }
      if (!is_letter(character)) {
        pattern_ = pattern_.failed(PatternFault::character, character);
        return false;
      }
      std::int8_t& label = label_of_[static_cast<std::size_t>(character)];
      if (label < 0) {
        if (!may_define || pattern_.labels == max_labels) {
          pattern_ = pattern_.failed(may_define ? PatternFault::axes : PatternFault::unknown_letter, character);
          return false;
        }
        pattern_.letters[static_cast<std::size_t>(pattern_.labels)] = character;
        label = static_cast<std::int8_t>(pattern_.labels++);
      }
      axes.append(label);
    }
    return true;
  }

  constexpr void read_result(std::string_view part) {
    if (letters_in(part) + (has_ellipsis(part) ? ellipsis_ : 0) > max_rank) {
      pattern_ = pattern_.failed(PatternFault::axes, letters_in(part), max_rank);
      return;
    }
    if (!read_axes(part, pattern_.result, ellipsis_, false)) return;
    if (!has_ellipsis(part) && ellipsis_ > 0) pattern_ = pattern_.failed(PatternFault::ellipsis, ellipsis_);
    LabelSet seen = 0;
    for (int axis = 0; axis < pattern_.result.rank; ++axis) {
      const int label = pattern_.result[axis];
      if ((seen >> label & 1U) != 0)
        pattern_ = pattern_.failed(PatternFault::letter_twice, pattern_.letters[static_cast<std::size_t>(label)]);
      seen |= 1U << label;
    }
  }

  constexpr void write_result() {
    std::array<int, max_labels> uses{};
    for (int operand = 0; operand < pattern_.count; ++operand)
      for (int axis = 0; axis < pattern_[operand].rank; ++axis)
        ++uses[static_cast<std::size_t>(pattern_[operand][axis])];
    const auto append = [&](int label) {
      if (pattern_.result.rank == max_rank)
        pattern_ = pattern_.failed(PatternFault::axes, max_rank + 1, max_rank);
      else
        pattern_.result.append(label);
    };
    for (int label = 0; label < ellipsis_; ++label) append(label);
    for (const std::int8_t label : label_of_)
      if (label >= 0 && uses[static_cast<std::size_t>(label)] == 1) append(label);
  }

  std::string_view text_;
  const int* ranks_;
  int ellipsis_ = 0; ///< axes that `...` means
  Pattern pattern_{};
  std::array<std::int8_t, 128> label_of_{};
};

/// Contracts pairs of axes; the others stay, those of the left operand first.
[[nodiscard]] constexpr Pattern tensordot_pattern(int left, int right, int pairs, const int* left_axes,
                                                  const int* right_axes) {
  Pattern pattern{};
  pattern.count = 2;
  pattern.labels = pairs;
  for (int operand = 0; operand < 2; ++operand) {
    const int* axes = operand == 0 ? left_axes : right_axes;
    for (int axis = 0; axis < (operand == 0 ? left : right); ++axis) {
      int label = -1;
      for (int pair = 0; pair < pairs; ++pair)
        if (axes[pair] == axis) label = pair;
      if (label < 0) {
        label = pattern.labels++;
        if (pattern.result.rank < max_rank) pattern.result.append(label);
      }
      pattern[operand].append(label);
    }
  }
  return pattern;
}

/// The extent of each label.
struct LabelExtents {
  std::array<std::int64_t, max_labels> of{};
  int conflict = -1; ///< a label with two extents
  int operand = 0;   ///< the operand in which it has the second
  std::int64_t left = 0;
  std::int64_t right = 0;

  [[nodiscard]] constexpr std::int64_t operator[](int label) const { return of[static_cast<std::size_t>(label)]; }
};

/// Extents from shapes, in which `dyn` is unknown; with the first conflict.
[[nodiscard]] constexpr LabelExtents extents_of_labels(const Pattern& pattern, const Dims* shapes) {
  LabelExtents extents{};
  extents.of.fill(dyn);
  LabelSet seen = 0;
  for (int operand = 0; operand < pattern.count; ++operand)
    for (int axis = 0; axis < pattern[operand].rank; ++axis) {
      const int label = pattern[operand][axis];
      const std::int64_t given = shapes[operand][axis];
      std::int64_t& known = extents.of[static_cast<std::size_t>(label)];
      const bool is_first = (seen >> label & 1U) == 0;
      seen |= 1U << label;
      const bool stretches = (pattern.stretched >> label & 1U) != 0;
      if (is_first || (stretches && known == 1)) {
        known = given;
      } else if (given == known || given == dyn || (stretches && given == 1)) {
        continue; // as known as before
      } else if (known == dyn) {
        known = given;
      } else {
        extents.conflict = label;
        extents.operand = operand;
        extents.left = known;
        extents.right = given;
        return extents;
      }
    }
  return extents;
}

/// The result's extents.
[[nodiscard]] constexpr Dims result_extents(const Pattern& pattern, const LabelExtents& extents) {
  Dims result{};
  for (int axis = 0; axis < pattern.result.rank; ++axis) result[result.rank++] = extents[pattern.result[axis]];
  return result;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
