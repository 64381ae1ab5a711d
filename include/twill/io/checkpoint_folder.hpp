#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The checkpoints of a run in a folder, `step-000000001200.safetensors` and so on: the last few and every n-th are kept, the
// newest that is whole is found again, and a save may run beside the training. One process writes to a folder at a time; a
// program that dies leaves at most a temporary file, which the next save removes. Read next: io/checkpoint.hpp.

#include <twill/io/checkpoint.hpp>
#include <twill/io/file_calls.hpp>
#include <twill/io/folder.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace twill::inline v0::io {

/// How many checkpoints stay in the folder.
struct RotationOptions {
  int keep_last = 3;           ///< so many checkpoints before the newest save, itself included, at least 1
  std::int64_t keep_every = 0; ///< beside them those of steps that this divides; 0: none
};

/// Checkpoints of a run in one folder, the newest of which is found again however the run ended.
class CheckpointFolder {
public:
  /// Makes the folder, and those above it, if they are not there.
  /// throws: SystemError naming it, ValueError for a rotation that keeps nothing
  explicit CheckpointFolder(std::string path, RotationOptions rotation = {})
      : path_{std::move(path)}, rotation_{rotation} {
    if (rotation.keep_last < 1 || rotation.keep_every < 0)
      throw ValueError(join_text({"checkpoint folder: keep_last is at least 1 and keep_every at least 0, got ",
                                  rotation.keep_last, " and ", rotation.keep_every}));
    make_folder(path_);
  }
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  /// Waits for a save that still runs; an error that nobody has asked for becomes a warning.
  ~CheckpointFolder() {
    try {
      wait();
    } catch (const std::exception& error) {
      warn(join_text({"checkpoint folder: a save failed: ", error.what()}));
    }
  }

  /// Writes the checkpoint of a step, then removes those that the rotation does not keep.
  /// throws: SystemError, of this save or of one in the background; then nothing is removed
  void save(std::int64_t step, const Checkpoint& checkpoint) {
    wait();
    write(step, checkpoint);
  }

  /// The same while the caller goes on: tensors must not change meanwhile, as copies that `state_dict` makes do not. Waits for
  /// the save before. throws: what that one threw; SystemError when no thread can be had
  void save_in_background(std::int64_t step, Checkpoint checkpoint) {
    wait();
    try {
      worker_ = std::thread{[this, step, taken = std::move(checkpoint)] {
        try {
          write(step, taken);
        } catch (...) {
          error_ = std::current_exception();
        }
      }};
    } catch (const std::system_error& error) {
      throw SystemError(join_text({"checkpoint folder: no thread for a save: ", error.what()}));
    }
  }

  /// Waits for a save in the background. throws: what it threw, once
  void wait() {
    if (worker_.joinable()) worker_.join();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  /// The steps there are checkpoints of, damaged ones included, ascending. throws: SystemError
  [[nodiscard]] std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> result{};
    for (const std::string& name : names_in(path_))
      if (const auto step = step_of(name)) result.push_back(*step);
    std::sort(result.begin(), result.end());
    return result;
  }
  /// Where the checkpoint of a step lies or would lie.
  [[nodiscard]] std::string path_of(std::int64_t step) const { return join_text({path_, "/", name_of(step)}); }

  /// A checkpoint that was loaded, and of which step.
  struct Found {
    std::int64_t step = 0;   ///< the name says
    Checkpoint checkpoint{}; ///< whole
  };
  /// The newest checkpoint that is whole; damaged ones are named in warnings. Nothing where there is none at all.
  /// throws: ValueError when all are damaged, with what is wrong with the newest
  [[nodiscard]] std::optional<Found> load_newest() const {
    const std::vector<std::int64_t> all = steps();
    std::string newest_error{};
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
      try {
        return Found{*step, load_checkpoint(path_of(*step))};
      } catch (const Error& error) {
        if (newest_error.empty()) newest_error = error.what();
        warn(error.what());
      }
    }
    if (!all.empty())
      throw ValueError(join_text({"checkpoint folder: none of ", all.size(), " checkpoints in '", path_,
                                  "' is whole; the newest: ", newest_error}));
    return std::nullopt;
  }

  /// The folder.
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  static constexpr std::string_view start = "step-";
  static constexpr std::string_view end = ".safetensors";

  void write(std::int64_t step, const Checkpoint& checkpoint) const {
    if (step < 0) throw ValueError(join_text({"checkpoint folder: a step is at least 0, got ", step}));
    for (const std::string& name : names_in(path_)) // left by a process that died
      if (step_of(detail::finished_name(name))) detail::remove_unfinished(join_text({path_, "/", name}));
    save_checkpoint(path_of(step), checkpoint);
    std::vector<std::int64_t> older =
        steps(); // later ones are of a run that was given up, or damaged: not ours to judge
    older.erase(std::upper_bound(older.begin(), older.end(), step), older.end());
    for (std::size_t i = 0; i + static_cast<std::size_t>(rotation_.keep_last) < older.size(); ++i)
      if (rotation_.keep_every == 0 || older[i] % rotation_.keep_every != 0) remove(path_of(older[i]));
  }

  [[nodiscard]] static std::string name_of(std::int64_t step) {
    const std::string digits = std::to_string(step);
    return join_text({start, std::string(digits.size() < 12 ? 12 - digits.size() : 0, '0'), digits, end});
  }
  [[nodiscard]] static std::optional<std::int64_t> step_of(std::string_view name) {
    if (!name.starts_with(start) || !name.ends_with(end)) return std::nullopt;
    const std::string_view whole = name;
    name = name.substr(start.size(), name.size() - start.size() - end.size());
    std::int64_t step = 0;
    const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), step);
    if (error != std::errc{} || last != name.data() + name.size() || step < 0) return std::nullopt;
    return whole == name_of(step) ? std::optional{step} : std::nullopt; // other spellings are files of others
  }

  static void remove(const std::string& path) {
    if (detail::call_fails("remove", path) || (::unlink(path.c_str()) != 0 && errno != ENOENT))
      detail::fail_call("remove", path);
  }

  std::string path_;
  RotationOptions rotation_;
  std::thread worker_{};
  std::exception_ptr error_{};
};

} // namespace twill::inline v0::io
