#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Records of a graph's inputs, weights and run-time scalars, by name. Names are short fixed texts, because they are
// part of constexpr data. Read next: graph/graph.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/graph/extent.hpp>
#include <twill/kernel/rank_group.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

/// A name of at most 63 characters, usable in constant evaluation and as part of constexpr data. It carries a hash,
/// because tracing would spend most of its steps on comparing characters.
struct Name {
  std::array<char, 64> characters{}; ///< the first `size` of them
  std::uint64_t hash = 0;            ///< of the characters
  std::uint8_t size = 0;             ///< at most 63
  bool truncated = false;            ///< the text was longer

  constexpr Name() = default;
  /// Copies a text; a text that is too long is cut, and `truncated` is set.
  constexpr explicit Name(std::string_view text) { append(text); }

  /// Appends a text.
  TWILL_CONSTEXPR void append(std::string_view text) {
    char* const to = characters.data();
    const char* const from = text.data();
    const std::size_t length = text.size();
    for (std::size_t i = 0; i < length; ++i) {
      if (size == 63) {
        truncated = true;
        return;
      }
      to[size++] = from[i];
      hash = hash * prime + static_cast<unsigned char>(from[i]) + 1;
    }
  }
  /// Appends a number in decimal digits.
  TWILL_CONSTEXPR void append_number(std::int64_t number) {
    if (number >= 10) append_number(number / 10);
    const char digit = static_cast<char>('0' + number % 10);
    append(std::string_view{&digit, 1});
  }
  /// Keeps the first characters.
  TWILL_CONSTEXPR void shorten(std::size_t new_size) {
    const Name longer = *this;
    *this = Name{longer.view().substr(0, new_size)};
  }
  /// The text.
  [[nodiscard]] constexpr std::string_view view() const { return {characters.data(), size}; }
  [[nodiscard]] friend constexpr bool operator==(const Name& left, const Name& right) {
    if (left.hash != right.hash || left.size != right.size) return false;
    const char* const a = left.characters.data();
    const char* const b = right.characters.data();
    const int length = left.size;
    for (int i = 0; i < length; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

private:
  static constexpr std::uint64_t prime = 0x100000001b3;
};

/// Initial values of a parameter, drawn when a network is made. Each kind says what `a` to `d` mean. Fans are those of
/// the shape: its second extent (fan in) or its first (fan out), times the product of all further ones.
struct Initialiser {
  /// The distribution, or the pattern.
  enum class Kind : std::uint8_t {
    constant,         ///< every element is a
    uniform,          ///< between a and b
    normal,           ///< mean a, standard deviation b
    uniform_fan_in,   ///< between -b / sqrt(a) and b / sqrt(a), where a counts the inputs of one output
    normal_fan_in,    ///< mean 0, standard deviation b / sqrt(a)
    uniform_by_fan,   ///< between -a sqrt(3 / fan) and a sqrt(3 / fan); b: a `Fan`
    normal_by_fan,    ///< mean 0, standard deviation a / sqrt(fan); b: a `Fan`
    truncated_normal, ///< mean a, standard deviation b, drawn again until it is between c and d
    orthogonal,       ///< rows, or columns where there are more rows, of length a at right angles
    identity,         ///< one where both indices are equal
    dirac,            ///< the identity at the centre of convolution kernels, in a groups
    layers_own,       ///< the layer's default
    norms_of_next,    ///< the norms of the first values of the next weight's slices along axis a; -1: of all of them
  };
  /// Which fan counts.
  enum class Fan : std::uint8_t { in, out, mean };

  Kind kind = Kind::constant;  ///< what `a` to `d` mean
  double a = 0;                ///< as the kind says
  double b = 0;                ///< as the kind says
  double c = 0;                ///< as the kind says
  double d = 0;                ///< as the kind says
  std::int64_t first_zero = 0; ///< `zeros` elements from here on are zero
  std::int64_t zeros = 0;      ///< how many
};

/// The purpose of a stored tensor of a graph.
enum class Role : std::uint8_t {
  weight,
  frozen_weight,
  buffer, ///< written by the model itself, such as running statistics
  optimiser_state,
};

/// The part of a larger tensor that each rank along an axis holds: the `axis.size` parts of one dimension go to the
/// ranks in order. With several blocks, such as the queries, keys and values of one weight, each is divided like this.
struct ShardInfo {
  kernel::AxisId axis{};
  int dimension = 0;
  int blocks = 1;

  [[nodiscard]] constexpr bool is_part() const { return axis.size > 0; }
};

/// A part of a function whose values are split along an axis, each rank computing its part: draws are that part of the
/// whole's draws, and gradients of its weights add up over the ranks.
struct SplitInfo {
  kernel::AxisId ranks{};
  int axis = 0;
  bool sums_weights = false;
};

struct ParameterInfo {
  Name name{};
  DType dtype = DType::float32;
  Extents shape{};
  Initialiser initialiser{};
  Role role = Role::weight;
  bool is_updated = false; ///< buffers: the trace has set their next value
  int node = -1;
  ShardInfo shard{}; ///< `shape` is that of one rank's part
  int slot = 0;      ///< of the device that stores it, see graph/slots.hpp
};

/// The kind of mark of an observed value.
enum class TapKind : std::uint8_t {
  value,        ///< marked by `tap`
  layer_input,  ///< of the layer of this name
  layer_output, ///< of the layer of this name
};

/// A value that is observed. The kernel that computes it copies it into memory of its own, so other readers of the
/// value are not affected.
struct TapInfo {
  Name name{};     ///< of the mark, or of the layer
  int node = -1;   ///< in tables: the value
  int number = -1; ///< of what the model marks, which it shares with its gradient, or with all parts of it
  TapKind kind = TapKind::value; ///< the kind of mark
  bool is_gradient = false;      ///< with respect to it
  bool is_copied = false;        ///< stands for another tap in a part that is computed again, and is shown by that one
};

struct InputInfo {
  DType dtype = DType::float32;
  Extents shape{};
  int node = -1;
  bool is_channels_last = false; ///< traced as (batch, channels, ...), handed in with the channels last
  int slot = 0;                  ///< of the device that stores it, see graph/slots.hpp
};

/// A loop whose body is traced once: its nodes are contiguous, those that depend on the step among others.
struct LoopInfo {
  Extent count{};        ///< of steps
  bool reversed = false; ///< the first step is that of the last element
  int begin = -1;        ///< the first node of the body
  int end = -1;          ///< after the last; -1 while the body is being traced
  int results_end = -1;  ///< after the stacks, closes and leaves, which follow the body
  int around = -1;       ///< the loop in whose body it was traced, -1 for none
  int depth = 0;         ///< how many loops are around it
};

/// How many loops may be inside of each other.
inline constexpr int most_nested_loops = 4;

/// A part of a function, as a range of nodes, that the backward pass may compute again.
struct RegionInfo {
  int begin = 0;
  int end = 0;
  bool is_recomputed = true;
};

/// A scalar that the caller may change between runs without compiling anything again.
struct RunScalarInfo {
  Name name{};
  DType dtype = DType::float32;
  double initial = 0;
  bool training_only = false; ///< `in_evaluation` holds while a network is in evaluation mode
  double in_evaluation = 0;
  bool is_probability = false; ///< is between 0 and 1
};

/// The least value of a product of extents, checked when they are known; `layer` asks for it, for the reason `what`.
struct Requirement {
  Name layer{};
  Extent extent{};
  std::int64_t minimum = 0;
  std::string_view what{};
};

/// Limits of the integers of an input, checked when they are known: indices of an axis, labels of classes.
struct IntegerBounds {
  Name layer{};            ///< that asks for it
  std::string_view what{}; ///< they are
  int input = -1;
  std::int64_t least = 0;
  bool counts_from_end = false; ///< as far below zero as `end` is above it
  bool may_be_end = false;
  bool has_exception = false; ///< `exception` is allowed as well
  std::int64_t exception = 0;
  Extent end{}; ///< one past the greatest
};

/// A dynamic extent. Two named ones are distinct; an unnamed one may turn out to be the same as another.
struct Symbol {
  Name name{};
};

}}} // namespace twill::v0::graph
