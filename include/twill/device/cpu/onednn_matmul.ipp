#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/onednn_matmul.hpp.

#include <twill/device/cpu/onednn_matmul.hpp>

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
namespace twill { inline namespace v0 { namespace cpu { namespace detail {

TWILL_BODY bool DnnlMatmul::run(const void* a, const void* b, void* c) const {
  if (!is_ready_) return false;
  const OneOpenMpThread scope{};
  dnnl_memory_set_data_handle(a_.get(), const_cast<void*>(a));
  dnnl_memory_set_data_handle(b_.get(), const_cast<void*>(b));
  dnnl_memory_set_data_handle(c_.get(), c);
  const dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_SRC, a_.get()}, {DNNL_ARG_WEIGHTS, b_.get()}, {DNNL_ARG_DST, c_.get()}};
  return dnnl_primitive_execute(multiply_.get(), dnnl_thread().stream.get(), 3, arguments) == dnnl_success;
}

TWILL_BODY bool DnnlMatmul::prepare() {
  const OneOpenMpThread scope{};
  const auto [m, n, k, transpose_a, transpose_b, lda, ldb, ldc] = key_;
  const auto describe = [](dnnl_memory_desc_t& to, std::int64_t rows, std::int64_t columns, bool transposed,
                           std::int64_t stride) {
    const dnnl_dims_t dims = {rows, columns};
    const dnnl_dims_t strides = {transposed ? 1 : stride, transposed ? stride : 1};
    return dnnl_memory_desc_init_by_strides(&to, 2, dims, dnnl_bf16, strides) == dnnl_success;
  };
  dnnl_memory_desc_t a{}, b{}, c{};
  dnnl_matmul_desc_t product{};
  if (!describe(a, m, k, transpose_a != 0, lda) || !describe(b, k, n, transpose_b != 0, ldb) ||
      !describe(c, m, n, false, ldc) || dnnl_matmul_desc_init(&product, &a, &b, nullptr, &c) != dnnl_success)
    return false;
  const dnnl_engine_t engine = dnnl_thread().engine.get();
  const auto made = make_dnnl<dnnl_primitive_desc_t>(&dnnl_primitive_desc_create, &product, nullptr, engine, nullptr);
  if (!made) return false;
  multiply_ = make_dnnl<dnnl_primitive_t>(&dnnl_primitive_create, made.get());
  const auto memory = [&](const dnnl_memory_desc_t& of) {
    return make_dnnl<dnnl_memory_t>(&dnnl_memory_create, &of, engine, static_cast<void*>(nullptr));
  };
  a_ = memory(a);
  b_ = memory(b);
  c_ = memory(c);
  return multiply_ && a_ && b_ && c_;
}

TWILL_BODY const DnnlMatmul& find_matmul(const DnnlMatmul::Key& key) {
  static_cast<void>(dnnl_thread()); // made before and so destroyed after the plans
  constexpr std::size_t most_plans = 256;
  thread_local RecentPlans<DnnlMatmul, most_plans> plans{};
  return plans.find(key);
}

}}}}   // namespace twill::v0::cpu::detail
#endif // defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
