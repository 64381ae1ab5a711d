// SPDX-License-Identifier: Apache-2.0
//
// Functions of models on tensors at once, beside naive loops: convolutions, pooling, patches, sampling, classes as ones; of
// expressions, views and batches of run-time size; an index that is no class is refused.

#include <twill/expr.hpp>
#include <twill/nn/eager_volumes.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/views.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;

namespace {

/// 0.5, 1.5, ... with signs in turns, the steps of which are no multiples of each other.
template <class S> Tensor<double, Cpu, S> numbers_of(const Dims& shape, double step) {
  std::vector<double> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(step * static_cast<double>(i + 1));
  return from_values<S>(values, shape, Cpu{0});
}

void check(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-12).margin(1e-12));
}

using Image = Shape<dyn, 2, 5, 4>;

} // namespace

TEST_CASE("convolutions of tensors are naive loops, for any number of images", "[nn]") {
  for (const std::int64_t images : {0, 1, 3}) {
    const auto x = numbers_of<Image>(Dims(images, 2, 5, 4), 0.7);
    const auto w = numbers_of<Shape<3, 2, 3, 2>>(Dims(3, 2, 3, 2), 1.3);
    const auto bias = numbers_of<Shape<3>>(Dims(3), 0.4);
    const auto y = conv2d<graph::ConvolutionOptions{.stride = {2, 1}, .padding = {1, 0}}>(x, w, bias);
    REQUIRE(y.shape() == Dims(images, 3, 3, 3));
    std::vector<double> expected{};
    for (std::int64_t n = 0; n < images; ++n)
      for (std::int64_t f = 0; f < 3; ++f)
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t c = 0; c < 3; ++c) {
            double sum = bias(f).item();
            for (std::int64_t k = 0; k < 2; ++k)
              for (std::int64_t i = 0; i < 3; ++i)
                for (std::int64_t j = 0; j < 2; ++j) {
                  const std::int64_t row = 2 * r + i - 1;
                  if (row >= 0 && row < 5) sum += x(n, k, row, c + j).item() * w(f, k, i, j).item();
                }
            expected.push_back(sum);
          }
    check(to_vector(y), expected);
  }
  const auto line = from_values<Shape<1, 1, 4>>(std::vector<double>{1, 2, 3, 4}, Dims(1, 1, 4), Cpu{0});
  const auto taps = from_values<Shape<1, 1, 2>>(std::vector<double>{1, -1}, Dims(1, 1, 2), Cpu{0});
  check(to_vector(conv1d(line, taps)), {-1, -1, -1});
  check(to_vector(conv1d(line * line, taps)), {-3, -5, -7}); // of an expression
  check(to_vector(conv_transpose1d(line, taps)), {1, 1, 1, 1, -4});
  check(to_vector(conv_transpose2d(line.unsqueeze<2>(), taps.unsqueeze<2>())), {1, 1, 1, 1, -4});
}

TEST_CASE("pooling of tensors takes the greatest elements and means of windows", "[nn]") {
  const auto x = numbers_of<Image>(Dims(2, 2, 5, 4), 0.9);
  const auto greatest = max_pool2d<graph::MaxPoolOptions{.window = 2, .stride = {3, 2}}>(x);
  const auto means = avg_pool2d<graph::AveragePoolOptions{.window = 2, .stride = {3, 2}}>(x);
  std::vector<double> maxima{}, averages{};
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t k = 0; k < 2; ++k)
      for (const std::int64_t r : {0, 3})
        for (const std::int64_t c : {0, 2}) {
          const double window[]{x(n, k, r, c).item(), x(n, k, r, c + 1).item(), x(n, k, r + 1, c).item(),
                                x(n, k, r + 1, c + 1).item()};
          maxima.push_back(*std::max_element(window, window + 4));
          averages.push_back((window[0] + window[1] + window[2] + window[3]) / 4);
        }
  check(to_vector(greatest), maxima);
  check(to_vector(means), averages);
  const auto line = from_values<Shape<1, 1, 6>>(std::vector<double>{3, 1, 4, 1, 5, 9}, Dims(1, 1, 6), Cpu{0});
  check(to_vector(max_pool1d(line)), {3, 4, 9});
  check(to_vector(avg_pool1d(line)), {2, 2.5, 7});
  check(to_vector(adaptive_avg_pool1d<2>(line)), {8.0 / 3, 5});
  check(to_vector(adaptive_max_pool1d<2>(line)), {4, 9});
  check(to_vector(adaptive_max_pool2d<graph::Sides{1, 3}>(line.unsqueeze<2>())), {3, 4, 9});
  check(to_vector(adaptive_avg_pool2d<1>(line.unsqueeze<2>())), {23.0 / 6});
}

TEST_CASE("patches, pixels and other sizes of tensors move the elements they should", "[nn]") {
  const auto x = from_values<Shape<1, 4, 1, 2>>(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, Dims(1, 4, 1, 2), Cpu{0});
  const auto shuffled = pixel_shuffle<2>(x);
  REQUIRE(shuffled.shape() == Dims(1, 1, 2, 4));
  check(to_vector(shuffled), {0, 2, 1, 3, 4, 6, 5, 7});
  check(to_vector(pixel_unshuffle<2>(shuffled)), to_vector(x));
  const auto columns = unfold<graph::PatchOptions{.kernel = {2, 1}}>(shuffled);
  check(to_vector(columns), to_vector(shuffled)); // one column for each place, rows one above the other
  check(to_vector(fold<graph::Sides{2, 4}, graph::PatchOptions{.kernel = {2, 1}}>(columns)), to_vector(shuffled));
  check(to_vector(interpolate<graph::Sides{1, 4}>(x)), {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7});
  const auto transposed = shuffled.transpose<2, 3>(); // a view
  check(to_vector(max_pool2d<graph::MaxPoolOptions{.window = {1, 2}}>(transposed)), {4, 6, 5, 7});
  const auto theta = from_values<Shape<1, 2, 3>>(std::vector<double>{1, 0, 0, 0, 1, 0}, Dims(1, 2, 3), Cpu{0});
  check(to_vector(grid_sample(shuffled, affine_grid<graph::Sides3{2, 4}>(theta))), to_vector(shuffled));
  const auto halves = glu<-1>(shuffled);
  check(to_vector(halves),
        {0 / (1 + std::exp(-1.0)), 2 / (1 + std::exp(-3.0)), 4 / (1 + std::exp(-5.0)), 6 / (1 + std::exp(-7.0))});
  const auto slope = full<double, Shape<1>>(Dims(1), 0.5, Cpu{0});
  check(to_vector(prelu(x - 4, slope)), {-2, -1.5, -1, -0.5, 0, 1, 2, 3});
  const auto a = from_values<Shape<dyn, 2>>(std::vector<double>{3, 4, 0, 1}, Dims(2, 2), Cpu{0});
  check(to_vector(pairwise_distance(a, a - a + 1e-6)), {5, 1});
}

TEST_CASE("classes of tensors become ones, and an index that is no class is refused", "[nn]") {
  const auto label = from_values<Shape<dyn>>(std::vector<std::int64_t>{2, 0}, Dims(2), Cpu{0});
  const auto y = one_hot<3>(label);
  REQUIRE(y.shape() == Dims(2, 3));
  CHECK(to_vector(y) == std::vector<std::int64_t>{0, 0, 1, 1, 0, 0});
  CHECK_THROWS_AS(one_hot<2>(label), IndexError);
}

TEST_CASE("images of tensors are resampled and their channels normed as in models", "[nn]") {
  const auto x = numbers_of<Image>(Dims(2, 2, 5, 4), 0.6);
  const auto cubic = resample<graph::Sides3{3, 7}, graph::Resampling::cubic, graph::AlignCorners::yes>(x);
  REQUIRE(cubic.shape() == Dims(2, 2, 3, 7));
  check({cubic(1, 1, 0, 0).item(), cubic(0, 1, 2, 6).item()}, {x(1, 1, 0, 0).item(), x(0, 1, 4, 3).item()}); // corners
  check(to_vector(resample<graph::Sides3{5, 8}>(x)), to_vector(interpolate<graph::Sides{5, 8}>(x)));
  // x / (1 + 1e-4 mean of squares)^0.75 of a channel alone
  check(to_vector(local_response_norm<1>(x)), to_vector(eval(x / power(1 + 1e-4 * square(x), 0.75))));
}

TEST_CASE("volumes of tensors are convolved and pooled", "[nn]") {
  const auto x = numbers_of<Shape<dyn, 1, 2, 2, 3>>(Dims(2, 1, 2, 2, 3), 0.8);
  const auto w = numbers_of<Shape<1, 1, 2, 2, 2>>(Dims(1, 1, 2, 2, 2), 1.1);
  const auto bias = numbers_of<Shape<1>>(Dims(1), 0.3);
  const std::vector<double> values = to_vector(x), taps = to_vector(w);
  std::vector<double> sums{}, greatest{}, means{}, spread(2 * 3 * 3 * 4);
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t c = 0; c < 2; ++c) {
      double sum = 0, most = -1e9, total = 0;
      for (std::int64_t k = 0; k < 8; ++k) {
        const double element = values[static_cast<std::size_t>(n * 12 + k / 4 * 6 + k / 2 % 2 * 3 + c + k % 2)];
        sum += element * taps[static_cast<std::size_t>(k)];
        most = std::max(most, element);
        total += element / 8;
      }
      sums.push_back(sum + to_vector(bias)[0]);
      greatest.push_back(most);
      means.push_back(total);
    }
  for (std::int64_t i = 0; i < 24; ++i)
    for (std::int64_t k = 0; k < 8; ++k) {
      const std::int64_t depth = i % 12 / 6 + k / 4, row = i % 6 / 3 + k / 2 % 2, column = i % 3 + k % 2;
      spread[static_cast<std::size_t>(((i / 12 * 3 + depth) * 3 + row) * 4 + column)] +=
          values[static_cast<std::size_t>(i)] * taps[static_cast<std::size_t>(k)];
    }
  constexpr graph::VolumeMaxPoolOptions window{.window = 2, .stride = 1};
  check(to_vector(conv3d(x, w, bias)), sums);
  check(to_vector(conv_transpose3d(x, w)), spread);
  check(to_vector(max_pool3d<window>(x)), greatest);
  check(to_vector(avg_pool3d<graph::VolumeAveragePoolOptions{.window = 2, .stride = 1}>(x)), means);
  check(to_vector(adaptive_max_pool3d<graph::Sides3{1, 1, 2}>(x)), greatest);
  check(to_vector(adaptive_avg_pool3d<graph::Sides3{1, 1, 2}>(x)), means);
}
