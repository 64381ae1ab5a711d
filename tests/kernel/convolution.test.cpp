// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of host devices and their gradients beside sums written out, of small integers, whose sums are exact: every
// way to share the work and every library has to give the same.

#include "tests/support/host_blocks.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/core/dtype.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/kernel/convolution.hpp>
#include <twill/kernel/gpu/convolution.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using namespace twill;

namespace {

/// The three sums of a convolution written out: y, dx, dw, whichever the part says.
void convolve_naively(ConvolutionPart part, const ConvolutionShape& s, std::vector<double>& x, std::vector<double>& w,
                      std::vector<double>& y) {
  auto& written = part == ConvolutionPart::output ? y : part == ConvolutionPart::input_gradient ? x : w;
  for (double& element : written) element = 0;
  const std::int64_t channels = s.in_channels / s.groups;
  const std::int64_t filters = s.out_channels / s.groups;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t p = 0; p < s.output[0]; ++p)
      for (std::int64_t q = 0; q < s.output[1]; ++q)
        for (std::int64_t k = 0; k < s.out_channels; ++k)
          for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t i = 0; i < s.kernel[0]; ++i)
              for (std::int64_t j = 0; j < s.kernel[1]; ++j) {
                const std::int64_t h = p * s.stride[0] - s.padding[0] + i * s.dilation[0];
                const std::int64_t v = q * s.stride[1] - s.padding[1] + j * s.dilation[1];
                if (h < 0 || h >= s.input[0] || v < 0 || v >= s.input[1]) continue;
                double& a = x[static_cast<std::size_t>(((n * s.input[0] + h) * s.input[1] + v) * s.in_channels +
                                                       k / filters * channels + c)];
                double& b = w[static_cast<std::size_t>(((k * channels + c) * s.kernel[0] + i) * s.kernel[1] + j)];
                double& to =
                    y[static_cast<std::size_t>(((n * s.output[0] + p) * s.output[1] + q) * s.out_channels + k)];
                if (part == ConvolutionPart::output) to += a * b;
                if (part == ConvolutionPart::input_gradient) a += b * to;
                if (part == ConvolutionPart::weight_gradient) b += a * to;
              }
}

ConvolutionShape with_output(ConvolutionShape s) {
  for (std::size_t axis = 0; axis < 2; ++axis)
    s.output[axis] = (s.input[axis] + 2 * s.padding[axis] - s.reach(axis)) / s.stride[axis] + 1;
  return s;
}

template <bool ByGpuBody, class T> void check(const Team& team, const ConvolutionShape& shape) {
  static const std::uint64_t seed = twill::test::test_seed();
  static std::mt19937_64 random{seed};
  std::uniform_int_distribution<int> numbers{-2, 2};
  INFO("seed " << seed << ", " << shape.batch << " images of " << shape.input[0] << " x " << shape.input[1] << " x "
               << shape.in_channels << " by " << shape.out_channels << " of " << shape.kernel[0] << " x "
               << shape.kernel[1] << ", groups " << shape.groups << ", " << name(dtype_of<T>) << ", team of "
               << team.size());
  const auto draw = [&](std::int64_t count) {
    std::vector<double> values{};
    for (std::int64_t i = 0; i < count; ++i) values.push_back(numbers(random));
    return values;
  };
  for (const ConvolutionPart part :
       {ConvolutionPart::output, ConvolutionPart::input_gradient, ConvolutionPart::weight_gradient}) {
    std::vector<double> x = draw(shape.x_elements());
    std::vector<double> w = draw(shape.w_elements());
    std::vector<double> y = draw(shape.y_elements());
    const auto typed = [](const std::vector<double>& values) {
      std::vector<T> result{};
      for (double value : values) result.push_back(T(static_cast<float>(value)));
      return result;
    };
    std::vector<T> typed_x = typed(x);
    std::vector<T> typed_w = typed(w);
    std::vector<T> typed_y = typed(y);
    convolve_naively(part, shape, x, w, y);
    const kernel::Convolution<T> convolution{part, shape, typed_x.data(), typed_w.data(), typed_y.data()};
    if constexpr (ByGpuBody)
      kernel::gpu::convolve_directly(team, convolution);
    else
      run_convolution(team, convolution);
    INFO("part " << static_cast<int>(part));
    const auto same = [](const std::vector<double>& expected, const std::vector<T>& got) {
      // 16-bit types hold integers up to 256 or 2048; the last gradients are rounded sums of rounded parts
      const double relative = sizeof(T) == 2 ? 1.0 / 64 : 0;
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < expected.size(); ++i)
        if (std::abs(expected[i] - static_cast<double>(static_cast<float>(got[i]))) > relative * std::abs(expected[i]))
          ++wrong;
      return wrong;
    };
    CHECK(same(x, typed_x) == 0);
    CHECK(same(w, typed_w) == 0);
    CHECK(same(y, typed_y) == 0);
  }
}

template <class T, bool ByGpuBody = false> void check_all(const Team& team) {
  check<ByGpuBody, T>(
      team, with_output({.batch = 2, .in_channels = 3, .out_channels = 5, .input = {7, 9}, .kernel = {3, 3}}));
  check<ByGpuBody, T>(
      team,
      with_output(
          {.batch = 3, .in_channels = 16, .out_channels = 32, .input = {9, 8}, .kernel = {3, 3}, .padding = {1, 1}}));
  check<ByGpuBody, T>(team, with_output({.batch = 5,
                                         .in_channels = 17,
                                         .out_channels = 19,
                                         .input = {11, 5},
                                         .kernel = {3, 1},
                                         .stride = {2, 1},
                                         .padding = {1, 0},
                                         .dilation = {2, 1}}));
  check<ByGpuBody, T>(
      team,
      with_output(
          {.batch = 1, .in_channels = 32, .out_channels = 64, .input = {14, 15}, .kernel = {1, 1}, .stride = {2, 2}}));
  check<ByGpuBody, T>(team, with_output({.batch = 2,
                                         .in_channels = 12,
                                         .out_channels = 18,
                                         .groups = 6,
                                         .input = {8, 8},
                                         .kernel = {3, 5},
                                         .stride = {1, 3},
                                         .padding = {1, 2}}));
  check<ByGpuBody, T>(team, with_output({.batch = 2,
                                         .in_channels = 32,
                                         .out_channels = 32,
                                         .groups = 32,
                                         .input = {8, 8},
                                         .kernel = {3, 3},
                                         .padding = {1, 1}}));
  check<ByGpuBody, T>(team, with_output({.batch = 1,
                                         .in_channels = 3,
                                         .out_channels = 64,
                                         .input = {23, 21},
                                         .kernel = {7, 7},
                                         .stride = {2, 2},
                                         .padding = {3, 3}}));
  check<ByGpuBody, T>(
      team, with_output({.batch = 0, .in_channels = 3, .out_channels = 4, .input = {5, 5}, .kernel = {3, 3}}));
  check<ByGpuBody, T>(team, with_output({}));
}

} // namespace

TEST_CASE("convolutions and their gradients are the sums they stand for", "[kernel][convolution]") {
  check_all<float>(Team::serial());
  check_all<double>(Team::serial());
  check_all<bfloat16>(Team::serial());
  check_all<half>(Team::serial());
}

TEST_CASE("convolutions of large pictures, which a library gets a few at a time, are those sums",
          "[kernel][convolution]") {
  check<false, float>(
      Team::serial(),
      with_output(
          {.batch = 3, .in_channels = 24, .out_channels = 24, .input = {70, 78}, .kernel = {3, 3}, .padding = {1, 1}}));
}

TEST_CASE("a team's convolutions are those of one thread", "[kernel][convolution]") {
  const int core = cpu::cores_of_process().front();
  static auto& threads = *new detail::ForkJoin{{core, core, core}, "test"}; // its threads never end
  check_all<float>(Team{threads});
  check_all<double>(Team{threads});
}

TEST_CASE("the kernel of GPUs computes the same convolutions", "[kernel][convolution]") {
  check_all<float, true>(Team::serial());
  check_all<half, true>(Team::serial());
}

TEST_CASE("the kernel of GPUs takes tiles where groups have channels enough", "[kernel][convolution]") {
  using kernel::gpu::ConvolutionProduct;
  using kernel::gpu::is_tiled;
  constexpr ConvolutionShape shape{.batch = 2,
                                   .in_channels = 16,
                                   .out_channels = 36,
                                   .groups = 2,
                                   .input = {9, 8},
                                   .output = {5, 4},
                                   .kernel = {3, 3},
                                   .stride = {2, 2},
                                   .padding = {1, 1}};
  static_assert(is_tiled(shape, false) && is_tiled(shape, true));
  static_assert(!is_tiled({.in_channels = 32, .out_channels = 32, .groups = 32}, false)); // depthwise
  static_assert(is_tiled({.in_channels = 3, .out_channels = 64}, false)); // the first layer has no gradient, as a rule
  static_assert(!is_tiled({.in_channels = 3, .out_channels = 64}, true));
  constexpr ConvolutionProduct output{shape, false};
  static_assert(output.rows == 40 && output.columns == 18 && output.depth == 8 && output.steps == 72);
  static_assert(output.source(0, 0, 0) == -1 && output.source(0, 4, 1) == 8 && output.source(0, 4, 2) == -1);
  constexpr ConvolutionProduct gradient{shape, true};
  static_assert(gradient.rows == 144 && gradient.columns == 8 && gradient.depth == 18 && gradient.steps == 162);
  static_assert(gradient.source(1, 0, 1) == 0 && gradient.source(1, 0, 0) == -1 && gradient.source(1, 1, 0) == 1);
  check<true, double>(Team::serial(), with_output({.batch = 3, // wide tiles, several of them each way
                                                   .in_channels = 70,
                                                   .out_channels = 67,
                                                   .input = {41, 43},
                                                   .kernel = {3, 2},
                                                   .padding = {1, 1}}));
}

TEST_CASE("convolutions find weights in the library's order where they are kept", "[kernel][convolution][PAR-6]") {
  const auto shape = with_output(
      {.batch = 3, .in_channels = 32, .out_channels = 64, .input = {9, 8}, .kernel = {3, 3}, .padding = {1, 1}});
  const int core = cpu::cores_of_process().front();
  static auto& threads = *new detail::ForkJoin{{core, core, core}, "test"}; // its threads never end
  for (const ConvolutionPart part : {ConvolutionPart::output, ConvolutionPart::input_gradient}) {
    bool reorders = false;
#if defined(TWILL_WITH_ONEDNN)
    if constexpr (cpu::has_onednn_convolution)
      if (const auto* const plan = cpu::find_convolution(part, DType::float32, shape)) reorders = plan->reorders();
#endif
    std::vector<float> x(static_cast<std::size_t>(shape.x_elements()), 1);
    std::vector<float> y(static_cast<std::size_t>(shape.y_elements()), 1);
    std::vector<float> w(static_cast<std::size_t>(shape.w_elements()));
    std::vector<float> lent(w.size() + 16);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 7);
    const kernel::Convolution<float> convolution{part, shape, x.data(), w.data(), y.data()};
    const std::vector<float>& result = part == ConvolutionPart::output ? y : x;
    run_convolution(Team::serial(), convolution);
    const std::vector<float> expected = result;
    void* memory = lent.data();
    std::size_t bytes = lent.size() * sizeof(float);
    REQUIRE(std::align(64, w.size() * sizeof(float), memory, bytes) != nullptr);
    cpu::KeptOrders orders;
    orders.add(w.data(), part, memory, w.size() * sizeof(float) - 64); // too little: each call makes its own
    cpu::KeptOrder* const small = orders.find(w.data(), part);
    REQUIRE(small != nullptr);
    CHECK(orders.find(w.data() + 1, part) == nullptr);
    CHECK(orders.find(w.data(), ConvolutionPart::weight_gradient) == nullptr);
    run_convolution(Team::serial(), convolution, small);
    CHECK(result == expected);
    CHECK(orders.filled() == 0);
    for (const Team& team : {Team::serial(), Team{threads}}) {
      cpu::KeptOrder kept{w.data(), part, memory, w.size() * sizeof(float)};
      run_convolution(team, convolution, &kept);
      CHECK(result == expected);
      CHECK(kept.is_filled() == reorders);
      if (!reorders) continue;
      std::vector<float> others(w.size(), 1);
      w.swap(others); // whoever keeps weights says when they change
      run_convolution(team, kernel::Convolution<float>{part, shape, x.data(), w.data(), y.data()}, &kept);
      w.swap(others);
      CHECK(result == expected);
    }
  }
}

TEST_CASE("gradients of weights stay in one order until they are added up", "[kernel][convolution][PAR-6]") {
  const auto part = ConvolutionPart::weight_gradient;
  const int core = cpu::cores_of_process().front();
  static auto& threads = *new detail::ForkJoin{{core, core}, "test"}; // its threads never end
  const auto channels = GENERATE(std::int64_t{17}, std::int64_t{32}); // 17 fill no block of the library's
  const auto shape = with_output({.batch = 5,
                                  .in_channels = channels,
                                  .out_channels = 64,
                                  .input = {17, 16},
                                  .kernel = {3, 3},
                                  .padding = {1, 1}});
  std::vector<float> x(static_cast<std::size_t>(shape.x_elements()));
  std::vector<float> y(static_cast<std::size_t>(shape.y_elements()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5); // sums of these are exact
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % 3);
  std::vector<float> w(static_cast<std::size_t>(shape.w_elements()));
  std::vector<float> added(w.size());
  std::vector<float> expected(w.size());
  const auto images = [&](std::int64_t first, std::int64_t last) { // those from the first to before the last
    const kernel::Convolution<float> all_images{part, shape, x.data(), w.data(), y.data()};
    return kernel::detail::images_of(all_images, first, last);
  };
  const auto add_to = [&](std::vector<float>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += w[i];
  };
  bool leaves = false;
#if defined(TWILL_WITH_ONEDNN)
  if constexpr (cpu::has_onednn_convolution)
    if (const auto* const plan = cpu::find_convolution(part, DType::float32, images(0, 2).shape))
      leaves = plan->can_stay_in_order();
#endif
  using Pieces = std::array<std::array<std::int64_t, 2>, 3>;
  constexpr Pieces pieces{{{0, 2}, {2, 4}, {4, 5}}}; // the last one is smaller
  for (const auto& [first, last] : pieces) {
    run_convolution(Team::serial(), images(first, last));
    add_to(expected);
  }
  for (const int shared : {-1, 0, 1, 2}) { // which piece several threads compute
    INFO(channels << " channels, piece " << shared);
    cpu::GradientOrder kept;
    std::fill(added.begin(), added.end(), 0.0F);
    int number = 0;
    for (const auto& [first, last] : pieces) {
      run_weight_gradient(number++ == shared ? Team{threads} : Team::serial(), images(first, last), kept);
      add_to(added);
    }
    CHECK((kept.order >= 0) == (leaves && shared != 0));
    CHECK((added == expected) == (kept.order == cpu::GradientOrder::plain));
    kernel::leave_order(kept, added.data());
    CHECK(added == expected);
    CHECK(kept.order == cpu::GradientOrder::undecided);
  }
}

TEST_CASE("a program finds its gradients beside weights that others read", "[kernel][convolution][PAR-6]") {
  std::array<float, 4> memory{};
  std::array<void*, 3> outputs{&memory[0], &memory[1], &memory[2]};
  cpu::KeptOrders weights;
  weights.add(&memory[3], ConvolutionPart::output, nullptr, 0);
  cpu::KeptOrders orders{&weights};
  CHECK(orders.find(&memory[3], ConvolutionPart::output) == weights.find(&memory[3], ConvolutionPart::output));
  CHECK(orders.find(&memory[3], ConvolutionPart::output) != nullptr);
  orders.add_gradient(2);
  CHECK(orders.find_gradient(&memory[2]) == nullptr);
  orders.place_gradients(outputs);
  CHECK(orders.find_gradient(&memory[2]) == &orders.gradients()[0]);
  std::swap(outputs[1], outputs[2]);
  orders.place_gradients(outputs);
  CHECK(orders.find_gradient(&memory[2]) == nullptr);
  CHECK(orders.find_gradient(&memory[1]) == &orders.gradients()[0]);
  CHECK(weights.find_gradient(&memory[1]) == nullptr);
}
