#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/onednn_convolution.hpp.

#include <twill/device/cpu/onednn_convolution.hpp>

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
namespace twill { inline namespace v0 { namespace cpu {

TWILL_BODY std::int64_t images_at_once(ConvolutionPart part, DType dtype, const ConvolutionShape& s) {
  if (part == ConvolutionPart::weight_gradient || !may_bring_pictures(dtype, s)) return s.batch;
  constexpr std::int64_t elements_in_a_cache = 1 << 19;
  const std::int64_t elements = std::max(elements_in_a_cache, 2 * s.w_elements());
  return std::clamp<std::int64_t>(elements * s.batch / (s.x_elements() + s.y_elements()), 1, s.batch);
}

}}} // namespace twill::v0::cpu

namespace twill { inline namespace v0 { namespace cpu { namespace detail {

TWILL_BODY bool DnnlPicture::prepare(const dnnl_memory_desc_t& outer, const dnnl_memory_desc_t& inner, bool is_written,
                                     std::size_t offset) {
  const dnnl_engine_t engine = dnnl_thread().engine.get();
  const auto memory = [&](const dnnl_memory_desc_t& of) {
    return make_dnnl<dnnl_memory_t>(&dnnl_memory_create, &of, engine, static_cast<void*>(nullptr));
  };
  outer_ = memory(outer);
  if (dnnl_memory_desc_equal(&outer, &inner) != 0) return outer_ != nullptr;
  inner_ = memory(inner);
  offset_ = offset;
  bytes_ = dnnl_memory_desc_get_size(&inner);
  is_written_ = is_written;
  const auto how = make_dnnl<dnnl_primitive_desc_t>(&dnnl_reorder_primitive_desc_create, is_written ? &inner : &outer,
                                                    engine, is_written ? &outer : &inner, engine, nullptr);
  if (!how) return false;
  way_ = make_dnnl<dnnl_primitive_t>(&dnnl_primitive_create, how.get());
  return outer_ && inner_ && way_;
}

TWILL_BODY bool DnnlPicture::bring(void* data, std::byte* scratch) {
  dnnl_memory_set_data_handle(outer_.get(), data);
  if (inner_) dnnl_memory_set_data_handle(inner_.get(), scratch + offset_);
  return !inner_ || is_written_ || reorder(outer_.get(), inner_.get());
}

TWILL_BODY bool DnnlPicture::reorder(dnnl_memory_t from, dnnl_memory_t to) {
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return dnnl_primitive_execute(way_.get(), dnnl_thread().stream.get(), 2, arguments) == dnnl_success;
}

TWILL_BODY DnnlConvolution::DnnlConvolution(ConvolutionPart part, DType dtype, const ConvolutionShape& shape)
    : part_{part}, dtype_{dtype}, shape_{shape} {
  is_ready_ = prepare();
}

TWILL_BODY bool DnnlConvolution::is_for(ConvolutionPart part, DType dtype, const ConvolutionShape& shape) const {
  return part == part_ && dtype == dtype_ && shape == shape_;
}

TWILL_BODY bool DnnlConvolution::run(void* x, void* w, void* y, std::byte* scratch, KeptOrder* kept) {
  const OneOpenMpThread scope{};
  const bool reads_weights = part_ != ConvolutionPart::weight_gradient;
  const bool may_keep = kept != nullptr && reorder_ && reads_weights && weight_bytes_ <= kept->bytes();
  const bool is_kept = may_keep && kept->is_in(order_);
  const bool keeps = may_keep && !is_kept && kept->claim();
  void* const inner_weights = is_kept || keeps ? kept->memory() : weight_bytes_ > 0 ? scratch : w;
  set(w_, w);
  set(inner_w_, inner_weights);
  if (reorder_ && reads_weights && !is_kept) {
    const bool is_ordered = reorder(w_.get(), inner_w_.get());
    if (keeps && is_ordered) kept->set_order(order_);
    if (keeps && !is_ordered) kept->give_back();
    if (!is_ordered) return false;
  }
  return convolve(x, y, scratch) && (!reorder_ || reads_weights || reorder(inner_w_.get(), w_.get()));
}

TWILL_BODY bool DnnlConvolution::run_in_order(void* x, void* w, void* y, std::byte* scratch) {
  const OneOpenMpThread scope{};
  set(inner_w_, w);
  return convolve(x, y, scratch);
}

TWILL_BODY bool DnnlConvolution::leave_order(void* w, std::byte* scratch) {
  const OneOpenMpThread scope{};
  std::memcpy(scratch, w, plain_bytes());
  set(inner_w_, scratch);
  set(w_, w);
  return reorder(inner_w_.get(), w_.get());
}

TWILL_BODY bool DnnlConvolution::enter_order(void* w, std::byte* scratch) {
  const OneOpenMpThread scope{};
  const dnnl_engine_t engine = dnnl_thread().engine.get();
  const auto how = make_dnnl<dnnl_primitive_desc_t>(&dnnl_reorder_primitive_desc_create, order_of(w_), engine,
                                                    order_of(inner_w_), engine, nullptr);
  if (!how) return false;
  const auto enter = make_dnnl<dnnl_primitive_t>(&dnnl_primitive_create, how.get());
  if (!enter) return false;
  std::memcpy(scratch, w, plain_bytes());
  set(w_, scratch);
  set(inner_w_, w);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, w_.get()}, {DNNL_ARG_TO, inner_w_.get()}};
  return dnnl_primitive_execute(enter.get(), dnnl_thread().stream.get(), 2, arguments) == dnnl_success;
}

TWILL_BODY void DnnlConvolution::set(const Dnnl<dnnl_memory_t>& memory, void* data) {
  if (memory) dnnl_memory_set_data_handle(memory.get(), data);
}

TWILL_BODY const dnnl_memory_desc_t* DnnlConvolution::order_of(const Dnnl<dnnl_memory_t>& memory) {
  const dnnl_memory_desc_t* order = nullptr;
  return dnnl_memory_get_memory_desc(memory.get(), &order) == dnnl_success ? order : nullptr;
}

TWILL_BODY std::size_t DnnlConvolution::plain_bytes() const {
  return static_cast<std::size_t>(shape_.w_elements()) * size_of(dtype_);
}

TWILL_BODY bool DnnlConvolution::convolve(void* x, void* y, std::byte* scratch) {
  set(scratchpad_, scratch + weight_bytes_);
  if (!x_.bring(x, scratch) || !y_.bring(y, scratch)) return false;
  const bool reads_weights = part_ != ConvolutionPart::weight_gradient;
  const dnnl_exec_arg_t arguments[] = {
      {part_ == ConvolutionPart::input_gradient ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, x_.inner()},
      {reads_weights ? DNNL_ARG_WEIGHTS : DNNL_ARG_DIFF_WEIGHTS, inner_w_.get()},
      {part_ == ConvolutionPart::output ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, y_.inner()},
      {DNNL_ARG_SCRATCHPAD, scratchpad_.get()}};
  return dnnl_primitive_execute(convolve_.get(), dnnl_thread().stream.get(), 4, arguments) == dnnl_success &&
         x_.fetch() && y_.fetch();
}

TWILL_BODY bool DnnlConvolution::reorder(dnnl_memory_t from, dnnl_memory_t to) {
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return dnnl_primitive_execute(reorder_.get(), dnnl_thread().stream.get(), 2, arguments) == dnnl_success;
}

TWILL_BODY bool DnnlConvolution::prepare() {
  const OneOpenMpThread scope{};
  const dnnl_data_type_t type = dtype_ == DType::bfloat16 ? dnnl_bf16 : dnnl_f32;
  const ConvolutionShape& s = shape_;
  const std::int64_t k = s.out_channels;
  const std::int64_t c = s.in_channels;
  const dnnl_dims_t x_dims = {s.batch, c, s.input[0], s.input[1]};
  const dnnl_dims_t y_dims = {s.batch, k, s.output[0], s.output[1]};
  const dnnl_dims_t x_strides = {s.in_pixels() * c, 1, s.input[1] * c, c};
  const dnnl_dims_t y_strides = {s.out_pixels() * k, 1, s.output[1] * k, k};
  const std::int64_t area = s.kernel[0] * s.kernel[1];
  const bool has_groups = s.groups > 1;
  const dnnl_dims_t one_group = {k, c, s.kernel[0], s.kernel[1]};
  const dnnl_dims_t w_groups = {s.groups, k / s.groups, c / s.groups, s.kernel[0], s.kernel[1]};
  const dnnl_dims_t w_strides = {k / s.groups * s.taps(), s.taps(), area, s.kernel[1], 1};
  const int w_rank = has_groups ? 5 : 4;
  dnnl_memory_desc_t x{}, y{}, w{}, any{}, any_x{}, any_y{};
  if (dnnl_memory_desc_init_by_strides(&x, 4, x_dims, type, x_strides) != dnnl_success ||
      dnnl_memory_desc_init_by_strides(&y, 4, y_dims, type, y_strides) != dnnl_success ||
      dnnl_memory_desc_init_by_strides(&w, w_rank, has_groups ? w_groups : one_group, type,
                                       has_groups ? w_strides : w_strides + 1) != dnnl_success ||
      dnnl_memory_desc_init_by_tag(&any, w_rank, has_groups ? w_groups : one_group, type, dnnl_format_tag_any) !=
          dnnl_success ||
      dnnl_memory_desc_init_by_tag(&any_x, 4, x_dims, type, dnnl_format_tag_any) != dnnl_success ||
      dnnl_memory_desc_init_by_tag(&any_y, 4, y_dims, type, dnnl_format_tag_any) != dnnl_success)
    return false;
  const bool may_bring = may_bring_pictures(dtype_, s) &&
                         (part_ != ConvolutionPart::weight_gradient || s.x_elements() + s.y_elements() <= most_brought);
  const dnnl_memory_desc_t& read_x = may_bring ? any_x : x;
  const dnnl_memory_desc_t& read_y = may_bring ? any_y : y;
  const dnnl_dims_t stride = {s.stride[0], s.stride[1]};
  const dnnl_dims_t gaps = {s.dilation[0] - 1, s.dilation[1] - 1};
  const dnnl_dims_t before = {s.padding[0], s.padding[1]};
  const dnnl_dims_t behind = {s.padding_behind(0), s.padding_behind(1)};
  const auto how = make_dnnl<dnnl_primitive_attr_t>(&dnnl_primitive_attr_create);
  if (!how || dnnl_primitive_attr_set_scratchpad_mode(how.get(), dnnl_scratchpad_mode_user) != dnnl_success)
    return false;
  const dnnl_engine_t engine = dnnl_thread().engine.get();
  const auto algorithm = dnnl_convolution_direct;
  dnnl_convolution_desc_t forward{};
  if (dnnl_dilated_convolution_forward_desc_init(&forward, dnnl_forward_training, algorithm, &read_x, &any, nullptr,
                                                 &read_y, stride, gaps, before, behind) != dnnl_success)
    return false;
  auto made = make_dnnl<dnnl_primitive_desc_t>(&dnnl_primitive_desc_create, &forward, how.get(), engine, nullptr);
  if (!made) return false;
  if (part_ != ConvolutionPart::output) {
    dnnl_convolution_desc_t backward{};
    const dnnl_status_t status =
        part_ == ConvolutionPart::input_gradient
            ? dnnl_dilated_convolution_backward_data_desc_init(&backward, algorithm, &read_x, &any, &read_y, stride,
                                                               gaps, before, behind)
            : dnnl_dilated_convolution_backward_weights_desc_init(&backward, algorithm, &read_x, &any, nullptr, &read_y,
                                                                  stride, gaps, before, behind);
    if (status != dnnl_success) return false;
    made = make_dnnl<dnnl_primitive_desc_t>(&dnnl_primitive_desc_create, &backward, how.get(), engine, made.get());
    if (!made) return false;
  }
  const bool writes_x = part_ == ConvolutionPart::input_gradient;
  const bool writes_y = part_ == ConvolutionPart::output;
  const bool writes_w = part_ == ConvolutionPart::weight_gradient;
  const auto wanted = [&](dnnl_query_t query) { return *dnnl_primitive_desc_query_md(made.get(), query, 0); };
  const dnnl_memory_desc_t inner = wanted(writes_w ? dnnl_query_diff_weights_md : dnnl_query_weights_md);
  const dnnl_memory_desc_t pad = wanted(dnnl_query_scratchpad_md);
  constexpr std::size_t line = 64;
  const auto whole_lines = [](std::size_t bytes) { return (bytes + line - 1) / line * line; };
  if (dnnl_memory_desc_equal(&inner, &w) == 0) {
    weight_bytes_ = whole_lines(dnnl_memory_desc_get_size(&inner));
    const auto order = make_dnnl<dnnl_primitive_desc_t>(&dnnl_reorder_primitive_desc_create, writes_w ? &inner : &w,
                                                        engine, writes_w ? &w : &inner, engine, nullptr);
    if (!order) return false;
    reorder_ = make_dnnl<dnnl_primitive_t>(&dnnl_primitive_create, order.get());
    if (!reorder_) return false;
    order_ = number_of_order(inner);
    stays_in_order_ = writes_w && dnnl_memory_desc_get_size(&inner) == plain_bytes();
  }
  const std::size_t before_x = weight_bytes_ + whole_lines(dnnl_memory_desc_get_size(&pad));
  if (!x_.prepare(x, wanted(writes_x ? dnnl_query_diff_src_md : dnnl_query_src_md), writes_x, before_x)) return false;
  const std::size_t before_y = before_x + whole_lines(x_.bytes());
  if (!y_.prepare(y, wanted(writes_y ? dnnl_query_dst_md : dnnl_query_diff_dst_md), writes_y, before_y)) return false;
  scratch_bytes_ = before_y + whole_lines(y_.bytes());
  convolve_ = make_dnnl<dnnl_primitive_t>(&dnnl_primitive_create, made.get());
  const auto memory = [&](const dnnl_memory_desc_t& of) {
    return make_dnnl<dnnl_memory_t>(&dnnl_memory_create, &of, engine, static_cast<void*>(nullptr));
  };
  w_ = memory(w);
  inner_w_ = memory(inner);
  scratchpad_ = memory(pad);
  return convolve_ && w_ && inner_w_ && scratchpad_;
}

}}}} // namespace twill::v0::cpu::detail

namespace twill { inline namespace v0 { namespace cpu {

TWILL_BODY detail::DnnlConvolution* find_convolution(ConvolutionPart part, DType dtype, const ConvolutionShape& shape) {
  if (dtype != DType::float32 && dtype != DType::bfloat16) return nullptr;
  static_cast<void>(detail::dnnl_thread()); // made before and so destroyed after the plans
  constexpr std::size_t most_plans = 1024;  // a DenseNet-121 has about 200 for each size of batch
  thread_local RecentPlans<detail::DnnlConvolution, most_plans> plans{};
  detail::DnnlConvolution& plan = plans.find(part, dtype, shape);
  return plan.is_ready() ? &plan : nullptr;
}

}}}    // namespace twill::v0::cpu
#endif // defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
