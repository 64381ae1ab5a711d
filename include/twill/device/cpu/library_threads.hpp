#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Single-threaded use of vendor libraries. Teams of twill divide the work; additional threads of a library would cost
// more than they give, and several devices would each start them. Libraries over OpenMP ask how many threads a parallel
// region of the caller would have, so that number is one for a while. Read next: device/cpu/blas.hpp.

#include <twill/core/config.hpp>

#include <dlfcn.h>

namespace twill { inline namespace v0 { namespace cpu { namespace detail {

/// While it lives, a parallel region that this thread opens has one thread; afterwards the previous number.
class OneOpenMpThread {
public:
  OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;
  ~OneOpenMpThread();

private:
  /// The functions of the loaded OpenMP library, if any.
  struct OpenMp {
    int (*get)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    void (*set)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  };
  [[nodiscard]] static const OpenMp& open_mp() {
    static const OpenMp functions{};
    return functions;
  }

  int previous_ = 1;
};

}}}} // namespace twill::v0::cpu::detail

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/library_threads.ipp>
#endif
