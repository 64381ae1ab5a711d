#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/elastic_state.hpp.

#include <twill/parallel/data/elastic_state.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

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
  if (files_.folder.empty()) return;
  folder_.emplace(files_.folder, files_.rotation);
  if (auto found = folder_->load_newest()) {
    saved_ = found->step;
    newest_ = std::make_shared<const io::Checkpoint>(std::move(found->checkpoint));
  }
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

TWILL_BODY void ElasticState::keep(std::int64_t step, io::Checkpoint checkpoint) {
  auto kept = std::make_shared<const io::Checkpoint>(std::move(checkpoint));
  {
    const std::lock_guard lock(mutex_);
    if (newest_ != nullptr && steps_of(*newest_) > step)
      throw ValueError(join_text({"ElasticState: commit of step ", step, " after that of step ", steps_of(*newest_),
                                  "; call restore(model, step) before the first step"}));
    newest_ = kept;
  }
  if (!folder_ || step - saved_ < files_.save_every) return;
  folder_->save(step, *kept);
  saved_ = step;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
