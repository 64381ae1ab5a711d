#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/onednn_pictures.hpp.

#include <twill/device/cpu/onednn_pictures.hpp>

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
namespace twill { inline namespace v0 { namespace cpu {

TWILL_BODY std::int64_t images_at_once(ConvolutionPart part, DType dtype, const ConvolutionShape& s) {
  if (part == ConvolutionPart::weight_gradient || !may_bring_pictures(dtype, s)) return s.batch;
  constexpr std::int64_t elements_in_a_cache = 1 << 19;
  const std::int64_t elements = std::max(elements_in_a_cache, 2 * s.w_elements());
  return std::clamp<std::int64_t>(elements * s.batch / (s.x_elements() + s.y_elements()), 1, s.batch);
}

}}}    // namespace twill::v0::cpu
#endif // defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
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

}}}}   // namespace twill::v0::cpu::detail
#endif // defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
