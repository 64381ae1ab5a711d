// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt on a GPU: every layout, element type and epilogue beside plain loops on the host. Without a GPU the library still
// has to take each description.

#include <tests/cuda/libraries/device_numbers.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/cuda/cublas.cuh>
#include <twill/device/cuda/cuda.cuh>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using namespace twill;
using nvidia::Gemm;
using nvidia::GemmEpilogue;
using test::Case;
using test::Needs;

constexpr GemmEpilogue all_epilogues[] = {GemmEpilogue::none,           GemmEpilogue::bias,
                                          GemmEpilogue::relu_bias,      GemmEpilogue::gelu_bias,
                                          GemmEpilogue::gelu_bias_keep, GemmEpilogue::gelu_gradient_bias,
                                          GemmEpilogue::sum_left,       GemmEpilogue::sum_right};

/// Every description is taken: names and sizes of all attributes are right.
void descriptions_are_taken() {
  static float memory[64];
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (const GemmEpilogue epilogue : all_epilogues)
      for (const std::int64_t batch : {1, 3})
        for (const bool allows_tf32 : {false, true}) {
          Gemm gemm{.dtype = dtype, .m = 3, .n = 4, .k = 5, .batch = batch};
          gemm.a = {memory, 5, false, 15};
          gemm.b = {memory, 5, true, 20};
          gemm.c = memory;
          gemm.c_leading = 4;
          gemm.c_batch_stride = 12;
          gemm.epilogue = epilogue;
          gemm.bias = memory;
          gemm.auxiliary = memory;
          const nvidia::detail::CublasProblem problem(gemm, {.allows_tf32_in_products = allows_tf32}, 0);
          std::int32_t transposed = -1;
          test::require(cublasLtMatmulDescGetAttribute(const_cast<cublasLtMatmulDescOpaque_t*>(&problem.operation),
                                                       CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed),
                                                       nullptr) == CUBLAS_STATUS_SUCCESS);
          test::require_equal(transposed, static_cast<std::int32_t>(CUBLAS_OP_T)); // B comes first there
        }
}

using Memory = test::DeviceMemory;
using test::on_device;
using test::on_host;
using test::random_values;

double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
double gelu_slope(double x) {
  const double t = std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

/// m x n x k with rows of 8 elements more than they need: what epilogues demand of alignment is met.
struct Sizes {
  std::int64_t m = 48, n = 136, k = 64;
};

template <class T> struct Product {
  Sizes size{};
  bool ta = false, tb = false;
  std::vector<T> a{}, b{};
  std::vector<double> sums{}; ///< A B

  Product(const Sizes& sizes, bool transpose_a, bool transpose_b, unsigned seed)
      : size{sizes},
        ta{transpose_a},
        tb{transpose_b},
        a{random_values<T>(at(size.m * size.k), seed)},
        b{random_values<T>(at(size.k * size.n), seed + 1)} {
    for (std::int64_t i = 0; i < size.m; ++i)
      for (std::int64_t j = 0; j < size.n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < size.k; ++p) sum += left(i, p) * right(p, j);
        sums.push_back(sum);
      }
  }
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  double left(std::int64_t i, std::int64_t p) const {
    return static_cast<double>(a[at(ta ? p * size.m + i : i * size.k + p)]);
  }
  double right(std::int64_t p, std::int64_t j) const {
    return static_cast<double>(b[at(tb ? j * size.k + p : p * size.n + j)]);
  }
  Gemm describe(const Memory& a_memory, const Memory& b_memory, void* c) const {
    Gemm gemm{.dtype = dtype_of<T>, .m = size.m, .n = size.n, .k = size.k};
    gemm.a = {a_memory.data(), ta ? size.m : size.k, ta, 0};
    gemm.b = {b_memory.data(), tb ? size.k : size.n, tb, 0};
    gemm.c = c;
    gemm.c_leading = size.n;
    return gemm;
  }
};

bool run(const Gemm& gemm) {
  bool done = false;
  launch(Cuda{0}, [&](const auto& queue) { done = nvidia::try_gemm(queue, gemm); });
  return done;
}

template <class T> void check_layouts(double tolerance) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const Sizes sizes : {Sizes{}, Sizes{33, 65, 17}, Sizes{1, 40, 24}, Sizes{40, 1, 24}}) {
        const Product<T> product(sizes, ta, tb, 5);
        const auto before = random_values<T>(product.sums.size(), 9);
        const Memory a = on_device(product.a), b = on_device(product.b), c = on_device(before);
        Gemm gemm = product.describe(a, b, c.data());
        gemm.alpha = 2;
        gemm.beta = 0.5;
        test::require(run(gemm));
        const auto computed = on_host<T>(c, before.size());
        for (std::size_t i = 0; i < before.size(); ++i)
          test::require_close(static_cast<double>(computed[i]),
                              2 * product.sums[i] + 0.5 * static_cast<double>(before[i]), tolerance, tolerance);
      }
}
void layouts() {
  check_layouts<float>(1e-4);
  check_layouts<double>(1e-12);
  check_layouts<twill::half>(1e-2);
  check_layouts<bfloat16>(1e-1);
}

/// What C and the bias or its gradient have to be after an epilogue.
template <class T> struct Expected {
  std::vector<double> c{};
  std::vector<double> sums{};
};
template <class T>
Expected<T> expected_of(GemmEpilogue epilogue, const Product<T>& product, const std::vector<T>& offsets,
                        const std::vector<double>& arguments) {
  using enum GemmEpilogue;
  const auto [m, n, k] = product.size;
  const auto at = [](std::int64_t index) { return static_cast<std::size_t>(index); };
  Expected<T> result{};
  if (epilogue == gelu_gradient_bias || epilogue == sum_right) result.sums.resize(at(n));
  if (epilogue == sum_left) result.sums.resize(at(m));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double value = product.sums[at(i * n + j)];
      switch (epilogue) {
      case nvidia::GemmEpilogue::bias:
        value += static_cast<double>(offsets[at(j)]);
        break;
      case relu_bias:
        value = std::max(value + static_cast<double>(offsets[at(j)]), 0.0);
        break;
      case gelu_bias:
      case gelu_bias_keep:
        value = gelu(value + static_cast<double>(offsets[at(j)]));
        break;
      case gelu_gradient_bias:
        value *= gelu_slope(arguments[at(i * n + j)]);
        result.sums[at(j)] += value;
        break;
      default:
        break;
      }
      result.c.push_back(value);
    }
  for (std::int64_t p = 0; p < k; ++p) {
    for (std::int64_t i = 0; i < m && epilogue == sum_left; ++i) result.sums[at(i)] += product.left(i, p);
    for (std::int64_t j = 0; j < n && epilogue == sum_right; ++j) result.sums[at(j)] += product.right(p, j);
  }
  return result;
}

template <class T> void check_epilogues(double tolerance) {
  const Sizes sizes{};
  const auto [m, n, k] = sizes;
  for (const GemmEpilogue epilogue : all_epilogues)
    for (const bool tb : {false, true}) {
      const Product<T> product(sizes, false, tb, 21);
      const auto bias = random_values<T>(static_cast<std::size_t>(std::max(m, n)), 31);
      const std::vector<T> arguments = random_values<T>(static_cast<std::size_t>(m * n), 33);
      const std::vector<double> wide(arguments.begin(), arguments.end());
      const Memory a = on_device(product.a), b = on_device(product.b), bias_memory = on_device(bias),
                   auxiliary_memory = on_device(arguments), c(Cuda{0}, arguments.size() * sizeof(T));
      Gemm gemm = product.describe(a, b, c.data());
      gemm.epilogue = epilogue;
      gemm.bias = bias_memory.data();
      gemm.auxiliary = auxiliary_memory.data();
      if (!run(gemm)) { // allowed for epilogues only: generic code then computes them by a kernel of their own
        test::require(epilogue != GemmEpilogue::none);
        std::printf("not done by the library: %s\n", to_string(gemm).c_str());
        continue;
      }
      const Expected<T> expected = expected_of(epilogue, product, bias, wide);
      const auto computed = on_host<T>(c, arguments.size());
      for (std::size_t i = 0; i < computed.size(); ++i)
        test::require_close(static_cast<double>(computed[i]), expected.c[i], tolerance, tolerance);
      const auto sums = on_host<T>(bias_memory, bias.size());
      for (std::size_t i = 0; i < expected.sums.size(); ++i)
        test::require_close(static_cast<double>(sums[i]), expected.sums[i], tolerance, 10 * tolerance);
      if (epilogue != GemmEpilogue::gelu_bias_keep) continue;
      const auto kept = on_host<T>(auxiliary_memory, arguments.size());
      for (std::size_t i = 0; i < kept.size(); ++i)
        test::require_close(static_cast<double>(kept[i]),
                            product.sums[i] + static_cast<double>(bias[i % static_cast<std::size_t>(n)]), tolerance,
                            tolerance);
    }
}
void epilogues() {
  check_epilogues<float>(1e-3);
  check_epilogues<twill::half>(1e-2);
  check_epilogues<bfloat16>(1e-1);
}

/// Timing the candidates computes the same, and choosing deterministically computes the same bits twice.
void options_keep_the_result() {
  const Product<float> product(Sizes{96, 80, 256}, false, true, 3);
  const Memory a = on_device(product.a), b = on_device(product.b);
  for (const LibraryOptions options : {LibraryOptions{.autotune = true}, LibraryOptions{.is_deterministic = true},
                                       LibraryOptions{.allows_tf32_in_products = true}}) {
    set_library_options(options);
    std::vector<float> first{};
    for (int turn = 0; turn < 2; ++turn) {
      const Memory c = on_device(std::vector<float>(product.sums.size(), 7.0F));
      test::require(run(product.describe(a, b, c.data())));
      const auto computed = on_host<float>(c, product.sums.size());
      const double tolerance = options.allows_tf32_in_products ? 2e-2 : 1e-4;
      for (std::size_t i = 0; i < computed.size(); ++i)
        test::require_close(computed[i], product.sums[i], tolerance, tolerance);
      if (turn == 1) test::require(computed == first);
      first = computed;
    }
    set_library_options({});
  }
}

const Case first{"cuBLASLt takes the description of every product", &descriptions_are_taken, Needs::nothing};
const Case second{"products by cuBLASLt equal plain loops for every layout and type", &layouts};
const Case third{"epilogues of cuBLASLt compute what they say", &epilogues};
const Case fourth{"autotuned, deterministic and TF32 products are right", &options_keep_the_result};

} // namespace
