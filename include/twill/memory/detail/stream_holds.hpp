#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Streams on which threads are recording events at this moment. Recording calls the driver, without the pool's lock; a
// thread that destroys a stream waits until no thread holds it. A hold is on the stack of its thread, so that nothing
// is allocated. Read next: memory/stream_arenas.hpp.

#include <mutex>
#include <utility>

namespace twill { inline namespace v0 { namespace memory { namespace detail {

template <class Stream, class Lock> class StreamHolds {
public:
  /// Keeps one stream, or none until `begin`, from being forgotten during its life. Destroyed without the lock.
  class Hold {
  public:
    Hold(StreamHolds& holds, Lock& lock) : holds_{holds}, lock_{lock} {}
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      if (!has_begun_) return;
      std::lock_guard guard{lock_};
      Hold** place = &holds_.first_;
      while (*place != this) place = &(*place)->next_;
      *place = next_;
    }

    /// Under the lock.
    void begin(const Stream& stream) {
      stream_ = stream;
      next_ = std::exchange(holds_.first_, this);
      has_begun_ = true;
    }
    [[nodiscard]] bool has_begun() const { return has_begun_; }
    [[nodiscard]] const Stream& stream() const { return stream_; }

  private:
    friend StreamHolds;
    StreamHolds& holds_;
    Lock& lock_;
    Stream stream_{};
    Hold* next_ = nullptr;
    bool has_begun_ = false;
  };

  /// Under the lock: whether some thread holds the stream.
  [[nodiscard]] bool has(const Stream& stream) const {
    for (const Hold* hold = first_; hold != nullptr; hold = hold->next_)
      if (hold->stream_ == stream) return true;
    return false;
  }

private:
  Hold* first_ = nullptr;
};

}}}} // namespace twill::v0::memory::detail
