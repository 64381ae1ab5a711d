// SPDX-License-Identifier: Apache-2.0
//
// Printed tensors against what NumPy printed for the same arrays with the same options, character by character.

#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace twill;

namespace golden {

/// Without values, element i is i * step.
struct Case {
  std::string_view dtype;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  double step;
  PrintOptions options;
  std::string_view text;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
#include "print_golden.inc"
  };
  return all;
}

} // namespace golden

namespace {

template <class T, int Rank> std::string print_as(const golden::Case& given) {
  Dims extents{};
  for (const std::int64_t extent : given.shape) extents[extents.rank++] = extent;
  std::vector<unsigned char> bytes(static_cast<std::size_t>(extents.elements()) * sizeof(T) + 1);
  T* const elements = reinterpret_cast<T*>(bytes.data());
  for (std::int64_t i = 0; i < extents.elements(); ++i) {
    const double value =
        given.values.empty() ? static_cast<double>(i) * given.step : given.values[static_cast<std::size_t>(i)];
    elements[i] = static_cast<T>(value);
  }
  const Tensor<T, Cpu, dynamic_shape_t<Rank>> x(memory::Buffer<Cpu>{}, elements, extents, contiguous_strides(extents));
  return to_string(x, given.options);
}
template <class T> std::string print_as(const golden::Case& given) {
  switch (given.shape.size()) {
  case 0:
    return print_as<T, 0>(given);
  case 1:
    return print_as<T, 1>(given);
  case 2:
    return print_as<T, 2>(given);
  case 3:
    return print_as<T, 3>(given);
  default:
    return print_as<T, 4>(given);
  }
}

} // namespace

TEST_CASE("tensors print as NumPy prints the same arrays", "[tensor]") {
  for (const golden::Case& given : golden::cases()) {
    std::string text;
    if (given.dtype == "float64") text = print_as<double>(given);
    if (given.dtype == "float32") text = print_as<float>(given);
    if (given.dtype == "float16") text = print_as<half>(given);
    if (given.dtype == "int64") text = print_as<std::int64_t>(given);
    if (given.dtype == "bool") text = print_as<bool>(given);
    CAPTURE(given.dtype, given.shape);
    CHECK(text == given.text);
  }
}
