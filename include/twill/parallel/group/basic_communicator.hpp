#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Front end of all communicators: `BasicCommunicator<T>` checks and counts calls, returns handles of started calls, and
// leaves the group properly at its end. Calls are carried out by a `Transport`, one rank's end of a group: threads
// (parallel/threads/communicator.hpp), packets (parallel/messages/communicator.hpp), NCCL
// (parallel/nccl/communicator.hpp).

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// One rank's end of a group. Requirements beyond the compiler's: calls have passed `check`; `begin` and `wait` are the
/// two halves of `run`; `wait` is called once for a ticket, and may return when the call finished; `split` makes
/// nothing for a negative color; after `leave` only started calls are waited for.
template <class T>
concept Transport = requires(T& transport, const T& constant, const Call& call, typename T::Ticket& ticket,
                             const std::exception_ptr& cause) {
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  { constant.device() } -> std::convertible_to<typename T::Device>;
  { constant.timeout_ms() } -> std::same_as<std::int64_t>;
  transport.run(call);
  { transport.begin(call) } -> std::same_as<typename T::Ticket>;
  transport.wait(ticket);
  { transport.is_done(ticket) } -> std::same_as<bool>;
  { transport.split(0, 0) } -> std::convertible_to<std::shared_ptr<T>>;
  transport.fail(cause);
  { transport.leave(true) }
  noexcept;
};

/// A started call of a `BasicCommunicator`.
template <Transport T> class StartedCall {
  static constexpr bool knows_time =
      std::same_as<decltype(std::declval<T&>().wait(std::declval<typename T::Ticket&>())), double>;

public:
  /// A call with a ticket of this transport.
  StartedCall(std::shared_ptr<T> transport, typename T::Ticket ticket)
      : transport_{std::move(transport)}, ticket_{std::move(ticket)} {}
  StartedCall(StartedCall&& other) noexcept
      : transport_{std::move(other.transport_)},
        ticket_{std::exchange(other.ticket_, std::nullopt)},
        finished_s_{other.finished_s_} {}
  StartedCall& operator=(StartedCall&& other) noexcept {
    if (this == &other) return *this;
    wait_quietly();
    transport_ = std::move(other.transport_);
    ticket_ = std::exchange(other.ticket_, std::nullopt);
    finished_s_ = other.finished_s_;
    return *this;
  }
  ~StartedCall() { wait_quietly(); }

  /// Returns when the elements may be used again; a second time immediately. On a GPU that is when later work of the
  /// device's stream may. throws: the call's failure, once
  void wait() {
    std::optional<typename T::Ticket> ticket = std::exchange(ticket_, std::nullopt);
    if (!ticket) return;
    if constexpr (knows_time)
      finished_s_ = transport_->wait(*ticket);
    else
      transport_->wait(*ticket);
  }

  /// Whether the call has ended; does not wait.
  [[nodiscard]] bool is_done() const { return !ticket_ || transport_->is_done(*ticket_); }

  /// The time on the steady clock at which a message finished; for other calls, at which its wait ended.
  [[nodiscard]] double finished_s() const requires knows_time { return finished_s_; }

private:
  // A failure not thrown here has reached the group, and with it every later call.
  void wait_quietly() noexcept {
    try {
      wait();
    } catch (...) {
    }
  }

  std::shared_ptr<T> transport_;
  mutable std::optional<typename T::Ticket> ticket_;
  double finished_s_ = 0;
};

/// One rank of a group. Its functions are called by one thread at a time, but for `send` and `receive` over a network.
/// Its destruction while other ranks wait for it ends their calls with an error that names it.
template <Transport T> class BasicCommunicator {
public:
  using Device = typename T::Device;
  /// The result of `start`, to be waited for.
  using Handle = StartedCall<T>;

  /// A communicator of no group: the size is 0.
  BasicCommunicator() = default;
  explicit BasicCommunicator(std::shared_ptr<T> transport)
      : transport_{std::move(transport)}, device_{transport_ ? transport_->device() : Device{}} {}
  BasicCommunicator(BasicCommunicator&&) noexcept = default;
  BasicCommunicator& operator=(BasicCommunicator&& other) noexcept {
    if (this == &other) return *this;
    leave();
    transport_ = std::move(other.transport_);
    device_ = other.device_;
    traffic_ = other.traffic_;
    exceptions_ = other.exceptions_;
    return *this;
  }
  ~BasicCommunicator() { leave(); }

  /// This rank's number; 0 after a move.
  [[nodiscard]] int rank() const { return transport_ ? transport_->rank() : 0; }
  /// The number of ranks; 0 after a move.
  [[nodiscard]] int size() const { return transport_ ? transport_->size() : 0; }
  /// This rank's device.
  [[nodiscard]] const Device& device() const { return device_; }
  /// The time after which an unfinished call is an error.
  [[nodiscard]] std::int64_t timeout_ms() const { return transport_ ? transport_->timeout_ms() : 0; }
  /// The transfers of this rank's calls so far.
  [[nodiscard]] const OperationTraffic& traffic() const { return traffic_; }

  /// Carries out a call. throws: ValueError for a call wrong by itself, else CommunicatorError
  void run(const Call& call) {
    require(call);
    count(call);
    transport_->run(call);
  }
  /// Begins a call; its elements must not be used until the handle has been waited for.
  [[nodiscard]] Handle start(const Call& call) {
    require(call);
    count(call);
    return Handle(transport_, transport_->begin(call));
  }
  /// Sub-groups of equal color, ordered by key, then rank; a negative color gets an empty communicator.
  [[nodiscard]] BasicCommunicator split(int color, int key) {
    require({Operation::split, {}, {}});
    count({Operation::split, {}, {}});
    return BasicCommunicator(transport_->split(color, key));
  }
  /// Tells the group that this rank cannot continue: every call of every rank, now or later, throws an error that names
  /// it.
  void fail(const std::exception_ptr& cause) {
    if (transport_) transport_->fail(cause);
  }

  /// Waits on the host until the kernels of all calls are done, while checking errors and the time-out; a plain
  /// `synchronize(device)` leaves that to the watching thread. throws: CommunicatorError
  void finish() requires requires(T& transport) { transport.finish(); }
  {
    if (transport_) transport_->finish();
  }

  /// The transport itself, for functions of this layer.    requires: size() > 0
  [[nodiscard]] T& transport() { return *transport_; }
  /// Refuses an invalid call. throws: ValueError
  void require(const Call& call) const {
    if (!transport_) throw ValueError(join_text({name(call.operation), ": this communicator belongs to no group"}));
    if (call.operation != Operation::split) check(call, rank(), size());
  }
  /// Adds a call to the traffic. Devices without memory move nothing.
  void count(const Call& call) {
    if constexpr (requires { requires !Device::has_memory; }) return;
    traffic_.add_shared(call.operation, detail::transfer_of(call, rank(), size()));
  }

private:
  void leave() noexcept {
    if (const auto transport = std::exchange(transport_, nullptr))
      transport->leave(std::uncaught_exceptions() > exceptions_);
  }

  std::shared_ptr<T> transport_{};
  Device device_{};
  OperationTraffic traffic_{};
  int exceptions_ =
      std::uncaught_exceptions(); ///< in flight when this rank began: if there are more at its end, one ended it
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
