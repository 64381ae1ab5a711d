// SPDX-License-Identifier: Apache-2.0
//
// A device kind of one's own, as docs/how_to_add_a_device_kind.md adds it: memory from malloc, work at once in the caller.
// Whatever is generic in the device kind (pools, tensors, expressions, copies) runs on it. Kinds with a stream that runs
// late are tests/support/late_device.hpp and, as GPUs do, tests/support/emulated_device.hpp.

#include <catch2/catch.hpp>
#include <twill/device.hpp>
#include <twill/expr.hpp>
#include <twill/memory.hpp>
#include <twill/tensor.hpp>

#include <concepts>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// region: kind
namespace mine {

/// Runs everything at once, in the thread that asks for it.
struct Plain {
  int index = 0;

  static constexpr std::string_view kind = "plain";
  static constexpr bool has_memory = true;
  class Upstream;
  struct Event { // all work before it is done when it is made
    [[nodiscard]] bool is_complete() const { return true; }
    void wait() const {}
  };

  [[nodiscard]] static int count() { return 2; }
  friend constexpr bool operator==(Plain, Plain) = default;
};

/// Where its pools get segments from.
class Plain::Upstream {
public:
  explicit Upstream(Plain) {}
  [[nodiscard]] void* allocate(std::size_t bytes) {
    void* const memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
  }
  void release(void* memory, std::size_t) noexcept { std::free(memory); }
  [[nodiscard]] std::size_t total_bytes() const { return std::size_t{1} << 30; }
  [[nodiscard]] std::size_t free_bytes() const { return total_bytes(); }
};

} // namespace mine
// end region

// region: work
namespace mine {

[[nodiscard]] inline std::string device_name(Plain) { return "plain memory"; }

// The order of its work: nothing is ever under way.
[[nodiscard]] inline Plain::Event record(Plain) { return {}; }
inline void wait(const Plain::Event&) {}
inline void synchronize(Plain) {}
template <class Event>
requires requires(const Event& event) { event.wait(); }
void wait(Plain, const Event& event) { event.wait(); }

/// Kernels are host code, on a team of one thread.
template <std::same_as<Plain> D, std::invocable<const twill::Team&> F> void launch(D, F&& f) {
  const twill::Team alone{};
  f(alone);
}

/// A function of the host's, in a thread of its own.
template <std::invocable F> [[nodiscard]] auto submit(Plain, F f) {
  return std::async(std::launch::async, std::move(f));
}

} // namespace mine
// end region

// region: copies
namespace mine {

inline void copy_bytes(Plain, void* to, Plain, const void* from, std::size_t bytes, twill::CopyOptions = {}) {
  if (bytes > 0) std::memmove(to, from, bytes);
}
inline void copy_bytes(Plain, void* to, twill::Cpu host, const void* from, std::size_t bytes, twill::CopyOptions = {}) {
  record(host).wait();
  if (bytes > 0) std::memcpy(to, from, bytes);
}
inline void copy_bytes(twill::Cpu host, void* to, Plain, const void* from, std::size_t bytes, twill::CopyOptions = {}) {
  record(host).wait();
  if (bytes > 0) std::memcpy(to, from, bytes);
}

static_assert(twill::HostDevice<Plain>);

} // namespace mine
// end region

namespace {

using namespace twill;
using mine::Plain;

TEST_CASE("a device kind of one's own has pools, tensors, expressions and copies", "[device][DEV-1][DEV-2]") {
  const Plain device{1};
  const std::vector<float> numbers{1, 2, 3, 4, 5};
  const auto x = from_values<Shape<5>>(numbers, Dims(5), Cpu{0}).to(device);
  CHECK(x.device() == device);
  CHECK(memory_allocated(device) == 512);
  CHECK(memory_allocated(Plain{0}) == 0);
  const Tensor y = x * x + 1.0F;
  CHECK(memory_allocated(device) == 1024);
  CHECK(sum(y).item() == 60.0F);
  CHECK(to_vector(y.to(Cpu{0})) == std::vector<float>{2, 5, 10, 17, 26});
  CHECK(to_string(device) == "plain:1");
}

} // namespace
