#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A prefetch queue: worker threads make numbered items ahead of their consumer, who gets them in order. Workers claim
// numbers one after the other and stay at most `ahead` items in front; a ring of that many slots holds the finished
// ones. A worker's exception waits in its slot like an item and reaches the consumer at that place in the order, as its
// own type. The destructor stops the workers at any point and joins them. Read next: data/loader.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// The times that a consumer and the workers waited for each other. Consumers that wait want more workers, or cheaper
/// samples; workers that wait are faster than the consumer, as they should be.
struct WaitReport {
  std::int64_t items = 0;            ///< Handed over; a loader's are batches.
  std::int64_t bytes = 0;            ///< Elements of a loader's batches.
  std::int64_t late_items = 0;       ///< Those that were not ready when they were asked for; without workers, all.
  double waited_seconds = 0;         ///< By the consumer for items; in a loader, copies to its device included.
  double elapsed_seconds = 0;        ///< From the first request to the end, or to now.
  int workers = 0;                   ///< 0: the consumer makes the items itself.
  std::int64_t worker_waits = 0;     ///< How often a worker was as far ahead as it may be.
  double workers_waited_seconds = 0; ///< All workers together, for that.

  /// The share of the time that was lost to waiting, 0 to 1.
  [[nodiscard]] double share() const { return elapsed_seconds > 0 ? waited_seconds / elapsed_seconds : 0; }
};

/// One line: "8 batches of 3.1 MB, 2 of them late: waited 0.20 s of 1.31 s (15.3%); 3 workers waited 2.90 s".
[[nodiscard]] std::string to_string(const WaitReport& report);

/// How many items are made ahead, and by how many threads.
struct PrefetchOptions {
  int workers = 1; ///< 0: each item is made in the consumer's thread when it is asked for.
  int ahead = 2;   ///< How many items may be ready or in the making for each worker.
};

/// An ordered producer of the items first, ..., end - 1; `make(number)` is called from several threads at once.
/// One thread consumes.
template <class Item> class Prefetch {
public:
  /// Makes item i; called from several threads at once.
  using Make = std::function<Item(std::int64_t)>;

  /// Items first to end - 1, in order. throws: ValueError for fewer than one thread or item ahead
  Prefetch(std::int64_t first, std::int64_t end, Make make, PrefetchOptions options)
      : make_{std::move(make)}, next_claim_{first}, taken_{first}, next_item_{first}, end_{end} {
    report_.workers = options.workers;
    if (options.workers < 0) throw ValueError(join_text({"prefetch: workers is at least 0, got ", options.workers}));
    if (options.ahead < 1) throw ValueError(join_text({"prefetch: ahead is at least 1, got ", options.ahead}));
    slots_.resize(static_cast<std::size_t>(options.workers) * static_cast<std::size_t>(options.ahead));
    workers_.reserve(static_cast<std::size_t>(options.workers));
    try {
      for (int worker = 0; worker < options.workers; ++worker) workers_.emplace_back([this] { work(); });
    } catch (...) {
      stop(); // threads that did start have to be joined before the exception leaves
      throw;
    }
  }

  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  ~Prefetch() { stop(); }

  /// The next item, or nothing after the last. throws: the exception of `make` for this item; later ones stay
  /// available.
  [[nodiscard]] std::optional<Item> next() {
    const double asked = steady_seconds();
    std::unique_lock lock(mutex_);
    if (!has_started_) started_ = asked;
    has_started_ = true;
    if (next_item_ >= end_) {
      report_.elapsed_seconds = asked - started_;
      return std::nullopt;
    }
    const std::int64_t number = next_item_++;
    std::optional<Item> item;
    std::exception_ptr failure;
    if (workers_.empty()) {
      ++report_.late_items;
      lock.unlock();
      try {
        item.emplace(make_(number));
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
    } else {
      Slot& slot = slot_of(number);
      if (!slot.is_ready) {
        ++report_.late_items;
        item_ready_.wait(lock, [&] { return slot.is_ready; });
      }
      item = std::exchange(slot.item, std::nullopt);
      failure = std::exchange(slot.failure, nullptr);
      slot.is_ready = false;
      ++taken_;
    }
    const double now = steady_seconds();
    report_.waited_seconds += now - asked;
    report_.elapsed_seconds = now - started_;
    ++report_.items;
    lock.unlock();
    slot_free_.notify_one();
    if (failure) std::rethrow_exception(failure);
    return item;
  }

  /// How consumer and workers have waited for each other so far; from any thread.
  [[nodiscard]] WaitReport report() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }

private:
  struct Slot {
    std::optional<Item> item;
    std::exception_ptr failure;
    bool is_ready = false;
  };

  Slot& slot_of(std::int64_t number) { return slots_[static_cast<std::size_t>(number) % slots_.size()]; }

  void work() {
    std::unique_lock lock(mutex_);
    const auto capacity = static_cast<std::int64_t>(slots_.size());
    while (true) {
      const auto may_go_on = [&] { return stopping_ || next_claim_ >= end_ || next_claim_ < taken_ + capacity; };
      if (!may_go_on()) {
        ++report_.worker_waits;
        const double began = steady_seconds();
        slot_free_.wait(lock, may_go_on);
        report_.workers_waited_seconds += steady_seconds() - began;
      }
      if (stopping_ || next_claim_ >= end_) return;
      const std::int64_t number = next_claim_++;
      lock.unlock();
      std::optional<Item> item;
      std::exception_ptr failure;
      try {
        item.emplace(make_(number));
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      Slot& slot = slot_of(number);
      slot.item = std::move(item);
      slot.failure = std::move(failure);
      slot.is_ready = true;
      item_ready_.notify_one();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    slot_free_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  Make make_;
  mutable std::mutex mutex_;
  std::condition_variable item_ready_;
  std::condition_variable slot_free_;
  std::vector<Slot> slots_;
  std::int64_t next_claim_;
  std::int64_t taken_; // every number below has been handed out
  bool stopping_ = false;
  WaitReport report_{};

  // For the consumer's thread only.
  std::int64_t next_item_;
  std::int64_t end_;
  double started_ = 0; // seconds
  bool has_started_ = false;

  std::vector<std::thread> workers_;
};

}}}} // namespace twill::v0::data::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/data/prefetch.ipp>
#endif
