#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// An upstream for tests of the pool: host memory of limited size that counts its calls, fails on the n-th one, and knows what
// was not returned. Copies share one state.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

namespace twill_tests {

class FailingUpstream {
public:
  struct State {
    std::mutex mutex;
    std::map<void*, std::size_t> live;
    std::size_t live_bytes = 0;
    std::size_t capacity = std::size_t{1} << 40;
    std::size_t calls = 0;
    std::size_t fail_at = 0; ///< the number, from 1, of the call that fails; 0 for none
    bool fail_from_then_on = false;
    std::size_t foreign_releases = 0;
  };

  [[nodiscard]] void* allocate(std::size_t bytes) {
    std::lock_guard guard{state->mutex};
    ++state->calls;
    const bool told = state->fail_at != 0 &&
                      (state->calls == state->fail_at || (state->fail_from_then_on && state->calls > state->fail_at));
    if (told || state->live_bytes + bytes > state->capacity) throw std::bad_alloc{};
    void* address = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (address == nullptr) throw std::bad_alloc{};
    try {
      state->live.emplace(address, bytes);
    } catch (...) {
      std::free(address);
      throw;
    }
    state->live_bytes += bytes;
    return address;
  }

  void release(void* address, std::size_t bytes) noexcept {
    std::lock_guard guard{state->mutex};
    const auto found = state->live.find(address);
    if (found == state->live.end() || found->second != bytes) {
      ++state->foreign_releases;
      return;
    }
    state->live.erase(found);
    state->live_bytes -= bytes;
    std::free(address);
  }

  [[nodiscard]] std::size_t total_bytes() const { return state->capacity; }
  [[nodiscard]] std::size_t free_bytes() const {
    std::lock_guard guard{state->mutex};
    return state->capacity - state->live_bytes;
  }

  std::shared_ptr<State> state = std::make_shared<State>();
};

} // namespace twill_tests
