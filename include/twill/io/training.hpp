#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training run as a checkpoint: `checkpoint_of(model, step)` holds copies of the weights, the rule's states (its loss scale
// among them) and options, the count of steps, on which schedules depend, and the random numbers to come; `restore` goes on from
// there, bit for bit, on the same or another device. The place in an epoch and other numbers are the user's to `set`. Read
// next: io/checkpoint_folder.hpp, train/rule_options.hpp.

#include <twill/core/config.hpp>
#include <twill/data/loader.hpp>
#include <twill/device/generator.hpp>
#include <twill/io/checkpoint.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/schedules.hpp>
#include <twill/train/rule_options.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace twill::inline v0::io::inline TWILL_ISA {

/// Keeps the state of a generator: its seed and how often it was drawn from.
inline void set_draw(Checkpoint& checkpoint, std::string_view name, const Draw& draw) {
  checkpoint.set(join_text({name, ".seed"}), draw.seed);
  checkpoint.set(join_text({name, ".step"}), draw.step);
}
/// throws: ValueError when there is none of this name
[[nodiscard]] inline Draw draw_of(const Checkpoint& checkpoint, std::string_view name) {
  const std::int64_t step = checkpoint.integer(join_text({name, ".step"}));
  if (step < 0 || step > std::numeric_limits<std::uint32_t>::max())
    throw ValueError(join_text({"checkpoint: '", name, ".step' is ", step, ", draws are counted in 32 bits"}));
  return {static_cast<std::uint64_t>(checkpoint.integer(join_text({name, ".seed"}))), static_cast<std::uint32_t>(step)};
}

/// Keeps what a plateau knows, under a name.
inline void set_plateau(Checkpoint& checkpoint, std::string_view name, const optim::Plateau& plateau) {
  const optim::Plateau::State& state = plateau.state();
  checkpoint.set(join_text({name, ".rate"}), state.rate);
  checkpoint.set(join_text({name, ".best"}), state.best);
  checkpoint.set(join_text({name, ".bad"}), state.bad);
  checkpoint.set(join_text({name, ".cooling"}), state.cooling);
  checkpoint.set(join_text({name, ".has_best"}), std::int64_t{state.has_best});
}
/// throws: ValueError when there is none of this name
inline void restore_plateau(const Checkpoint& checkpoint, std::string_view name, optim::Plateau& plateau) {
  plateau.set_state({.rate = checkpoint.number(join_text({name, ".rate"})),
                     .best = checkpoint.number(join_text({name, ".best"})),
                     .bad = checkpoint.integer(join_text({name, ".bad"})),
                     .cooling = checkpoint.integer(join_text({name, ".cooling"})),
                     .has_best = checkpoint.integer(join_text({name, ".has_best"})) != 0});
}

/// Keeps the place in an epoch, under a name: `set_position(checkpoint, "loader", loader.position())`.
inline void set_position(Checkpoint& checkpoint, std::string_view name, const data::Position& position) {
  checkpoint.set(join_text({name, ".epoch"}), position.epoch);
  checkpoint.set(join_text({name, ".batch"}), position.batch);
}
/// For `loader.set_position`. throws: ValueError when there is none of this name
[[nodiscard]] inline data::Position position_of(const Checkpoint& checkpoint, std::string_view name) {
  return {checkpoint.integer(join_text({name, ".epoch"})), checkpoint.integer(join_text({name, ".batch"}))};
}

/// Copies everything that a network and a step or an optimiser on it need to go on. Waits for the device; every rank calls it
/// where a step is that of several ranks.
template <class Network, class Step> [[nodiscard]] Checkpoint checkpoint_of(const Network& network, Step& step) {
  Checkpoint checkpoint{};
  checkpoint.add("model", nn::state_dict(network));
  checkpoint.add("optimiser", step.state_dict());
  set_draw(checkpoint, "random.device", generator(network.device()).state());
  set_draw(checkpoint, "random.model", network.state()->last_draw);
  return checkpoint;
}

/// Goes on from a checkpoint: of the same model and rule, on whatever device, or from one device on several by DataParallel and
/// back; `network` is then the wrapper's module. The rule's options are those of the checkpoint, or its own where that was made
/// before checkpoints held any; the report says which.
/// throws: ShapeError, ValueError naming what does not fit, with nothing changed (the rule's states are compared at its first
/// step where it has made none)
template <class Network, class Step>
train::OptionsReport restore(const Checkpoint& checkpoint, Network& network, Step& step) {
  const nn::StateDict model = checkpoint.state("model");
  const Draw of_device = draw_of(checkpoint, "random.device");
  const Draw of_model = draw_of(checkpoint, "random.model");
  nn::require_loadable(network, model);
  train::OptionsReport options = step.load_state_dict(checkpoint.state("optimiser"));
  nn::load_state_dict(network, model);
  generator(network.device()).set_state(of_device);
  network.state()->last_draw = of_model;
  if constexpr (requires { step.synchronise(); }) step.synchronise(); // replicas of the network
  return options;
}

} // namespace twill::inline v0::io::inline TWILL_ISA
