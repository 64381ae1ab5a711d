// SPDX-License-Identifier: Apache-2.0
//
// The hooks behind points.hpp. The C library's functions keep their meaning; the linker sends their callers here
// (`--wrap`), so that under a sanitizer its own versions stay in place.

#include <tests/faults/points.hpp>

#include <twill/io/files.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <link.h>
#include <new>
#include <pthread.h>
#include <system_error>

using twill::test::faults::fails;
using twill::test::faults::Kind;
using twill::test::faults::points;

namespace {

/// The code of oneDNN, which allocates ten thousands of times while it writes code, and does not survive it when that fails:
/// that is no point, nor is what it calls of the standard library, some of which the linker takes from this program.
struct Library {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  Library() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* found) {
          if (info->dlpi_name == nullptr || std::strstr(info->dlpi_name, "libdnnl") == nullptr) return 0;
          for (int i = 0; i < info->dlpi_phnum; ++i)
            if (const auto& part = info->dlpi_phdr[i]; part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
              static_cast<Library*>(found)->begin = info->dlpi_addr + part.p_vaddr;
              static_cast<Library*>(found)->end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
            }
          return 1;
        },
        this);
  }
  [[nodiscard]] bool holds(const void* caller) const {
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    return begin <= address && address < end;
  }
  [[nodiscard]] bool is_at_work(const void* caller) const {
    if (holds(caller)) return true;
    if (begin == end) return false;
    void* callers[48];
    const int depth = ::backtrace(callers, 48);
    for (int i = 0; i < depth; ++i)
      if (holds(callers[i])) return true;
    return false;
  }
};

void* taken(std::size_t bytes, std::size_t alignment, const void* caller) noexcept {
  static const Library library{};
  if (fails(Kind::allocation, [&] { return library.is_at_work(caller); })) return nullptr;
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t))
    memory = std::malloc(bytes == 0 ? 1 : bytes);
  else if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0)
    memory = nullptr;
  if (memory != nullptr) points.blocks_in_use.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* taken_or_thrown(std::size_t bytes, std::size_t alignment, const void* caller) {
  void* const memory = taken(bytes, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory != nullptr) points.blocks_in_use.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

constexpr std::size_t usual = alignof(std::max_align_t);

} // namespace

void* operator new(std::size_t bytes) { return taken_or_thrown(bytes, usual, __builtin_return_address(0)); }
void* operator new[](std::size_t bytes) { return taken_or_thrown(bytes, usual, __builtin_return_address(0)); }
void* operator new(std::size_t bytes, std::align_val_t to) {
  return taken_or_thrown(bytes, std::size_t(to), __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, std::align_val_t to) {
  return taken_or_thrown(bytes, std::size_t(to), __builtin_return_address(0));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return taken(bytes, usual, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return taken(bytes, usual, __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { give_back(memory); }

extern "C" {

void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails(Kind::segment) ? nullptr : __real_aligned_alloc(alignment, bytes);
}

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  return fails(Kind::thread) ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

// std::thread::_M_start_thread(std::unique_ptr<_State>, void (*)()): the pointer is passed by its address
void __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(void* thread,
                                                                                                  void* state,
                                                                                                  void (*depend)());
void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(void* thread,
                                                                                                  void* state,
                                                                                                  void (*depend)()) {
  if (fails(Kind::thread)) throw std::system_error(EAGAIN, std::generic_category());
  __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(thread, state, depend);
}

} // extern "C"

void twill::test::faults::watch_files() {
  twill::io::detail::file_fault.exchange(
      [](std::string_view, std::string_view) { return fails(Kind::file) ? ENOSPC : 0; });
}
