// SPDX-License-Identifier: Apache-2.0
//
// Transforms and complex numbers in models beside PyTorch's (tests/golden/scripts/spectra.py): results and gradients; compiled
// programs, a trained filter, forward mode, refusals. Several axes: tests/fft/axes_in_models.test.cpp. Derivatives of both
// orders: tests/fft/table_of_spectra.test.cpp.

#include "tests/support/golden_gradients.hpp"

#include <twill/fft.hpp>
#include <twill/fft/value_several_axes.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/twill.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::ComplexValue;
using graph::Value;
using graph::view_as_complex;

namespace {

template <class F> void check(const std::string& name, const std::vector<std::string>& inputs, const F& function) {
  check_golden_gradients("spectra", name, inputs, 1e-12, function);
}

// region: spectral_convolution
/// Circular convolution of lines of 64 points with a kernel as long as they are, whose spectrum is trained.
struct SpectralConvolution {
  static constexpr auto forward(Input<Dim<"batch">, 64> x) {
    const auto weights = nn::parameter(x.graph(), "spectrum", {33, 2}, nn::initialise::zeros()); // pairs re, im
    return fft::irfft(fft::rfft(x) * view_as_complex(weights));
  }
};
// end region

} // namespace

TEST_CASE("transforms in models have PyTorch's values and gradients", "[fft][gradient]") {
  check("power", {"odd", "weights"},
        [](const Value* x) { return square(abs(fft::rfft(x[0]) * view_as_complex(x[1]))); });
  check("filtered_odd", {"odd", "weights"},
        [](const Value* x) { return fft::irfft(fft::rfft(x[0]) * view_as_complex(x[1]), 7); });
  check("filtered_even", {"even", "weights"},
        [](const Value* x) { return fft::irfft(fft::rfft(x[0], fft::ortho) * view_as_complex(x[1]), fft::ortho); });
  check("filtered_long", {"long", "filter"}, // 34 = 2 * 17, which passes of small factors do not have
        [](const Value* x) { return fft::irfft(fft::rfft(x[0]) * view_as_complex(x[1])); });
  const auto of_spectrum = [](const std::string& name, auto function) {
    check(name, {"spectrum"}, [&](const Value* x) { return function(view_as_complex(x[0])); });
  };
  of_spectrum("fft_padded", [](const ComplexValue& z) { return view_as_real(fft::fft<1>(z, 7, fft::forward)); });
  of_spectrum("fft_cropped", [](const ComplexValue& z) { return view_as_real(fft::fft<0, 3>(z)); });
  of_spectrum("ifft", [](const ComplexValue& z) { return view_as_real(fft::ifft(z, fft::ortho)); });
  of_spectrum("irfft_padded", [](const ComplexValue& z) { return fft::irfft(z, 11); });
  of_spectrum("irfft_cropped", [](const ComplexValue& z) { return fft::irfft<2>(z, 4, fft::forward); });
  of_spectrum("fft2", [](const ComplexValue& z) {
    const ComplexValue y = fft::fft2(z);
    return view_as_real(fft::ifft2(y * y));
  });
  of_spectrum("irfft2", [](const ComplexValue& z) { return fft::irfft2(z, Dims(4, 9)); });
  check("fft_of_real", {"even"}, [](const Value* x) { return angle(fft::fft<1>(x[0])); });
  check("rfft2", {"even"}, [](const Value* x) { return view_as_real(fft::rfft2(x[0], fft::ortho)); });
}

TEST_CASE("functions of complex numbers in models have PyTorch's values and gradients", "[fft][gradient]") {
  check("quotient", {"left"}, [](const Value* x) {
    const ComplexValue z = view_as_complex(x[0]);
    return view_as_real((z * 2 - 1) / (conj(z) + 0.5) - 3 / z);
  });
  check("functions", {"left"}, [](const Value* x) {
    const ComplexValue z = view_as_complex(x[0]);
    return view_as_real(exp(z) * log(z) + graph::polar(abs(z), angle(z) * 2));
  });
  check("matmul", {"left", "right"}, [](const Value* x) {
    const ComplexValue a = view_as_complex(x[0]);
    return view_as_real(matmul(matmul(a, view_as_complex(x[1])), real(a)));
  });
}

TEST_CASE("the gradient by complex numbers is PyTorch's, and a step against it descends", "[fft][gradient]") {
  graph::Graph graph{DType::float64};
  const Array pairs = golden_array("spectra/leaf");
  const ComplexValue z = view_as_complex({graph, graph.add_input(DType::float64, graph::extents_of(pairs.shape))});
  const auto loss_of = [&](const ComplexValue& at) {
    const Value cubes = power(abs(fft::fft(at) * cast(graph::iota(graph, {{5, 0}}), DType::float64)), 3);
    return sum(cubes) + sum(imag(at * at));
  };
  const Value loss = loss_of(z);
  const ComplexValue slope = gradient(loss, z);
  for (const Value& output : {view_as_real(slope), loss, loss_of(z - slope * 1e-6)})
    graph.outputs.push_back(output.id());
  REQUIRE(!graph.fault.any());
  const std::vector<Array> got = evaluate(graph, {{}, {pairs}, {}, {}}, &run_by_kernel).outputs;
  const Array expected = golden_array("spectra/leaf_slope");
  for (std::size_t i = 0; i < expected.elements.size(); ++i)
    CHECK(got[0].elements[i] == Approx(expected.elements[i]).epsilon(1e-11));
  CHECK(got[2].elements[0] < got[1].elements[0]);
}

TEST_CASE("compiled transforms are those of tensors, of any length at run time", "[fft]") {
  constexpr auto spectrum = [](Value x) { return view_as_real(fft::fft<0>(fft::ifft<0>(fft::fft<0>(x)), fft::ortho)); };
  for (const std::int64_t n : {0, 6, 1009, 70000}) { // the last ones on all threads
    std::vector<double> numbers(static_cast<std::size_t>(2 * n));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i * i % 1013));
    const auto x = from_values<Shape<dyn, 2>>(numbers, Dims(n, 2), Cpu{0});
    const Tensor y = compiled(spectrum)(x);
    REQUIRE(y.shape() == Dims(n, 2, 2));
    if (n == 0) continue;
    const auto expected = to_vector(fft::fft<0>(x, fft::ortho));
    const std::vector<double> got = to_vector(y);
    double error = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      error = std::max({error, std::abs(got[2 * i] - expected[i].re), std::abs(got[2 * i + 1] - expected[i].im)});
    CHECK(error < 1e-12);
  }
}

TEST_CASE("forward mode goes through transforms", "[fft][gradient]") {
  constexpr auto squared = [](Value x) {
    const ComplexValue y = fft::rfft(x);
    return fft::irfft(y * y, 5);
  };
  const auto x = from_values<Shape<5>>(std::vector<double>{1, -2, 0.5, 3, 0.25}, Dims(5), Cpu{0});
  const auto t = from_values<Shape<5>>(std::vector<double>{0.5, 1, -1, 2, 4}, Dims(5), Cpu{0});
  const auto [y, tangent] = jvp(squared, x, t);
  const std::vector<double> a = to_vector(x), b = to_vector(t), values = to_vector(y), slopes = to_vector(tangent);
  for (std::size_t i = 0; i < 5; ++i) { // a circular convolution of x with itself
    double value = 0, slope = 0;
    for (std::size_t j = 0; j < 5; ++j) {
      value += a[j] * a[(i + 5 - j) % 5];
      slope += 2 * b[j] * a[(i + 5 - j) % 5];
    }
    CHECK(values[i] == Approx(value));
    CHECK(slopes[i] == Approx(slope));
  }
}

TEST_CASE("a spectral convolution learns a filter", "[fft][training]") {
  nn::Network<SpectralConvolution, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::mse, optim::Adam{{.rate = 0.05}});
  float first = 0, loss = 0;
  for (std::size_t i = 0; i < 150; ++i) {
    std::vector<float> x(16 * 64), y(16 * 64);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>((k + 977 * i) * (k + 3) % 1013));
    for (std::size_t k = 0; k < x.size(); ++k)
      y[k] = 0.75F * x[k] - 0.5F * x[k / 64 * 64 + (k + 61) % 64]; // of the points here and three before
    loss = step(from_values<Shape<dyn, 64>>(x, Dims(16, 64)), from_values<Shape<dyn, 64>>(y, Dims(16, 64))).item();
    if (i == 0) first = loss;
  }
  CHECK(first > 0.3F);
  CHECK(loss < 1e-4F);
}

TEST_CASE("transforms and complex numbers refuse what they cannot do", "[fft]") {
  using graph::Problem;
  const auto problem = [](const graph::Extents& shape, const auto& function) {
    graph::Graph graph{DType::float32};
    static_cast<void>(function(Value{graph, graph.add_input(DType::float32, shape)}));
    return graph.fault.problem;
  };
  const graph::Extents line{{2, 0}, {6, 0}}, empty{{2, 0}, {0, 0}};
  CHECK(problem(line, [](Value x) { return fft::rfft(x); }) == Problem::none);
  CHECK(problem(line, [](Value x) { return fft::ifft(x, 4); }) == Problem::none);
  CHECK(problem(line, [](Value x) { return fft::fft<2>(x); }) == Problem::axis_is_outside_the_rank);
  constexpr Problem no_points = Problem::fourier_transform_needs_at_least_one_point;
  CHECK(problem(line, [](Value x) { return fft::fft(x, 0); }) == no_points);
  CHECK(problem(line, [](Value x) { return fft::rfft(x, 0); }) == no_points);
  CHECK(problem(empty, [](Value x) { return fft::rfft(x); }) == no_points);
  CHECK(problem(line, [](Value x) { return fft::irfft(complex(x, x), 0); }) == no_points);
  CHECK(problem(line, [](Value x) { return view_as_complex(x); }) == Problem::index_has_another_extent);
  CHECK(problem({}, [](Value x) { return view_as_complex(x); }) == Problem::index_has_another_rank);
}
