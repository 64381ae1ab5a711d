// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by cuDNN. Without a GPU: cuDNN accepts the graphs and has engines for them on an H200. On a GPU: forward
// and both gradients, beside plain loops.

#include <tests/cuda/libraries/cudnn.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/cuda/cudnn_convolution.cuh>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace twill;
using namespace twill::nvidia;
using namespace twill::nvidia::dnn;
using test::Case;
using test::Needs;

std::vector<Convolution> cases(DType dtype) {
  std::vector<Convolution> all(6, {.dtype = dtype, .batch = 2, .in_channels = 16, .out_channels = 24});
  for (Convolution& c : all) {
    c.input = {9, 11};
    c.kernel = {3, 3};
  }
  all[1].groups = 2;
  all[2].out_channels = all[2].groups = 16; // depthwise
  all[3].input = {1, 50};                   // one dimension
  all[3].kernel = {1, 5};
  all[4].stride = {2, 2};
  all[5].dilation = {2, 1};
  for (Convolution& c : all) c = with_same_padding(c);
  all[5].padding_before = all[5].padding_after = {0, 0};
  for (std::size_t i = 0, count = all.size(); i < count; ++i) { // and with filters as PyTorch stores them
    all.push_back(all[i]);
    all.back().filter_order = FilterOrder::channels_first;
  }
  return all;
}

/// Up to `wanted` plans for a graph, those first that cuDNN thinks fastest.
std::vector<std::shared_ptr<const Plan>> plans_for(const Graph& graph, const Descriptor& device,
                                                   const LibraryOptions& options, std::size_t limit_bytes,
                                                   std::size_t wanted) {
  PlanSummary summary{};
  return allowed_plans<Plan>(dnn::detail::Proposals{graph, device}, dnn::detail::limits_of(graph, options, limit_bytes),
                             wanted, summary, [](const Plan&) { return true; });
}

void engines_exist() {
  const Descriptor h200 = test::described_h200();
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (const Convolution& c : cases(dtype)) {
      const auto has_engine = [&](const Graph& graph, bool is_deterministic = false) {
        return !plans_for(graph, h200, {.is_deterministic = is_deterministic}, std::size_t{32} << 20, 1).empty();
      };
      test::require(has_engine(forward_graph(c)));
      for (const ConvolutionPart part : {ConvolutionPart::input_gradient, ConvolutionPart::weight_gradient})
        for (const bool is_deterministic : {false, true})
          test::require(has_engine(gradient_graph(c, part), is_deterministic));
    }
}

void limits_are_kept() {
  const Descriptor h200 = test::described_h200();
  const Convolution c = cases(DType::float16)[0];
  const Graph graph = forward_graph(c);
  for (const auto& plan : plans_for(graph, h200, {}, 4096, 8)) test::require(plan->workspace_bytes() <= 4096);
  test::require(plans_for(graph, h200, {}, std::size_t{32} << 20, 3).size() <= 3);
}

/// Engines that round factors to TF32 are left out unless they are allowed.
void float32_stays_exact() {
  const Descriptor h200 = test::described_h200();
  Convolution c = cases(DType::float32)[0];
  c.batch = 64;
  c.in_channels = c.out_channels = 128;
  c.input = {28, 28};
  for (const FilterOrder order : {FilterOrder::channels_last, FilterOrder::channels_first}) {
    c.filter_order = order;
    const Graph graph = forward_graph(with_same_padding(c));
    int tensor_core_engines = 0;
    const auto count = [&](const LibraryOptions& options) {
      PlanSummary summary{};
      const auto limits = dnn::detail::limits_of(graph, options, std::size_t{32} << 20);
      test::require(!allowed_plans<Plan>(dnn::detail::Proposals{graph, h200}, limits, 64, summary, [](const Plan&) {
                       return true;
                     }).empty());
      tensor_core_engines = summary.objections[static_cast<std::size_t>(Objection::tf32)];
    };
    count({.allows_tf32_in_convolutions = false});
    test::require(tensor_core_engines > 0); // an H200 would rather use those
    count({});
    test::require_equal(tensor_core_engines, 0);
  }
}

/// Calls f(output place, input place, filter place) for every product of a convolution.
template <class F> void each_product(const Convolution& c, F f) {
  const Space out = c.output();
  const auto strides = filter_strides(c);
  const std::int64_t in_group = c.in_channels / c.groups, out_group = c.out_channels / c.groups;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t p = 0; p < out[0]; ++p)
      for (std::int64_t q = 0; q < out[1]; ++q)
        for (std::int64_t k = 0; k < c.out_channels; ++k)
          for (std::int64_t r = 0; r < c.kernel[0]; ++r)
            for (std::int64_t s = 0; s < c.kernel[1]; ++s) {
              const std::int64_t h = p * c.stride[0] - c.padding_before[0] + r * c.dilation[0];
              const std::int64_t w = q * c.stride[1] - c.padding_before[1] + s * c.dilation[1];
              if (h < 0 || h >= c.input[0] || w < 0 || w >= c.input[1]) continue;
              for (std::int64_t channel = 0; channel < in_group; ++channel)
                f(static_cast<std::size_t>(((n * out[0] + p) * out[1] + q) * c.out_channels + k),
                  static_cast<std::size_t>(((n * c.input[0] + h) * c.input[1] + w) * c.in_channels +
                                           k / out_group * in_group + channel),
                  static_cast<std::size_t>(k * strides[0] + channel * strides[1] + r * strides[2] + s * strides[3]));
            }
}

template <class T>
void compare(const test::DeviceMemory& memory, const std::vector<double>& expected, double tolerance) {
  const auto computed = test::on_host<T>(memory, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    test::require_close(static_cast<double>(computed[i]), expected[i], tolerance, tolerance);
}

template <class T> void check_numbers(double tolerance) {
  for (const Convolution& c : cases(dtype_of<T>)) {
    const auto count = [](const ChannelsLast& tensor) { return static_cast<std::size_t>(tensor.elements()); };
    const auto x = test::random_values<T>(count(input_of(c)), 1);
    const auto w = test::random_values<T>(count(filter_of(c)), 2);
    const auto dy = test::random_values<T>(count(output_of(c)), 3);
    std::vector<double> sums(dy.size()), dx(x.size()), dw(w.size());
    each_product(c, [&](std::size_t out, std::size_t in, std::size_t filter) {
      sums[out] += static_cast<double>(x[in]) * static_cast<double>(w[filter]);
      dx[in] += static_cast<double>(dy[out]) * static_cast<double>(w[filter]);
      dw[filter] += static_cast<double>(dy[out]) * static_cast<double>(x[in]);
    });
    const auto x_memory = test::on_device(x), w_memory = test::on_device(w), dy_memory = test::on_device(dy);
    const auto run = [&](const std::vector<double>& expected, auto f) {
      const auto result = test::on_device(std::vector<T>(expected.size()));
      launch(Cuda{0}, [&](const auto& queue) { test::require(f(queue, result.data()).exists); });
      compare<T>(result, expected, tolerance);
    };
    run(sums, [&](const auto& queue, void* y) {
      return run_convolution_forward(queue, c, x_memory.data(), w_memory.data(), y);
    });
    run(dx, [&](const auto& queue, void* to) {
      return run_convolution_gradient(queue, c, ConvolutionPart::input_gradient, dy_memory.data(), w_memory.data(), to);
    });
    run(dw, [&](const auto& queue, void* to) {
      return run_convolution_gradient(queue, c, ConvolutionPart::weight_gradient, dy_memory.data(), x_memory.data(),
                                      to);
    });
  }
}
void numbers() {
  check_numbers<float>(2e-2); // TF32
  set_library_options({.allows_tf32_in_convolutions = false});
  check_numbers<float>(1e-3);
  set_library_options({});
  check_numbers<double>(1e-10);
  check_numbers<twill::half>(2e-2);
  check_numbers<bfloat16>(2e-1);
}

/// The options change which engine computes, not what; deterministic ones compute the same bits twice.
void options() {
  for (const LibraryOptions each : {LibraryOptions{.autotune = true, .allows_tf32_in_convolutions = false},
                                    LibraryOptions{.is_deterministic = true, .allows_tf32_in_convolutions = false}}) {
    set_library_options(each);
    check_numbers<float>(1e-3);
    set_library_options({});
  }
}

const Case first{"cuDNN has engines for every convolution, planned without a GPU", &engines_exist, Needs::nothing};
const Case second{"plans keep to the workspace and to the number that was asked for", &limits_are_kept, Needs::nothing};
const Case exact{"convolutions of float32 use TF32 unless that is forbidden", &float32_stays_exact, Needs::nothing};
const Case third{"convolutions and their gradients by cuDNN equal plain loops", &numbers};
const Case fourth{"autotuned and deterministic convolutions compute the same", &options};

} // namespace
