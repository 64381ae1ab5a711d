#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Objects of oneDNN 2 through its C header (its C++ one costs a second to include), owned by pointers, and an engine
// for each thread. Read next: device/cpu/onednn_convolution.hpp, device/cpu/onednn_matmul.hpp.

#include <twill/core/config.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#if defined(TWILL_WITH_ONEDNN)
#include <dnnl_version.h>
#endif
#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2
#include <dnnl.h>

namespace twill { inline namespace v0 { namespace cpu { namespace detail {

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
/// throws: std::bad_alloc where it finds no memory, which is not a permanent refusal
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

}}}} // namespace twill::v0::cpu::detail

#endif
