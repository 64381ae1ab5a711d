#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The checkpoints of a run in a folder, `step-000000001200.safetensors` and so on: the last few and every n-th are kept, the
// newest that is whole is found again, and a save may run beside the training. One process writes to a folder at a time; a
// program that dies leaves at most a temporary file, which the next save removes. Read next: io/checkpoint.hpp.

#include <twill/core/config.hpp>
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
  explicit CheckpointFolder(std::string path, RotationOptions rotation = {});
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  /// Waits for a save that still runs; an error that nobody has asked for becomes a warning.
  ~CheckpointFolder();

  /// Writes the checkpoint of a step, then removes those that the rotation does not keep.
  /// throws: SystemError, of this save or of one in the background; then nothing is removed
  void save(std::int64_t step, const Checkpoint& checkpoint);

  /// The same while the caller goes on: tensors must not change meanwhile, as copies that `state_dict` makes do not. Waits for
  /// the save before. throws: what that one threw; SystemError when no thread can be had
  void save_in_background(std::int64_t step, Checkpoint checkpoint);

  /// Waits for a save in the background. throws: what it threw, once
  void wait();

  /// The steps there are checkpoints of, damaged ones included, ascending. throws: SystemError
  [[nodiscard]] std::vector<std::int64_t> steps() const;
  /// Where the checkpoint of a step lies or would lie.
  [[nodiscard]] std::string path_of(std::int64_t step) const { return join_text({path_, "/", name_of(step)}); }

  /// A checkpoint that was loaded, and of which step.
  struct Found {
    std::int64_t step = 0;   ///< the name says
    Checkpoint checkpoint{}; ///< whole
  };
  /// The newest checkpoint that is whole; damaged ones are named in warnings. Nothing where there is none at all.
  /// throws: ValueError when all are damaged, with what is wrong with the newest
  [[nodiscard]] std::optional<Found> load_newest() const;

  /// The folder.
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  static constexpr std::string_view start = "step-";
  static constexpr std::string_view end = ".safetensors";

  void write(std::int64_t step, const Checkpoint& checkpoint) const;

  [[nodiscard]] static std::string name_of(std::int64_t step);
  [[nodiscard]] static std::optional<std::int64_t> step_of(std::string_view name);

  static void remove(const std::string& path);

  std::string path_;
  RotationOptions rotation_;
  std::thread worker_{};
  std::exception_ptr error_{};
};

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/checkpoint_folder.ipp>
#endif
