#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training run as a checkpoint: `checkpoint_of(model, step)` holds copies of the weights, the rule's states (its loss
// scale among them) and options, the number of steps, on which schedules depend, and the random numbers to come;
// `restore` goes on from there, bit for bit, on any device, with the options of the checkpoint or of the program. The
// place in an epoch, a plateau and other numbers are the user's to `set`. Read next: io/checkpoint_folder.hpp,
// training/rule_options.hpp.

#include <twill/core/config.hpp>
#include <twill/data/loader.hpp>
#include <twill/device/generator.hpp>
#include <twill/io/checkpoint.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/schedules.hpp>
#include <twill/training/rule_options.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace io {

inline namespace TWILL_ISA {

/// Keeps the state of a generator: its seed and the number of draws.
void set_draw(Checkpoint& checkpoint, std::string_view name, const RandomDraw& draw);
/// throws: ValueError when there is none of this name
[[nodiscard]] RandomDraw draw_of(const Checkpoint& checkpoint, std::string_view name);

/// The source of options after `restore`: rates, decay and the like of a rule, factor and patience of a plateau.
enum class OptionsOf : bool { checkpoint, program };

} // namespace TWILL_ISA

namespace detail { inline namespace TWILL_ISA {

/// The state of a rule as a checkpoint has it, without options where the program's count.
[[nodiscard]] nn::StateDict rule_state_of(const Checkpoint& checkpoint, OptionsOf options);

/// throws: ValueError naming the value and those that are allowed
void require_allowed(std::string_view name, double value, optim::Allowed allowed);

/// A number, a count or a flag as a checkpoint keeps it. throws: ValueError where it is missing, of another kind or not
/// allowed
template <class T>
[[nodiscard]] T allowed_value(const Checkpoint& checkpoint, const std::string& name, optim::Allowed allowed) {
  if constexpr (std::same_as<T, double>) {
    const double value = checkpoint.number(name);
    require_allowed(name, value, allowed);
    return value;
  } else {
    const std::int64_t value = checkpoint.integer(name);
    require_allowed(name, static_cast<double>(value), allowed);
    return static_cast<T>(value);
  }
}

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// Keeps the state and the options of a plateau, under a name.
void set_plateau(Checkpoint& checkpoint, std::string_view name, const optim::Plateau& plateau);
/// Restores a plateau, which keeps its own value of an option that the checkpoint lacks, or of all of them where the
/// program's count; the report says which.
/// throws: ValueError when there is none of this name, or naming a value and those that are allowed, with nothing
/// changed
training::OptionsReport restore_plateau(const Checkpoint& checkpoint, std::string_view name, optim::Plateau& plateau,
                                        OptionsOf of = OptionsOf::checkpoint);

/// Keeps the place in an epoch, under a name: `set_position(checkpoint, "loader", loader.position())`.
void set_position(Checkpoint& checkpoint, std::string_view name, const data::Position& position);
/// For `loader.set_position`. throws: ValueError when there is none of this name
[[nodiscard]] data::Position position_of(const Checkpoint& checkpoint, std::string_view name);

/// Copies everything that a network and a step or an optimiser on it need to go on. Waits for the device; every rank
/// calls it where a step is that of several ranks.
template <class Network, class Step> [[nodiscard]] Checkpoint checkpoint_of(const Network& network, Step& step) {
  Checkpoint checkpoint{};
  checkpoint.add("model", nn::state_dict(network));
  checkpoint.add("optimiser", step.state_dict());
  set_draw(checkpoint, "random.device", generator(network.device()).state());
  set_draw(checkpoint, "random.model", network.state()->last_draw);
  return checkpoint;
}

/// Goes on from a checkpoint of the same model and rule, on any device, or from one device on several by DataParallel
/// and back; `network` is then the wrapper's module. The rule's options are those of the checkpoint, or its own where
/// the checkpoint is older than options in checkpoints, or where the program's are asked for; the report says which.
/// throws: ShapeError, ValueError naming what does not fit, with nothing changed
template <class Network, class Step>
training::OptionsReport restore(const Checkpoint& checkpoint, Network& network, Step& step,
                                OptionsOf of = OptionsOf::checkpoint) {
  const nn::StateDict model = checkpoint.state("model");
  const RandomDraw of_device = draw_of(checkpoint, "random.device");
  const RandomDraw of_model = draw_of(checkpoint, "random.model");
  nn::require_loadable(network, model);
  training::OptionsReport options = step.load_state_dict(detail::rule_state_of(checkpoint, of));
  nn::load_state_dict(network, model);
  generator(network.device()).set_state(of_device);
  network.state()->last_draw = of_model;
  if constexpr (requires { step.synchronise(); }) step.synchronise(); // replicas of the network
  return options;
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/training.ipp>
#endif
