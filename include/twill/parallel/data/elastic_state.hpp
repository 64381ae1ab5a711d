#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State of an elastic training run: a copy of the newest committed step in host memory, and in a folder where one is
// given, from which a group of any number of ranks goes on after a failure. A commit is whole, also with ZeRO, whose
// parts are gathered for it: so no rank's death takes a part away. Threads share one state, so that a failed rank costs
// the steps since the last commit. Processes have one each, the first few hold each commit, and those left after a
// death save it, so that it costs no more. Not in twill.hpp. Read next: parallel/threads/elastic.hpp,
// parallel/data/elastic_process.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/generator.hpp>
#include <twill/io/checkpoint_folder.hpp>
#include <twill/io/training.hpp>
#include <twill/optim/update.hpp>
#include <twill/parallel/data/distributed.hpp>
#include <twill/parallel/data/zero_stage.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/waiting.hpp>
#include <twill/training/training_state.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

template <class Network, Communicator C, class L, optim::Rule R, class Z> class DistributedStep;
template <class Network, class Model, class L, optim::Rule R, int Stage> class ReproducibleStep;

/// Files of an elastic run.
struct ElasticFiles {
  std::string folder{};           ///< one that every rank sees; rank 0 writes to it. Empty: no files
  std::int64_t save_every = 100;  ///< steps between two files, or more where commits are rarer
  io::RotationOptions rotation{}; ///< of the files
  int copies = 2; ///< of a commit where ranks are processes: the first ranks hold it in memory; 1: only rank 0 does
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Whether all ranks have to take part in a copy of a step's states.
template <class Step> inline constexpr bool gathers_states = true;
template <class N, Communicator C, class L, optim::Rule R>
inline constexpr bool gathers_states<DistributedStep<N, C, L, R, Zero<0>>> = false;
template <class N, class M, class L, optim::Rule R>
inline constexpr bool gathers_states<ReproducibleStep<N, M, L, R, 0>> = false;

/// The random draws of a rank: of its device's generator, and of its model.
struct OwnDraws {
  RandomDraw of_device{};
  RandomDraw of_model{};
};

/// Makes this rank's copy that of rank 0, where replicas may differ: its buffers. Returns rank 0's draws. One small
/// call, and those of the buffers.    throws: CommunicatorError
template <class Model> [[nodiscard]] OwnDraws follow_rank_0(Model& model) {
  const RandomDraw device = generator(model.module().device()).state();
  const RandomDraw last = model.module().state()->last_draw;
  HostNumbers<typename Model::communicator_type, 4> numbers{model.communicator()};
  const auto all = numbers.exchange({static_cast<std::int64_t>(device.seed), static_cast<std::int64_t>(device.step),
                                     static_cast<std::int64_t>(last.seed), static_cast<std::int64_t>(last.step)},
                                    [&](const Call& call) { model.run(call); });
  if (model.options().broadcasts_buffers) model.synchronise_buffers();
  return {{static_cast<std::uint64_t>(all[0]), static_cast<std::uint32_t>(all[1])},
          {static_cast<std::uint64_t>(all[2]), static_cast<std::uint32_t>(all[3])}};
}

/// Refuses ranks that would go on from different steps. throws: ValueError naming two of them
void require_one_start(std::span<const std::int64_t> steps, const std::string& folder);

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The newest committed step of a run. Ranks that are threads share one; its functions may be called by all of them.
class ElasticState {
public:
  ElasticState() = default;
  /// Begins with the newest whole checkpoint of the folder, those that other ranks than 0 saved included, if there is
  /// one. throws: SystemError for a folder that cannot be made, ValueError for .save_every or .copies below 1
  explicit ElasticState(ElasticFiles files);

  /// Says that ranks are processes, each with a state of its own, and this one's number: before `restore`, by all
  /// ranks. `run_elastic(world, ...)` does it. throws: ValueError for a negative number
  void set_process_rank(int rank);

  /// The steps of the newest commit; 0 where there is none.
  [[nodiscard]] std::int64_t step() const;
  /// The newest commit, which nothing changes any more; null where there is none.
  [[nodiscard]] std::shared_ptr<const io::Checkpoint> newest() const;

  /// Goes on from the newest commit: weights, states and options of the rule, random draws and the count of steps,
  /// which is returned. Where there is none, rank 0's start becomes the first. All ranks call it together, before their
  /// first step. throws: ValueError if ranks see different commits, or for another model or rule; CommunicatorError
  template <class Model, class Step> std::int64_t restore(Model& model, Step& step) {
    const auto found = newest();
    detail::HostNumbers<typename Model::communicator_type, 1> numbers{model.communicator()};
    const std::int64_t own = found == nullptr ? -1 : steps_of(*found);
    detail::require_one_start(numbers.exchange({own}, [&](const Call& call) { model.run(call); }), files_.folder);
    if (found == nullptr) {
      commit(model, step);
      return 0;
    }
    io::restore(*found, model.module(), step);
    return step.steps();
  }

  /// Copies weights, states, draws and the count of steps of rank 0 to host memory; they become the newest commit, and
  /// a file when its time has come. All ranks call it after the same step. Of processes `.copies` ranks keep the same
  /// commit. cost: with a stage of ZeRO the states, and with `zero<3>` the weights, are gathered and copied on each
  /// rank; else only ranks that keep it copy, and no rank waits where one keeps it
  /// throws: ValueError for a step before the newest, SystemError if the file cannot be written; CommunicatorError
  template <class Model, class Step> void commit(Model& model, Step& step) {
    commit(model, step, [](io::Checkpoint&) {});
  }
  /// Such a commit, to which `add(checkpoint)` adds what else the program needs, such as `io::set_position`.
  template <class Model, class Step, class Add> void commit(Model& model, Step& step, const Add& add) {
    std::optional<detail::OwnDraws> draws{};
    if (keepers() > 1) draws = detail::follow_rank_0(model);
    const bool keeps_it = model.rank() < keepers();
    if constexpr (!detail::gathers_states<Step>)
      if (!keeps_it) return;
    if constexpr (requires { step.gather_weights(); }) step.gather_weights();
    io::Checkpoint checkpoint = io::checkpoint_of(model.module(), step);
    if (!keeps_it) return;
    if (draws) set_draws(checkpoint, *draws);
    add(checkpoint);
    keep(step.steps(), std::move(checkpoint));
  }

  /// Saves the newest commit unless a file has it: rank 0 in the folder, the process of another rank in a folder inside
  /// of it, "rank-1". Nothing without a folder or a commit. throws: SystemError if the file cannot be written
  void save();

private:
  /// The count of steps in a commit.
  [[nodiscard]] static std::int64_t steps_of(const io::Checkpoint& checkpoint);
  static void set_draws(io::Checkpoint& checkpoint, const detail::OwnDraws& draws);
  void load();
  void keep(std::int64_t step, io::Checkpoint checkpoint);
  /// The number of ranks that hold a commit.
  [[nodiscard]] int keepers() const { return process_rank_ < 0 ? 1 : files_.copies; }

  ElasticFiles files_{};
  int process_rank_ = -1; ///< negative: ranks are threads, which share the state
  mutable detail::Mutex mutex_{};
  std::shared_ptr<const io::Checkpoint> newest_{};
  detail::Mutex files_mutex_{}; ///< of what follows
  std::optional<io::CheckpointFolder> folder_{};
  std::int64_t saved_ = 0; ///< the step of the newest file that is known here
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/elastic_state.ipp>
#endif
