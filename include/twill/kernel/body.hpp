#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Types and leaves of a program's body. Every line has one slot: a vector where its value varies along the row, a
// scalar where the row shares it, broadcast where it is used. A line's code depends on the types of its values and not
// on the program, so programs share it: compile time grows with distinct lines. Read next: kernel/stage.hpp.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/apply_pack.hpp>
#include <twill/kernel/narrow.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>
#include <twill/kernel/table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {

struct Nothing {};

template <int I, class V> struct Slot { V value; };
template <int I> struct Slot<I, Nothing> {};

/// The value in the slot of a line.
template <int I, class V> TWILL_INLINE V& value_of(Slot<I, V>& slot) { return slot.value; }

/// The content of a slot.
enum class Kind : std::uint8_t { nothing, scalar, vector };
template <DType Type, Kind K, int Lanes, int Width> struct RegisterOf { using type = Nothing; };
template <DType Type, int Lanes, int Width> struct RegisterOf<Type, Kind::scalar, Lanes, Width> {
  using type = compute_t<scalar_t<Type>>;
};
template <DType Type, int Lanes, int Width> struct RegisterOf<Type, Kind::vector, Lanes, Width> {
  using type = Pack<compute_t<scalar_t<Type>>, Lanes>;
};
template <int Lanes, int Width> struct RegisterOf<DType::boolean, Kind::vector, Lanes, Width> {
  using type = Mask<Lanes, Width>;
};

/// A value as the vector that the line using it needs.
template <class V> TWILL_INLINE const V& as_vector(const V& value) { return value; }
template <class V, class T>
requires(!std::is_same_v<V, T>) TWILL_INLINE V as_vector(const T& value) { return V{value}; }

/// The size of the integers in each line's mask; 0 for lines that are not truth values.
constexpr void mask_widths(const Line* lines, int count, int lanes, int* widths) {
  for (int i = 0; i < count; ++i) {
    const Line& line = lines[i];
    widths[i] = 0;
    if (line.type != DType::boolean) continue;
    int width = 0;
    // a `where` takes the size of its values, any other line that of its first varying operand
    const int first = line.kind == LineKind::step && line.primitive == Primitive::where ? 1 : 0;
    for (int a = 0; a < line.arity && width == 0 && line.kind != LineKind::gather; ++a) {
      const int from = line.arguments[static_cast<std::size_t>((a + first) % line.arity)];
      const Line& argument = lines[from];
      if (argument.uniform) continue;
      if (argument.type == DType::boolean)
        width = widths[from];
      else {
        const int bytes = computed_bytes(argument.type);
        width = bytes * lanes <= vector_bytes ? bytes : vector_bytes / lanes;
      }
    }
    widths[i] = width == 0 ? 1 : width;
  }
}
template <int Count>
[[nodiscard]] constexpr std::array<int, Count> mask_widths(const Summary<Count>& summary, int lanes) {
  std::array<int, Count> widths{};
  mask_widths(summary.lines.data(), Count, lanes, widths.data());
  return widths;
}

/// Elements of a row from memory, one at a time.
template <class T, int N> [[gnu::noinline]] void gather(T* to, const T* from, std::int64_t stride) {
  for (int i = 0; i < N; ++i) to[i] = from[i * stride];
}
template <class T, int N> [[gnu::noinline]] void scatter(T* to, std::int64_t stride, const T* from) {
  for (int i = 0; i < N; ++i) to[i * stride] = from[i];
}

/// The type in which elements of a type are loaded and stored.
template <class T> struct Raw { using type = T; };
template <> struct Raw<bool> { using type = std::uint8_t; };
template <ShortFloat T> struct Raw<T> { using type = bits_t<T>; };

/// The content of a pack from memory, in the form used by computations.
template <class T, class R, int N> TWILL_INLINE auto decoded(const Pack<R, N>& raw) {
  if constexpr (std::is_same_v<T, bool>)
    return raw != Pack<R, N>{R{0}};
  else if constexpr (ShortFloat<T>)
    return widen<T>(raw);
  else
    return raw;
}

/// One pack of a leaf, `j` elements into the row.
template <class T, bool Contiguous, int N>
TWILL_INLINE auto load_leaf(std::int64_t at, std::int64_t stride, std::int64_t j) {
  using R = typename Raw<T>::type;
  const R* from = reinterpret_cast<const R*>(at);
  Pack<R, N> raw;
  if (Contiguous || stride == 1) { // a program for any strides meets contiguous operands too
    raw = load<R, N>(from + j);
  } else {
    R elements[N];
    gather<R, N>(elements, from + j * stride, stride);
    raw = load<R, N>(elements);
  }
  return decoded<T>(raw);
}

/// Elements of a row from memory, each at an offset of its own.
template <class T, int N>
[[gnu::noinline]] void gather_at(T* to, const T* from, std::int64_t stride, const std::int64_t* offsets, int live) {
  for (int i = 0; i < live; ++i) to[i] = from[offsets[i] + i * stride];
}

/// One pack of a gathered leaf. Past the end of a row, where it has no elements, `live` says how many lanes are read.
template <class T, bool Contiguous, int N, class Offset>
TWILL_INLINE auto load_gathered(std::int64_t at, std::int64_t stride, StoreMode live, std::int64_t j,
                                const Offset& offset) {
  using R = typename Raw<T>::type;
  const R* from = reinterpret_cast<const R*>(at);
  const int count = live == StoreMode::plain ? N : static_cast<int>(live);
  if constexpr (Contiguous) stride = 1;
  Pack<R, N> raw{R{0}};
  if constexpr (std::is_same_v<Offset, std::int64_t>) {
    if (stride == 1 && count == N) {
      raw = load<R, N>(from + offset + j);
    } else {
      R elements[N] = {};
      for (int i = 0; i < count; ++i) elements[i] = from[offset + (j + i) * stride];
      raw = load<R, N>(elements);
    }
  } else {
    alignas(vector_bytes) std::int64_t offsets[N];
    R elements[N] = {};
    store(offsets, offset);
    gather_at<R, N>(elements, from + j * stride, stride, offsets, count);
    raw = load<R, N>(elements);
  }
  return decoded<T>(raw);
}

template <int N> TWILL_INLINE Pack<std::int64_t, N> load_iota(std::int64_t at, std::int64_t stride, std::int64_t j) {
  using Unsigned = Pack<std::uint64_t, N>; // indices may wrap, which is fine as long as they are not used
  const auto step = static_cast<std::uint64_t>(stride);
  const Unsigned first{static_cast<std::uint64_t>(at) + static_cast<std::uint64_t>(j) * step};
  return bits_as<Pack<std::int64_t, N>>(first + lane_numbers<std::uint64_t, N>() * Unsigned{step});
}

/// Stores one pack of an output.
template <class T, class V>
TWILL_INLINE void store_output(std::int64_t at, std::int64_t stride, StoreMode mode, std::int64_t j, const V& value) {
  using R = typename Raw<T>::type;
  constexpr int N = V::lanes;
  Pack<R, N> raw;
  if constexpr (std::is_same_v<T, bool>)
    raw = Pack<R, N>{(typename Pack<R, N>::Vector)(resize<1>(value).v & 1)};
  else if constexpr (ShortFloat<T>)
    raw = narrow<T>(value);
  else
    raw = value;
  R* to = reinterpret_cast<R*>(at);
  if (mode == StoreMode::plain) [[likely]] {
    store(to + j, raw);
  } else if (mode == StoreMode::stream) {
    stream(to + j, raw);
  } else {
    R elements[N];
    store(elements, raw);
    scatter<R, N>(to + j * stride, stride, elements);
  }
}

/// Integers for which processors have no conversion that wraps: kernel/apply.hpp takes a wider one first.
template <class To>
inline constexpr bool is_cast_in_steps = std::is_same_v<To, std::int8_t> || sizeof(To) == 2 ||
                                         (std::is_unsigned_v<To> && sizeof(To) >= 4);

/// A conversion to the element type T.
template <class T, class V> TWILL_INLINE auto cast_to(const V& value) {
  using To = compute_t<T>;
  constexpr int N = V::lanes;
  if constexpr (std::is_same_v<To, bool>)
    return truth(value);
  else if constexpr (is_mask<V>)
    return select(resize<mask_bytes<To, N>>(value), Pack<To, N>{To{1}}, Pack<To, N>{To{0}});
  else if constexpr (ShortFloat<T>)
    return widen<T>(narrow<T>(value));
  else if constexpr (std::is_floating_point_v<typename V::Value> && std::is_integral_v<To> && is_cast_in_steps<To>)
    return by_lane_to<To>([](typename V::Value x) { return convert<To>(x); }, value);
  else
    return convert_lanes<To>(value);
}

/// A division by a value that the row shares.
template <class T, int N> TWILL_INLINE Pack<T, N> divide_by_shared(const Pack<T, N>& a, T b) {
  return uncontracted(a * Pack<T, N>{T{1} / b});
}

/// The value that the row shares in the slot of a line.
template <class T> TWILL_INLINE T& shared_value(std::byte* shared, int line) {
  return *reinterpret_cast<T*>(shared + line * shared_slot_bytes);
}
template <class T> TWILL_INLINE const T& shared_value(const std::byte* shared, int line) {
  return *reinterpret_cast<const T*>(shared + line * shared_slot_bytes);
}
template <class T> TWILL_INLINE compute_t<T> load_shared(const void* from) {
  T element{};
  std::memcpy(static_cast<void*>(&element), from, sizeof(T));
  return static_cast<compute_t<T>>(element);
}

} // namespace vector_detail

/// All facts about a program that its compiled loops need.
template <class P> struct Body {
  static constexpr const auto& summary = summary_of<P>;
  static constexpr const auto& plan = plan_of<P>;
  static constexpr int count = static_cast<int>(summary.lines.size());
  static constexpr int operands = summary.operands;
  static constexpr int lanes = vector_bytes / plan.element_bytes;
  static constexpr auto widths = vector_detail::mask_widths(summary, lanes);
  static_assert(count <= max_lines && operands <= max_operands, "twill: a program has at most 192 lines, 128 operands");

  [[nodiscard]] static constexpr const Line& line(int i) { return summary.lines[static_cast<std::size_t>(i)]; }
  /// The type of a line's elements in memory.
  template <int I> using Element = scalar_t<line(I).type>;
  /// The type in which a scalar of a line is computed.
  template <int I> using Scalar = compute_t<Element<I>>;

  [[nodiscard]] static constexpr vector_detail::Kind kind(int i) {
    const Line& own = line(i);
    if (own.kind == LineKind::output || own.column) return vector_detail::Kind::nothing;
    return own.uniform ? vector_detail::Kind::scalar : vector_detail::Kind::vector;
  }
  /// The content of a line's slot.
  template <int I>
  using Register =
      typename vector_detail::RegisterOf<line(I).type, kind(I), lanes, widths[static_cast<std::size_t>(I)]>::type;
  /// The vector of a reduction's accumulators: that of its argument, broadcast if necessary.
  template <int I>
  using Vector = typename vector_detail::RegisterOf<line(I).type, vector_detail::Kind::vector, lanes,
                                                    widths[static_cast<std::size_t>(I)]>::type;

  /// The size of the integers in the mask of line `i` where line `user` takes it: its own, or one that suits the user.
  [[nodiscard]] static constexpr int width(int i, int user) {
    if (line(i).type != DType::boolean) return 0;
    if (!line(i).uniform || line(user).type == DType::boolean)
      return widths[static_cast<std::size_t>(line(i).uniform ? user : i)];
    const int bytes = computed_bytes(line(user).type);
    return bytes * lanes <= vector_bytes ? bytes : vector_bytes / lanes;
  }
  /// The value of line I as line `User` takes it.
  template <int I, int User>
  using Wanted =
      typename vector_detail::RegisterOf<line(I).type, vector_detail::Kind::vector, lanes, width(I, User)>::type;

  template <class Sequence> struct File;
  template <int... I> struct File<std::integer_sequence<int, I...>> : vector_detail::Slot<I, Register<I>>... {};
  /// The values of one pack, and of the row.
  using Registers = File<std::make_integer_sequence<int, count>>;
};

}}}} // namespace twill::v0::kernel::TWILL_ISA
