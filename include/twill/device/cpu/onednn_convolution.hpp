#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by oneDNN 2 through its C header, in the calling thread alone: a team shares out the batch itself. Weights are
// brought into the library's own order in working memory that the caller lends, so none is allocated in a steady step, or
// kept in that order where somebody keeps them; their gradients can stay in it while they are added up. Each thread has plans
// of its own, of the last shapes that it met. Read next: kernel/convolution.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/device/convolution.hpp>
#include <twill/device/cpu/kept_orders.hpp>

#if defined(TWILL_WITH_ONEDNN)
#include <twill/device/cpu/library_threads.hpp>
#include <twill/device/cpu/recent_plans.hpp>

#include <dnnl_version.h>

#include <memory>
#include <mutex>
#include <new>
#include <vector>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
#include <dnnl.h>
#endif

namespace twill::inline v0::cpu {

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
inline constexpr bool has_onednn_convolution = true;

namespace detail {

struct DestroyDnnl {
  void operator()(dnnl_primitive_desc_t object) const { dnnl_primitive_desc_destroy(object); }
  void operator()(dnnl_primitive_t object) const { dnnl_primitive_destroy(object); }
  void operator()(dnnl_memory_t object) const { dnnl_memory_destroy(object); }
  void operator()(dnnl_primitive_attr_t object) const { dnnl_primitive_attr_destroy(object); }
  void operator()(dnnl_stream_t object) const { dnnl_stream_destroy(object); }
  void operator()(dnnl_engine_t object) const { dnnl_engine_destroy(object); }
};
template <class T> using Dnnl = std::unique_ptr<std::remove_pointer_t<T>, DestroyDnnl>;

/// Calls a function of the library whose first argument receives an object; null where it refuses.
/// throws: std::bad_alloc where it finds no memory, which is no refusal for ever
template <class T, class... Rest, class... Arguments>
[[nodiscard]] Dnnl<T> make_dnnl(dnnl_status_t (*make)(T*, Rest...), Arguments... arguments) {
  T object = nullptr;
  const dnnl_status_t status = make(&object, arguments...);
  if (status == dnnl_out_of_memory) throw std::bad_alloc{};
  return Dnnl<T>{status == dnnl_success ? object : nullptr};
}

/// The library's engine and one stream for each thread.
struct DnnlThread {
  Dnnl<dnnl_engine_t> engine = make_dnnl<dnnl_engine_t>(&dnnl_engine_create, dnnl_cpu, std::size_t{0});
  Dnnl<dnnl_stream_t> stream =
      make_dnnl<dnnl_stream_t>(&dnnl_stream_create, engine.get(), unsigned{dnnl_stream_default_flags});
};

[[nodiscard]] inline DnnlThread& dnnl_thread() {
  thread_local DnnlThread thread{};
  return thread;
}

/// The number of an order of weights, the same in all threads. There are few: each shape of weights has one or two.
[[nodiscard]] inline int number_of_order(const dnnl_memory_desc_t& order) {
  struct Known {
    dnnl_memory_desc_t order; // whose type has no name of its own, with which nvcc's front end cannot destroy elements
  };
  struct Orders {
    std::mutex mutex{};
    std::vector<Known> known{};
  };
  static Orders& orders = *new Orders; // never destroyed: threads may still ask while the process ends
  const std::lock_guard lock(orders.mutex);
  for (std::size_t i = 0; i < orders.known.size(); ++i)
    if (dnnl_memory_desc_equal(&orders.known[i].order, &order) != 0) return static_cast<int>(i);
  orders.known.push_back({order});
  return static_cast<int>(orders.known.size()) - 1;
}

/// One part of one convolution, ready to run.
class DnnlConvolution {
public:
  DnnlConvolution(ConvolutionPart part, DType dtype, const ConvolutionShape& shape)
      : part_{part}, dtype_{dtype}, shape_{shape} {
    is_ready_ = prepare();
  }

  [[nodiscard]] bool is_for(ConvolutionPart part, DType dtype, const ConvolutionShape& shape) const {
    return part == part_ && dtype == dtype_ && shape == shape_;
  }
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  /// Whether the library wants the weights in another order than they have.
  [[nodiscard]] bool reorders() const { return reorder_ != nullptr; }
  [[nodiscard]] std::size_t scratch_bytes() const { return weight_bytes_ + scratchpad_bytes_; }
  /// Whether a gradient of weights may stay in the library's order: it is not its tensor's, and takes no more memory.
  [[nodiscard]] bool can_stay_in_order() const { return stays_in_order_; }
  /// The number of the library's order, where it reorders.
  [[nodiscard]] int order() const { return order_; }

  /// Reads the weights from `kept`, if it is not null, in the order that the library wants, and leaves them there for others.
  /// requires: is_ready(), and `scratch` has scratch_bytes() bytes from a cache line on
  [[nodiscard]] bool run(void* x, void* w, void* y, std::byte* scratch, KeptOrder* kept = nullptr) {
    const OneOpenMpThread scope{};
    const bool reads_weights = part_ != ConvolutionPart::weight_gradient;
    const bool may_keep = kept != nullptr && reorder_ && reads_weights && weight_bytes_ <= kept->bytes();
    const bool is_kept = may_keep && kept->is_in(order_);
    const bool keeps = may_keep && !is_kept && kept->claim();
    void* const inner_weights = is_kept || keeps ? kept->memory() : weight_bytes_ > 0 ? scratch : w;
    set(x_, x);
    set(w_, w);
    set(inner_w_, inner_weights);
    set(y_, y);
    set(scratchpad_, scratch + weight_bytes_);
    if (reorder_ && reads_weights && !is_kept) {
      const bool is_ordered = reorder(w_.get(), inner_w_.get());
      if (keeps && is_ordered) kept->set_order(order_);
      if (keeps && !is_ordered) kept->give_back();
      if (!is_ordered) return false;
    }
    const bool is_output = part_ == ConvolutionPart::output;
    const dnnl_exec_arg_t arguments[] = {
        {part_ == ConvolutionPart::input_gradient ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, x_.get()},
        {reads_weights ? DNNL_ARG_WEIGHTS : DNNL_ARG_DIFF_WEIGHTS, inner_w_.get()},
        {is_output ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, y_.get()},
        {DNNL_ARG_SCRATCHPAD, scratchpad_.get()}};
    if (dnnl_primitive_execute(convolve_.get(), dnnl_thread().stream.get(), 4, arguments) != dnnl_success) return false;
    return !reorder_ || reads_weights || reorder(inner_w_.get(), w_.get());
  }

  /// The gradient of the weights, in the library's order.    requires: can_stay_in_order(), and `scratch` as for `run`
  [[nodiscard]] bool run_in_order(void* x, void* w, void* y, std::byte* scratch) {
    const OneOpenMpThread scope{};
    set(x_, x);
    set(inner_w_, w);
    set(y_, y);
    set(scratchpad_, scratch + weight_bytes_);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, x_.get()},
                                         {DNNL_ARG_DIFF_WEIGHTS, inner_w_.get()},
                                         {DNNL_ARG_DIFF_DST, y_.get()},
                                         {DNNL_ARG_SCRATCHPAD, scratchpad_.get()}};
    return dnnl_primitive_execute(convolve_.get(), dnnl_thread().stream.get(), 4, arguments) == dnnl_success;
  }
  /// Brings such gradients, or their sum, into the order of their tensor.    requires: as for run_in_order
  [[nodiscard]] bool leave_order(void* w, std::byte* scratch) {
    const OneOpenMpThread scope{};
    std::memcpy(scratch, w, plain_bytes());
    set(inner_w_, scratch);
    set(w_, w);
    return reorder(inner_w_.get(), w_.get());
  }
  /// The other way round, for a gradient that was made elsewhere.    requires: as for run_in_order
  [[nodiscard]] bool enter_order(void* w, std::byte* scratch) {
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

private:
  static void set(const Dnnl<dnnl_memory_t>& memory, void* data) {
    if (memory) dnnl_memory_set_data_handle(memory.get(), data);
  }

  [[nodiscard]] static const dnnl_memory_desc_t* order_of(const Dnnl<dnnl_memory_t>& memory) {
    const dnnl_memory_desc_t* order = nullptr;
    return dnnl_memory_get_memory_desc(memory.get(), &order) == dnnl_success ? order : nullptr;
  }
  /// Of the weights as their tensor says.
  [[nodiscard]] std::size_t plain_bytes() const {
    return static_cast<std::size_t>(shape_.w_elements()) * size_of(dtype_);
  }

  [[nodiscard]] bool reorder(dnnl_memory_t from, dnnl_memory_t to) {
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    return dnnl_primitive_execute(reorder_.get(), dnnl_thread().stream.get(), 2, arguments) == dnnl_success;
  }

  [[nodiscard]] bool prepare() {
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
    dnnl_memory_desc_t x{}, y{}, w{}, any{};
    if (dnnl_memory_desc_init_by_strides(&x, 4, x_dims, type, x_strides) != dnnl_success ||
        dnnl_memory_desc_init_by_strides(&y, 4, y_dims, type, y_strides) != dnnl_success ||
        dnnl_memory_desc_init_by_strides(&w, w_rank, has_groups ? w_groups : one_group, type,
                                         has_groups ? w_strides : w_strides + 1) != dnnl_success ||
        dnnl_memory_desc_init_by_tag(&any, w_rank, has_groups ? w_groups : one_group, type, dnnl_format_tag_any) !=
            dnnl_success)
      return false;
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
    if (dnnl_dilated_convolution_forward_desc_init(&forward, dnnl_forward_training, algorithm, &x, &any, nullptr, &y,
                                                   stride, gaps, before, behind) != dnnl_success)
      return false;
    auto made = make_dnnl<dnnl_primitive_desc_t>(&dnnl_primitive_desc_create, &forward, how.get(), engine, nullptr);
    if (!made) return false;
    if (part_ != ConvolutionPart::output) {
      dnnl_convolution_desc_t backward{};
      const dnnl_status_t status = part_ == ConvolutionPart::input_gradient
                                       ? dnnl_dilated_convolution_backward_data_desc_init(
                                             &backward, algorithm, &x, &any, &y, stride, gaps, before, behind)
                                       : dnnl_dilated_convolution_backward_weights_desc_init(
                                             &backward, algorithm, &x, &any, nullptr, &y, stride, gaps, before, behind);
      if (status != dnnl_success) return false;
      made = make_dnnl<dnnl_primitive_desc_t>(&dnnl_primitive_desc_create, &backward, how.get(), engine, made.get());
      if (!made) return false;
    }
    const auto query = part_ == ConvolutionPart::weight_gradient ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
    const dnnl_memory_desc_t inner = *dnnl_primitive_desc_query_md(made.get(), query, 0);
    const dnnl_memory_desc_t pad = *dnnl_primitive_desc_query_md(made.get(), dnnl_query_scratchpad_md, 0);
    constexpr std::size_t line = 64;
    const auto whole_lines = [](std::size_t bytes) { return (bytes + line - 1) / line * line; };
    if (dnnl_memory_desc_equal(&inner, &w) == 0) {
      weight_bytes_ = whole_lines(dnnl_memory_desc_get_size(&inner));
      const bool outward = part_ == ConvolutionPart::weight_gradient;
      const auto order = make_dnnl<dnnl_primitive_desc_t>(&dnnl_reorder_primitive_desc_create, outward ? &inner : &w,
                                                          engine, outward ? &w : &inner, engine, nullptr);
      if (!order) return false;
      reorder_ = make_dnnl<dnnl_primitive_t>(&dnnl_primitive_create, order.get());
      if (!reorder_) return false;
      order_ = number_of_order(inner);
      stays_in_order_ = outward && dnnl_memory_desc_get_size(&inner) == plain_bytes();
    }
    scratchpad_bytes_ = whole_lines(dnnl_memory_desc_get_size(&pad));
    convolve_ = make_dnnl<dnnl_primitive_t>(&dnnl_primitive_create, made.get());
    const auto memory = [&](const dnnl_memory_desc_t& of) {
      return make_dnnl<dnnl_memory_t>(&dnnl_memory_create, &of, engine, static_cast<void*>(nullptr));
    };
    x_ = memory(x);
    y_ = memory(y);
    w_ = memory(w);
    inner_w_ = memory(inner);
    scratchpad_ = memory(pad);
    return convolve_ && x_ && y_ && w_ && inner_w_ && scratchpad_;
  }

  ConvolutionPart part_;
  DType dtype_;
  ConvolutionShape shape_;
  bool is_ready_ = false;
  std::size_t weight_bytes_ = 0; ///< of the weights in the library's order; 0 where it takes them as they lie
  std::size_t scratchpad_bytes_ = 0;
  int order_ = 0;               ///< the number of the library's
  bool stays_in_order_ = false; ///< which gradients may have for a while
  Dnnl<dnnl_primitive_t> convolve_{};
  Dnnl<dnnl_primitive_t> reorder_{};
  Dnnl<dnnl_memory_t> x_{}, y_{}, w_{}, inner_w_{}, scratchpad_{};
};

} // namespace detail

/// The plan of a part of a convolution of float32 or bfloat16; null where the library has none.
/// cost: the first time in a thread about a millisecond, then a search among the plans
[[nodiscard]] inline detail::DnnlConvolution* find_convolution(ConvolutionPart part, DType dtype,
                                                               const ConvolutionShape& shape) {
  if (dtype != DType::float32 && dtype != DType::bfloat16) return nullptr;
  static_cast<void>(detail::dnnl_thread()); // made before and so destroyed after the plans
  constexpr std::size_t most_plans = 1024;  // a DenseNet-121 has about 200 for each size of batch
  thread_local RecentPlans<detail::DnnlConvolution, most_plans> plans{};
  detail::DnnlConvolution& plan = plans.find(part, dtype, shape);
  return plan.is_ready() ? &plan : nullptr;
}

#else
inline constexpr bool has_onednn_convolution = false;
#endif

} // namespace twill::inline v0::cpu
