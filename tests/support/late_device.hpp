#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `Late`, a second kind of host device, on which whatever a GPU would punish goes wrong at once. Its memory is accessible
// only while a task of its stream runs: anyone else who touches it gets a fault. Its stream runs late: a launch waits in a
// queue until somebody waits for it, or a millisecond has passed. Fresh memory is full of garbage (floats in it are NaN).
// A submitted function runs on a host thread of the device, not in the stream, as with a GPU. Wrappers that pass over
// `Late`, alone and mixed with `Cpu`, are generic in the device kind.

#include <twill/device.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace twill::test {

/// A host device that is slow to start and jealous of its memory.
struct Late {
  int index = 0;

  static constexpr std::string_view kind = "late";
  static constexpr bool has_memory = true;
  class Upstream;
  class Event;

  [[nodiscard]] static int count() { return 4; }
  friend constexpr bool operator==(Late, Late) = default;
};

namespace detail {

/// Blocks of memory that are accessible while at least one task has them open.
class TrapMemory {
public:
  [[nodiscard]] void* allocate(std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc{};
    std::memset(block, 0xff, bytes);
    if (open_ == 0) mprotect(block, bytes, PROT_NONE);
    blocks_.emplace(block, bytes);
    return block;
  }

  void release(void* block) noexcept {
    const std::lock_guard lock{mutex_};
    const auto found = blocks_.find(block);
    munmap(block, found->second);
    blocks_.erase(found);
  }

  void open() {
    const std::lock_guard lock{mutex_};
    if (open_++ == 0) protect(PROT_READ | PROT_WRITE);
  }

  void close() {
    const std::lock_guard lock{mutex_};
    if (--open_ == 0) protect(PROT_NONE);
  }

private:
  void protect(int access) {
    for (const auto& [block, bytes] : blocks_) mprotect(block, bytes, access);
  }

  std::mutex mutex_;
  std::map<void*, std::size_t> blocks_;
  int open_ = 0;
};

using twill::cpu::Worker;

/// What stands behind one `Late`.
class LateState {
public:
  using Clock = std::chrono::steady_clock;

  explicit LateState(int index)
      : stream{{}, "late:" + std::to_string(index) + " stream"},
        host{{}, "late:" + std::to_string(index), [](int i) { twill::detail::current_index<Late> = i; }, index},
        threads_{{cores().front(), cores().back()}, "late:" + std::to_string(index)},
        team_{threads_} {}

  /// Queues `body(const Team&)`; `before()` runs first, with the memory still closed.
  template <class Before, class Body> Worker::Ticket enqueue(Before before, Body body) {
    auto work = [this, start = Clock::now() + patience, before = std::move(before),
                 body = std::move(body)](Worker::Ticket ticket) mutable {
      hold(ticket, start);
      try {
        before();
        const Opened opened{memory};
        body(std::as_const(team_));
      } catch (...) {
        const std::lock_guard lock{mutex_};
        if (!failure_) failure_ = std::current_exception();
      }
    };
    return stream.push(std::make_unique<StreamTask<decltype(work)>>(std::move(work), started_));
  }

  /// Makes everything up to the ticket start now.
  void demand(Worker::Ticket ticket) {
    const std::lock_guard lock{mutex_};
    if (ticket > demanded_) demanded_ = ticket;
    hurry_.notify_all();
  }

  /// Waits, and throws what a kernel threw since somebody last waited.
  void wait(Worker::Ticket ticket) {
    demand(ticket);
    stream.wait(ticket);
    std::exception_ptr failure;
    {
      const std::lock_guard lock{mutex_};
      failure = std::exchange(failure_, nullptr);
    }
    if (failure) std::rethrow_exception(failure);
  }

  [[nodiscard]] const Team& team() const { return team_; }

  TrapMemory memory;
  Worker stream;
  Worker host;

private:
  static constexpr auto patience = std::chrono::milliseconds{1};
  static constexpr Worker::Ticket longest_queue = 64;

  struct Opened {
    TrapMemory& memory;
    explicit Opened(TrapMemory& trapped) : memory{trapped} { memory.open(); }
    ~Opened() { memory.close(); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
  };

  // Tasks start in order on one thread, so counting them there tells each its ticket.
  template <class Work> struct StreamTask final : twill::cpu::Task {
    Work work;
    Worker::Ticket& started;
    StreamTask(Work w, Worker::Ticket& count) : work{std::move(w)}, started{count} {}
    void run() noexcept override { work(++started); }
  };

  void hold(Worker::Ticket ticket, Clock::time_point start) {
    std::unique_lock lock{mutex_};
    hurry_.wait_until(lock, start, [&] { return demanded_ >= ticket || stream.submitted() > ticket + longest_queue; });
  }

  [[nodiscard]] static const std::vector<int>& cores() {
    static const auto* const all = new std::vector<int>{twill::cpu::cores_of_process()};
    return *all;
  }

  std::mutex mutex_;
  std::condition_variable hurry_;
  Worker::Ticket demanded_ = 0;
  Worker::Ticket started_ = 0;
  std::exception_ptr failure_;
  twill::detail::ForkJoin threads_;
  Team team_;
};

inline LateState& late_state(Late device) {
  require_exists(device, "device");
  static auto* const states =
      new std::array<LateState*, 4>{new LateState{0}, new LateState{1}, new LateState{2}, new LateState{3}};
  return *(*states)[static_cast<std::size_t>(device.index)];
}

} // namespace detail

class Late::Event {
public:
  Event() = default;
  Event(detail::LateState& state, detail::Worker::Ticket ticket) : state_{&state}, ticket_{ticket} {}
  [[nodiscard]] bool is_complete() const { return state_ == nullptr || state_->stream.is_finished(ticket_); }
  void wait() const {
    if (state_ != nullptr) state_->wait(ticket_);
  }

private:
  detail::LateState* state_ = nullptr;
  detail::Worker::Ticket ticket_ = 0;
};

/// Hands out memory that traps. As with a GPU's driver, a release waits for the device.
class Late::Upstream {
public:
  explicit Upstream(Late device) : state_{&detail::late_state(device)} {}
  [[nodiscard]] void* allocate(std::size_t bytes) { return state_->memory.allocate(bytes > 0 ? bytes : 1); }
  void release(void* block, std::size_t) noexcept {
    const auto last = state_->stream.submitted();
    if (!state_->stream.is_current()) {
      state_->demand(last);
      state_->stream.wait(last);
    }
    state_->memory.release(block);
  }
  [[nodiscard]] std::size_t total_bytes() const { return std::size_t{4} << 30; }
  [[nodiscard]] std::size_t free_bytes() const { return total_bytes(); }

private:
  detail::LateState* state_;
};

[[nodiscard]] inline std::string device_name(Late device) {
  return "late and trapping device " + std::to_string(device.index);
}

/// Marks the launches so far; inside a task of the stream they are done.
[[nodiscard]] inline Late::Event record(Late device) {
  auto& state = detail::late_state(device);
  return state.stream.is_current() ? Late::Event{} : Late::Event{state, state.stream.submitted()};
}
inline void wait(const Late::Event& event) { event.wait(); }
inline void synchronize(Late device) { record(device).wait(); }

/// Lets the stream wait, not the caller.
template <class Event>
requires requires(const Event& event) { event.wait(); }
void wait(Late device, const Event& event) {
  detail::late_state(device).enqueue([event] { event.wait(); }, [](const Team&) {});
}

/// Queues a copy of `f`, which sees nothing of what the caller does to its own afterwards.
template <std::same_as<Late> D, class F>
requires std::invocable < std::decay_t<F>
&, const Team& > void launch(D device, F&& f) {
  auto& state = detail::late_state(device);
  if (state.stream.is_current()) {
    f(state.team());
  } else {
    state.enqueue([] {}, std::decay_t<F>(std::forward<F>(f)));
  }
}

template <class F>
requires std::invocable < std::decay_t<F>
& > auto submit(Late device, F&& f) -> Pending<std::invoke_result_t<std::decay_t<F>&>> {
  using Result = std::invoke_result_t<std::decay_t<F>&>;
  return Pending<Result>::start(&detail::late_state(device).host, to_string(device),
                                std::decay_t<F>(std::forward<F>(f)));
}

namespace detail {
/// A task's own work on a host device runs inline, so a task can neither wait for queues nor leave a copy behind.
[[nodiscard]] inline bool inside_task() { return twill::cpu::current_worker != nullptr; }
} // namespace detail

/// Within one device the stream's order is enough; between two, each waits for the other's part.
inline void copy_bytes(Late to_device, void* to, Late from_device, const void* from, std::size_t bytes,
                       CopyOptions options = {}) {
  auto& target = detail::late_state(to_device);
  auto& source = detail::late_state(from_device);
  const bool foreign = to_device != from_device;
  const auto ready = foreign ? record(from_device) : Late::Event{};
  const Late::Event copied{target, target.enqueue([ready] { ready.wait(); },
                                                  [=, &source](const Team&) {
                                                    if (foreign) source.memory.open();
                                                    if (bytes > 0) std::memcpy(to, from, bytes);
                                                    if (foreign) source.memory.close();
                                                  })};
  if (foreign) wait(from_device, copied);
  if (!options.non_blocking) copied.wait();
}

/// As work of the stream to which it goes alone, behind what is said; the caller orders it with the other's work.
inline Late::Event pull_bytes(Late to_device, void* to, Late from_device, const void* from, std::size_t bytes,
                              std::span<const Late::Event> ready) {
  auto& target = detail::late_state(to_device);
  auto& source = detail::late_state(from_device);
  const std::vector<Late::Event> before(ready.begin(), ready.end());
  return {target, target.enqueue(
                      [before] {
                        for (const Late::Event& event : before) event.wait();
                      },
                      [=, &source](const Team&) {
                        source.memory.open();
                        if (bytes > 0) std::memcpy(to, from, bytes);
                        source.memory.close();
                      })};
}

namespace detail {
/// A copy between `Late` and a host device is a task of the late stream; the host device waits for it when asked for work.
inline void copy_in_stream(Late late, Cpu host, void* to, const void* from, std::size_t bytes, CopyOptions options) {
  auto& state = late_state(late);
  const auto ready = inside_task() ? Cpu::Event{} : record(host);
  const Late::Event copied{state, state.enqueue([ready] { ready.wait(); },
                                                [=](const Team&) {
                                                  if (bytes > 0) std::memcpy(to, from, bytes);
                                                })};
  if (options.non_blocking && !inside_task()) {
    (void)submit(host, [copied] { copied.wait(); });
  } else {
    copied.wait();
  }
}
} // namespace detail

inline void copy_bytes(Late to_device, void* to, Cpu from_device, const void* from, std::size_t bytes,
                       CopyOptions options = {}) {
  detail::copy_in_stream(to_device, from_device, to, from, bytes, options);
}

inline void copy_bytes(Cpu to_device, void* to, Late from_device, const void* from, std::size_t bytes,
                       CopyOptions options = {}) {
  detail::copy_in_stream(from_device, to_device, to, from, bytes, options);
}

/// Whether this thread could read a byte there now; asks the system instead of trying.
[[nodiscard]] inline bool is_accessible(const void* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

static_assert(HostDevice<Late>);

} // namespace twill::test
