// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of convolutions: output extents against counting where a kernel fits, padding, layouts, refusals, keys.

#include <twill/device/cuda/convolution.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <vector>

using namespace twill;
using namespace twill::nvidia;

namespace {

/// How many places a kernel has along one axis, by trying them.
std::int64_t places(std::int64_t input, std::int64_t padding, std::int64_t kernel, std::int64_t stride,
                    std::int64_t dilation) {
  std::int64_t count = 0;
  for (std::int64_t at = 0; at + dilation * (kernel - 1) < input + padding; at += stride) ++count;
  return count;
}

} // namespace

TEST_CASE("a convolution's output has one element for each place of its kernel", "[device]") {
  for (const std::int64_t input : {1, 2, 5, 13, 56})
    for (const std::int64_t kernel : {1, 2, 3, 5})
      for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t dilation : {1, 2})
          for (const std::int64_t padding : {0, 1, 3}) {
            Convolution c{.input = {input, 7}, .kernel = {kernel, 1}};
            c.stride = {stride, 1};
            c.dilation = {dilation, 1};
            c.padding_before = {padding / 2, 0};
            c.padding_after = {padding - padding / 2, 0};
            CAPTURE(input, kernel, stride, dilation, padding);
            CHECK(c.output()[0] == places(input, padding, kernel, stride, dilation));
            CHECK(c.output()[1] == 7);
          }
}

TEST_CASE("same padding keeps the extent, and its share at larger strides", "[device]") {
  for (const std::int64_t input : {5, 8, 13})
    for (const std::int64_t kernel : {1, 2, 3, 4})
      for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t dilation : {1, 2}) {
          Convolution c{.input = {input, input}, .kernel = {kernel, kernel}};
          c.stride = {stride, stride};
          c.dilation = {dilation, dilation};
          c = with_same_padding(c);
          CAPTURE(input, kernel, stride, dilation);
          CHECK(c.output()[0] == (input + stride - 1) / stride);
          const std::int64_t excess = c.padding_after[0] - c.padding_before[0];
          CHECK((excess == 0 || excess == 1));
        }
}

TEST_CASE("tensors of a convolution lie channels-last", "[device]") {
  const Convolution c{.batch = 2, .in_channels = 6, .out_channels = 8, .groups = 2, .input = {5, 7}, .kernel = {3, 3}};
  const ChannelsLast input = input_of(c);
  CHECK(input.extents == std::array<std::int64_t, 4>{2, 6, 5, 7});
  CHECK(input.strides() == std::array<std::int64_t, 4>{6 * 5 * 7, 1, 6 * 7, 6});
  CHECK(filter_of(c).extents == std::array<std::int64_t, 4>{8, 3, 3, 3});
  CHECK(output_of(c).extents == std::array<std::int64_t, 4>{2, 8, 3, 5});
  // every element has a place of its own
  std::vector<int> seen(static_cast<std::size_t>(input.elements()));
  const auto strides = input.strides();
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t ch = 0; ch < 6; ++ch)
      for (std::int64_t h = 0; h < 5; ++h)
        for (std::int64_t w = 0; w < 7; ++w)
          ++seen[static_cast<std::size_t>(n * strides[0] + ch * strides[1] + h * strides[2] + w * strides[3])];
  for (const int times : seen) CHECK(times == 1);
}

TEST_CASE("convolutions that make no sense are refused with their numbers", "[device]") {
  const Convolution good{.in_channels = 6, .out_channels = 4, .groups = 2, .input = {5, 5}, .kernel = {3, 3}};
  CHECK_NOTHROW(check(good));
  Convolution c = good;
  c.groups = 4;
  CHECK_THROWS_WITH(check(c), "convolution: groups divide the input channels, got 4 and 6");
  c = good;
  c.out_channels = 5;
  CHECK_THROWS_WITH(check(c), "convolution: groups divide the output channels, got 2 and 5");
  c = good;
  c.stride = {0, 1};
  CHECK_THROWS_WITH(check(c), "convolution: stride and dilation are at least 1, got 0 and 1");
  c = good;
  c.padding_after = {0, -1};
  CHECK_THROWS_WITH(check(c), "convolution: padding is not negative, got 0 and -1");
  c = good;
  c.dilation = {3, 1};
  CHECK_THROWS_WITH(check(c), "convolution: the kernel's reach fits the padded input, got 7 and 5");
  CHECK(c.output()[0] == 0);
  CHECK(to_string(good) == "convolution of 1 x 5 x 5 x 6 by 4 filters of 3 x 3 x 3 float32");
}

TEST_CASE("the key of a convolution holds every number", "[device]") {
  const Convolution c{.batch = 2, .in_channels = 6, .out_channels = 8, .groups = 2, .input = {5, 7}, .kernel = {3, 3}};
  std::vector<Convolution> others(15, c);
  others[0].dtype = DType::float16;
  others[1].batch = 3;
  others[2].in_channels = 8;
  others[3].out_channels = 10;
  others[4].groups = 1;
  others[5].input = {7, 5};
  others[6].kernel = {3, 1};
  others[7].stride = {1, 2};
  others[8].stride = {2, 1};
  others[9].padding_before = {1, 0};
  others[10].padding_before = {0, 1};
  others[11].padding_after = {1, 0};
  others[12].padding_after = {0, 1};
  others[13].dilation = {2, 1};
  others[14].dilation = {1, 2};
  for (std::size_t i = 0; i < others.size(); ++i) {
    CHECK(key_of(others[i]) != key_of(c));
    for (std::size_t j = 0; j < i; ++j) CHECK(key_of(others[i]) != key_of(others[j]));
  }
}

TEST_CASE("a network's convolution is described with its own output, filters as they are stored", "[device]") {
  for (const std::int64_t input : {5, 8, 13})
    for (const std::int64_t kernel : {1, 3})
      for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t padding : {0, 1, 2}) {
          CAPTURE(input, kernel, stride, padding);
          ConvolutionShape shape{.batch = 2, .in_channels = 4, .out_channels = 6, .groups = 2};
          shape.input = {input, input + 2};
          shape.kernel = {kernel, kernel};
          shape.stride = {stride, stride};
          shape.padding = {padding, padding};
          for (std::size_t axis = 0; axis < 2; ++axis)
            shape.output[axis] = (shape.input[axis] + 2 * padding - kernel) / stride + 1;
          const Convolution c = convolution_of(DType::bfloat16, shape);
          CHECK(c.output() == shape.output);
          CHECK(c.padding_after == c.padding_before);
          CHECK_NOTHROW(check(c));
          const std::int64_t area = kernel * kernel;
          CHECK(filter_strides(c) == std::array<std::int64_t, 4>{2 * area, area, kernel, 1});
          // a place more on one side than on the other
          shape.padding = {0, 0};
          shape.output[0] = (input + padding - kernel) / stride + 1;
          shape.output[1] = (input + 2 - kernel) / stride + 1;
          CHECK(convolution_of(DType::bfloat16, shape).output() == shape.output);
        }
  Convolution last{.in_channels = 4, .out_channels = 6};
  CHECK(filter_strides(last) == filter_of(last).strides());
  Convolution other = last;
  other.filter_order = FilterOrder::channels_first;
  CHECK(key_of(other) != key_of(last));
  other = last;
  other.alignment_bytes = 4;
  CHECK(key_of(other) != key_of(last));
}
