#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The driver behind the emulated GPU: streams, events, captures and memory, all on the host and in no thread of their own.
// Work runs as late as it may: when somebody waits for it, when its stream's queue is long, or a piece at each query. So
// whatever is not ordered by the program happens in the wrong order here, and always the same one. Device memory is
// accessible only while work of its device runs; fresh memory is full of garbage. Read next: emulated_device.hpp.

#include <tests/support/emulated_memory.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace emulation {

using Status = int;

/// The numbers of CUDA's own errors.
namespace error {
inline constexpr Status invalid_value = 1;
inline constexpr Status out_of_memory = 2;
inline constexpr Status invalid_configuration = 9;
inline constexpr Status invalid_device = 101;
inline constexpr Status invalid_handle = 400;
inline constexpr Status illegal_state = 401;
inline constexpr Status not_ready = 600;
inline constexpr Status illegal_address = 700;
inline constexpr Status out_of_resources = 701;
inline constexpr Status peer_already_enabled = 704;
inline constexpr Status capture_unsupported = 900;
inline constexpr Status capture_invalidated = 901;
inline constexpr Status capture_unjoined = 904;
inline constexpr Status capture_isolation = 905;
inline constexpr Status captured_event = 907;
} // namespace error

/// The calls that are counted and can be told to fail, by the names that `gpu::Runtime` gives them.
inline constexpr std::array<std::string_view, 27> calls{"use_device",
                                                        "read_properties",
                                                        "memory_info",
                                                        "allocate",
                                                        "allocate_while_capturing",
                                                        "release",
                                                        "allocate_async",
                                                        "release_async",
                                                        "allocate_pinned",
                                                        "release_pinned",
                                                        "create_stream",
                                                        "destroy_stream",
                                                        "synchronize_stream",
                                                        "create_event",
                                                        "destroy_event",
                                                        "record_event",
                                                        "query_event",
                                                        "synchronize_event",
                                                        "wait_event",
                                                        "copy",
                                                        "copy_peer",
                                                        "fill",
                                                        "begin_capture",
                                                        "end_capture",
                                                        "launch_graph",
                                                        "enqueue",
                                                        "enable_peer"};

/// Something that a stream does.
struct Work {
  std::unique_ptr<Work> next{};
  unsigned devices = 0; ///< whose memory it touches, one bit each
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;
  virtual void run() = 0;
};

template <class F> struct WorkOf final : Work {
  F function;
  WorkOf(unsigned touched, F f) : function{std::move(f)} { devices = touched; }
  void run() override { function(); }
};

struct CaptureData;

struct StreamData {
  int device = 0;
  std::unique_ptr<Work> first{};
  Work* last = nullptr;
  std::uint64_t queued = 0;
  std::uint64_t finished = 0;
  bool destroyed = false;
  std::shared_ptr<CaptureData> capture{};
  std::uint64_t captured = 0; ///< pieces of work that the capture got from this stream
  std::uint64_t joined = 0;   ///< as many of them come before what the capture's first stream does next
};

/// What a capture has recorded, in an order in which it can run.
struct CaptureData {
  StreamData* origin = nullptr;
  std::vector<StreamData*> streams{};
  std::vector<std::shared_ptr<Work>> work{};
  bool invalidated = false;
  bool ended = false;
};

struct EventData {
  StreamData* stream = nullptr; ///< null until it is recorded
  std::uint64_t position = 0;
  std::shared_ptr<CaptureData> capture{}; ///< in which it was recorded
  std::shared_ptr<double> passed_s{};     ///< of timers: when it passed
};

struct GraphData {
  int device = 0;
  std::vector<std::shared_ptr<Work>> work{};
};

/// How many calls of the driver this thread is in; what they allocate on the host is the driver's own affair.
inline constinit thread_local int calls_under_way = 0;
class UnderWay {
public:
  UnderWay() { ++calls_under_way; }
  ~UnderWay() { --calls_under_way; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
};

inline constexpr int most_devices = 4;

struct DeviceData {
  DeviceMemory memory{};
  bool has_context = false;
  Status sticky = 0; ///< what every call returns once a kernel has failed
  StreamData legacy{};
  unsigned peers = 0;
};

/// The whole driver; one lock guards it, and work runs under it.
class Machine {
public:
  Machine() {
    for (std::size_t device = 0; device < devices.size(); ++device)
      devices[device].legacy.device = static_cast<int>(device);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::recursive_mutex mutex{};
  std::array<DeviceData, most_devices> devices{};
  std::atomic<int> device_count{most_devices};
  std::map<void*, std::size_t> pinned{};
  std::array<long, calls.size()> counts{};
  std::size_t live_streams = 0;
  std::size_t live_events = 0;
  std::size_t live_graphs = 0;
  std::set<GraphData*> graphs{}; ///< those that nobody has destroyed, if only because the process ends

  /// The n-th call of that name from now on fails, n from 1.
  struct Fault {
    std::string_view call{};
    long at = 0;
    Status status = 0;
  };
  Fault fault{};
  bool (*refuses)() = nullptr; ///< asked before every call, where somebody wants to: whether it fails, with status 999

  [[nodiscard]] static Machine& get() {
    static auto* const machine = new Machine;
    return *machine;
  }
  [[nodiscard]] static int& device_in_use() {
    static thread_local int device = 0;
    return device;
  }
  [[nodiscard]] static std::shared_ptr<CaptureData>& capture_of_thread() {
    static thread_local std::shared_ptr<CaptureData> capture{};
    return capture;
  }

  static constexpr std::size_t context_bytes = std::size_t{96} << 20;
  /// What a device has given away.
  [[nodiscard]] std::size_t used_bytes(int device) const {
    const DeviceData& data = devices[static_cast<std::size_t>(device)];
    return data.memory.used() + (data.has_context ? context_bytes : 0);
  }

  /// Every call begins here: it is counted, told to fail, or refused. requires: the lock
  [[nodiscard]] Status enter(std::string_view call, int device, bool allowed_in_capture = true) {
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (calls[i] == call) {
        ++counts[i];
        if (fault.call == call && --fault.at == 0) {
          if (fault.status == error::illegal_address) devices[static_cast<std::size_t>(device)].sticky = fault.status;
          return fault.status;
        }
        if (refuses != nullptr && refuses()) return 999;
      }
    DeviceData& data = devices[static_cast<std::size_t>(device)];
    if (data.sticky != 0) return data.sticky;
    data.has_context = true;
    if (!allowed_in_capture)
      if (const auto& capture = capture_of_thread(); capture != nullptr && !capture->ended) {
        capture->invalidated = true;
        return error::capture_unsupported;
      }
    return 0;
  }

  [[nodiscard]] StreamData& stream_of(StreamData* stream) {
    return stream != nullptr ? *stream : devices[static_cast<std::size_t>(device_in_use())].legacy;
  }

  /// Appends work to a stream, or to what is being captured there. requires: the lock
  [[nodiscard]] Status give(StreamData& stream, std::unique_ptr<Work> work) {
    if (stream.destroyed) return error::invalid_handle;
    if (stream.capture != nullptr) {
      if (stream.capture->invalidated) return error::capture_invalidated;
      ++stream.captured;
      stream.capture->work.push_back(std::move(work));
      return 0;
    }
    Work* const added = work.get();
    (stream.last != nullptr ? stream.last->next : stream.first) = std::move(work);
    stream.last = added;
    ++stream.queued;
    if (stream.queued - stream.finished > longest_queue) run_until(stream, stream.queued - longest_queue / 2);
    return 0;
  }

  /// Runs a stream's work up to a position. requires: the lock
  void run_until(StreamData& stream, std::uint64_t position) {
    ++depth_;
    while (stream.finished < position && stream.first != nullptr) {
      const std::unique_ptr<Work> work = std::move(stream.first);
      stream.first = std::move(work->next);
      if (stream.first == nullptr) stream.last = nullptr;
      ++stream.finished;
      run(*work);
    }
    if (--depth_ == 0) open(0);
  }

  /// Everything queued anywhere, as the driver waits for before it takes memory back. requires: the lock
  void run_all() {
    for (StreamData* stream : streams) run_until(*stream, stream->queued);
    for (DeviceData& device : devices) run_until(device.legacy, device.legacy.queued);
  }

  /// Runs a piece of work; a device on which something was written past an allocation has failed.
  void run(Work& work) {
    open(work.devices);
    work.run();
    for (int device = 0; device < most_devices; ++device) {
      DeviceData& data = devices[static_cast<std::size_t>(device)];
      if ((work.devices >> device & 1U) != 0 && !data.memory.ends_are_intact()) data.sticky = error::illegal_address;
    }
  }

  void open(unsigned wanted) {
    for (int device = 0; device < most_devices; ++device)
      devices[static_cast<std::size_t>(device)].memory.open((wanted >> device & 1U) != 0);
  }

  /// The devices whose memory an address range touches; nothing when it reaches outside of an allocation.
  [[nodiscard]] bool touched(const void* address, std::size_t bytes, unsigned& mask) const {
    for (int device = 0; device < most_devices; ++device) {
      const DeviceMemory& memory = devices[static_cast<std::size_t>(device)].memory;
      if (!memory.is_inside(address)) continue;
      mask |= 1U << device;
      return memory.is_allocated(address, bytes);
    }
    return true;
  }

  std::vector<StreamData*> streams{};

private:
  static constexpr std::uint64_t longest_queue = 48;
  int depth_ = 0;
};

}}} // namespace twill::v0::emulation
