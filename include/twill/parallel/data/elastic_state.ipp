#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/elastic_state.hpp.

#include <twill/parallel/data/elastic_state.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Begins the names of folders to which processes of other ranks than 0 save.
inline constexpr std::string_view folder_of_rank = "rank-";

TWILL_BODY void require_one_start(std::span<const std::int64_t> steps, const std::string& folder) {
  const auto text = [](std::int64_t step) {
    return step < 0 ? std::string{"none"} : join_text({"that of step ", step});
  };
  for (std::size_t rank = 1; rank < steps.size(); ++rank)
    if (steps[rank] != steps[0])
      throw ValueError(join_text({"ElasticState: rank ", rank, " finds another commit, ", text(steps[rank]),
                                  ", than rank 0, ", text(steps[0]), ", in folder '", folder,
                                  "'; ranks that are threads share one state, processes a folder that all see"}));
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY ElasticState::ElasticState(ElasticFiles files) : files_{std::move(files)} {
  if (files_.save_every < 1)
    throw ValueError(join_text({"ElasticState: .save_every is at least 1 step, got ", files_.save_every}));
  if (files_.copies < 1) throw ValueError(join_text({"ElasticState: .copies is at least 1 rank, got ", files_.copies}));
  if (!files_.folder.empty()) load();
}

TWILL_BODY void ElasticState::load() {
  folder_.emplace(files_.folder, files_.rotation);
  auto found = folder_->load_newest();
  for (const std::string& name : io::names_in(files_.folder)) {
    if (!name.starts_with(detail::folder_of_rank)) continue;
    const io::CheckpointFolder other{join_text({files_.folder, "/", name})};
    const auto steps = other.steps();
    if (steps.empty() || (found && steps.back() <= found->step)) continue;
    try {
      if (auto newer = other.load_newest(); newer && (!found || newer->step > found->step)) found.swap(newer);
    } catch (const ValueError& error) { // a damaged copy, one of several
      warn(error.what());
    }
  }
  if (!found) return;
  saved_ = found->step;
  newest_ = std::make_shared<const io::Checkpoint>(std::move(found->checkpoint));
}

TWILL_BODY void ElasticState::set_process_rank(int rank) {
  if (rank < 0) throw ValueError(join_text({"ElasticState: a rank is at least 0, got ", rank}));
  process_rank_ = rank;
}

TWILL_BODY std::shared_ptr<const io::Checkpoint> ElasticState::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

TWILL_BODY std::int64_t ElasticState::step() const {
  const auto found = newest();
  return found == nullptr ? 0 : steps_of(*found);
}

TWILL_BODY std::int64_t ElasticState::steps_of(const io::Checkpoint& checkpoint) {
  return training::without_steps(checkpoint.state("optimiser")).steps;
}

TWILL_BODY void ElasticState::set_draws(io::Checkpoint& checkpoint, const detail::OwnDraws& draws) {
  io::set_draw(checkpoint, "random.device", draws.of_device);
  io::set_draw(checkpoint, "random.model", draws.of_model);
}

TWILL_BODY void ElasticState::keep(std::int64_t step, io::Checkpoint checkpoint) {
  auto kept = std::make_shared<const io::Checkpoint>(std::move(checkpoint));
  {
    const std::lock_guard lock(mutex_);
    if (newest_ != nullptr && steps_of(*newest_) > step)
      throw ValueError(join_text({"ElasticState: commit of step ", step, " after that of step ", steps_of(*newest_),
                                  "; call restore(model, step) before the first step"}));
    newest_ = kept;
  }
  if (!folder_ || process_rank_ > 0) return;
  const std::lock_guard lock(files_mutex_);
  if (step - saved_ < files_.save_every) return;
  folder_->save(step, *kept);
  saved_ = step;
}

TWILL_BODY void ElasticState::save() {
  const auto kept = newest();
  if (!folder_ || kept == nullptr) return;
  const std::int64_t step = steps_of(*kept);
  const std::lock_guard lock(files_mutex_);
  if (step <= saved_) return;
  if (process_rank_ > 0)
    io::CheckpointFolder{join_text({files_.folder, "/", detail::folder_of_rank, process_rank_}), {.keep_last = 1}}.save(
        step, *kept);
  else
    folder_->save(step, *kept);
  saved_ = step;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
