#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of a program's lines, one lane of a thread at a time: every line's value is a scalar in a register,
// computed by the host's definitions (kernel/apply.hpp). Loaded words wait in `Leaves`, values to be stored gather in
// `Results`. The kernels of all shapes call these functions for the lines that they need, lane by lane. Read next:
// kernel/gpu/elementwise.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/philox.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/leaves.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// A list of line numbers.
template <int... I> using Numbers = std::integer_sequence<int, I...>;
template <int Count> using All = std::make_integer_sequence<int, Count>;

namespace detail {

template <int Count> struct Listed {
  std::array<int, static_cast<std::size_t>(Count)> numbers{};
  int count = 0;
};

template <class Rule, int Count> [[nodiscard]] consteval Listed<Count> listed_by() {
  Listed<Count> list{};
  for (int i = 0; i < Count; ++i)
    if (Rule::wants(i)) list.numbers[static_cast<std::size_t>(list.count++)] = i;
  return list;
}

template <class P, class Rule> struct Selection {
  static constexpr auto listed = listed_by<Rule, static_cast<int>(summary_of<P>.lines.size())>();
  template <int... K> static auto numbers(Numbers<K...>) -> Numbers<listed.numbers[static_cast<std::size_t>(K)]...>;
  using type = decltype(numbers(std::make_integer_sequence<int, listed.count>{}));
};

} // namespace detail

/// The value of line I.
template <int I, class T> struct ValueSlot { T value{}; };
template <int I, class T> [[nodiscard]] constexpr T& value_of(ValueSlot<I, T>& slot) { return slot.value; }
template <int I, class T> [[nodiscard]] constexpr const T& value_of(const ValueSlot<I, T>& slot) { return slot.value; }

/// The words of line I.
template <int I, class T, int Lanes> struct WordSlot { Words<T, Lanes> words{}; };
template <int I, class T, int Lanes> [[nodiscard]] constexpr Words<T, Lanes>& words_of(WordSlot<I, T, Lanes>& slot) {
  return slot.words;
}
template <int I, class T, int Lanes>
[[nodiscard]] constexpr const Words<T, Lanes>& words_of(const WordSlot<I, T, Lanes>& slot) {
  return slot.words;
}

/// A block of random bits, which neighbouring lanes share.
struct DrawnBlock {
  std::uint64_t seed = 0, block = 0;
  std::uint32_t step = 0, node = 0;
  std::uint32_t words[4]{};
  bool is_drawn = false;

  [[nodiscard]] constexpr float uniform(std::int64_t new_seed, std::int64_t new_step, std::int64_t new_node,
                                        std::int64_t index) {
    const auto bits = static_cast<std::uint64_t>(new_seed);
    const std::uint64_t new_block = static_cast<std::uint64_t>(index) / 4;
    const auto lower_step = static_cast<std::uint32_t>(new_step), lower_node = static_cast<std::uint32_t>(new_node);
    if (!is_drawn || block != new_block || seed != bits || step != lower_step || node != lower_node) {
      const auto drawn = philox4x32(
          {static_cast<std::uint32_t>(new_block), static_cast<std::uint32_t>(new_block >> 32), lower_node, lower_step},
          {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
      words[0] = drawn[0], words[1] = drawn[1], words[2] = drawn[2], words[3] = drawn[3];
      seed = bits, block = new_block, step = lower_step, node = lower_node;
      is_drawn = true;
    }
    // chosen by comparisons: an index would send the words through memory
    const auto place = static_cast<std::uint32_t>(index) % 4;
    return uniform_from_bits(place < 2 ? (place == 0 ? words[0] : words[1]) : (place == 2 ? words[2] : words[3]));
  }
};

/// A program's lines in the form that the GPU's kernels need.
template <class P> struct Lines {
  static constexpr int count = static_cast<int>(summary_of<P>.lines.size());
  static constexpr int operands = summary_of<P>.operands;
  /// Elements of a chunk.
  static constexpr int lanes = chunk_elements(summary_of<P>.lines.data(), count);

  [[nodiscard]] static consteval Line line(int i) { return summary_of<P>.lines[static_cast<std::size_t>(i)]; }
  /// The type of a line's elements in memory.
  template <int I> using Element = scalar_t<line(I).type>;
  /// The type in which a line is computed.
  template <int I> using Computed = compute_t<Element<I>>;

  /// The lines that a rule selects, `static consteval bool Rule::wants(int line)`, as `Numbers<...>`.
  template <class Rule> using Where = typename detail::Selection<P, Rule>::type;

  struct IsInput {
    static consteval bool wants(int i) { return line(i).kind == LineKind::input; }
  };
  struct IsOutput {
    static consteval bool wants(int i) { return line(i).kind == LineKind::output && !line(i).column; }
  };
  struct IsDraw {
    static consteval bool wants(int i) {
      return line(i).kind == LineKind::step && line(i).primitive == Primitive::random_uniform;
    }
  };
  /// Lines computed lane by lane in an elementwise kernel, in order.
  struct IsValue {
    static consteval bool wants(int i) { return line(i).kind < LineKind::reduce; }
  };
  /// Lines with an address or a number of their own that moves along the grid.
  struct IsMoving {
    static consteval bool wants(int i) { return line(i).operand >= 0 && line(i).kind != LineKind::immediate; }
  };
  using Inputs = Where<IsInput>;
  using Outputs = Where<IsOutput>;
  using Draws = Where<IsDraw>;
  using Values = Where<IsValue>;
  using Moving = Where<IsMoving>;

  template <class Lines> struct WordFile;
  template <int... I> struct WordFile<Numbers<I...>> : WordSlot<I, Element<I>, lanes>... {};
  /// The loaded words of a chunk.
  using Leaves = WordFile<Inputs>;
  /// The words of a chunk to be stored.
  using Results = WordFile<Outputs>;

  template <class Lines, class Drawing> struct ValueFile;
  template <int... I, int... D>
  struct ValueFile<Numbers<I...>, Numbers<D...>> : ValueSlot<I, Computed<I>>..., ValueSlot<-1 - D, DrawnBlock>... {};
  /// The values of one lane. The block of a random draw stays in it from lane to lane.
  using Lane = ValueFile<All<count>, Draws>;

  /// Points the cursor at a chunk, for the lines that move. Past the end, without any access, it stays at the start.
  template <int... I>
  static constexpr void locate(ChunkCursor<operands>& cursor, Place& place, const Parameters<operands>& parameters,
                               std::uint32_t chunk, Numbers<I...>) {
    const Walk& walk = parameters.walk;
    const bool exists = chunk < walk.chunks;
    std::uint32_t rest = exists ? chunk : 0;
    std::uint32_t column = rest;
    Offsets offsets{};
    TWILL_NO_UNROLL
    for (int d = 0; d + 1 < walk.rank; ++d) {
      const std::uint32_t next = walk.extents[d].quotient(rest);
      const std::uint32_t digit = rest - next * walk.extents[d].value;
      if (d == 0) column = digit;
      ((offsets.at[line(I).operand] +=
        static_cast<std::int32_t>(digit) * parameters.operands[line(I).operand].strides[d]),
       ...);
      rest = next;
    }
    ((offsets.at[line(I).operand] +=
      static_cast<std::int32_t>(rest) * parameters.operands[line(I).operand].strides[walk.rank - 1]),
     ...);
    place.first = static_cast<std::int32_t>(column) * walk.lead;
    place.remaining = exists ? walk.length - place.first : 0;
    place.is_full = (lanes - 1) * walk.spacing < place.remaining;
    (point<I>(cursor, parameters.operands[line(I).operand], offsets.at[line(I).operand]), ...);
  }

  /// Issues the loads of input I.
  template <int I, Path Form>
  static constexpr void load(Leaves& leaves, const ChunkCursor<operands>& cursor,
                             const Parameters<operands>& parameters, const Place& place) {
    constexpr Line own = line(I);
    load_chunk<own.access, Form>(words_of<I>(leaves), cursor.at[own.operand], parameters.operands[own.operand],
                                 parameters.walk, place);
  }
  /// Waits for input I, if necessary.
  template <int I> static constexpr void settle(Leaves& leaves, const Parameters<operands>& parameters) {
    constexpr Line own = line(I);
    spread<own.access>(words_of<I>(leaves), parameters.operands[own.operand]);
  }

  /// The value of line I, not a reduction or an output, for a lane.
  template <int I, Path Form>
  static constexpr void compute(Lane& lane, const Leaves& leaves, const ChunkCursor<operands>& cursor,
                                const Parameters<operands>& parameters, const Place& place, int number) {
    constexpr Line own = line(I);
    if constexpr (own.kind == LineKind::input) {
      value_of<I>(lane) = static_cast<Computed<I>>(element(words_of<I>(leaves), number));
    } else if constexpr (own.kind == LineKind::immediate) {
      value_of<I>(lane) = immediate<I>(parameters);
    } else if constexpr (own.kind == LineKind::iota) {
      const OperandParameters& operand = parameters.operands[own.operand];
      value_of<I>(lane) = cursor.number[own.operand];
      if (Form == Path::plain || is_alive(parameters.walk, place, number))
        value_of<I>(lane) += lane_offset<Form>(operand, parameters.walk, place, number);
    } else if constexpr (own.kind == LineKind::gather) {
      const OperandParameters& operand = parameters.operands[own.operand];
      value_of<I>(lane) = Computed<I>{};
      if (Form == Path::plain || is_alive(parameters.walk, place, number))
        value_of<I>(lane) = static_cast<Computed<I>>(read_element<Element<I>>(
            cursor.at[own.operand],
            value_of<own.arguments[0]>(lane) + lane_offset<Form>(operand, parameters.walk, place, number)));
    } else {
      derive<I>(lane);
    }
  }

  /// The value of line I, a step or a conversion, from earlier lines'.
  template <int I> static constexpr void derive(Lane& lane) {
    constexpr Line own = line(I);
    if constexpr (own.kind == LineKind::cast) {
      value_of<I>(lane) = cast_element<Element<I>>(value_of<own.arguments[0]>(lane));
    } else if constexpr (plan_of<P>.lines[I].reciprocal) { // by a value that the row shares
      value_of<I>(lane) = value_of<own.arguments[0]>(lane) * (Computed<I>{1} / value_of<own.arguments[1]>(lane));
    } else {
      value_of<I>(lane) = step<I>(lane, std::make_integer_sequence<int, own.arity>{});
    }
  }

  /// The value of an immediate.
  template <int I> [[nodiscard]] static constexpr Computed<I> immediate(const Parameters<operands>& parameters) {
    return static_cast<Computed<I>>(element_of_bits<Element<I>>(parameters.operands[line(I).operand].bits));
  }

  /// Puts a lane's value of output I among the results.
  template <int I> static constexpr void keep(Results& results, const Lane& lane, int number) {
    set_element(words_of<I>(results), number, static_cast<Element<I>>(value_of<line(I).arguments[0]>(lane)));
  }
  /// Stores output I.
  template <int I, Path Form>
  static constexpr void store(const Results& results, const ChunkCursor<operands>& cursor,
                              const Parameters<operands>& parameters, const Place& place) {
    constexpr Line own = line(I);
    store_chunk<Form>(words_of<I>(results), cursor.at[own.operand], parameters.operands[own.operand], parameters.walk,
                      place);
  }

private:
  struct Offsets {
    std::int32_t at[operands == 0 ? 1 : operands]{};
  };

  template <int I>
  static constexpr void point(ChunkCursor<operands>& cursor, const OperandParameters& operand, std::int32_t offset) {
    constexpr int own = line(I).operand;
    const std::int64_t distance = operand.mode == Mode::indexed ? 0 : offset;
    if constexpr (line(I).kind == LineKind::iota)
      cursor.number[own] = static_cast<std::int64_t>(operand.bits) + distance;
    else
      cursor.at[own] = operand.data + distance * static_cast<std::int64_t>(sizeof(Element<I>));
  }
  /// The value of a step, of those of its operands.
  template <int I, int... A> static constexpr auto step(Lane& lane, Numbers<A...>) {
    constexpr Line own = line(I);
    if constexpr (IsDraw::wants(I))
      return value_of<-1 - I>(lane).uniform(value_of<own.arguments[A]>(lane)...);
    else
      return kernel::apply<own.primitive>(value_of<own.arguments[A]>(lane)...);
  }
};

}}}} // namespace twill::v0::kernel::gpu
