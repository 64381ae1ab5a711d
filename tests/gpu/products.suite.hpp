#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on a GPU's queue beside plain loops: every element type, transposed or strided, in batches. On CUDA the
// larger floating and complex ones are the library's.

#include <tests/support/suite.hpp>

#include <twill/core/dtype.hpp>
#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/kernel/gpu/product.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace products_suite { namespace {

using namespace twill;
using test::Case;
using test::TestedDevice;

/// A copy of values in the device's memory.
template <class T> memory::Buffer<TestedDevice> on_device(const std::vector<T>& values) {
  memory::Buffer<TestedDevice> buffer(TestedDevice{0}, values.size() * sizeof(T));
  copy_bytes(TestedDevice{0}, buffer.data(), Cpu{0}, values.data(), values.size() * sizeof(T), CopyOptions{});
  return buffer;
}

template <class T> std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> real{-1, 1};
  std::uniform_int_distribution<int> whole{0, 5};
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    if constexpr (ComplexScalar<T>)
      value = T(static_cast<real_t<T>>(real(random)), static_cast<real_t<T>>(real(random)));
    else
      value = FloatingScalar<T> ? static_cast<T>(real(random)) : static_cast<T>(whole(random));
  }
  return values;
}

/// A number as the plain loops take it.
template <class T> auto wide(T value) {
  if constexpr (ComplexScalar<T>)
    return std::complex<double>(value.re, value.im);
  else
    return static_cast<double>(value);
}

/// Whose kernel computes products: a library's where there is one for the type, or twill's own.
enum class Kernel { any, tiled };

/// C = 2 op(A) op(B) + beta C for products that share A, all with rows apart.
template <class T>
void check_product(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, int beta, double tolerance,
                   Kernel by = Kernel::any, std::int64_t batch = 3) {
  const std::int64_t lda = (ta ? m : k) + 8, ldb = (tb ? k : n) + 3, ldc = n + 5;
  const std::int64_t b_batch = (tb ? n : k) * ldb, c_batch = m * ldc + 1;
  const auto a = random_values<T>((ta ? k : m) * lda, 1);
  const auto b = random_values<T>(batch * b_batch, 2);
  auto c = random_values<T>(batch * c_batch, 3);
  const auto a_memory = on_device(a);
  const auto b_memory = on_device(b);
  const auto c_memory = on_device(c);
  kernel::ProductStack<T> stack{.batch = Dims(batch), .m = m, .n = n, .k = k};
  stack.a = {static_cast<const T*>(a_memory.data()), ta ? 1 : lda, ta ? lda : 1, {0}};
  stack.b = {static_cast<const T*>(b_memory.data()), tb ? 1 : ldb, tb ? ldb : 1, {b_batch}};
  stack.c = static_cast<T*>(c_memory.data());
  stack.c_row_stride = ldc;
  stack.c_batch = {c_batch};
  using C = kernel::compute_t<T>;
  launch(TestedDevice{0}, [&](const auto& queue) {
    if (by == Kernel::any)
      run_products(queue, stack, static_cast<C>(2), static_cast<C>(beta));
    else
      kernel::gpu::tiled_products(queue, stack, static_cast<C>(2), static_cast<C>(beta));
  });
  auto computed = c;
  copy_bytes(Cpu{0}, computed.data(), TestedDevice{0}, c_memory.data(), computed.size() * sizeof(T), CopyOptions{});
  synchronize(TestedDevice{0});
  std::int64_t next = 0;
  for (std::int64_t number = 0; number < batch; ++number)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < ldc; ++j) {
        const auto place = static_cast<std::size_t>(number * c_batch + i * ldc + j);
        auto expected = wide(c[place]);
        if (j < n) {
          decltype(expected) sum = 0;
          for (std::int64_t p = 0; p < k; ++p)
            sum += wide(a[static_cast<std::size_t>(ta ? p * lda + i : i * lda + p)]) *
                   wide(b[static_cast<std::size_t>(number * b_batch + (tb ? j * ldb + p : p * ldb + j))]);
          expected = 2.0 * sum + static_cast<double>(beta) * expected;
        }
        test::require_close(std::abs(wide(computed[place]) - expected), 0, 0, tolerance * (1 + std::abs(expected)));
        ++next;
      }
  test::require(next == batch * m * ldc);
}

template <class T> void check_all(double tolerance) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      check_product<T>(ta, tb, 5, 9, 3, 0, tolerance);
      check_product<T>(ta, tb, 67, 35, 41, 1, tolerance);
    }
  check_product<T>(false, true, 1, 130, 65, 0, tolerance);
  check_product<T>(false, false, 80, 1, 20, 1, tolerance);
  check_product<T>(false, false, 17, 19, 0, 1, tolerance); // only scales C
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      check_product<T>(ta, tb, 33, 20, 19, 1, tolerance, Kernel::tiled);     // narrow tiles
      check_product<T>(ta, tb, 35, 70, 19, 1, tolerance, Kernel::tiled, 33); // wide ones, some of them not full
    }
}

void floats() {
  check_all<float>(1e-4);
  check_all<double>(1e-12);
}
void narrow_floats() {
  check_all<twill::half>(1e-2);
  check_all<bfloat16>(1e-1);
}
void complex_numbers() {
  check_all<complex64>(1e-4);
  check_all<complex128>(1e-12);
}
void complex_tensors() {
  const auto x = from_values<Shape<dyn, dyn>>(random_values<complex64>(20 * 30, 1), Dims(20, 30), TestedDevice{0});
  const auto y = from_values<Shape<dyn, dyn>>(random_values<complex64>(25 * 30, 2), Dims(25, 30), TestedDevice{0});
  forget_library_choices(TestedDevice{0});
  const auto left = to_vector(x), right = to_vector(y), computed = to_vector(eval(matmul(x, y.transpose())));
#if defined(__CUDACC__)
  const auto choices = library_choices(TestedDevice{0});
  test::require_equal(choices.size(), std::size_t{1});
  test::require_equal(choices[0].by, test::product_library_name);
  test::require_equal(choices[0].problem, "product of 20 x 30 by 30 x 25 (transposed) complex64");
#endif
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 25; ++j) {
      std::complex<double> sum = 0;
      for (std::size_t p = 0; p < 30; ++p) sum += wide(left[i * 30 + p]) * wide(right[j * 30 + p]);
      test::require_close(std::abs(wide(computed[i * 25 + j]) - sum), 0, 0, 1e-5);
    }
}
void integers() {
  check_all<std::int32_t>(0);
  check_all<std::int64_t>(0);
}

const Case first{"products of floats on a GPU equal plain loops", &floats};
const Case second{"products of 16-bit floats on a GPU are summed in float", &narrow_floats};
const Case complex_case{"products of complex numbers on a GPU equal plain loops", &complex_numbers};
const Case tensors_case{"matmul takes complex tensors on a GPU", &complex_tensors};
const Case third{"products of integers on a GPU are exact", &integers};

}} // namespace products_suite
