// SPDX-License-Identifier: Apache-2.0
//
// The row programs that people run every day, as kernels of a GPU, at every length of row, from rows of one element to rows
// that many blocks share, beside the same programs in double precision, element after element.

#include <tests/kernel/gpu/row_programs.hpp>

using namespace kernel_test;

namespace {

constexpr std::int64_t lengths[] = {1, 2, 31, 32, 33, 127, 128, 129, 1000, 1001, 1024, 4096, 5000, 20000, 70001};

/// The largest error over all lengths; rows until there are enough elements.
template <template <class> class Make, class T> double worst(std::int64_t most_elements = 80'000) {
  double result = 0;
  unsigned seed = 1;
  for (const std::int64_t length : lengths)
    for (const std::int64_t rows : {1, 3, 130}) {
      if (rows * length > most_elements) continue;
      CAPTURE(rows, length);
      const double error = error_of<Make, T>(Dims(rows, length), {}, ++seed);
      CHECK(std::isfinite(error));
      result = std::max(result, error);
    }
  return result;
}

} // namespace

TEST_CASE("softmax and its gradient on a GPU are right at every length", "[kernel][gpu]") {
  CHECK(worst<Softmax, float>() < 1e-6);
  CHECK(worst<LogSoftmax, float>() < 2e-6);
  CHECK(worst<SoftmaxGradient, float>() < 2e-4);
}

TEST_CASE("norms and their gradients on a GPU are right at every length", "[kernel][gpu]") {
  // sums of thousands of squares, each relative to the size of what it makes
  CHECK(worst<RmsNorm, float>() < 1e-6);
  CHECK(worst<LayerNorm, float>(10'000) < 2e-3);
  CHECK(worst<LayerNormGradient, float>(10'000) < 2e-3);
}

TEST_CASE("cross entropy with its gradient is one kernel with two results on a GPU", "[kernel][gpu]") {
  CHECK(worst<CrossEntropy, float>() < 2e-5);
  const Grid grid{50, 1000};
  const Bound<CrossEntropy<float>> bound{grid, 3};
  const RowQueue queue;
  run_rows_on<CrossEntropy<float>>(queue, grid, bound.operands.data());
  CHECK(queue.launches.size() == 1);
}

TEST_CASE("several reductions of one tensor are one kernel on a GPU", "[kernel][gpu]") {
  CHECK(worst<Statistics, float>() < 2e-5);
  CHECK(worst<Statistics, double>() < 1e-12);
}

TEST_CASE("a masked softmax on a GPU reads masks beside numbers", "[kernel][gpu]") {
  CHECK(worst<MaskedSoftmax, float>() < 1e-6);
}

TEST_CASE("16-bit types are summed in float on a GPU", "[kernel][gpu]") {
  CHECK(worst<Softmax, bfloat16>() < 4e-3);
  CHECK(worst<Softmax, half>() < 5e-4);
  // the results are rounded once, whatever their size
  CHECK(worst<Sum, bfloat16>() < 5e-3);
  CHECK(worst<Sum, half>() < 6e-4);
}

TEST_CASE("sums on a GPU are as exact as the host's", "[kernel][gpu]") {
  for (const std::int64_t length : {1000, 20'000, 70'001, 1'000'003}) {
    double ours = 0, host = 0; // squared errors over many draws: a single sum is exact by luck
    for (unsigned seed = 1; seed <= (length > 100'000 ? 10U : 60U); ++seed) {
      const Bound<Sum<float>> bound{Grid(1, length), seed};
      double exact = 0;
      for (std::int64_t j = 0; j < length; ++j) exact += as_double(DType::float32, bound.memory[0].data() + 4 * j);
      const auto error = [&] { return as_double(DType::float32, bound.memory[1].data()) - exact; };
      run_rows_on<Sum<float>>(RowQueue{}, Grid(1, length), bound.operands.data());
      ours += error() * error();
      run(Sum<float>{}, Threads{1}, Grid(1, length), bound.operands.data());
      host += error() * error();
    }
    CAPTURE(length);
    CHECK(std::sqrt(ours) <= 1.5 * std::sqrt(host));
  }
}
