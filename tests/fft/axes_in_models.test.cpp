// SPDX-License-Identifier: Apache-2.0
//
// Transforms along several axes, Hermitian and cosine transforms, and moves of complex numbers in models beside PyTorch's
// (tests/golden/scripts/spectra_axes.py): results and gradients; refusals.

#include "tests/support/golden_gradients.hpp"

#include <twill/fft/value_cosine.hpp>
#include <twill/fft/value_several_axes.hpp>
#include <twill/ops/complex_moves.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::ComplexValue;
using graph::view_as_complex;

namespace {

void check(const std::string& name, const std::vector<std::string>& inputs, Value (*function)(const Value* x)) {
  check_golden_gradients("spectra_axes", name, inputs, 1e-12, function);
}
void check_of_z(const std::string& name, Value (*function)(const ComplexValue& z)) {
  check_golden_gradients("spectra_axes", name, {"z"}, 1e-12,
                         [&](const Value* x) { return function(view_as_complex(x[0])); });
}
void check_of_two(const std::string& name, ComplexValue (*function)(const ComplexValue& a, const ComplexValue& b)) {
  check_golden_gradients("spectra_axes", name, {"left", "right"}, 1e-12, [&](const Value* x) {
    return view_as_real(function(view_as_complex(x[0]), view_as_complex(x[1])));
  });
}

/// 0, 1, 2, ... in the graph of a value.
Value places(const ComplexValue& z, const graph::Extents& shape) { return graph::iota(z.graph(), shape); }

} // namespace

TEST_CASE("Hermitian transforms and those along several axes in models are PyTorch's", "[fft][gradient]") {
  check_of_z("hfft", [](const ComplexValue& z) { return fft::hfft(z, fft::ortho); });
  check_of_z("hfft_odd", [](const ComplexValue& z) { return fft::hfft<1>(z, 7, fft::forward); });
  check("ihfft", {"x"}, [](const Value* x) { return view_as_real(fft::ihfft<-1, 5>(x[0])); });
  check("fft2_of_real", {"x"}, [](const Value* x) { return view_as_real(fft::fft2(x[0], Dims(4, 5))); });
  check_of_z("ifft2", [](const ComplexValue& z) { return view_as_real(fft::ifft2<0, 2>(z)); });
  check_of_z("fftn", [](const ComplexValue& z) { return view_as_real(fft::fftn(z, fft::forward)); });
  check_of_z("ifftn", [](const ComplexValue& z) { return view_as_real(fft::ifftn<1, 0>(z, Dims(3, 2))); });
  check("rfftn", {"x"}, [](const Value* x) { return view_as_real(fft::rfftn<0, 1>(x[0], Dims(2, 5))); });
  check_of_z("irfftn", [](const ComplexValue& z) { return fft::irfftn(z, Dims(3, 4, 7), fft::ortho); });
  check_of_z("irfft2", [](const ComplexValue& z) { return fft::irfft2(z); });
  check_of_z("fftshift",
             [](const ComplexValue& z) { return view_as_real(fft::fftshift<1, 2>(z) * fft::ifftshift(z)); });
}

TEST_CASE("cosine transforms in models have the values and gradients of their matrices", "[fft][gradient]") {
  check("dct", {"x"}, [](const Value* x) { return fft::dct(x[0]); });
  check("dct_odd", {"odd"}, [](const Value* x) { return fft::dct<1>(x[0], {.norm = fft::ortho}); });
  check("dct_3", {"odd"}, [](const Value* x) { return fft::dct(x[0], {.type = 3, .norm = fft::forward}); });
  check("dct_3_first", {"x"}, [](const Value* x) { return fft::dct<0>(x[0], 4, {.type = 3, .norm = fft::ortho}); });
  check("idct", {"x"}, [](const Value* x) { return fft::idct<1>(x[0]); });
  check("idct_3", {"odd"}, [](const Value* x) { return fft::idct<-1, 1>(x[0], {.type = 3}); });
}

TEST_CASE("reads, sums and moves of complex numbers in models are PyTorch's", "[fft][gradient]") {
  using Z = const ComplexValue&;
  check_of_two("slice", [](Z a, Z b) { return slice_axis(a, 1, {.step = 2}) * narrow(b, 1, -1, 1); });
  check_of_two("select", [](Z a, Z b) { return select(a, 0, 1) * select(select(b, 1, 2), 0, 0); });
  check_of_two("take", [](Z a, Z b) {
    const Value index = abs(places(a, {{4, 0}}) - 1); // 1, 0, 1, 2
    return take(a, index, 1) * take(b, index, 1);
  });
  check_of_two("take_along_axis", [](Z a, Z b) { return take_along_axis(a, places(a, {{2, 0}, {3, 0}}) % 2, 0) * b; });
  check_of_two("scatter_add", [](Z a, Z b) { return scatter_add(a * a, 0, places(a, {{2, 0}, {3, 0}}) % 2, b); });
  check_of_two("index_add", [](Z a, Z b) { return index_add(a, 1, abs(places(a, {{3, 0}}) - 1) * 2, b * b); });
  check_of_two("where", [](Z a, Z b) { return where(equal(places(a, {{3, 0}}) % 2, 0), a, b * a); });
  check_of_two("pad", [](Z a, Z b) { return pad(a * b, 1, {1, 2}, 3); });
  check_of_two("cumsum", [](Z a, Z b) { return cumsum(a * b, 1); });
  check_of_two("concatenate", [](Z a, Z b) { return concatenate({a, b * b, a}, 1); });
  check_of_two("stack", [](Z a, Z b) { return stack({a, b * a}, 1); });
  check_of_two("flip", [](Z a, Z b) { return flip(a * b, {0, 1}); });
  check_of_two("roll", [](Z a, Z b) { return roll(a * b, -2, 1); });
  check_of_two("shapes", [](Z a, Z b) {
    return sum(reshape(transpose(a * b, {1, 0}), {{2, 0}, {3, 0}}), {0}) + mean(a * a, {0});
  });
}

TEST_CASE("transforms along several axes and cosine transforms refuse what they cannot do", "[fft]") {
  using graph::Problem;
  const auto problem = [](const auto& function) {
    graph::Graph graph{DType::float32};
    static_cast<void>(function(Value{graph, graph.add_input(DType::float32, {{2, 0}, {6, 0}})}));
    return graph.fault;
  };
  CHECK(problem([](Value x) { return fft::fftn(x, Dims(4, 4)); }).problem == Problem::none);
  const graph::Fault points = problem([](Value x) { return fft::fft2(x, Dims(4, 4, 4)); });
  CHECK(points.problem == Problem::points_are_not_one_for_each_axis);
  CHECK(points.left == 3);
  CHECK(points.right == 2);
  CHECK(problem([](Value x) { return fft::rfftn<0, -2>(x); }).problem == Problem::axis_is_named_twice);
  CHECK(problem([](Value x) { return fft::fftn<2>(x); }).problem == Problem::axis_is_outside_the_rank);
  CHECK(problem([](Value x) { return fft::fftn(sum(x)); }).problem == Problem::axis_is_outside_the_rank);
  const graph::Fault type = problem([](Value x) { return fft::dct(x, {.type = 4}); });
  CHECK(type.problem == Problem::cosine_transform_is_neither_of_type_2_nor_of_type_3);
  CHECK(type.left == 4);
  CHECK(problem([](Value x) { return fft::idct(x, 0); }).problem ==
        Problem::fourier_transform_needs_at_least_one_point);
}
