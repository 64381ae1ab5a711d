// SPDX-License-Identifier: Apache-2.0
//
// The table of transforms and complex numbers in models: beside sums over all points and std::complex, in every floating type, on
// odd, even, prime, single and empty lines, and for batches by vmap; derivatives of both orders beside finite differences.
// PyTorch's values: tests/fft/models.test.cpp.

#include "tests/support/operation_table.hpp"

#include <twill/fft/value_convolve.hpp>
#include <twill/fft/value_cosine.hpp>
#include <twill/fft/value_several_axes.hpp>
#include <twill/fft/value_transforms.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

using namespace twill;
using namespace twill::test;
using graph::ComplexValue;
using graph::view_as_complex;

namespace {

using Arrays = std::vector<Array>;
using Number = std::complex<double>;

/// Element i of pairs along the last axis.
Number number(const Array& pairs, const Dims& i) {
  Dims at = i;
  at[at.rank++] = 0;
  const double re = element_of(pairs, at);
  at[at.rank - 1] = 1;
  return {re, element_of(pairs, at)};
}

/// Pairs along a last axis from the complex elements at the indices before it.
template <class F> Array pairs_from(Dims shape, const F& element) {
  shape[shape.rank++] = 2;
  return array_from(shape, [&](Dims i) {
    const std::int64_t part = i[--i.rank];
    const Number z = element(i);
    return part == 0 ? z.real() : z.imag();
  });
}

/// sum_j x_j exp(sign 2 pi i j k / n) along an axis; `x(i)` is an element, 0 beyond the end.
template <class X> Number sum_of_line(const X& x, const Dims& i, int axis, std::int64_t n, double sign) {
  Number sum{};
  Dims at = i;
  for (at[axis] = 0; at[axis] < n; ++at[axis]) {
    const auto turns = static_cast<double>(at[axis] * i[axis] % n);
    sum += x(at) * std::polar(1.0, sign * 2 * std::numbers::pi * turns / static_cast<double>(n));
  }
  return sum;
}

Dims without_pairs(Dims shape) {
  --shape.rank;
  return shape;
}
Dims with(Dims shape, int axis, std::int64_t extent) {
  shape[axis] = extent;
  return shape;
}

Array fft_reference(const Arrays& x) {
  const Dims shape = without_pairs(x[0].shape);
  const int axis = shape.rank - 1;
  return pairs_from(shape, [&](const Dims& i) {
    return sum_of_line([&](const Dims& at) { return number(x[0], at); }, i, axis, shape[axis], -1);
  });
}
Array ifft_reference(const Arrays& x) { // along axis 0, both divided by the root
  const Dims shape = without_pairs(x[0].shape);
  return pairs_from(shape, [&](const Dims& i) {
    return sum_of_line([&](const Dims& at) { return number(x[0], at); }, i, 0, shape[0], 1) /
           std::sqrt(static_cast<double>(shape[0]));
  });
}
Array rfft_reference(const Arrays& x, std::int64_t n, int axis, double scale) {
  const Dims& given = x[0].shape;
  return pairs_from(with(given, axis, n / 2 + 1), [&](const Dims& i) {
    const auto element = [&](const Dims& at) { return at[axis] < given[axis] ? element_of(x[0], at) : 0; };
    return sum_of_line(element, i, axis, n, -1) * scale;
  });
}
Array irfft_reference(const Arrays& x, std::int64_t n) {
  const Dims shape = without_pairs(x[0].shape);
  const int axis = shape.rank - 1;
  return array_from(with(shape, axis, n), [&](const Dims& i) {
    const auto element = [&](Dims at) {
      const bool is_mirrored = 2 * at[axis] > n;
      if (is_mirrored) at[axis] = n - at[axis];
      const Number z = at[axis] < shape[axis] ? number(x[0], at) : Number{};
      if (at[axis] == 0 || 2 * at[axis] == n) return Number{z.real()};
      return is_mirrored ? std::conj(z) : z;
    };
    return sum_of_line(element, i, axis, n, 1).real() / static_cast<double>(n);
  });
}

/// sum_j x_j weight(k, n) cos(pi k (2j + 1) / 2n), or the transpose of this matrix.
template <class W> Array sums_of_cosines(const Array& x, int axis, const W& weight, bool is_transposed) {
  const std::int64_t n = x.shape[axis];
  return array_from(x.shape, [&](const Dims& i) {
    double sum = 0;
    Dims at = i;
    for (at[axis] = 0; at[axis] < n; ++at[axis]) {
      const std::int64_t k = is_transposed ? at[axis] : i[axis];
      const std::int64_t j = is_transposed ? i[axis] : at[axis];
      const double angle = std::numbers::pi * static_cast<double>(k * (2 * j + 1)) / static_cast<double>(2 * n);
      sum += weight(k, static_cast<double>(n)) * std::cos(angle) * element_of(x, at);
    }
    return sum;
  });
}

/// Circular convolutions of elements with themselves, along all axes.
template <class X> Number convolved(const X& x, const Dims& i, const Dims& shape) {
  Number sum{};
  for (std::int64_t k = 0; k < shape.elements(); ++k) {
    const Dims j = index_at(shape, k);
    Dims rest = i;
    for (int axis = 0; axis < shape.rank; ++axis) rest[axis] = (i[axis] - j[axis] + shape[axis]) % shape[axis];
    sum += x(j) * x(rest);
  }
  return sum;
}
Array real_convolution(const Arrays& x) {
  return array_from(x[0].shape, [&](const Dims& i) {
    return convolved([&](const Dims& at) { return Number{element_of(x[0], at)}; }, i, x[0].shape).real();
  });
}
Array complex_convolution(const Arrays& x) {
  const Dims shape = without_pairs(x[0].shape);
  return pairs_from(
      shape, [&](const Dims& i) { return convolved([&](const Dims& at) { return number(x[0], at); }, i, shape); });
}

const OperationRow rows[] = {
    {"fft of complex numbers",
     {{Dims(2, 5, 2)}, {Dims(1, 4, 2)}, {Dims(3, 1, 2)}, {Dims(17, 2)}, {Dims(0, 4, 2)}, {Dims(2, 64, 2)}},
     [](const Value* x) { return view_as_real(fft::fft(view_as_complex(x[0]))); },
     &fft_reference},
    {"ifft along the first axis",
     {{Dims(5, 2, 2)}, {Dims(4, 1, 3, 2)}, {Dims(19, 2)}},
     [](const Value* x) { return view_as_real(fft::ifft<0>(view_as_complex(x[0]), fft::ortho)); },
     &ifft_reference},
    {"the real parts of fft and ifft of real numbers",
     {{Dims(2, 7)}, {Dims(6)}, {Dims(3, 1)}},
     [](const Value* x) { return (real(fft::fft(x[0], fft::forward)) + real(fft::ifft(x[0]))) * 0.5; },
     [](const Arrays& x) {
       const int axis = x[0].shape.rank - 1;
       const std::int64_t n = x[0].shape[axis];
       return array_from(x[0].shape, [&](const Dims& i) {
         return sum_of_line([&](const Dims& at) { return element_of(x[0], at); }, i, axis, n, -1).real() /
                static_cast<double>(n);
       });
     }},
    {"rfft",
     {{Dims(2, 5)}, {Dims(2, 6)}, {Dims(3, 1)}, {Dims(2, 2)}, {Dims(17)}, {Dims(34)}, {Dims(0, 3)}, {Dims(2, 128)}},
     [](const Value* x) { return view_as_real(fft::rfft(x[0])); },
     [](const Arrays& x) {
       const int axis = x[0].shape.rank - 1;
       return rfft_reference(x, x[0].shape[axis], axis, 1);
     }},
    {"the imaginary part of rfft",
     {{Dims(2, 5)}, {Dims(6)}},
     [](const Value* x) { return imag(fft::rfft(x[0])); },
     [](const Arrays& x) {
       const int axis = x[0].shape.rank - 1;
       const Array pairs = rfft_reference(x, x[0].shape[axis], axis, 1);
       return array_from(without_pairs(pairs.shape), [&](const Dims& i) { return number(pairs, i).imag(); });
     }},
    {"rfft of seven points along the first axis",
     {{Dims(5, 2)}, {Dims(9, 3)}, {Dims(7)}},
     [](const Value* x) { return view_as_real(fft::rfft<0>(x[0], 7, fft::forward)); },
     [](const Arrays& x) { return rfft_reference(x, 7, 0, 1.0 / 7); }},
    {"irfft",
     {{Dims(2, 4, 2)}, {Dims(2, 2)}, {Dims(1, 10, 2)}},
     [](const Value* x) { return fft::irfft(view_as_complex(x[0])); },
     [](const Arrays& x) { return irfft_reference(x, 2 * (x[0].shape[x[0].shape.rank - 2] - 1)); }},
    {"irfft of an odd number of points",
     {{Dims(2, 4, 2)}, {Dims(3, 2)}, {Dims(1, 6, 2)}},
     [](const Value* x) { return fft::irfft(view_as_complex(x[0]), 7); },
     [](const Arrays& x) { return irfft_reference(x, 7); }},
    {"hfft",
     {{Dims(2, 4, 2)}, {Dims(3, 1, 3, 2)}},
     [](const Value* x) { return fft::hfft(view_as_complex(x[0])); },
     [](const Arrays& x) { // irfft of the conjugate, times n
       Arrays conjugate = x;
       for (std::size_t i = 1; i < x[0].elements.size(); i += 2) conjugate[0].elements[i] = -x[0].elements[i];
       const std::int64_t n = 2 * (x[0].shape[x[0].shape.rank - 2] - 1);
       Array y = irfft_reference(conjugate, n);
       for (double& element : y.elements) element *= static_cast<double>(n);
       return y;
     }},
    {"ihfft of five points",
     {{Dims(2, 5)}, {Dims(3, 6)}, {Dims(2)}},
     [](const Value* x) { return view_as_real(fft::ihfft(x[0], 5)); },
     [](const Arrays& x) {
       Array y = rfft_reference(x, 5, x[0].shape.rank - 1, 0.2);
       for (std::size_t i = 1; i < y.elements.size(); i += 2) y.elements[i] *= -1;
       return y;
     }},
    {"fftn of real numbers, shifted",
     {{Dims(2, 3)}, {Dims(3, 4)}},
     [](const Value* x) { return view_as_real(fft::fftshift(fft::fftn(x[0]))); },
     [](const Arrays& x) {
       const Dims shape = x[0].shape;
       return pairs_from(shape, [&](Dims i) {
         for (int axis = 0; axis < 2; ++axis) i[axis] = (i[axis] + (shape[axis] + 1) / 2) % shape[axis];
         const auto row = [&](const Dims& at) {
           return sum_of_line([&](const Dims& j) { return element_of(x[0], j); }, at, 1, shape[1], -1);
         };
         return sum_of_line(row, i, 0, shape[0], -1);
       });
     }},
    {"irfft2 of the square of rfft2",
     {{Dims(3, 4)}, {Dims(2, 2)}, {Dims(1, 6)}},
     [](const Value* x) {
       const ComplexValue y = fft::rfft2(x[0]);
       return fft::irfft2(y * y);
     },
     &real_convolution,
     RowTypes::wide},
    {"irfftn of the square of rfftn",
     {{Dims(2, 3, 4)}, {Dims(2)}},
     [](const Value* x) {
       const ComplexValue y = fft::rfftn(x[0]);
       return fft::irfftn(y * y);
     },
     &real_convolution,
     RowTypes::wide},
    {"ifft2 of the square of fft2",
     {{Dims(2, 3, 2)}, {Dims(4, 1, 2)}},
     [](const Value* x) {
       const ComplexValue z = view_as_complex(x[0]);
       const ComplexValue y = fft::fft2(complex(real(z), imag(z)));
       return view_as_real(fft::ifft2(y * y));
     },
     &complex_convolution,
     RowTypes::wide},
    {"ifftn of the square of fftn",
     {{Dims(2, 2, 3, 2)}, {Dims(5, 2)}},
     [](const Value* x) {
       const ComplexValue y = fft::fftn(view_as_complex(x[0]));
       return view_as_real(fft::ifftn(y * y));
     },
     &complex_convolution,
     RowTypes::wide},
    {"dct",
     {{Dims(2, 5)}, {Dims(2, 6)}, {Dims(3, 1)}, {Dims(2)}, {Dims(17)}},
     [](const Value* x) { return fft::dct(x[0]); },
     [](const Arrays& x) {
       return sums_of_cosines(
           x[0], x[0].shape.rank - 1, [](std::int64_t, double) { return 2.0; }, false);
     }},
    {"orthogonal dct of type 3 along the first axis",
     {{Dims(5, 2)}, {Dims(6)}, {Dims(1, 3)}, {Dims(2, 2)}},
     [](const Value* x) { return fft::dct<0>(x[0], {.type = 3, .norm = fft::ortho}); },
     [](const Arrays& x) {
       return sums_of_cosines(
           x[0], 0, [](std::int64_t k, double n) { return std::sqrt((k == 0 ? 1 : 2) / n); }, true);
     }},
    {"orthogonal idct of the squares of dct",
     {{Dims(2, 5)}, {Dims(6)}, {Dims(3, 1)}},
     [](const Value* x) { return fft::idct(square(fft::dct(x[0])), {.norm = fft::ortho}); },
     [](const Arrays& x) {
       const int axis = x[0].shape.rank - 1;
       Array squares = sums_of_cosines(
           x[0], axis, [](std::int64_t, double) { return 2.0; }, false);
       for (double& element : squares.elements) element *= element;
       return sums_of_cosines(
           squares, axis, [](std::int64_t k, double n) { return std::sqrt((k == 0 ? 1 : 2) / n); }, true);
     },
     RowTypes::wide},
    // The sums are not linear in their operands, so that second derivatives are not zero.
    {"a power spectrum",
     {{Dims(2, 4), Dims(3, 2)}, {Dims(5), Dims(3, 2)}},
     [](const Value* x) { return square(abs(fft::rfft(x[0]) * view_as_complex(x[1]))); },
     [](const Arrays& x) {
       const int axis = x[0].shape.rank - 1;
       const Array pairs = rfft_reference({x[0]}, x[0].shape[axis], axis, 1);
       return array_from(without_pairs(pairs.shape), [&](const Dims& i) {
         Dims of_filter{};
         of_filter[of_filter.rank++] = i[axis];
         return std::norm(number(pairs, i) * number(x[1], of_filter));
       });
     },
     RowTypes::wide},
    {"fftconvolve of two axes",
     {{Dims(3, 4), Dims(2, 3)}, {Dims(1, 2), Dims(3, 1)}, {Dims(1, 1), Dims(1, 1)}},
     [](const Value* x) { return fft::fftconvolve(x[0], x[1]); },
     [](const Arrays& x) {
       const Dims a = x[0].shape, b = x[1].shape;
       return array_from(Dims(a[0] + b[0] - 1, a[1] + b[1] - 1), [&](const Dims& i) {
         double sum = 0;
         for (std::int64_t r = 0; r < a[0]; ++r)
           for (std::int64_t c = 0; c < a[1]; ++c)
             if (i[0] >= r && i[0] - r < b[0] && i[1] >= c && i[1] - c < b[1])
               sum += element_of(x[0], Dims(r, c)) * element_of(x[1], Dims(i[0] - r, i[1] - c));
         return sum;
       });
     },
     RowTypes::wide},
    {"fftconvolve of whole overlaps along an axis, and to the first length",
     {{Dims(2, 5), Dims(1, 3)}, {Dims(2, 3), Dims(2, 3)}, {Dims(1, 1), Dims(3, 1)}},
     [](const Value* x) {
       return sum(fft::fftconvolve<1>(x[0], x[1], fft::same), {1}) *
              sum(fft::fftconvolve<-1>(x[0], x[1], fft::valid), {1});
     },
     [](const Arrays& x) {
       const Dims a = x[0].shape, b = x[1].shape;
       return array_from(Dims(std::max(a[0], b[0])), [&](const Dims& i) {
         double same = 0, valid = 0;
         for (std::int64_t j = 0; j < a[1]; ++j)
           for (std::int64_t k = 0; k < b[1]; ++k) {
             const double product =
                 element_of(x[0], Dims(a[0] == 1 ? 0 : i[0], j)) * element_of(x[1], Dims(b[0] == 1 ? 0 : i[0], k));
             const std::int64_t first = (b[1] - 1) / 2;
             if (j + k >= first && j + k < first + a[1]) same += product;
             if (j + k >= b[1] - 1 && j + k < a[1]) valid += product;
           }
         return same * valid;
       });
     },
     RowTypes::wide},
    {"fftconvolve of complex and real numbers",
     {{Dims(4, 2), Dims(3)}, {Dims(1, 2), Dims(2)}},
     [](const Value* x) { return view_as_real(fft::fftconvolve(view_as_complex(x[0]), x[1])); },
     [](const Arrays& x) {
       const std::int64_t n = x[0].shape[0], m = x[1].shape[0];
       return pairs_from(Dims(n + m - 1), [&](const Dims& i) {
         Number sum{};
         for (std::int64_t k = 0; k < n; ++k)
           if (i[0] >= k && i[0] - k < m) sum += number(x[0], Dims(k)) * element_of(x[1], Dims(i[0] - k));
         return sum;
       });
     },
     RowTypes::wide},
    {"complex arithmetic",
     {{Dims(3, 2), Dims(3, 2)}, {Dims(2, 2, 2), Dims(2, 2)}},
     [](const Value* x) {
       const ComplexValue z = view_as_complex(x[0]);
       const ComplexValue w = view_as_complex(x[1]);
       return view_as_real((z * w - 2) / (conj(w) + 3) - (1 - z) + 2 * (-w) / 4);
     },
     [](const Arrays& x) {
       return pairs_from(without_pairs(x[0].shape), [&](const Dims& i) {
         const Number z = number(x[0], i);
         Dims last{};
         last[last.rank++] = i[i.rank - 1];
         const Number w = number(x[1], last);
         return (z * w - 2.0) / (std::conj(w) + 3.0) - (1.0 - z) - w / 2.0;
       });
     },
     RowTypes::wide},
    {"complex functions",
     {{Dims(5, 2)}, {Dims(2, 2, 2)}},
     [](const Value* x) {
       const ComplexValue z = view_as_complex(x[0]);
       return view_as_real(exp(z) * log(z + 3) + graph::polar(abs(z + 2), angle(z + 2) * 3));
     },
     [](const Arrays& x) {
       return pairs_from(without_pairs(x[0].shape), [&](const Dims& i) {
         const Number z = number(x[0], i);
         return std::exp(z) * std::log(z + 3.0) + std::polar(std::abs(z + 2.0), std::arg(z + 2.0) * 3);
       });
     },
     RowTypes::wide},
};

} // namespace

TEST_CASE("transforms and complex functions in models agree with sums and std::complex", "[fft]") {
  for (const OperationRow& row : rows) check_forward(row);
}

TEST_CASE("both derivatives of transforms and complex functions are those of differences", "[fft][gradient]") {
  for (const OperationRow& row : rows) check_both_derivatives(row);
}

TEST_CASE("fftconvolve in models refuses operands that cannot be convolved, with both numbers", "[fft]") {
  using graph::Problem;
  const auto refuses = [](Problem problem, std::int64_t left, std::int64_t right, const auto& function) {
    graph::Graph graph{DType::float32};
    const Value wide{graph, graph.add_input(DType::float32, {{2, 0}, {6, 0}})};
    const Value tall{graph, graph.add_input(DType::float32, {{3, 0}, {2, 0}})};
    const Value none{graph, graph.add_input(DType::float32, {{2, 0}, {0, 0}})};
    static_cast<void>(function(wide, tall, none));
    CHECK(graph.fault.problem == problem);
    CHECK(graph.fault.left == left);
    CHECK(graph.fault.right == right);
  };
  refuses(Problem::none, 0, 0, [](Value wide, Value tall, Value) { return fft::fftconvolve(wide, tall); });
  refuses(Problem::fftconvolve_takes_operands_of_one_rank, 2, 1,
          [](Value wide, Value tall, Value) { return fft::fftconvolve(wide, flatten(tall, 0)); });
  refuses(Problem::fftconvolve_of_an_axis_without_elements, 6, 0,
          [](Value wide, Value, Value none) { return fft::fftconvolve<1>(wide, none); });
  refuses(Problem::valid_convolution_needs_one_operand_inside_of_the_other, 12, 6,
          [](Value wide, Value tall, Value) { return fft::fftconvolve(wide, tall, fft::valid); });
  refuses(Problem::axis_is_named_twice, -1, 2,
          [](Value wide, Value tall, Value) { return fft::fftconvolve<1, -1>(wide, tall); });
}
