#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Packs: N values of one type that are computed together, over the GNU vector extensions that g++, clang and nvcc's
// host pass share. A `Pack<T, N>` fills one register, or two when its type is wider than the one that N was chosen for;
// a `Mask<N, W>` is N truth values as integers of W bytes, all bits set or none, the form that comparisons give.
// Read next: kernel/native.hpp, the few operations that the extensions lack.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// The bytes of the widest register that the file is compiled for.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

namespace vector_detail {
template <int Bytes> struct IntegerOf;
template <> struct IntegerOf<1> { using type = signed char; };
template <> struct IntegerOf<2> { using type = short; };
template <> struct IntegerOf<4> { using type = int; };
template <> struct IntegerOf<8> { using type = long; };

template <class T, int N> struct VectorOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
  typedef T unaligned __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <class T, int N> using vector_t = typename VectorOf<T, N>::type;
} // namespace vector_detail

/// The signed integer of a size, in the spelling whose vectors comparisons give.
template <int Bytes> using integer_t = typename vector_detail::IntegerOf<Bytes>::type;

/// The size of the integers that a comparison of N values of T leaves: one register holds all of them.
template <class T, int N>
inline constexpr int mask_bytes = static_cast<int>(sizeof(T)) * N <= vector_bytes ? static_cast<int>(sizeof(T))
                                                                                  : vector_bytes / N;

template <class T, int N> struct Pack {
  using Value = T;
  using Vector = vector_detail::vector_t<T, N>;
  template <int M> using Resized = Pack<T, M>;
  static constexpr int lanes = N;
  static constexpr bool fits = static_cast<int>(sizeof(T)) * N <= vector_bytes; ///< in one register

  Vector v;

  Pack() = default;
  TWILL_INLINE Pack(const Vector& vector) : v{vector} {} // by reference: a wide vector has no fixed ABI as a value
  TWILL_INLINE Pack(T value) : v{value - Vector{}} {}    // minus zero keeps the sign of -0

  friend TWILL_INLINE Pack operator+(const Pack& a, const Pack& b) { return a.v + b.v; }
  friend TWILL_INLINE Pack operator-(const Pack& a, const Pack& b) { return a.v - b.v; }
  friend TWILL_INLINE Pack operator*(const Pack& a, const Pack& b) { return a.v * b.v; }
  friend TWILL_INLINE Pack operator/(const Pack& a, const Pack& b) { return a.v / b.v; }
  friend TWILL_INLINE Pack operator-(const Pack& a) { return -a.v; }
};

template <int N, int W> struct Mask {
  using Integer = integer_t<W>;
  using Vector = vector_detail::vector_t<Integer, N>;
  template <int M> using Resized = Mask<M, W>;
  static constexpr int lanes = N;
  static constexpr int width = W;

  Vector v;

  Mask() = default;
  TWILL_INLINE Mask(const Vector& vector) : v{vector} {}
  TWILL_INLINE Mask(bool value) {
    const Integer lane = value ? Integer{-1} : Integer{0};
    v = lane - Vector{};
  }

  friend TWILL_INLINE Mask operator&(const Mask& a, const Mask& b) { return a.v & b.v; }
  friend TWILL_INLINE Mask operator|(const Mask& a, const Mask& b) { return a.v | b.v; }
  friend TWILL_INLINE Mask operator^(const Mask& a, const Mask& b) { return a.v ^ b.v; }
  friend TWILL_INLINE Mask operator~(const Mask& a) { return ~a.v; }
};

template <class T> inline constexpr bool is_mask = false;
template <int N, int W> inline constexpr bool is_mask<Mask<N, W>> = true;

/// N values from memory, of any alignment.
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> load(const T* from) {
  typedef T Unaligned __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
  const typename Pack<T, N>::Vector v = *reinterpret_cast<const Unaligned*>(from);
  return Pack<T, N>{v};
}

template <class T, int N> TWILL_INLINE void store(T* to, const Pack<T, N>& pack) {
  typedef T Unaligned __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
  *reinterpret_cast<Unaligned*>(to) = pack.v;
}

/// Reinterprets the bits as another type of equal total size.
template <class To, class From> [[nodiscard]] TWILL_INLINE To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return To{(typename To::Vector)from.v};
}

/// The lower (0) or upper (1) half of the lanes. Indices are written out: nvcc loses packs that a builtin expands.
template <int Half, class P> [[nodiscard]] TWILL_INLINE auto half_of(const P& pack) {
  using To = typename P::template Resized<P::lanes / 2>;
  if constexpr (P::lanes == 4 && Half == 0)
    return To{__builtin_shufflevector(pack.v, pack.v, 0, 1)};
  else if constexpr (P::lanes == 4)
    return To{__builtin_shufflevector(pack.v, pack.v, 2, 3)};
  else if constexpr (P::lanes == 8 && Half == 0)
    return To{__builtin_shufflevector(pack.v, pack.v, 0, 1, 2, 3)};
  else if constexpr (P::lanes == 8)
    return To{__builtin_shufflevector(pack.v, pack.v, 4, 5, 6, 7)};
  else if constexpr (P::lanes == 16 && Half == 0)
    return To{__builtin_shufflevector(pack.v, pack.v, 0, 1, 2, 3, 4, 5, 6, 7)};
  else if constexpr (P::lanes == 16)
    return To{__builtin_shufflevector(pack.v, pack.v, 8, 9, 10, 11, 12, 13, 14, 15)};
  else {
    To half;
    std::memcpy(&half, reinterpret_cast<const char*>(&pack) + Half * sizeof(To), sizeof(To));
    return half;
  }
}

template <class P> [[nodiscard]] TWILL_INLINE auto join(const P& low, const P& high) {
  using To = typename P::template Resized<P::lanes * 2>;
  if constexpr (To::lanes == 4)
    return To{__builtin_shufflevector(low.v, high.v, 0, 1, 2, 3)};
  else if constexpr (To::lanes == 8)
    return To{__builtin_shufflevector(low.v, high.v, 0, 1, 2, 3, 4, 5, 6, 7)};
  else if constexpr (To::lanes == 16)
    return To{__builtin_shufflevector(low.v, high.v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)};
  else {
    To whole;
    std::memcpy(&whole, &low, sizeof(P));
    std::memcpy(reinterpret_cast<char*>(&whole) + sizeof(P), &high, sizeof(P));
    return whole;
  }
}

namespace vector_detail {

/// A conversion of a whole register in one instruction, for which g++ 12 emits several. Otherwise nothing.
template <class To, int N, class V> TWILL_INLINE auto convert_at_once([[maybe_unused]] const V& v) {
#if defined(__GNUC__) && !defined(__clang__)
  [[maybe_unused]] constexpr bool to_double = std::is_same_v<To, double> && std::is_same_v<typename V::Value, float>;
  [[maybe_unused]] constexpr bool widens =
      std::is_same_v<To, std::uint32_t> && std::is_same_v<typename V::Value, std::uint16_t>;
#if defined(__AVX512F__)
  [[maybe_unused]] constexpr bool narrows =
      std::is_same_v<To, std::uint16_t> && std::is_same_v<typename V::Value, std::uint32_t>;
  if constexpr (to_double && N == 8)
    return __builtin_ia32_cvtps2pd512_mask(v.v, vector_t<double, 8>{}, static_cast<signed char>(-1), 4);
  else if constexpr (widens && N == 16)
    return __builtin_ia32_pmovzxwd512_mask((vector_t<short, 16>)v.v, vector_t<int, 16>{}, static_cast<short>(-1));
  else if constexpr (narrows && N == 16)
    return __builtin_ia32_pmovdw512_mask((vector_t<int, 16>)v.v, vector_t<short, 16>{},
                                         static_cast<unsigned short>(-1));
#elif defined(__AVX2__)
  if constexpr (to_double && N == 4)
    return __builtin_ia32_cvtps2pd256(v.v);
  else if constexpr (widens && N == 8)
    return __builtin_ia32_pmovzxwd256((vector_t<short, 8>)v.v);
#endif
#endif
}

} // namespace vector_detail

/// Lane by lane conversion, as static_cast converts.
template <class To, class From, int N> [[nodiscard]] TWILL_INLINE Pack<To, N> convert_lanes(const Pack<From, N>& pack) {
  if constexpr (std::is_same_v<To, From>)
    return pack;
  else if constexpr (!std::is_void_v<decltype(vector_detail::convert_at_once<To, N>(pack))>)
    return Pack<To, N>{(typename Pack<To, N>::Vector)vector_detail::convert_at_once<To, N>(pack)};
  else
    return Pack<To, N>{__builtin_convertvector(pack.v, vector_detail::vector_t<To, N>)};
}

/// Truth values in integers of another size.
template <int To, int N, int From> [[nodiscard]] TWILL_INLINE Mask<N, To> resize(const Mask<N, From>& mask) {
  if constexpr (To == From)
    return mask;
  else
    return Mask<N, To>{__builtin_convertvector(mask.v, vector_detail::vector_t<integer_t<To>, N>)};
}

/// The first where the mask is true, otherwise the second.
template <class T, int N, int W>
[[nodiscard]] TWILL_INLINE Pack<T, N> select(const Mask<N, W>& mask, const Pack<T, N>& a, const Pack<T, N>& b) {
  if constexpr (Pack<T, N>::fits) {
    const auto sized = resize<static_cast<int>(sizeof(T))>(mask);
    return Pack<T, N>{sized.v ? a.v : b.v};
  } else {
    return join(select(half_of<0>(mask), half_of<0>(a), half_of<0>(b)),
                select(half_of<1>(mask), half_of<1>(a), half_of<1>(b)));
  }
}
template <int N, int W>
[[nodiscard]] TWILL_INLINE Mask<N, W> select(const Mask<N, W>& mask, const Mask<N, W>& a, const Mask<N, W>& b) {
  return (mask & a) | (~mask & b);
}

/// The six comparisons of two vectors, in two halves when a register does not hold one of them.
template <class F, class T, int N>
[[nodiscard]] TWILL_INLINE auto compare(const Pack<T, N>& a, const Pack<T, N>& b, F f) {
  constexpr int width = mask_bytes<T, N>;
  if constexpr (Pack<T, N>::fits) {
    return Mask<N, width>{(typename Mask<N, width>::Vector)f(a.v, b.v)};
  } else {
    using Half = Mask<N / 2, static_cast<int>(sizeof(T))>;
    const Half low{(typename Half::Vector)f(half_of<0>(a).v, half_of<0>(b).v)};
    const Half high{(typename Half::Vector)f(half_of<1>(a).v, half_of<1>(b).v)};
    return join(resize<width>(low), resize<width>(high));
  }
}
template <class T, int N> [[nodiscard]] TWILL_INLINE auto operator<(const Pack<T, N>& a, const Pack<T, N>& b) {
  return compare(a, b, [](auto x, auto y) TWILL_ALWAYS_INLINE { return x < y; });
}
template <class T, int N> [[nodiscard]] TWILL_INLINE auto operator>(const Pack<T, N>& a, const Pack<T, N>& b) {
  return compare(a, b, [](auto x, auto y) TWILL_ALWAYS_INLINE { return x > y; });
}
template <class T, int N> [[nodiscard]] TWILL_INLINE auto operator<=(const Pack<T, N>& a, const Pack<T, N>& b) {
  return compare(a, b, [](auto x, auto y) TWILL_ALWAYS_INLINE { return x <= y; });
}
template <class T, int N> [[nodiscard]] TWILL_INLINE auto operator>=(const Pack<T, N>& a, const Pack<T, N>& b) {
  return compare(a, b, [](auto x, auto y) TWILL_ALWAYS_INLINE { return x >= y; });
}
template <class T, int N> [[nodiscard]] TWILL_INLINE auto operator==(const Pack<T, N>& a, const Pack<T, N>& b) {
  return compare(a, b, [](auto x, auto y) TWILL_ALWAYS_INLINE { return x == y; });
}
template <class T, int N> [[nodiscard]] TWILL_INLINE auto operator!=(const Pack<T, N>& a, const Pack<T, N>& b) {
  return compare(a, b, [](auto x, auto y) TWILL_ALWAYS_INLINE { return x != y; });
}

/// Whether any lane is true.
template <int N, int W> [[nodiscard]] TWILL_INLINE bool any(const Mask<N, W>& mask) {
  if constexpr (N > 2)
    return any(half_of<0>(mask) | half_of<1>(mask));
  else
    return mask.v[0] != 0 || mask.v[N - 1] != 0;
}

/// 0, 1, 2, ...
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> lane_numbers() {
  Pack<T, N> result;
  for (int i = 0; i < N; ++i) result.v[i] = static_cast<T>(i);
  return result;
}

/// A function applied lane by lane, where no vector form exists.
template <class F, class T, int N, class... Packs>
[[nodiscard]] TWILL_INLINE Pack<T, N> by_lane(F f, const Pack<T, N>& first, const Packs&... rest) {
  Pack<T, N> result;
  for (int i = 0; i < N; ++i) result.v[i] = f(static_cast<T>(first.v[i]), static_cast<T>(rest.v[i])...);
  return result;
}

/// A function applied lane by lane, with results of another type.
template <class To, class F, class T, int N>
[[nodiscard]] TWILL_INLINE Pack<To, N> by_lane_to(F f, const Pack<T, N>& pack) {
  Pack<To, N> result;
  for (int i = 0; i < N; ++i) result.v[i] = f(static_cast<T>(pack.v[i]));
  return result;
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
