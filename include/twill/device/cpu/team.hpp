#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Thread team of a host device, on which its kernels run: the caller and the pinned threads of the device, joined again
// before `parallel` returns. Every rank runs exactly once for each call. A call from inside a team, or while another
// thread uses the team, runs its ranks one after the other in the caller: no deadlock is possible, and because results
// never depend on the number of threads, they do not change. Read next: device/cpu/stream.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/cores.hpp>
#include <twill/device/cpu/signal.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 {

namespace detail {

/// True on the threads of teams, and on a caller while it leads one.
TWILL_EXPORT inline constinit thread_local bool inside_team = false;

/// The threads of a team. They start at the first parallel call and sleep between calls.
class ForkJoin {
public:
  using Job = void (*)(void* context, int rank, int size);

  /// One rank for each core; the caller is rank 0, so its core gets no thread.
  ForkJoin(std::vector<int> cores, std::string name) : cores_{std::move(cores)}, name_{std::move(name)} {}
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(cores_.size()); }

  /// Whether the threads spin, so that a run costs under a microsecond; waking them takes tens. Asked twice within the
  /// time that they spin, it wakes them for the next run.
  [[nodiscard]] bool is_awake() noexcept;

  /// Runs the job once for each rank. throws: what the job of the lowest failing rank threw, after all have ended
  void run(Job job, void* context);

private:
  struct Lead {
    ForkJoin& team;
    explicit Lead(ForkJoin& led) : team{led} { inside_team = true; }
    ~Lead();
    Lead(const Lead&) = delete;
    Lead& operator=(const Lead&) = delete;
  };

  void start();

  /// The first round begins once all threads have been started, so none misses it.
  void serve(int rank);

  void run_rank(int rank) noexcept;

  static constexpr std::size_t line_bytes = 64;

  std::vector<int> cores_;
  std::string name_;
  int started_ = 1;
  std::atomic<bool> busy_{false};
  std::atomic<double> asked_s_{0};
  cpu::Signal work_;
  // lines of their own: that which the threads watch, with the job, and that which the caller watches
  alignas(line_bytes) std::atomic<unsigned> round_{0};
  Job job_ = nullptr;
  void* context_ = nullptr;
  alignas(line_bytes) std::atomic<int> running_{0};
  alignas(line_bytes) cpu::Signal done_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  int error_rank_ = 0;
};

} // namespace detail

/// The threads that share the work of one kernel.
class Team {
public:
  constexpr Team() = default;
  /// A team of these threads, or of the caller alone if there is only one.
  explicit Team(detail::ForkJoin& threads) : threads_{threads.size() > 1 ? &threads : nullptr}, size_{threads.size()} {}

  /// A team of one: the caller.
  [[nodiscard]] static const Team& serial();

  /// The number of threads that share the work.
  [[nodiscard]] int size() const { return size_; }

  /// Whether its threads wait for work without sleeping; see `ForkJoin::is_awake`.
  [[nodiscard]] bool is_awake() const { return threads_ != nullptr && threads_->is_awake(); }

  /// Calls `f(rank, size)` once for each rank in [0, size) and returns when all have ended.
  /// throws: what the lowest failing rank threw    cost: nothing for a team of one, half a us while threads spin
  template <class F> void parallel(F&& f) const {
    if (threads_ == nullptr) {
      f(0, 1);
      return;
    }
    using Function = std::remove_reference_t<F>;
    threads_->run([](void* context, int rank, int size) { (*static_cast<Function*>(context))(rank, size); },
                  const_cast<void*>(static_cast<const void*>(std::addressof(f))));
  }

private:
  detail::ForkJoin* threads_ = nullptr;
  int size_ = 1;
};

/// The type of `team_t`; a kind whose kernels are not host code specialises it.
template <class D> struct TeamOf {
  using type = Team; ///< threads of a host device
};

/// The team of a device kind.
template <class D> using team_t = typename TeamOf<D>::type;

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/team.ipp>
#endif
