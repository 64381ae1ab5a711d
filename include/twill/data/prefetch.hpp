#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Makes a numbered sequence of items ahead of its consumer, on worker threads, and hands it out in order. Workers claim
// numbers one after the other and stay at most `ahead` items in front; a ring of that many slots holds what is ready. A
// worker's exception waits in its slot like an item and reaches the consumer at that place in the order, as its own type.
// The destructor stops the workers wherever they are and joins them. Read next: data/loader.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace twill::inline v0::data::inline TWILL_ISA {

/// How long a consumer was held up, and over how much work.
struct WaitReport {
  std::int64_t items = 0;
  double waited_seconds = 0;  ///< The consumer stood still for an item.
  double elapsed_seconds = 0; ///< From the first request to the end, or to now.

  /// The share of the time that was lost to waiting, 0 to 1.
  [[nodiscard]] double share() const { return elapsed_seconds > 0 ? waited_seconds / elapsed_seconds : 0; }
};

struct PrefetchOptions {
  int workers = 1; ///< 0: each item is made in the consumer's thread when it is asked for.
  int ahead = 2;   ///< How many items may be ready or in the making for each worker.
};

/// An ordered producer of the items first, ..., end - 1; `make(number)` is called from several threads at once.
/// One thread consumes.
template <class Item> class Prefetch {
public:
  using Make = std::function<Item(std::int64_t)>;

  Prefetch(std::int64_t first, std::int64_t end, Make make, PrefetchOptions options)
      : make_{std::move(make)}, next_claim_{first}, taken_{first}, next_item_{first}, end_{end} {
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

  /// The next item, or nothing after the last. throws: what `make` threw for this item; the items after it stay available.
  [[nodiscard]] std::optional<Item> next() {
    const double asked = steady_seconds();
    if (!has_started_) started_ = asked;
    has_started_ = true;
    if (next_item_ >= end_) {
      last_ = asked;
      return std::nullopt;
    }
    const std::int64_t number = next_item_++;
    std::optional<Item> item;
    std::exception_ptr failure;
    if (workers_.empty()) {
      try {
        item.emplace(make_(number));
      } catch (...) {
        failure = std::current_exception();
      }
    } else {
      std::unique_lock lock(mutex_);
      Slot& slot = slot_of(number);
      item_ready_.wait(lock, [&] { return slot.is_ready; });
      item = std::exchange(slot.item, std::nullopt);
      failure = std::exchange(slot.failure, nullptr);
      slot.is_ready = false;
      ++taken_;
      lock.unlock();
      slot_free_.notify_one();
    }
    last_ = steady_seconds();
    waited_ += last_ - asked;
    ++handed_out_;
    if (failure) std::rethrow_exception(failure);
    return item;
  }

  /// What the consumer has waited so far; of the consumer's thread.
  [[nodiscard]] WaitReport report() const { return {handed_out_, waited_, last_ - started_}; }

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
      slot_free_.wait(lock, [&] { return stopping_ || next_claim_ >= end_ || next_claim_ < taken_ + capacity; });
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
  std::mutex mutex_;
  std::condition_variable item_ready_;
  std::condition_variable slot_free_;
  std::vector<Slot> slots_;
  std::int64_t next_claim_;
  std::int64_t taken_; // every number below has been handed out
  bool stopping_ = false;

  // Of the consumer's thread only.
  std::int64_t next_item_;
  std::int64_t end_;
  std::int64_t handed_out_ = 0;
  double waited_ = 0; // seconds, as are the moments below
  double started_ = 0;
  double last_ = 0;
  bool has_started_ = false;

  std::vector<std::thread> workers_;
};

} // namespace twill::inline v0::data::inline TWILL_ISA
