#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Rotating checkpoints of a run in a folder, `step-000000001200.safetensors` and so on: the last few and every n-th are
// kept, the newest whole one is found again, and a save may run in the background. One process writes to a folder at a
// time; a program that dies leaves at most a temporary file, which the next save removes. Read next: io/checkpoint.hpp.

#include <twill/core/config.hpp>
#include <twill/io/atomic_file.hpp>
#include <twill/io/checkpoint.hpp>
#include <twill/io/files.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

/// How many checkpoints stay in the folder.
struct RotationOptions {
  int keep_last = 3;           ///< The newest ones, at least 1.
  std::int64_t keep_every = 0; ///< Those of steps that this divides, too; 0: none.
};

/// Checkpoints of a run in one folder, the newest of which is found again however the run ended.
class CheckpointFolder {
public:
  /// Makes the folder, and those above it, if they are not there.
  /// throws: SystemError naming it, ValueError for a rotation that keeps nothing
  explicit CheckpointFolder(std::string path, RotationOptions rotation = {});
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  /// Waits for a save that still runs; an error that was not asked for becomes a warning.
  ~CheckpointFolder();

  /// Writes the checkpoint of a step, then removes those that the rotation does not keep.
  /// throws: SystemError, of this save or of one in the background; then nothing is removed
  void save(std::int64_t step, const Checkpoint& checkpoint);

  /// Saves while the caller goes on: the tensors must not change meanwhile, as copies that `state_dict` makes do not.
  /// Waits for the save before. throws: the error of that save; SystemError when no thread can be started
  void save_in_background(std::int64_t step, Checkpoint checkpoint);

  /// Waits for a save in the background. throws: its error, once
  void wait();

  /// The steps of all checkpoints, damaged ones included, ascending. throws: SystemError
  [[nodiscard]] std::vector<std::int64_t> steps() const;
  /// The file of a step, whether it is there or not.
  [[nodiscard]] std::string path_of(std::int64_t step) const { return join_text({path_, "/", name_of(step)}); }

  /// A checkpoint that was loaded.
  struct Found {
    std::int64_t step = 0;   ///< from the file's name
    Checkpoint checkpoint{}; ///< whole
  };
  /// The newest checkpoint that is whole; damaged ones are named in warnings. Nothing where there is none at all.
  /// throws: ValueError when all are damaged, with the reason for the newest
  [[nodiscard]] std::optional<Found> load_newest() const;

  /// The folder.
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  static constexpr std::string_view start = "step-";
  static constexpr std::string_view end = ".safetensors";

  void write(std::int64_t step, const Checkpoint& checkpoint) const;

  [[nodiscard]] static std::string name_of(std::int64_t step);
  [[nodiscard]] static std::optional<std::int64_t> step_of(std::string_view name);

  std::string path_;
  RotationOptions rotation_;
  std::thread worker_{};
  std::exception_ptr error_{};
};

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/checkpoint_folder.ipp>
#endif
