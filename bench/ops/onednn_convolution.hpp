#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The same convolutions by oneDNN, called directly: with all operands in the orders that it prefers, or with pictures in
// PyTorch's order, which are brought into the library's and back each time, as the weights are.

#include "bench/support/convolution.hpp"
#include "bench/support/onednn.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <optional>

namespace bench {

/// One operand: in the caller's order, in the library's where that is another one, and the ways there and back.
class OrderedOperand {
public:
  OrderedOperand(const dnnl_memory_desc_t& outer, float* data, const dnnl_memory_desc_t& inner)
      : outer_{outer}, data_{data}, inner_{inner} {
    if (dnnl_memory_desc_equal(&outer, &inner) != 0) return;
    copy_.emplace(inner);
    to_.emplace(outer, inner);
    to_->bind(DNNL_ARG_FROM, outer, data);
    to_->bind(DNNL_ARG_TO, *copy_);
    from_.emplace(inner, outer);
    from_->bind(DNNL_ARG_FROM, *copy_);
    from_->bind(DNNL_ARG_TO, outer, data);
  }
  void bind_to(onednn::Primitive& primitive, int name) {
    primitive.bind(name, inner_, copy_ ? static_cast<float*>(*copy_) : data_);
  }
  void bring() {
    if (to_) to_->run();
  }
  void fetch() {
    if (from_) from_->run();
  }

private:
  dnnl_memory_desc_t outer_;
  float* data_;
  dnnl_memory_desc_t inner_;
  std::optional<onednn::Memory> copy_{};
  std::optional<onednn::Primitive> to_{}, from_{};
};

inline void by_onednn(benchmark::State& state, const ConvolutionSize& size, int threads, bool with_gradients,
                      bool is_plain) {
  onednn::use_threads(threads);
  ConvolutionData o{size};
  const std::int64_t c = size.channels, e = size.extent, k = size.kernel;
  const auto any_picture = onednn::described({images, c, e, e}, dnnl_format_tag_any);
  const auto any_weights = onednn::described({c, c, k, k}, dnnl_format_tag_any);
  const dnnl_dims_t stride = {1, 1}, padding = {size.padding(), size.padding()};
  dnnl_convolution_desc_t operations[3]{};
  onednn::require(dnnl_convolution_forward_desc_init(&operations[0], dnnl_forward_training, dnnl_convolution_direct,
                                                     &any_picture, &any_weights, nullptr, &any_picture, stride, padding,
                                                     padding),
                  "convolution");
  onednn::require(dnnl_convolution_backward_data_desc_init(&operations[1], dnnl_convolution_direct, &any_picture,
                                                           &any_weights, &any_picture, stride, padding, padding),
                  "gradient by the input");
  onednn::require(dnnl_convolution_backward_weights_desc_init(&operations[2], dnnl_convolution_direct, &any_picture,
                                                              &any_weights, nullptr, &any_picture, stride, padding,
                                                              padding),
                  "gradient by the weights");
  onednn::Primitive forward{&operations[0]};
  onednn::Primitive by_input{&operations[1], nullptr, &forward}, by_weights{&operations[2], nullptr, &forward};

  // As a caller has them, of whose orders one is timed; the check reads channels-last.
  Array plain_x{size.elements()}, plain_y{size.elements()}, plain_dx{size.elements()}, plain_dy{size.elements()};
  const auto last = onednn::described({images, c, e, e}, dnnl_nhwc);
  const auto outer = onednn::described({images, c, e, e}, is_plain ? dnnl_nchw : dnnl_nhwc);
  const auto weights = onednn::described({c, c, k, k}, dnnl_oihw);
  onednn::reorder(last, o.x, outer, plain_x);
  onednn::reorder(last, o.dy, outer, plain_dy);
  OrderedOperand x{outer, plain_x, forward.wants(dnnl_query_src_md)};
  OrderedOperand w{weights, o.w, forward.wants(dnnl_query_weights_md)};
  OrderedOperand y{outer, plain_y, forward.wants(dnnl_query_dst_md)};
  OrderedOperand dx{outer, plain_dx, by_input.wants(dnnl_query_diff_src_md)};
  OrderedOperand w_of_gradient{weights, o.w, by_input.wants(dnnl_query_weights_md)};
  OrderedOperand dy_for_input{outer, plain_dy, by_input.wants(dnnl_query_diff_dst_md)};
  OrderedOperand x_for_weights{outer, plain_x, by_weights.wants(dnnl_query_src_md)};
  OrderedOperand dy_for_weights{outer, plain_dy, by_weights.wants(dnnl_query_diff_dst_md)};
  OrderedOperand dw{weights, o.dw, by_weights.wants(dnnl_query_diff_weights_md)};
  x.bind_to(forward, DNNL_ARG_SRC);
  w.bind_to(forward, DNNL_ARG_WEIGHTS);
  y.bind_to(forward, DNNL_ARG_DST);
  dy_for_input.bind_to(by_input, DNNL_ARG_DIFF_DST);
  w_of_gradient.bind_to(by_input, DNNL_ARG_WEIGHTS);
  dx.bind_to(by_input, DNNL_ARG_DIFF_SRC);
  x_for_weights.bind_to(by_weights, DNNL_ARG_SRC);
  dy_for_weights.bind_to(by_weights, DNNL_ARG_DIFF_DST);
  dw.bind_to(by_weights, DNNL_ARG_DIFF_WEIGHTS);

  const auto bring = [&] {
    for (OrderedOperand* const operand : {&x, &w}) operand->bring();
    if (with_gradients)
      for (OrderedOperand* const operand : {&w_of_gradient, &dy_for_input, &x_for_weights, &dy_for_weights})
        operand->bring();
  };
  const auto compute = [&] {
    forward.run();
    if (with_gradients) by_input.run(), by_weights.run();
  };
  const auto fetch = [&] {
    y.fetch();
    if (with_gradients) dx.fetch(), dw.fetch();
  };
  bring(), compute(), fetch();
  onednn::reorder(outer, plain_y, last, o.y);
  if (with_gradients) onednn::reorder(outer, plain_dx, last, o.dx);
  o.check(with_gradients, is_plain ? "convolution/onednn_plain" : "convolution/reference");
  for (auto _ : state) {
    if (is_plain) bring();
    compute();
    if (is_plain) fetch();
    benchmark::ClobberMemory();
  }
  onednn::use_threads(1);
}

} // namespace bench
