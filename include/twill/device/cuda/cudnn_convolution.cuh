#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolution by cuDNN, channels-last: forward, and the gradients by input and by filter. Each function tells whether
// cuDNN did the work; other means do the rest. Not in the umbrella. Read next: device/cuda/cudnn_plan.cuh.

#include <twill/core/dtype.hpp>
#include <twill/device/convolution.hpp>
#include <twill/device/cuda/convolution.hpp>
#include <twill/device/cuda/cudnn_graph.cuh>
#include <twill/device/cuda/cudnn_plan.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cudnn_graph.h>

namespace twill { inline namespace v0 { namespace nvidia { namespace dnn {

namespace detail {

[[nodiscard]] inline TensorShape shape_of(const ChannelsLast& tensor) {
  const auto strides = tensor.strides();
  return {{tensor.extents.begin(), tensor.extents.end()}, {strides.begin(), strides.end()}};
}

[[nodiscard]] inline TensorShape shape_of_filter(const Convolution& c) {
  const auto extents = filter_of(c).extents;
  const auto strides = filter_strides(c);
  return {{extents.begin(), extents.end()}, {strides.begin(), strides.end()}};
}

[[nodiscard]] inline Key key_of(const Convolution& c, ConvolutionPart part) {
  Key key{1 | static_cast<std::uint64_t>(part) << 8};
  const auto words = nvidia::key_of(c);
  for (std::size_t i = 0; i < words.size(); ++i) key[i + 1] = words[i];
  return key;
}

[[nodiscard]] inline const Descriptor& describe(Graph& graph, const Convolution& c) {
  const auto both = [](const Space& space) { return std::vector<std::int64_t>(space.begin(), space.end()); };
  Descriptor& how = graph.keep(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, graph.math_type())
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, both(c.dilation))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, both(c.stride))
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, both(c.padding_before))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, both(c.padding_after));
  return how.finalize(graph.what());
}

/// Sets alpha and beta of an operation, in its compute type.
inline void set_scalars(Descriptor& operation, const Convolution& c, cudnnBackendAttributeName_t alpha,
                        cudnnBackendAttributeName_t beta) {
  if (c.dtype == DType::float64)
    operation.set(alpha, 1.0).set(beta, 0.0);
  else
    operation.set(alpha, 1.0F).set(beta, 0.0F);
}

} // namespace detail

/// The graph of a convolution's forward pass: tensors with memory are input, filter, output.
[[nodiscard]] inline Graph forward_graph(const Convolution& c) {
  Graph graph(to_string(c));
  graph.compute_in(c.dtype == DType::float64 ? DType::float64 : DType::float32);
  const int x = graph.tensor(detail::shape_of(input_of(c)), c.dtype, c.alignment_bytes);
  const int w = graph.tensor(detail::shape_of_filter(c), c.dtype, c.alignment_bytes);
  const int y = graph.tensor(detail::shape_of(output_of(c)), c.dtype, c.alignment_bytes);
  graph.operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                  {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x},
                   {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w},
                   {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y}},
                  {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, &detail::describe(graph, c)}},
                  [&](Descriptor& operation) {
                    detail::set_scalars(operation, c, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
                  });
  return graph;
}

/// The graph of a gradient: tensors with memory are, for the input's, output gradient, filter, input gradient; for the
/// filter's, output gradient, input, filter gradient.
[[nodiscard]] inline Graph gradient_graph(const Convolution& c, ConvolutionPart part) {
  Graph graph(to_string(c) +
              (part == ConvolutionPart::input_gradient ? ", gradient by input" : ", gradient by filter"));
  graph.compute_in(c.dtype == DType::float64 ? DType::float64 : DType::float32);
  const int dy = graph.tensor(detail::shape_of(output_of(c)), c.dtype, c.alignment_bytes);
  if (part == ConvolutionPart::input_gradient) {
    const int w = graph.tensor(detail::shape_of_filter(c), c.dtype, c.alignment_bytes);
    const int dx = graph.tensor(detail::shape_of(input_of(c)), c.dtype, c.alignment_bytes);
    graph.operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                    {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, dy},
                     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, w},
                     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, dx}},
                    {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, &detail::describe(graph, c)}},
                    [&](Descriptor& made) {
                      detail::set_scalars(made, c, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
                    });
  } else {
    const int x = graph.tensor(detail::shape_of(input_of(c)), c.dtype, c.alignment_bytes);
    const int dw = graph.tensor(detail::shape_of_filter(c), c.dtype, c.alignment_bytes);
    graph.operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                    {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, dy},
                     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, x},
                     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, dw}},
                    {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, &detail::describe(graph, c)}},
                    [&](Descriptor& made) {
                      detail::set_scalars(made, c, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
                    });
  }
  return graph;
}

/// y = convolution of x by w, unless cuDNN has no engine for it. throws: ValueError for invalid sizes, GpuError
inline PlanSummary run_convolution_forward(const gpu::Queue<CudaRuntime>& queue, const Convolution& c, const void* x,
                                           const void* w, void* y) {
  check(c);
  return run_planned(queue, detail::key_of(c, ConvolutionPart::output), [&] { return forward_graph(c); },
                     {const_cast<void*>(x), const_cast<void*>(w), y});
}

/// A gradient from the output's gradient and the other operand, the filter or the input. throws: ValueError, GpuError
inline PlanSummary run_convolution_gradient(const gpu::Queue<CudaRuntime>& queue, const Convolution& c,
                                            ConvolutionPart part, const void* dy, const void* other, void* gradient) {
  check(c);
  return run_planned(queue, detail::key_of(c, part), [&] { return gradient_graph(c, part); },
                     {const_cast<void*>(dy), const_cast<void*>(other), gradient});
}

}}}} // namespace twill::v0::nvidia::dnn
