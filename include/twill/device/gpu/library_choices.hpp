#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Library choices on a GPU: `library_choices(device)` lists every problem given to a vendor's library so far, whether
// the library or a kernel of twill's computes it, how the algorithm was found, and its working memory. A problem is
// entered when it first occurs: in the first run of a step, before its capture. `step.library_choices()` lists those of
// one step. Read next: kernel/gpu/product_choice.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_options.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 {

/// The implementation of one problem on a device, and the reason for it.
struct LibraryChoice {
  std::string problem{};           ///< "gradient by the weights of a convolution of ... float32"
  std::string by{};                ///< the library's name, or "twill"
  std::string reason{};            ///< how it was chosen, or why the library was not
  std::size_t workspace_bytes = 0; ///< of the stream's working memory
  LibraryOptions options{};        ///< the options in force
};

/// "cuDNN: convolution of ... float32 (the fastest of 8 that were timed, 131 bytes of working memory)".
[[nodiscard]] TWILL_COLD inline std::string to_string(const LibraryChoice& choice) {
  std::string text = join_text({choice.by, ": ", choice.problem, " (", choice.reason});
  if (choice.workspace_bytes > 0) text += join_text({", ", choice.workspace_bytes, " bytes of working memory"});
  return text + ")";
}

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace gpu {

/// Numbers that describe a problem.
inline constexpr std::size_t choice_key_words = 20;
/// A problem, as numbers.
using ChoiceKey = std::array<std::uint64_t, choice_key_words>;

/// Choices worth a warning: a kernel of twill's for a large problem, an engine refused for its memory, more working
/// memory than plans count.
enum class SlowChoice : std::uint8_t { own_kernel, working_memory, beyond_plan };

/// Collects this thread's choices, new or repeated, on any device during the life of this object: each problem once.
class ChoicesOfRun {
public:
  /// Adds to a list that outlives it.
  explicit ChoicesOfRun(std::vector<LibraryChoice>& to) : to_{&to}, outer_{std::exchange(current(), this)} {}
  ChoicesOfRun(const ChoicesOfRun&) = delete;
  ChoicesOfRun& operator=(const ChoicesOfRun&) = delete;
  ~ChoicesOfRun() { current() = outer_; }

  /// Adds a choice to the list of the innermost collector of this thread, if there is one.
  static void add(const LibraryChoice& choice) {
    if (current() == nullptr) return;
    std::vector<LibraryChoice>& list = *current()->to_;
    for (const LibraryChoice& known : list)
      if (known.problem == choice.problem && known.by == choice.by) return;
    list.push_back(choice);
  }

private:
  static ChoicesOfRun*& current() {
    thread_local ChoicesOfRun* innermost = nullptr;
    return innermost;
  }

  std::vector<LibraryChoice>* to_;
  ChoicesOfRun* outer_;
};

/// The choices of one device, in the order in which problems were met. Any thread may write and read.
class ChoiceLog {
public:
  /// Adds `describe()` unless the key is known; returns whether it was new.
  template <class F> bool note(const ChoiceKey& key, F describe) {
    const std::lock_guard lock{mutex_};
    const auto known = known_.find(key);
    if (known == known_.end() && choices_.size() >= most_choices) return false;
    const std::size_t place = known == known_.end() ? choices_.size() : known->second;
    if (place == choices_.size()) {
      choices_.push_back(describe());
      known_.emplace(key, place);
    }
    ChoicesOfRun::add(choices_[place]);
    return known == known_.end();
  }

  /// Whether a slow choice of this kind has to be reported: once for each device.
  [[nodiscard]] bool is_first(SlowChoice kind) {
    return !was_told_[static_cast<std::size_t>(kind)].exchange(true, std::memory_order_relaxed);
  }
  /// Warns once where a library asks for more working memory than the plan of a step counts for a problem, which
  /// `describe()` names; the library gets it. `device` is the log's own, of a driver's.
  template <class F>
  void warn_beyond_plan(std::string_view driver, int device, std::string_view library, std::size_t asked,
                        std::size_t planned, const F& describe) {
    if (asked <= planned || !is_first(SlowChoice::beyond_plan)) [[likely]]
      return;
    warn(join_text({library, " on ", driver, ":", device, " asks for ", asked,
                    " bytes of working memory, more than the ", planned,
                    " that step.memory, peak_bytes and fit count for it; leave room for the rest: ", describe()}));
  }
  [[nodiscard]] std::vector<LibraryChoice> list() const {
    const std::lock_guard lock{mutex_};
    return choices_;
  }

  void clear() {
    const std::lock_guard lock{mutex_};
    known_.clear();
    choices_.clear();
    for (std::atomic<bool>& told : was_told_) told = false;
  }

private:
  static constexpr std::size_t most_choices = 4096;

  mutable std::mutex mutex_{};
  std::map<ChoiceKey, std::size_t> known_{};
  std::vector<LibraryChoice> choices_{};
  std::array<std::atomic<bool>, 3> was_told_{};
};

/// The log of a driver's device. requires: 0 <= device < max_devices
template <Runtime R> [[nodiscard]] TWILL_EXPORT ChoiceLog& choice_log(int device) {
  static ChoiceLog* const logs = new ChoiceLog[max_devices];
  return logs[device];
}

}}} // namespace twill::v0::gpu

namespace twill { inline namespace v0 {

/// The choices on a device so far. throws: DeviceError when there is no such device
template <gpu::GpuDevice D> [[nodiscard]] std::vector<LibraryChoice> library_choices(const D& device) {
  require_exists(device, "library_choices");
  return gpu::choice_log<typename D::Runtime>(device.index).list();
}

/// Empties the list; later problems are added again. throws: DeviceError when there is no such device
template <gpu::GpuDevice D> void forget_library_choices(const D& device) {
  require_exists(device, "forget_library_choices");
  gpu::choice_log<typename D::Runtime>(device.index).clear();
}

}} // namespace twill::v0
