// SPDX-License-Identifier: Apache-2.0
//
// Transforms and convolutions against NumPy's and SciPy's values (tests/golden/scripts/fft.py): each case in three layouts of
// the operand and in both precisions.

#include "tests/support/golden.hpp"

#include <twill/expr.hpp>
#include <twill/fft.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

using namespace twill;
using fft::Norm;

namespace {

using Cube = Shape<dyn, dyn, dyn>;

/// Element i of what `numbers` of the script makes.
double number(std::int64_t i) { return static_cast<double>((7919 * i + 13 * i * i) % 2003 - 1001) / 1001; }

template <class T, class S> Tensor<T, Cpu, S> numbers(const Dims& shape) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    if constexpr (ComplexScalar<T>)
      values.push_back(T(static_cast<real_t<T>>(number(2 * i)), static_cast<real_t<T>>(number(2 * i + 1))));
    else
      values.push_back(static_cast<T>(number(i)));
  return from_values<S>(values, shape);
}

/// The next numbers of a golden file.
class Reader {
public:
  explicit Reader(const std::string& name) : values_{test::golden(name).values} {}
  [[nodiscard]] bool is_done() const { return at_ == values_.size(); }
  [[nodiscard]] std::int64_t integer() { return static_cast<std::int64_t>(values_[at_++]); }
  [[nodiscard]] Dims extents(int rank) {
    Dims result{};
    while (result.rank < rank) result[result.rank++] = integer();
    return result;
  }
  [[nodiscard]] std::vector<double> list() {
    const auto count = static_cast<std::ptrdiff_t>(integer());
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += static_cast<std::size_t>(count);
    return {begin, begin + count};
  }

private:
  std::vector<double> values_;
  std::size_t at_ = 0;
};

/// Compares every `step`-th element with golden values; the tolerance is in units of the type's precision.
template <class Y> void compare(const Y& y, std::int64_t step, const std::vector<double>& wanted, double tolerance) {
  using T = typename Y::value_type;
  std::vector<double> found;
  const auto values = to_vector(y);
  for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(step)) {
    if constexpr (ComplexScalar<T>) {
      found.push_back(double{values[i].re});
      found.push_back(double{values[i].im});
    } else {
      found.push_back(double{values[i]});
    }
  }
  REQUIRE(found.size() == wanted.size());
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    error = std::max(error, std::abs(found[i] - wanted[i]));
    size = std::max(size, std::abs(wanted[i]));
  }
  CHECK(error <= tolerance * double{std::numeric_limits<real_t<T>>::epsilon()} * size);
}

struct Case {
  std::int64_t function = 0;
  std::int64_t axis = 0;
  fft::CosineOptions options{};
  bool is_complex = false;
  Dims shape{};
  Dims points{};
  std::int64_t step = 1;
  std::vector<double> wanted{};
};

Case next_case(Reader& reader) {
  Case result{.function = reader.integer(), .axis = reader.integer()};
  result.options.type = static_cast<int>(reader.integer());
  result.options.norm = static_cast<Norm>(reader.integer());
  result.is_complex = reader.integer() != 0;
  result.shape = reader.extents(3);
  result.points = reader.extents(3);
  result.step = reader.integer();
  result.wanted = reader.list();
  return result;
}

template <int Axis, class X> void check_one_axis(const Case& c, const X& x) {
  const Norm norm = c.options.norm;
  const std::int64_t n = c.points[(Axis + 3) % 3];
  const auto check = [&](const auto& y) { compare(y, c.step, c.wanted, 20); };
  const auto either = [&](const auto& f) { n == 0 ? check(f()) : check(f(n)); };
  switch (c.function) {
  case 0:
    return either([&](auto... points) { return fft::fft<Axis>(x, points..., norm); });
  case 1:
    return either([&](auto... points) { return fft::ifft<Axis>(x, points..., norm); });
  case 3:
    return either([&](auto... points) { return fft::irfft<Axis>(x, points..., norm); });
  case 4:
    return either([&](auto... points) { return fft::hfft<Axis>(x, points..., norm); });
  default:
    break;
  }
  if constexpr (!ComplexScalar<typename X::value_type>) {
    switch (c.function) {
    case 2:
      return either([&](auto... points) { return fft::rfft<Axis>(x, points..., norm); });
    case 5:
      return either([&](auto... points) { return fft::ihfft<Axis>(x, points..., norm); });
    case 6:
      return either([&](auto... points) { return fft::dct<Axis>(x, points..., c.options); });
    default:
      return either([&](auto... points) { return fft::idct<Axis>(x, points..., c.options); });
    }
  }
}

template <class X> void check_several_axes(const Case& c, const X& x) {
  const Norm norm = c.options.norm;
  const bool are_named = c.points[2] != 0;
  const Dims two(c.points[1], c.points[2]);
  const Dims& three = c.points;
  const auto check = [&](const auto& y) { compare(y, c.step, c.wanted, 20); };
  switch (c.function) {
  case 8:
    return are_named ? check(fft::fft2(x, two, norm)) : check(fft::fft2(x, norm));
  case 9:
    return are_named ? check(fft::ifft2(x, two, norm)) : check(fft::ifft2(x, norm));
  case 11:
    return are_named ? check(fft::irfft2(x, two, norm)) : check(fft::irfft2(x, norm));
  case 12:
    return are_named ? check(fft::fftn(x, three, norm)) : check(fft::fftn(x, norm));
  case 13:
    return are_named ? check(fft::ifftn<0, 1, 2>(x, three, norm)) : check(fft::ifftn(x, norm));
  case 15:
    return are_named ? check(fft::irfftn(x, three, norm)) : check(fft::irfftn<0, 1, 2>(x, norm));
  default:
    break;
  }
  if constexpr (!ComplexScalar<typename X::value_type>) {
    if (c.function == 10)
      are_named ? check(fft::rfft2(x, two, norm)) : check(fft::rfft2(x, norm));
    else
      are_named ? check(fft::rfftn(x, three, norm)) : check(fft::rfftn<0, 1, -1>(x, norm));
  }
}

template <class X> void check_layout(const Case& c, const X& x) {
  if (c.function >= 8) return check_several_axes(c, x);
  if (c.axis == 0) return check_one_axis<0>(c, x);
  if (c.axis == 1) return check_one_axis<1>(c, x);
  check_one_axis<-1>(c, x);
}

template <class T> void check_layouts(const Case& c) {
  const auto x = numbers<T, Cube>(c.shape);
  check_layout(c, x);
  check_layout(c, x.template permute<2, 0, 1>().contiguous().template permute<1, 2, 0>());
  check_layout(c, flip<1, 2>(flip<1, 2>(x).contiguous()));
}

} // namespace

TEMPLATE_TEST_CASE("transforms have NumPy's and SciPy's values", "[fft]", float, double) {
  Reader reader("fft/transforms");
  int count = 0;
  for (; !reader.is_done(); ++count) {
    const Case c = next_case(reader);
    CAPTURE(count, c.function, c.axis, c.options.type, c.options.norm, to_string(c.shape), to_string(c.points));
    if (c.is_complex)
      check_layouts<Complex<TestType>>(c);
    else
      check_layouts<TestType>(c);
  }
  CHECK(count >= 264);
}

TEST_CASE("convolutions have SciPy's values", "[fft]") {
  Reader reader("fft/convolutions");
  int count = 0;
  for (; !reader.is_done(); ++count) {
    const std::int64_t mode = reader.integer();
    const std::array<bool, 2> is_complex{reader.integer() != 0, reader.integer() != 0};
    const auto rank = static_cast<int>(reader.integer());
    const Dims a = reader.extents(rank);
    const Dims b = reader.extents(rank);
    const std::int64_t step = reader.integer();
    const std::vector<double> wanted = reader.list();
    const auto check = [&](const auto& x, const auto& y) {
      CAPTURE(count, mode, to_string(a), to_string(b), is_complex[0], is_complex[1]);
      if (mode == 0) return compare(fft::fftconvolve(x, y), step, wanted, 20);
      if (mode == 1) return compare(fft::fftconvolve(x, y, fft::same), step, wanted, 20);
      compare(fft::fftconvolve(x, y, fft::valid), step, wanted, 20);
    };
    const auto of_rank = [&]<class S>(S) {
      if (is_complex[1]) return check(numbers<complex128, S>(a), numbers<complex128, S>(b));
      if (is_complex[0]) return check(numbers<complex128, S>(a), numbers<double, S>(b));
      check(numbers<double, S>(a), numbers<double, S>(b));
    };
    rank == 1 ? of_rank(Shape<dyn>{}) : of_rank(Shape<dyn, dyn>{});
  }
  CHECK(count >= 63);
}

TEST_CASE("frequencies are NumPy's", "[fft]") {
  const std::vector<double> wanted = test::golden("fft/frequencies").values;
  std::vector<double> found;
  for (const std::int64_t n : {1, 2, 7, 10})
    for (const double step : {1.0, 0.25})
      for (const auto& values : {to_vector(fft::fftfreq<double>(n, step)), to_vector(fft::rfftfreq<double>(n, step))})
        found.insert(found.end(), values.begin(), values.end());
  CHECK(found == wanted);
}
