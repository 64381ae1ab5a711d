// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/tensors.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/twill.hpp>

#include <complex>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

using namespace twill;

using Matrix = Tensor<float, Cpu, Shape<dyn, 4>>;
using Integers = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Truths = Tensor<bool, Cpu, Shape<dyn, 4>>;
using Vector = Tensor<float, Cpu, Shape<4>>;

// clang-format off

// Types and shapes: a tensor's element type, kind of device and shape are in its type; an extent is a number or `dyn`.
void types(const Matrix& x) {
  { Tensor<float, Cpu, Shape<dyn, 4>> y = zeros<float, Shape<dyn, 4>>(Dims(3, 4)); }
  { const Dims extents(3, 4); }
  { const auto y = empty<float, Shape<dyn, 4>>(Dims(3, 4)); }
  { static_assert(dyn < 0); }
  { static_assert(max_rank == 8); }
  { const half h{1.5F}; }
  { const bfloat16 b{1.5F}; }
  { const std::size_t bytes = size_of(DType::float16); }
  { const int digits = with_scalar(x.dtype, []<class T>() { return std::numeric_limits<T>::digits; }); }
  { static_assert(is_floating(DType::bfloat16)); }
  { static_assert(is_complex(DType::complex64)); }
  { static_assert(is_fractional(DType::complex64) && is_fractional(DType::float32)); }
  { static_assert(is_float8(DType::float8_e5m2)); }
  { static_assert(is_short_float(DType::float8_e5m2) && is_short_float(DType::float16)); }
  { static_assert(is_wide_unsigned(DType::uint32) && !is_wide_unsigned(DType::uint8)); }
  { static_assert(is_model_type(DType::float32) && !is_model_type(DType::int16)); }
  { static_assert(dtype_count == 17); }
  { const int digits = with_model_scalar(x.dtype, []<class T>() { return std::numeric_limits<T>::digits; }); }
  { const Complex<double> z{1.5, -2.0}; }
  { const complex64 z = std::complex<float>{1.5F, -2.0F}; }
  { const complex128 z{1.5, -2.0}; }
  { const Float8<2> f{1.5F}; }
  { const float8_e4m3fn f{448.0F}; }
  { const float8_e5m2 f{57344.0F}; }
  { const std::string_view spelled = name(x.dtype); }
  { const Dims strides = contiguous_strides(x.shape()); }
  { const std::string shown = to_string(x.shape()); }
  { static_assert(promote(DType::int32, DType::float16) == DType::float16); }
  { static_assert(promote(DType::uint16, DType::int32) == no_type); }
  { static_assert(real_type(DType::complex64) == DType::float32); }
  { static_assert(complex_type(DType::float64) == DType::complex128); }
  { static_assert(computed_bytes(DType::float16) == 4); }
  { static_assert(category(DType::int32) == TypeCategory::integer); }
  { static_assert(weak_promote(DType::float16, TypeCategory::floating) == DType::float16); }
  { static_assert(sum_type(DType::int32) == DType::int64); }
  { static_assert(floating_type(DType::int32) == DType::float32); }
  { static_assert(compute_type(DType::bfloat16) == DType::float32); }
}

// Creation: the element type is float and the device the current one unless told otherwise; extents that are `dyn` are given.
void creation(const Matrix& x, const std::vector<float>& values, const Integers& places) {
  { const Tensor y = empty<float, Shape<dyn, 4>>(Dims(3, 4)); }
  { const Tensor y = full<float, Shape<2, 3>>(0.5F); }
  { const Tensor y = zeros<float, Shape<2, 3>>(); }
  { const Tensor y = ones<float, Shape<dyn, 4>>(Dims(3, 4)); }
  { const Tensor y = scalar(2.0F); }
  { const Tensor y = from_values(values); }
  { const Tensor y = tensor({{1, 2, 3}, {4, 5, 6}}); }
  { const Tensor y = empty_like(x); }
  { const Tensor y = full_like(x, 0.5F); }
  { const Tensor y = zeros_like(x); }
  { const Tensor y = ones_like<int>(x); }
  { const Tensor y = new_empty<Shape<2, 2>>(x); }
  { const Tensor y = new_full<Shape<2, 2>>(x, 0.5F); }
  { const Tensor y = new_zeros<Shape<2, 2>>(x); }
  { const Tensor y = new_ones<Shape<dyn>>(x, Dims(5)); }
  { const Tensor y = arange(0, 10, 2); }
  { const Tensor y = linspace(0.0, 1.0, 5); }
  { const Tensor y = eye<float, Shape<3, 3>>(); }
  { const Tensor y = logspace(0.0, 3.0, 4); }
  { const Tensor y = geomspace(1.0, 1000.0, 4); }
  { const auto [columns, rows] = meshgrid(arange(4), arange(3)); }
  { const auto [row, column] = unravel_index<2>(places, Dims(3, 4)); }
  { const Tensor flat = ravel_multi_index(Dims(3, 4), places, places); }
}

// Random numbers: drawn from the device's generator, which `manual_seed(device, 1)` seeds.
void random_numbers(Matrix& x, const Vector& p) {
  { const Tensor y = rand<float, Shape<2, 3>>(); }
  { const Tensor y = randn<float, Shape<dyn, 4>>(Dims(3, 4)); }
  { const Tensor y = uniform<float, Shape<5>>(-1, 1); }
  { const Tensor y = normal<float, Shape<5>>(0, 0.02); }
  { const Tensor y = exponential<float, Shape<5>>(2.0); }
  { const Tensor y = integers<std::int64_t, Shape<5>>(0, 10); }
  { const Tensor y = randint<std::int64_t, Shape<5>>(0, 10); }
  { const Tensor y = bernoulli<bool, Shape<5>>(0.3); }
  { const Tensor order = permutation(10); }
  { shuffle(x); }
  { const Tensor places = multinomial(p, 3); }
  { const Tensor rows = choice(x, 2); }
}

// Reading and printing: `x.item()` is the number of a scalar tensor, and `std::cout << x` prints as NumPy does.
void reading(const Matrix& x) {
  { for (const float element : span_of(x)) std::cout << element << '\n'; }
  { const std::vector<float> values = to_vector(x); }
  { const std::string shown = to_string(x, {.precision = 3}); }
  { const std::string source = to_source(x); }
}

// Views and shapes of tensors: all but `ravel` share memory. Members: `x.reshape<Shape<2, dyn>>()`, `x.transpose()`, `x.permute<1, 0>()`,
// `x.squeeze<0>()`, `x.unsqueeze<0>()`, `x.expand<S>()`.
void views(const Matrix& x, const Vector& v, const Tensor<float, Cpu, Shape<>>& number) {
  { const Tensor y = flip<0>(x); }
  { const Tensor y = flipud(x); }
  { const Tensor y = fliplr(x); }
  { const Tensor y = moveaxis<0, 1>(x); }
  { const Tensor y = swapaxes<0, 1>(x); }
  { const Tensor y = rot90(x); }
  { const Tensor y = ravel(x); }
  { const Tensor y = broadcast_to<Shape<3, 4>>(v); }
  { const Tensor y = expand_dims<0>(x); }
  { const Tensor y = unsqueeze<0>(x); }
  { const Tensor y = squeeze<0>(unsqueeze<0>(x)); }
  { const Tensor y = stop_gradient(x); }
  { const Tensor y = atleast_1d(number); }
  { const Tensor y = atleast_2d(v); }
  { const Tensor y = atleast_3d(x); }
  { const Tensor y = narrow<0>(x, 1, 2); }
  { const Tensor y = diagonal(x); }
  { const Tensor y = sliding_window_view<0>(v, 2); }
  { const auto parts = split<0>(x, 3); }
  { const auto parts = array_split<0>(x, 3); }
  { const auto parts = chunk<0>(x, 2); }
  { const Tensor first = x(all, 0); }
  { const Tensor y = x(newaxis, 0); }
  { const Tensor last = x(ellipsis, -1); }
  { const Tensor rows = x(slice{0, 10, 2}); }
}

// Joining, repeating, padding: new tensors, computed in one pass.
void joining(const Matrix& x, const Matrix& y, const Vector& v) {
  { const Tensor z = concat<0>(x, y); }
  { const Tensor z = concatenate<0>(x, y); }
  { const Tensor z = cat<0>(x, y); }
  { const Tensor z = stack<0>(x, y); }
  { const Tensor z = hstack(x, y); }
  { const Tensor z = vstack(x, y); }
  { const Tensor z = tile<2, 1>(x); }
  { const Tensor z = repeat<0, 3>(x); }
  { const Tensor z = roll<1>(x, 2); }
  { const Tensor z = pad(x, {1, 1}, {.mode = PadMode::edge}); }
  { const Tensor z = tril(x); }
  { const Tensor z = triu(x, 1); }
  { const Tensor mask = tri<float, Shape<3, 3>>(); }
  { const Tensor z = diag(v); }
  { const Tensor z = trace(x); }
}

// Indexing: `index` are integers, `mask` truth values in the shape of x. `x[mask]` and `x[index]` read and write.
void indexing(Matrix& x, Vector& v, const Integers& index, const Truths& mask, const Matrix& values, const Tensor<std::int64_t, Cpu, Shape<dyn, 4>>& places) {
  { const Tensor rows = take<0>(x, index); }
  { const Tensor y = take_along_axis<0>(x, places); }
  { const Tensor picked = twill::index(x, index, index); }
  { selected(x, mask) = 0.0F; }
  { const Tensor picked = masked_select(x, x > 1); }
  { const Tensor y = masked_fill(x, mask, 0.0F); }
  { const auto [rows, columns] = nonzero(x); }
  { const Tensor places = argwhere(x); }
  { const Tensor places = flatnonzero(x); }
  { put(v, index, 1.0F); }
  { index_put(v, index, 1.0F); }
  { index_add<0>(x, index, values); }
  { put_along_axis<0>(x, places, values); }
  { scatter_add<0>(x, places, values); }
}
