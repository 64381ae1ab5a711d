// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/tensors.md: functions of elements, reductions, products, expressions and sorting.

#include <twill/all.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace twill;

using Matrix = Tensor<float, Cpu, Shape<dyn, 4>>;
using Integers = Tensor<std::int64_t, Cpu, Shape<dyn, 4>>;
using Truths = Tensor<bool, Cpu, Shape<dyn, 4>>;

// clang-format off

// Arithmetic: functions and operators of elements; shapes broadcast, and `x` and `y` may be numbers in one of the places. They fuse
// with what stands around them, and serve values of models, too.
void arithmetic(const Matrix& x, const Matrix& y, const Integers& i, const Integers& j) {
  { const Tensor z = negative(x); }
  { const Tensor z = abs(x); }
  { const Tensor z = sign(x); }
  { const Tensor z = square(x); }
  { const Tensor z = sqrt(x); }
  { const Tensor z = rsqrt(x); }
  { const Tensor z = cbrt(x); }
  { const Tensor z = reciprocal(x); }
  { const Tensor z = absolute(x); }
  { const Tensor z = positive(x); }
  { const Tensor z = fabs(x); }
  { const Tensor z = add(x, y); }
  { const Tensor z = subtract(x, y); }
  { const Tensor z = multiply(x, y); }
  { const Tensor z = divide(x, y); }
  { const Tensor z = floor_divide(x, y); }
  { const Tensor z = remainder(x, y); }
  { const Tensor z = fmod(x, y); }
  { const Tensor z = power(x, 2.0); }
  { const Tensor z = pow(x, 2.0); }
  { const Tensor z = maximum(x, y); }
  { const Tensor z = minimum(x, y); }
  { const Tensor z = hypot(x, y); }
  { const Tensor z = gcd(i, j); }
  { const Tensor z = lcm(i, j); }
  { const Tensor z = true_divide(x, y); }
  { const Tensor z = mod(x, y); }
  { const Tensor z = fmax(x, y); }
  { const Tensor z = fmin(x, y); }
  { const Tensor z = heaviside(x, 0.5); }
  { const Tensor z = float_power(x, 2.0); }
  { const Tensor z = lerp(x, y, 0.25); }
  { const Tensor z = clamp(x, 0, 1); }
  { const Tensor z = clip(x, 0, 1); }
  { const Tensor z = clamp_min(x, 0); }
  { const Tensor z = clamp_max(x, 1); }
}

// Comparison, logic and bits: comparisons give truth values, which `where`, `x[mask]` and reductions take.
void comparison(const Matrix& x, const Matrix& y, const Truths& mask, const Integers& i, const Integers& j) {
  { const Tensor z = equal(x, y); }
  { const Tensor z = not_equal(x, y); }
  { const Tensor z = less(x, y); }
  { const Tensor z = less_equal(x, y); }
  { const Tensor z = greater(x, y); }
  { const Tensor z = greater_equal(x, y); }
  { const Tensor z = logical_and(mask, x > 1); }
  { const Tensor z = logical_or(mask, x > 1); }
  { const Tensor z = logical_xor(mask, x > 1); }
  { const Tensor z = logical_not(mask); }
  { const Tensor z = bitwise_and(i, j); }
  { const Tensor z = bitwise_or(i, j); }
  { const Tensor z = bitwise_xor(i, j); }
  { const Tensor z = left_shift(i, 2); }
  { const Tensor z = right_shift(i, 2); }
  { const Tensor z = invert(i); }
  { const Tensor z = bitwise_not(i); }
  { const Tensor z = where(x > 0, x, 0.1 * x); }
  { const Tensor z = cast<double>(x); }
}

// Real functions: integers become float32.
void real_functions(const Matrix& x, const Matrix& y) {
  { const Tensor z = exp(x); }
  { const Tensor z = expm1(x); }
  { const Tensor z = exp2(x); }
  { const Tensor z = log(x); }
  { const Tensor z = log1p(x); }
  { const Tensor z = log2(x); }
  { const Tensor z = log10(x); }
  { const Tensor z = logaddexp(x, y); }
  { const Tensor z = logaddexp2(x, y); }
  { const Tensor z = xlogy(x, y); }
  { const Tensor z = sin(x); }
  { const Tensor z = cos(x); }
  { const Tensor z = tan(x); }
  { const Tensor z = asin(x); }
  { const Tensor z = acos(x); }
  { const Tensor z = atan(x); }
  { const Tensor z = sinh(x); }
  { const Tensor z = cosh(x); }
  { const Tensor z = tanh(x); }
  { const Tensor z = tanh_accurate(x); }
  { const Tensor z = asinh(x); }
  { const Tensor z = acosh(x); }
  { const Tensor z = atanh(x); }
  { const Tensor z = atan2(x, y); }
  { const Tensor z = arctan2(x, y); }
  { const Tensor z = arcsin(x); }
  { const Tensor z = arccos(x); }
  { const Tensor z = arctan(x); }
  { const Tensor z = arcsinh(x); }
  { const Tensor z = arccosh(x); }
  { const Tensor z = arctanh(x); }
  { const Tensor z = deg2rad(x); }
  { const Tensor z = radians(x); }
  { const Tensor z = rad2deg(x); }
  { const Tensor z = degrees(x); }
  { const Tensor z = sinc(x); }
  { const Tensor z = erf(x); }
  { const Tensor z = erf_accurate(x); }
  { const Tensor z = erfc(x); }
  { const Tensor z = lgamma(x); }
  { const Tensor z = digamma(x); }
  { const Tensor z = polygamma(1, x); }
  { const Tensor z = erfinv(x); }
  { const Tensor z = ndtri(x); }
  { const Tensor z = ndtr(x); }
  { const Tensor z = i0(x); }
  { const Tensor z = i0e(x); }
  { const Tensor z = i1(x); }
  { const Tensor z = i1e(x); }
  { const Tensor z = bessel_j0(x); }
  { const Tensor z = bessel_j1(x); }
  { const Tensor z = gammainc(2, x); }
  { const Tensor z = gammaincc(2, x); }
  { const Tensor z = betainc(2, 3, x); }
}

// Complex numbers: parts and angles. Arithmetic and functions are called as for real numbers.
void complex_numbers(const Tensor<complex64, Cpu, Shape<dyn, 4>>& z, const Matrix& x, const Matrix& y) {
  { const Tensor w = complex(x, y); }
  { const Tensor parts = real(z); }
  { const Tensor parts = imag(z); }
  { const Tensor w = conj(z); }
  { const Tensor radians = angle(z); }
  { const Tensor pairs = view_as_real(z); }
  { const Tensor w = view_as_complex(view_as_real(z)); }
}

// Rounding and floating-point numbers: parts of numbers, neighbours, NaN and infinities.
void rounding(const Matrix& x, const Matrix& y, const Tensor<std::int32_t, Cpu, Shape<dyn, 4>>& i4) {
  { const Tensor z = floor(x); }
  { const Tensor z = ceil(x); }
  { const Tensor z = round(x); }
  { const Tensor z = trunc(x); }
  { const Tensor z = rint(x); }
  { const Tensor z = fix(x); }
  { const Tensor z = isnan(x); }
  { const Tensor z = isinf(x); }
  { const Tensor z = isfinite(x); }
  { const Tensor z = isposinf(x); }
  { const Tensor z = isneginf(x); }
  { const Tensor z = signbit(x); }
  { const Tensor z = copysign(x, y); }
  { const Tensor z = nextafter(x, y); }
  { const Tensor z = ldexp(x, i4); }
  { const Tensor z = spacing(x); }
  { const auto [quotient, rest] = divmod(x, y); }
  { const auto [fraction, whole] = modf(x); }
  { const auto [mantissa, exponent] = frexp(x); }
  { const Tensor z = nan_to_num(x, {.nan = 1}); }
  { const Tensor z = isclose(x, y, {.rtol = 1e-3}); }
  { const bool is_close = Tensor{allclose(x, y)}.item(); }
}

// Operators: element by element, as the functions; a number takes the type of the tensor beside it.
void operators(const Matrix& x, const Matrix& y) {
}

// Reductions: over the axes that are named, or over all; negative ones count from the end. `sum<1>(x, keepdims)` keeps the axis.
void reductions(const Matrix& x, const Matrix& weights) {
  { const Tensor rows = sum<1>(x); }
  { const Tensor rows = prod<1>(x); }
  { const Tensor largest = max(x); }
  { const Tensor rows = min<-1>(x); }
  { const Tensor rows = any<1>(x > 0); }
  { const Tensor rows = all_of<1>(x > 0); }
  { const Tensor rows = mean<1>(x); }
  { const Tensor places = argmax<1>(x); }
  { const Tensor places = argmin<1>(x); }
  { const Tensor columns = var<0>(x); }
  // PyTorch: `std`.
  { const Tensor columns = stddev<0>(x); }
  { const Tensor rows = ptp<1>(x); }
  { const Tensor rows = logsumexp<1>(x); }
  { const Tensor rows = count_nonzero<1>(x); }
  { const Tensor rows = average<1>(x, weights); }
  { const Tensor matrix = cov(x); }
  { const Tensor matrix = corrcoef(x); }
  { const Tensor rows = nansum<1>(x); }
  { const Tensor rows = nanprod<1>(x); }
  { const Tensor rows = nanmax<1>(x); }
  { const Tensor rows = nanmin<1>(x); }
  { const Tensor rows = nanmean<1>(x); }
  { const Tensor rows = nanvar<1>(x); }
  { const Tensor rows = nanstd<1>(x); }
  { const Tensor columns = quantile<0>(x, 0.75); }
  { const Tensor columns = percentile<0>(x, 75); }
  { const Tensor columns = nanquantile<0>(x, 0.75); }
  { const Tensor columns = nanpercentile<0>(x, 75); }
  { const Tensor columns = nanmedian<0>(x); }
  // PyTorch: the lower one of the two.
  { const Tensor columns = median<0>(x); }
  { const Tensor rows = norm<1>(x); }
  { const Tensor rows = norm<1>(x, order<1>); }
  { const Tensor rows = norm<1>(x, order_inf); }
  { const Tensor rows = norm<1>(x, order_negative_inf); }
  { const Tensor distances = cdist(x, x); }
}

// Running sums and differences: along one axis.
void running(const Matrix& x) {
  { const Tensor y = cumsum<1>(x); }
  { const Tensor y = cumprod<1>(x); }
  { const Tensor y = cummax<1>(x); }
  { const Tensor y = cummin<1>(x); }
  { const Tensor y = logcumsumexp<1>(x); }
  { const Tensor y = diff<1>(x); }
  { const Tensor y = ediff1d(x); }
  { const Tensor rows = trapezoid<1>(x, 0.5); }
}

// Rows: chains of reductions of rows and elementwise work are one kernel, with a name or without.
void rows(const Matrix& x, const Matrix& y, const Tensor<std::int64_t, Cpu, Shape<dyn>>& label) {
  { const Tensor z = rowwise([](auto row) { return row - mean(row); }, x); }
  { const Tensor ranges = per_row([](auto row) { return max(row) - min(row); }, x); }
  { const Tensor z = softmax(x); }
  { const Tensor z = softmin<0>(x); }
  { const Tensor z = log_softmax<0>(x); }
  { const Tensor z = layer_norm(x); }
  { const Tensor z = rms_norm(x); }
  { const Tensor z = normalize(x); }
  { const Tensor rows = cosine_similarity(x, y); }
  // PyTorch: a loss for each row, not their mean.
  { const Tensor losses = cross_entropy(x, label); }
}

// Products: matrices and stacks of them, by the CBLAS that is installed or oneDNN; what follows fuses.
void products(const Matrix& x, const Tensor<float, Cpu, Shape<4, 3>>& w, const Tensor<float, Cpu, Shape<4>>& v, const Tensor<float, Cpu, Shape<3>>& bias, const Tensor<float, Cpu, Shape<2, 4, 4>>& s) {
  { const Tensor y = matmul(x, w); }
  { const Tensor y = dot(x, v); }
  { const Tensor y = inner(x, x); }
  { const Tensor y = outer(v, v); }
  { const Tensor y = vdot(v, v); }
  { const Tensor y = vecdot(x, x); }
  { const Tensor y = bmm(s, s); }
  { const Tensor y = tensordot<1>(x, w); }
  { const Tensor y = kron(x, w); }
  { const Tensor y = linear(x, w.transpose(), bias); }
  { const Tensor y = einsum<"ij,jk->ik">(x, w); }
}

// Expressions: an expression is computed when a tensor is made of it, in one pass over memory.
void expressions(Matrix& y, const Matrix& a, const Matrix& b) {
  { const Tensor c = eval(a * b); }
  { const auto owned = lazy(a * b); }
  { out(y) = a * b; }
  { const Tensor c = map([](auto x) { return x * exp(-x); }, a); }
  { static_assert(plan<decltype(tanh(a * b + 1))>().kernels == 1); }
  { const std::string shown = to_string(plan(a * b + 1)); }
  { static_assert(unknown_bytes < 0); }
}

// Functions and their gradients: of captureless lambdas and functions, derived by the compiler; `x` is a tensor.
void gradients(const Matrix& x) {
  { const Tensor y = compiled([](auto v) { return tanh(v) * 2.0; })(x); }
  // PyTorch: `torch.func.grad`.
  { const Tensor by_x = grad([](auto v) { return sum(square(v)); })(x); }
  // PyTorch: `torch.func.grad_and_value`, the gradients after the value.
  { const auto [value, by_x] = value_and_grad([](auto v) { return sum(square(v)); })(x); }
  // PyTorch: `torch.func.jvp(f, (x,), (t,))`.
  { const auto [y, tangent] = jvp([](auto v) { return tanh(v); }, x, x); }
  { const auto [y, pull] = vjp([](auto v) { return tanh(v); }, x); }
  // PyTorch: `torch.autograd.functional.hvp`.
  { const auto [value, product] = hvp([](auto v) { return sum(square(v) * v); }, x, x); }
  // PyTorch: `torch.func.jacrev` and `jacfwd`; by all arguments, where `argnums` is 0.
  { const auto by_x = jacobian([](auto v) { return sum(square(v), {0}); })(x); }
  { const auto by_x = jacfwd([](auto v) { return tanh(v); })(x); }
  { const auto by_x = jacrev([](auto v) { return sum(square(v), {0}); })(x); }
  { const auto second = hessian([](auto v) { return sum(square(v) * v); })(x); }
  // PyTorch: `torch.func.linearize`.
  { const auto [y, push] = linearize([](auto v) { return tanh(v); }, x); }
  // PyTorch: `torch.func.vmap(f, in_dims=0, out_dims=1)`.
  { const auto by_row = vmap([](auto v) { return v / sum(v); }, out_axes<1>)(x); }
}

// Other libraries: memory that is shared and not copied.
void other_libraries(float* pointer, std::vector<float>& values, const Matrix& x) {
  { const auto y = tensor_over<Shape<dyn, 4>>(pointer, Dims(3, 4)); }
  { const auto y = tensor_of(std::span{values}); }
  { auto shared = to_dlpack(x); }
  { const auto y = from_dlpack<Matrix>(to_dlpack(x)); }
  { const auto y = clone_dlpack<Matrix>(to_dlpack(x).get()); }
}
