#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/checkpoint_folder.hpp.

#include <twill/io/checkpoint_folder.hpp>

namespace twill { inline namespace v0 { namespace io {

TWILL_BODY CheckpointFolder::CheckpointFolder(std::string path, RotationOptions rotation)
    : path_{std::move(path)}, rotation_{rotation} {
  if (rotation.keep_last < 1 || rotation.keep_every < 0)
    throw ValueError(join_text({"checkpoint folder: keep_last is at least 1 and keep_every at least 0, got ",
                                rotation.keep_last, " and ", rotation.keep_every}));
  make_folder(path_);
}

TWILL_BODY CheckpointFolder::~CheckpointFolder() {
  try {
    wait();
  } catch (const std::exception& error) {
    warn(join_text({"checkpoint folder: a save failed: ", error.what()}));
  }
}

TWILL_BODY void CheckpointFolder::save(std::int64_t step, const Checkpoint& checkpoint) {
  wait();
  write(step, checkpoint);
}

TWILL_BODY void CheckpointFolder::save_in_background(std::int64_t step, Checkpoint checkpoint) {
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
    throw SystemError(join_text({"checkpoint folder: cannot start a thread for a save: ", error.what()}));
  }
}

TWILL_BODY void CheckpointFolder::wait() {
  if (worker_.joinable()) worker_.join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

TWILL_BODY std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::vector<std::int64_t> result{};
  for (const std::string& name : names_in(path_))
    if (const auto step = step_of(name)) result.push_back(*step);
  std::sort(result.begin(), result.end());
  return result;
}

TWILL_BODY std::optional<CheckpointFolder::Found> CheckpointFolder::load_newest() const {
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
                                "' can be read; the newest: ", newest_error}));
  return std::nullopt;
}

TWILL_BODY void CheckpointFolder::write(std::int64_t step, const Checkpoint& checkpoint) const {
  if (step < 0) throw ValueError(join_text({"checkpoint folder: a step is at least 0, got ", step}));
  for (const std::string& name : names_in(path_)) // of processes that died
    if (step_of(detail::finished_name(name))) detail::remove_unfinished(join_text({path_, "/", name}));
  save_checkpoint(path_of(step), checkpoint);
  std::vector<std::int64_t> older = steps(); // later ones may be of a run that was given up
  older.erase(std::upper_bound(older.begin(), older.end(), step), older.end());
  for (std::size_t i = 0; i + static_cast<std::size_t>(rotation_.keep_last) < older.size(); ++i)
    if (rotation_.keep_every == 0 || older[i] % rotation_.keep_every != 0) remove_file(path_of(older[i]));
}

TWILL_BODY std::string CheckpointFolder::name_of(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return join_text({start, std::string(digits.size() < 12 ? 12 - digits.size() : 0, '0'), digits, end});
}

TWILL_BODY std::optional<std::int64_t> CheckpointFolder::step_of(std::string_view name) {
  if (!name.starts_with(start) || !name.ends_with(end)) return std::nullopt;
  const std::string_view whole = name;
  name = name.substr(start.size(), name.size() - start.size() - end.size());
  std::int64_t step = 0;
  const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc{} || last != name.data() + name.size() || step < 0) return std::nullopt;
  return whole == name_of(step) ? std::optional{step} : std::nullopt; // other spellings are files of others
}

}}} // namespace twill::v0::io
