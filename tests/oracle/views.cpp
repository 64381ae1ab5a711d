// SPDX-License-Identifier: Apache-2.0
//
// Views of all element types and ranks.

#include "tests/oracle/views.hpp"

#include <span>
#include <utility>

namespace oracle {

Dims with_leading_ones(const Dims& extents, int rank) {
  Dims result{};
  for (int axis = 0; axis < rank; ++axis) {
    const int from = axis - (rank - extents.rank);
    result[result.rank++] = from < 0 ? 1 : extents[from];
  }
  return result;
}

namespace {

template <Scalar T, int Rank>
TensorOf<T, Rank> sliced(const TensorOf<T, Rank>& x, const std::vector<twill::slice>& slices) {
  twill::slice padded[Rank + 1]{};
  const std::size_t skipped = static_cast<std::size_t>(Rank) - slices.size();
  for (std::size_t i = 0; i < slices.size(); ++i) padded[skipped + i] = slices[i];
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return x(padded[I]...); }
  (std::make_index_sequence<static_cast<std::size_t>(Rank)>{});
}

template <Scalar T, int Rank, int A = 0, int B = 1>
TensorOf<T, Rank> swapped(const TensorOf<T, Rank>& x, int first, int second) {
  if constexpr (A + 1 < Rank) {
    if (first == A && second == B) return x.template transpose<A, B>();
    if constexpr (B + 1 < Rank)
      return swapped<T, Rank, A, B + 1>(x, first, second);
    else
      return swapped<T, Rank, A + 1, A + 2>(x, first, second);
  } else {
    throw twill::ValueError("oracle: swap takes two axes in order");
  }
}

} // namespace

template <Scalar T, int Rank> TensorOf<T, Rank> Views<T, Rank>::make(const Operand& operand) {
  const Values& base = operand.base;
  if (base.type != twill::dtype_of<T> || base.extents.rank > Rank)
    throw twill::ValueError("oracle: an operand of another element type or rank was wanted");
  const Dims extents = with_leading_ones(base.extents, Rank);
  const auto* values = reinterpret_cast<const T*>(base.bytes.data());
  const auto count = static_cast<std::size_t>(extents.elements());
  TensorOf<T, Rank> x = twill::from_values<UnknownShape<Rank>>(std::span<const T>(values, count), extents, Cpu{0});
  for (const Step& step : operand.steps) {
    if (step.kind == Step::Kind::slices)
      x = sliced<T, Rank>(x, step.slices);
    else if (step.kind == Step::Kind::swap)
      x = swapped<T, Rank>(x, Rank + step.first, Rank + step.second);
    else
      x = TensorOf<T, Rank>(x.template expand<UnknownShape<Rank>>(with_leading_ones(step.extents, Rank)));
  }
  return x;
}

template <Scalar T, int Rank> Values Views<T, Rank>::values_of(const TensorOf<T, Rank>& x) {
  Values result{.type = twill::dtype_of<T>, .extents = x.shape()};
  const auto values = twill::to_vector(x);
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  result.bytes.assign(first, first + values.size() * sizeof(T));
  return result;
}

template <Scalar T, int Rank> Destination<T, Rank>::Destination(const Dims& extents, bool strided) {
  if constexpr (Rank > 0)
    if (strided) {
      Dims doubled = extents;
      doubled[Rank - 1] *= 2;
      base = twill::full<T, UnknownShape<Rank>>(doubled, static_cast<T>(1), Cpu{0});
      target = base(twill::ellipsis, twill::slice{.step = -2});
      return;
    }
  target = twill::empty<T, UnknownShape<Rank>>(extents, Cpu{0});
}

template <Scalar T, int Rank> Values Destination<T, Rank>::values() const {
  if constexpr (Rank > 0)
    if (base.data() != nullptr) {
      const auto ones = twill::full<T, UnknownShape<Rank>>(target.shape(), static_cast<T>(1), Cpu{0});
      const TensorOf<T, Rank> between = base(twill::ellipsis, twill::slice{.step = 2});
      if (Views<T, Rank>::values_of(between).bytes != Views<T, Rank>::values_of(ones).bytes)
        throw twill::ValueError("oracle: elements outside the destination changed");
    }
  return Views<T, Rank>::values_of(target);
}

template struct Views<bool, 0>;
template struct Destination<bool, 0>;
template struct Views<bool, 1>;
template struct Destination<bool, 1>;
template struct Views<bool, 2>;
template struct Destination<bool, 2>;
template struct Views<bool, 3>;
template struct Destination<bool, 3>;
template struct Views<bool, 4>;
template struct Destination<bool, 4>;
template struct Views<std::uint8_t, 0>;
template struct Destination<std::uint8_t, 0>;
template struct Views<std::uint8_t, 1>;
template struct Destination<std::uint8_t, 1>;
template struct Views<std::uint8_t, 2>;
template struct Destination<std::uint8_t, 2>;
template struct Views<std::uint8_t, 3>;
template struct Destination<std::uint8_t, 3>;
template struct Views<std::uint8_t, 4>;
template struct Destination<std::uint8_t, 4>;
template struct Views<std::int32_t, 0>;
template struct Destination<std::int32_t, 0>;
template struct Views<std::int32_t, 1>;
template struct Destination<std::int32_t, 1>;
template struct Views<std::int32_t, 2>;
template struct Destination<std::int32_t, 2>;
template struct Views<std::int32_t, 3>;
template struct Destination<std::int32_t, 3>;
template struct Views<std::int32_t, 4>;
template struct Destination<std::int32_t, 4>;
template struct Views<std::int64_t, 0>;
template struct Destination<std::int64_t, 0>;
template struct Views<std::int64_t, 1>;
template struct Destination<std::int64_t, 1>;
template struct Views<std::int64_t, 2>;
template struct Destination<std::int64_t, 2>;
template struct Views<std::int64_t, 3>;
template struct Destination<std::int64_t, 3>;
template struct Views<std::int64_t, 4>;
template struct Destination<std::int64_t, 4>;
template struct Views<twill::half, 0>;
template struct Destination<twill::half, 0>;
template struct Views<twill::half, 1>;
template struct Destination<twill::half, 1>;
template struct Views<twill::half, 2>;
template struct Destination<twill::half, 2>;
template struct Views<twill::half, 3>;
template struct Destination<twill::half, 3>;
template struct Views<twill::half, 4>;
template struct Destination<twill::half, 4>;
template struct Views<twill::bfloat16, 0>;
template struct Destination<twill::bfloat16, 0>;
template struct Views<twill::bfloat16, 1>;
template struct Destination<twill::bfloat16, 1>;
template struct Views<twill::bfloat16, 2>;
template struct Destination<twill::bfloat16, 2>;
template struct Views<twill::bfloat16, 3>;
template struct Destination<twill::bfloat16, 3>;
template struct Views<twill::bfloat16, 4>;
template struct Destination<twill::bfloat16, 4>;
template struct Views<float, 0>;
template struct Destination<float, 0>;
template struct Views<float, 1>;
template struct Destination<float, 1>;
template struct Views<float, 2>;
template struct Destination<float, 2>;
template struct Views<float, 3>;
template struct Destination<float, 3>;
template struct Views<float, 4>;
template struct Destination<float, 4>;
template struct Views<double, 0>;
template struct Destination<double, 0>;
template struct Views<double, 1>;
template struct Destination<double, 1>;
template struct Views<double, 2>;
template struct Destination<double, 2>;
template struct Views<double, 3>;
template struct Destination<double, 3>;
template struct Views<double, 4>;
template struct Destination<double, 4>;
template struct Views<std::int8_t, 1>;
template struct Destination<std::int8_t, 1>;
template struct Views<std::int8_t, 2>;
template struct Destination<std::int8_t, 2>;
template struct Views<std::int8_t, 3>;
template struct Destination<std::int8_t, 3>;
template struct Views<std::int8_t, 4>;
template struct Destination<std::int8_t, 4>;
template struct Views<std::int16_t, 1>;
template struct Destination<std::int16_t, 1>;
template struct Views<std::int16_t, 2>;
template struct Destination<std::int16_t, 2>;
template struct Views<std::int16_t, 3>;
template struct Destination<std::int16_t, 3>;
template struct Views<std::int16_t, 4>;
template struct Destination<std::int16_t, 4>;
template struct Views<std::uint16_t, 1>;
template struct Destination<std::uint16_t, 1>;
template struct Views<std::uint16_t, 2>;
template struct Destination<std::uint16_t, 2>;
template struct Views<std::uint16_t, 3>;
template struct Destination<std::uint16_t, 3>;
template struct Views<std::uint16_t, 4>;
template struct Destination<std::uint16_t, 4>;
template struct Views<std::uint32_t, 1>;
template struct Destination<std::uint32_t, 1>;
template struct Views<std::uint32_t, 2>;
template struct Destination<std::uint32_t, 2>;
template struct Views<std::uint32_t, 3>;
template struct Destination<std::uint32_t, 3>;
template struct Views<std::uint32_t, 4>;
template struct Destination<std::uint32_t, 4>;
template struct Views<std::uint64_t, 1>;
template struct Destination<std::uint64_t, 1>;
template struct Views<std::uint64_t, 2>;
template struct Destination<std::uint64_t, 2>;
template struct Views<std::uint64_t, 3>;
template struct Destination<std::uint64_t, 3>;
template struct Views<std::uint64_t, 4>;
template struct Destination<std::uint64_t, 4>;
template struct Views<twill::float8_e4m3fn, 1>;
template struct Destination<twill::float8_e4m3fn, 1>;
template struct Views<twill::float8_e4m3fn, 2>;
template struct Destination<twill::float8_e4m3fn, 2>;
template struct Views<twill::float8_e4m3fn, 3>;
template struct Destination<twill::float8_e4m3fn, 3>;
template struct Views<twill::float8_e4m3fn, 4>;
template struct Destination<twill::float8_e4m3fn, 4>;
template struct Views<twill::float8_e5m2, 1>;
template struct Destination<twill::float8_e5m2, 1>;
template struct Views<twill::float8_e5m2, 2>;
template struct Destination<twill::float8_e5m2, 2>;
template struct Views<twill::float8_e5m2, 3>;
template struct Destination<twill::float8_e5m2, 3>;
template struct Views<twill::float8_e5m2, 4>;
template struct Destination<twill::float8_e5m2, 4>;
template struct Views<twill::complex64, 1>;
template struct Destination<twill::complex64, 1>;
template struct Views<twill::complex64, 2>;
template struct Destination<twill::complex64, 2>;
template struct Views<twill::complex64, 3>;
template struct Destination<twill::complex64, 3>;
template struct Views<twill::complex64, 4>;
template struct Destination<twill::complex64, 4>;
template struct Views<twill::complex128, 1>;
template struct Destination<twill::complex128, 1>;
template struct Views<twill::complex128, 2>;
template struct Destination<twill::complex128, 2>;
template struct Views<twill::complex128, 3>;
template struct Destination<twill::complex128, 3>;
template struct Views<twill::complex128, 4>;
template struct Destination<twill::complex128, 4>;

} // namespace oracle
