#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Handle to a submitted function: `submit` returns a `Pending<Result>` for a function that runs on a device's worker
// thread. Waiting for it returns the function's result or throws its exception. Dropping the handle is allowed; an
// exception that was never waited for then goes to the warning sink. Read next: device/cpu/stream.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/worker.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 {

namespace detail {

/// The end of a function, apart from its result.
struct Ending {
  std::exception_ptr error{};
  bool observed = false;
  std::string where{};

  Ending() = default;
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending();

private:
  void report() noexcept;
};

/// The result of the function; shared by the task and the handle.
template <class Result> struct Outcome : Ending {
  std::optional<Result> value{};

  template <class F> void fill_from(F& function) noexcept {
    try {
      value.emplace(function());
    } catch (...) {
      error = std::current_exception();
    }
  }
};

/// The outcome of functions that return nothing.
template <> struct Outcome<void> : Ending {
  template <class F> void fill_from(F& function) noexcept {
    try {
      function();
    } catch (...) {
      error = std::current_exception();
    }
  }
};

/// The task of a submitted function.
template <class Result, class F> struct SubmittedTask final : cpu::Task {
  std::shared_ptr<Outcome<Result>> outcome;
  F function;
  SubmittedTask(std::shared_ptr<Outcome<Result>> shared, F f) : outcome{std::move(shared)}, function{std::move(f)} {}
  void run() noexcept override { outcome->fill_from(function); }
};

} // namespace detail

/// A function that was submitted. Move-only; `wait` may be called repeatedly, from one thread at a time.
template <class Result> class Pending {
public:
  /// For device kinds: pushes `function` to the worker; without a worker it runs at once, in the caller.
  template <class F> [[nodiscard]] static Pending start(cpu::Worker* worker, const std::string& where, F function) {
    Pending pending;
    pending.outcome_ = std::make_shared<detail::Outcome<Result>>();
    pending.outcome_->where = where;
    if (worker == nullptr) {
      pending.outcome_->fill_from(function);
    } else {
      pending.ticket_ =
          worker->push(std::make_unique<detail::SubmittedTask<Result, F>>(pending.outcome_, std::move(function)));
      pending.worker_ = worker;
    }
    return pending;
  }

  /// True once the function has ended, with or without success.
  [[nodiscard]] bool is_complete() const { return worker_ == nullptr || worker_->is_finished(ticket_); }

  /// Waits for the function and returns its result, once if the result can only be moved.
  /// throws: what the function threw; DeviceError when called inside the worker's own task
  Result wait() {
    if (worker_ != nullptr) worker_->wait(ticket_);
    outcome_->observed = true;
    if (outcome_->error) std::rethrow_exception(outcome_->error);
    if constexpr (std::is_copy_constructible_v<Result>) {
      return *outcome_->value;
    } else if constexpr (!std::is_void_v<Result>) {
      return std::move(*outcome_->value);
    }
  }

private:
  Pending() = default;

  std::shared_ptr<detail::Outcome<Result>> outcome_{};
  cpu::Worker* worker_ = nullptr;
  cpu::Worker::Ticket ticket_ = 0;
};

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/pending.ipp>
#endif
