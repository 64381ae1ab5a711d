#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Things that go wrong, for tests of wrappers: a `Trial` knows one fault, a rank that throws or hangs when it comes to a place
// for the n-th time. Places are the calls of a communicator (`Faulty`), or kernels inside of a model, its loss and its rule
// (`fault_point`). Ranks stand on devices of their own numbers: a kernel tells by its team whose it is.

#include "tests/support/simulation.hpp"

#include <twill/device/cpu/cpu.hpp>
#include <twill/graph/operation.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/tensor/create.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace twill::test {

/// What a faulty rank throws: a type that the library does not know.
struct Injected : std::runtime_error {
  explicit Injected(int number) : std::runtime_error("injected into " + std::to_string(number)), rank{number} {}
  int rank;
};

enum class Place : int { call, forward, loss, backward, update, count };
enum class Kind : int { throws, hangs, dies }; ///< who dies takes its process along

struct Fault {
  int rank = -1; ///< none
  Place place = Place::call;
  int turn = 1;
  Kind kind = Kind::throws;
  std::int64_t hang_ms = 120'000; ///< at most; it is released before where somebody can tell
};

/// How long ranks wait for one that hangs: no other may come so late, on a busy machine and under sanitizers.
inline constexpr std::int64_t patience_ms = 3000;
/// How long one hangs where nobody can tell when the others have given up.
inline constexpr std::int64_t long_enough_ms = 2 * patience_ms + 1000;

/// The time-out of a group in which a fault is to happen.
[[nodiscard]] inline std::int64_t timeout_ms_for(const Fault& fault) {
  return fault.kind == Kind::hangs ? patience_ms : 60'000;
}

/// "rank 2 throws at place 0, time 3".
inline std::string described(const Fault& fault) {
  return "rank " + std::to_string(fault.rank) +
         (fault.kind == Kind::throws  ? " throws"
          : fault.kind == Kind::hangs ? " hangs"
                                      : " dies") +
         " at place " + std::to_string(static_cast<int>(fault.place)) + ", time " + std::to_string(fault.turn);
}

/// One run with at most one fault.
class Trial {
public:
  static constexpr int most_ranks = 8;

  explicit Trial(Fault fault) : fault_{fault} { current() = this; }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() { current() = nullptr; }

  /// The one whose kernels run.
  static std::atomic<Trial*>& current() {
    static std::atomic<Trial*> trial{nullptr};
    return trial;
  }

  void reach(int rank, Place place) {
    const int turn = ++counts_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(place)];
    if (rank != fault_.rank || place != fault_.place || turn != fault_.turn) return;
    was_met_ = true;
    if (fault_.kind == Kind::throws) throw Injected(rank);
    if (fault_.kind == Kind::dies) static_cast<void>(std::raise(SIGKILL));
    const Moment end = parallel::detail::after_ms(fault_.hang_ms);
    std::unique_lock lock(mutex_);
    while (!is_released_ && released_.wait_until(lock, end)) {
    }
  }
  void release() {
    const std::lock_guard lock(mutex_);
    is_released_ = true;
    released_.notify_all();
  }

  [[nodiscard]] const Fault& fault() const { return fault_; }
  [[nodiscard]] bool was_met() const { return was_met_; }
  [[nodiscard]] int count(int rank, Place place) const {
    return counts_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(place)];
  }

private:
  Fault fault_;
  std::array<std::array<std::atomic<int>, static_cast<std::size_t>(Place::count)>, most_ranks> counts_{};
  std::atomic<bool> was_met_{false};
  parallel::detail::Mutex mutex_;
  parallel::detail::Condition released_{"the end of its hanging"};
  bool is_released_ = false;
};

/// A communicator whose calls can go wrong. `Faulty`s of sub-groups count with the rank in the group of all.
template <parallel::Communicator C> class Faulty {
public:
  using Device = typename C::Device;
  using Handle = typename C::Handle;

  Faulty() = default;
  Faulty(C inner, Trial& trial) : inner_{std::move(inner)}, trial_{&trial}, rank_in_all_{inner_.rank()} {}

  [[nodiscard]] int rank() const { return inner_.rank(); }
  [[nodiscard]] int size() const { return inner_.size(); }
  [[nodiscard]] const Device& device() const { return inner_.device(); }
  [[nodiscard]] std::int64_t timeout_ms() const { return inner_.timeout_ms(); }
  [[nodiscard]] parallel::OperationTraffic traffic() const { return inner_.traffic(); }
  void run(const parallel::Call& call) {
    trial_->reach(rank_in_all_, Place::call);
    inner_.run(call);
  }
  [[nodiscard]] Handle start(const parallel::Call& call) {
    trial_->reach(rank_in_all_, Place::call);
    return inner_.start(call);
  }
  [[nodiscard]] Faulty split(int color, int key) {
    trial_->reach(rank_in_all_, Place::call);
    Faulty part{inner_.split(color, key), *trial_};
    part.rank_in_all_ = rank_in_all_;
    return part;
  }
  void fail(const std::exception_ptr& cause) { inner_.fail(cause); }

private:
  C inner_{};
  Trial* trial_ = nullptr;
  int rank_in_all_ = 0;
};
using FaultyThreads = Faulty<parallel::ThreadCommunicator<Cpu>>;
static_assert(parallel::Communicator<FaultyThreads>);

/// Which host device a team belongs to.
[[nodiscard]] inline int device_of(const Team& team) {
  for (int index = 0; index < device_count<Cpu>(); ++index)
    if (&twill::detail::cpu_state(Cpu{index}).team == &team) return index;
  return 0;
}

/// Copies its operand, and can go wrong.
template <Place P> constexpr graph::Value fault_point(graph::Value x);

template <Place P>
constexpr void fault_point_vjp(graph::Graph& graph, int, const graph::Cotangents& cotangents,
                               graph::InputGradients& gradients) {
  const graph::Value gradient{graph, cotangents[0]};
  if constexpr (P == Place::forward)
    gradients.set(0, fault_point<Place::backward>(gradient));
  else
    gradients.set(0, gradient);
}
template <Place P>
inline constexpr graph::Operation fault_operation{
    .name = "fault_point", .vjp = &fault_point_vjp<P>, .wants_dense = true};

template <Place P> constexpr graph::Value fault_point(graph::Value x) {
  return graph::add_operation(fault_operation<P>, {x}, x.dtype(), x.shape());
}

template <Place P> struct FaultKernel {
  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    if (Trial* const trial = Trial::current()) trial->reach(device_of(team), P);
    const auto* const from = static_cast<const T*>(launch.operands[0].data);
    std::copy(from, from + launch.shapes[0].elements(), static_cast<T*>(launch.operands[1].data));
  }
};

/// The mean squared error of a prediction that may never come.
struct FaultyLoss {
  constexpr graph::Value operator()(graph::Value prediction, graph::Value target) const {
    return nn::detail::MeanSquaredErrorFormula{}(fault_point<Place::loss>(prediction), target);
  }
};
inline constexpr nn::Loss<FaultyLoss> faulty_loss{};

/// w -= rate * g.
class FaultySgd {
public:
  static constexpr std::array<std::string_view, 1> numbers{"faulty.rate"};
  static constexpr void update(optim::Update& u) {
    u.set_weight(u.weight() - u.number("faulty.rate") * fault_point<Place::update>(u.gradient()));
  }
  [[nodiscard]] constexpr std::array<double, 1> values(std::int64_t) const { return {rate}; }
  double rate = 0.1;
};

/// How a rank has ended.
struct Ending {
  bool is_done = false;     ///< well
  bool is_injected = false; ///< by the exception that was injected into it
  int named = -1;           ///< the rank that a CommunicatorError is about
  int origin = -1;          ///< its number in the group of all
  bool has_cause = false;   ///< which was the injected one
  std::string text{};
  std::string again{}; ///< what the group says when it is used once more
};

/// Plays each rank in a thread of its own: `f(communicator)`. Whoever hangs is released when all others have ended. Nobody
/// tells the group anything but what is tested, and the communicators live until all have ended.
template <parallel::Communicator C, class F>
std::vector<Ending> play(Trial& trial, std::vector<Faulty<C>>& communicators, const F& f) {
  std::vector<Ending> endings(communicators.size());
  parallel::detail::Mutex mutex;
  parallel::detail::Condition changed{"the end of the ranks"};
  std::size_t ended = 0;
  std::vector<parallel::detail::Strand> strands(communicators.size());
  std::vector<std::thread> threads;
  for (Faulty<C>& communicator : communicators) {
    const auto play_rank = [&] {
      Ending& own = endings[static_cast<std::size_t>(communicator.rank())];
      try {
        f(communicator);
        own.is_done = true;
      } catch (const parallel::CommunicatorError& error) {
        own.text = error.what();
        own.named = error.rank();
        own.origin = error.origin();
        try {
          if (error.cause()) std::rethrow_exception(error.cause());
        } catch (const Injected& cause) {
          own.has_cause = cause.rank == error.rank();
        } catch (...) {
        }
      } catch (const Injected& error) {
        own.is_injected = error.rank == communicator.rank();
        own.text = error.what();
      } catch (const std::exception& error) {
        own.text = error.what();
      }
      try {
        if (!own.is_done) parallel::barrier(communicator);
      } catch (const parallel::CommunicatorError& error) {
        own.again = error.what();
      }
      const std::lock_guard lock(mutex);
      ++ended;
      changed.notify_all();
    };
    threads.emplace_back([play_rank, &strand = strands[threads.size()]] { strand.run(play_rank); });
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ended + 1 >= communicators.size(); });
  }
  trial.release();
  for (const parallel::detail::Strand& strand : strands) strand.join();
  for (std::thread& thread : threads) thread.join();
  return endings;
}

/// A group on the first host devices.
inline std::vector<FaultyThreads> faulty_threads(Trial& trial, int ranks, std::int64_t timeout_ms) {
  std::vector<Cpu> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(Cpu{rank});
  std::vector<FaultyThreads> group;
  for (auto& communicator : parallel::thread_communicators(devices, {.timeout_ms = timeout_ms}))
    group.emplace_back(std::move(communicator), trial);
  return group;
}

/// How often the ranks of a run without a fault came to each place: the most of any rank.
using Turns = std::array<int, static_cast<std::size_t>(Place::count)>;
inline Turns turns_of(const Trial& trial, int ranks) {
  Turns turns{};
  for (std::size_t place = 0; place < turns.size(); ++place)
    for (int rank = 0; rank < ranks; ++rank)
      turns[place] = std::max(turns[place], trial.count(rank, static_cast<Place>(place)));
  return turns;
}

/// Whether each weight of each rank is one of those that an undisturbed run has between its steps.
inline bool are_old_or_new(const std::vector<std::vector<double>>& weights,
                           const std::vector<std::vector<std::vector<double>>>& known) {
  for (std::size_t rank = 0; rank < weights.size(); ++rank)
    for (std::size_t i = 0; i < weights[rank].size(); ++i) {
      bool is_known = false;
      for (const auto& each : known) is_known = is_known || weights[rank][i] == each[rank][i];
      if (!is_known) return false;
    }
  return true;
}

/// The bytes in use on so many devices.
inline std::vector<std::int64_t> bytes_in_use(int devices) {
  std::vector<std::int64_t> bytes;
  for (int index = 0; index < devices; ++index) bytes.push_back(memory_allocated(Cpu{index}));
  return bytes;
}

/// So many numbers between -1 and 1, the same every time.
template <std::int64_t Columns> Tensor<double, Cpu, Shape<dyn, Columns>> waves(Cpu device, std::int64_t rows) {
  Tensor<double, Cpu, Shape<dyn, Columns>> x(device, Dims(rows, Columns));
  for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = static_cast<double>((i * 7919) % 2003) / 1001.5 - 1;
  return x;
}

} // namespace twill::test

template <>
struct twill::KernelOf<&twill::test::fault_operation<twill::test::Place::forward>>
    : twill::test::FaultKernel<twill::test::Place::forward> {};
template <>
struct twill::KernelOf<&twill::test::fault_operation<twill::test::Place::loss>>
    : twill::test::FaultKernel<twill::test::Place::loss> {};
template <>
struct twill::KernelOf<&twill::test::fault_operation<twill::test::Place::backward>>
    : twill::test::FaultKernel<twill::test::Place::backward> {};
template <>
struct twill::KernelOf<&twill::test::fault_operation<twill::test::Place::update>>
    : twill::test::FaultKernel<twill::test::Place::update> {};
