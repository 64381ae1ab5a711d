#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The body of a program's loops: one pack of consecutive elements, every line that a stage needs, in order. Values that vary
// along the row live in registers, one slot for each line; values that the row shares are scalars, broadcast where they are
// used. All sizes and kinds are constants here, so what remains after inlining is straight-line vector code.
// Read next: kernel/rows.hpp and kernel/columns.hpp, the loops around it.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/apply_pack.hpp>
#include <twill/kernel/narrow.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// How an output is written.
enum class StoreMode : std::uint8_t { plain, stream, scatter };

/// Where the operands of a row lie: addresses as integers, for `Iota` the number itself.
template <int Operands> struct Cursor {
  std::array<std::int64_t, Operands> at{};
  std::array<std::int64_t, Operands> stride{}; ///< in elements, along the row
  std::array<StoreMode, Operands> mode{};
};

namespace vector_detail {

struct Nothing {};

template <int I, class V> struct Slot { V value; };
template <int I> struct Slot<I, Nothing> {};

template <int I, class V, int Count> struct AccumulatorSlot { V value[Count]; };
template <int I, int Count> struct AccumulatorSlot<I, Nothing, Count> {};

/// The size of the integers in each line's mask; 0 for lines that are not truth values.
template <int Count>
[[nodiscard]] constexpr std::array<int, Count> mask_widths(const Summary<Count>& summary, int lanes) {
  std::array<int, Count> widths{};
  for (int i = 0; i < Count; ++i) {
    const Line& line = summary.lines[static_cast<std::size_t>(i)];
    if (line.type != DType::boolean) continue;
    int width = 0;
    // a `where` takes the size of its values, anything else that of its first varying operand
    const int first = line.kind == LineKind::step && line.primitive == Primitive::where ? 1 : 0;
    for (int a = 0; a < line.arity && width == 0; ++a) {
      const int from = line.arguments[static_cast<std::size_t>((a + first) % line.arity)];
      const Line& argument = summary.lines[static_cast<std::size_t>(from)];
      if (argument.uniform) continue;
      if (argument.type == DType::boolean)
        width = widths[static_cast<std::size_t>(from)];
      else {
        const bool is_narrow = argument.type == DType::float16 || argument.type == DType::bfloat16;
        const int bytes = is_narrow ? 4 : static_cast<int>(size_of(argument.type));
        width = bytes * lanes <= vector_bytes ? bytes : vector_bytes / lanes;
      }
    }
    widths[static_cast<std::size_t>(i)] = width == 0 ? 1 : width;
  }
  return widths;
}

/// Elements of a row from memory, one at a time.
template <class T, int N> [[gnu::noinline]] void gather(T* to, const T* from, std::int64_t stride) {
  for (int i = 0; i < N; ++i) to[i] = from[i * stride];
}
template <class T, int N> [[gnu::noinline]] void scatter(T* to, std::int64_t stride, const T* from) {
  for (int i = 0; i < N; ++i) to[i * stride] = from[i];
}

} // namespace vector_detail

/// Everything that is known of a program when its loops are compiled.
template <class P> struct Body {
  static constexpr auto summary = summary_of<P>;
  static constexpr auto plan = plan_of<P>;
  static constexpr int count = static_cast<int>(summary.lines.size());
  static constexpr int operands = summary.operands > 0 ? summary.operands : 1;
  static constexpr int lanes = vector_bytes / plan.element_bytes;
  static constexpr auto widths = vector_detail::mask_widths(summary, lanes);
  using Indices = std::make_integer_sequence<int, count>;
  using At = Cursor<operands>;

  [[nodiscard]] static constexpr Line line(int i) { return summary.lines[static_cast<std::size_t>(i)]; }
  /// In what a scalar of a line is computed.
  template <int I> using Scalar = compute_t<scalar_t<line(I).type>>;
  /// How a line's elements lie in memory.
  template <int I> using Element = scalar_t<line(I).type>;

  template <int I> static auto vector_type() {
    if constexpr (line(I).kind == LineKind::output)
      return vector_detail::Nothing{};
    else if constexpr (line(I).type == DType::boolean)
      return Mask<lanes, widths[static_cast<std::size_t>(I)]>{};
    else
      return Pack<Scalar<I>, lanes>{};
  }
  template <int I> using Vector = decltype(vector_type<I>());
  template <int I>
  using Register = std::conditional_t<line(I).uniform || line(I).column, vector_detail::Nothing, Vector<I>>;
  template <int I>
  using Shared =
      std::conditional_t<line(I).uniform && line(I).kind != LineKind::output, Scalar<I>, vector_detail::Nothing>;

  template <class Sequence> struct RegisterFile;
  template <int... I> struct RegisterFile<std::integer_sequence<int, I...>> : vector_detail::Slot<I, Register<I>>... {};
  template <class Sequence> struct SharedFile;
  template <int... I> struct SharedFile<std::integer_sequence<int, I...>> : vector_detail::Slot<I, Shared<I>>... {};

  /// The values of one pack.
  using Registers = RegisterFile<Indices>;
  /// The values that a row shares, reductions among them.
  using Uniforms = SharedFile<Indices>;

  template <int I> static TWILL_INLINE auto& slot(Registers& registers) {
    return static_cast<vector_detail::Slot<I, Register<I>>&>(registers).value;
  }
  template <int I> static TWILL_INLINE auto& slot(Uniforms& uniforms) {
    return static_cast<vector_detail::Slot<I, Shared<I>>&>(uniforms).value;
  }
  template <int I> static TWILL_INLINE const auto& slot(const Uniforms& uniforms) {
    return static_cast<const vector_detail::Slot<I, Shared<I>>&>(uniforms).value;
  }

  /// The value of a line as a vector, for use by line `User`.
  template <int I, int User> static TWILL_INLINE auto vector(Registers& registers, const Uniforms& uniforms) {
    if constexpr (!line(I).uniform)
      return slot<I>(registers);
    else if constexpr (line(I).type != DType::boolean)
      return Pack<Scalar<I>, lanes>{slot<I>(uniforms)};
    else if constexpr (line(User).type == DType::boolean)
      return Mask<lanes, widths[static_cast<std::size_t>(User)]>{slot<I>(uniforms)};
    else
      return Mask<lanes, mask_bytes<Scalar<User>, lanes>>{slot<I>(uniforms)};
  }

  /// Loads one pack of a leaf, `j` elements into the row.
  template <int I> static TWILL_INLINE Register<I> load_leaf(const At& at, std::int64_t j) {
    constexpr int o = line(I).operand;
    if constexpr (line(I).kind == LineKind::iota) {
      using Unsigned = Pack<std::uint64_t, lanes>; // indices may wrap, which is fine as long as nobody looks
      const auto base = static_cast<std::uint64_t>(at.at[o]);
      const auto stride = static_cast<std::uint64_t>(at.stride[o]);
      const Unsigned first{base + static_cast<std::uint64_t>(j) * stride};
      return bits_as<Pack<std::int64_t, lanes>>(first + lane_numbers<std::uint64_t, lanes>() * Unsigned{stride});
    } else {
      using T = Element<I>;
      using Raw = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t,
                                     std::conditional_t<NarrowFloat<T>, std::uint16_t, T>>;
      const Raw* from = reinterpret_cast<const Raw*>(at.at[o]);
      Pack<Raw, lanes> raw;
      if constexpr (line(I).access == Access::contiguous) {
        raw = load<Raw, lanes>(from + j);
      } else {
        Raw elements[lanes];
        vector_detail::gather<Raw, lanes>(elements, from + j * at.stride[o], at.stride[o]);
        raw = load<Raw, lanes>(elements);
      }
      if constexpr (std::is_same_v<T, bool>)
        return raw != Pack<Raw, lanes>{Raw{0}};
      else if constexpr (NarrowFloat<T>)
        return widen<T>(raw);
      else
        return raw;
    }
  }

  /// Stores one pack of an output.
  template <int I>
  static TWILL_INLINE void store_output(Registers& registers, const Uniforms& uniforms, const At& at, std::int64_t j) {
    constexpr int o = line(I).operand;
    using T = Element<I>;
    using Raw =
        std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, std::conditional_t<NarrowFloat<T>, std::uint16_t, T>>;
    const auto value = vector<line(I).arguments[0], line(I).arguments[0]>(registers, uniforms);
    Pack<Raw, lanes> raw;
    if constexpr (std::is_same_v<T, bool>)
      raw = Pack<Raw, lanes>{(typename Pack<Raw, lanes>::Vector)(resize<1>(value).v & 1)};
    else if constexpr (NarrowFloat<T>)
      raw = narrow<T>(value);
    else
      raw = value;
    Raw* to = reinterpret_cast<Raw*>(at.at[o]);
    if (at.mode[o] == StoreMode::plain) [[likely]] {
      store(to + j, raw);
    } else if (at.mode[o] == StoreMode::stream) {
      stream(to + j, raw);
    } else {
      Raw elements[lanes];
      store(elements, raw);
      vector_detail::scatter<Raw, lanes>(to + j * at.stride[o], at.stride[o], elements);
    }
  }

  template <int I, std::size_t... A>
  static TWILL_INLINE Register<I> step(Registers& registers, const Uniforms& uniforms, std::index_sequence<A...>) {
    constexpr Line own = line(I);
    if constexpr (plan[I].reciprocal) {
      const Pack<Scalar<I>, lanes> factor{Scalar<I>{1} / slot<own.arguments[1]>(uniforms)};
      return uncontracted(vector<own.arguments[0], I>(registers, uniforms) * factor);
    } else {
      return apply<own.primitive>(vector<own.arguments[A], I>(registers, uniforms)...);
    }
  }

  template <int I> static TWILL_INLINE Register<I> cast(Registers& registers, const Uniforms& uniforms) {
    constexpr int from = line(I).arguments[0];
    using From = Scalar<from>;
    using To = Scalar<I>;
    const auto value = vector<from, from>(registers, uniforms);
    if constexpr (std::is_same_v<To, bool>)
      return vector_detail::truth(value);
    else if constexpr (std::is_same_v<From, bool>) {
      const auto sized = resize<mask_bytes<To, lanes>>(value);
      return select(sized, Pack<To, lanes>{To{1}}, Pack<To, lanes>{To{0}});
    } else {
      Pack<To, lanes> result = convert_lanes<To>(value);
      if constexpr (NarrowFloat<Element<I>>) result = widen<Element<I>>(narrow<Element<I>>(result));
      return result;
    }
  }

  /// A line whose value the row shares.
  template <int I, std::size_t... A>
  static TWILL_INLINE void uniform_line(Uniforms& uniforms, const At& at, const Operand* bound,
                                        std::index_sequence<A...>) {
    constexpr Line own = line(I);
    using T = Element<I>;
    if constexpr (own.kind == LineKind::input || own.kind == LineKind::immediate) {
      T element{};
      const void* from = own.kind == LineKind::input ? reinterpret_cast<const void*>(at.at[own.operand])
                                                     : static_cast<const void*>(&bound[own.operand].bits);
      std::memcpy(static_cast<void*>(&element), from, sizeof(T));
      slot<I>(uniforms) = static_cast<Scalar<I>>(element);
    } else if constexpr (own.kind == LineKind::step) {
      slot<I>(uniforms) = kernel::apply<own.primitive>(slot<own.arguments[A]>(std::as_const(uniforms))...);
    } else if constexpr (own.kind == LineKind::cast) {
      slot<I>(uniforms) = static_cast<Scalar<I>>(
          static_cast<T>(kernel::convert<Scalar<I>>(slot<own.arguments[0]>(std::as_const(uniforms)))));
    }
  }

  /// All values that the row shares and that are known before a stage; after the last one, with `stages`.
  template <int Level, int... I>
  static TWILL_INLINE void uniforms_at(Uniforms& uniforms, const At& at, const Operand* bound,
                                       std::integer_sequence<int, I...>) {
    const auto one = [&]<int J>() __attribute__((always_inline)) {
      if constexpr (line(J).uniform && plan[J].level == Level && line(J).kind != LineKind::reduce)
        uniform_line<J>(uniforms, at, bound, std::make_index_sequence<static_cast<std::size_t>(line(J).arity)>{});
    };
    (one.template operator()<I>(), ...);
  }
};

} // namespace twill::inline v0::kernel::inline TWILL_ISA
