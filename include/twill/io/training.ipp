#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/training.hpp.

#include <twill/io/training.hpp>

namespace twill { inline namespace v0 { namespace io {

inline namespace TWILL_ISA {

TWILL_BODY void set_draw(Checkpoint& checkpoint, std::string_view name, const RandomDraw& draw) {
  checkpoint.set(join_text({name, ".seed"}), draw.seed);
  checkpoint.set(join_text({name, ".step"}), draw.step);
}

TWILL_BODY RandomDraw draw_of(const Checkpoint& checkpoint, std::string_view name) {
  const std::int64_t step = checkpoint.integer(join_text({name, ".step"}));
  if (step < 0 || step > std::numeric_limits<std::uint32_t>::max())
    throw ValueError(join_text({"checkpoint: '", name, ".step' is ", step, ", draws are counted in 32 bits"}));
  return {static_cast<std::uint64_t>(checkpoint.integer(join_text({name, ".seed"}))), static_cast<std::uint32_t>(step)};
}

} // namespace TWILL_ISA

namespace detail { inline namespace TWILL_ISA {

TWILL_BODY nn::StateDict rule_state_of(const Checkpoint& checkpoint, OptionsOf options) {
  const nn::StateDict state = checkpoint.state("optimiser");
  return options == OptionsOf::program ? training::without_options(state) : state;
}

TWILL_BODY void require_allowed(std::string_view name, double value, optim::Allowed allowed) {
  if (!optim::allows(allowed, value))
    throw ValueError(
        join_text({"checkpoint: '", name, "' is ", number_text(value), ", has to be ", optim::allowed_text(allowed)}));
}

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

TWILL_BODY void set_plateau(Checkpoint& checkpoint, std::string_view name, const optim::Plateau& plateau) {
  const optim::Plateau::State& state = plateau.state();
  checkpoint.set(join_text({name, ".rate"}), state.rate);
  checkpoint.set(join_text({name, ".best"}), state.best);
  checkpoint.set(join_text({name, ".bad"}), state.bad);
  checkpoint.set(join_text({name, ".cooling"}), state.cooling);
  checkpoint.set(join_text({name, ".has_best"}), std::int64_t{state.has_best});
  optim::PlateauOptions::for_each(plateau.options, [&](const char* option, auto value, optim::Allowed) {
    checkpoint.set(join_text({name, ".options.", option}), value);
  });
}

TWILL_BODY training::OptionsReport restore_plateau(const Checkpoint& checkpoint, std::string_view name,
                                                   optim::Plateau& plateau, OptionsOf of) {
  using optim::Allowed;
  const std::string start = join_text({name, "."});
  const optim::Plateau::State state{
      .rate = detail::allowed_value<double>(checkpoint, start + "rate", Allowed::not_negative),
      .best = detail::allowed_value<double>(checkpoint, start + "best", Allowed::numbers),
      .bad = detail::allowed_value<std::int64_t>(checkpoint, start + "bad", Allowed::not_negative),
      .cooling = detail::allowed_value<std::int64_t>(checkpoint, start + "cooling", Allowed::not_negative),
      .has_best = checkpoint.integer(start + "has_best") != 0};
  const auto text_of = [](auto value) {
    if constexpr (std::same_as<decltype(value), bool>)
      return std::string{value ? "true" : "false"};
    else if constexpr (std::same_as<decltype(value), double>)
      return number_text(value);
    else
      return std::to_string(value);
  };
  optim::PlateauOptions options = plateau.options;
  training::OptionsReport report{};
  optim::PlateauOptions::for_each(options, [&](const char* option, auto& value, Allowed allowed) {
    const std::string key = join_text({start, "options.", option});
    if (of == OptionsOf::program) return static_cast<void>(report.kept.emplace_back(option));
    if (!checkpoint.has_value(key)) return static_cast<void>(report.missing.emplace_back(option));
    const auto before = value;
    value = detail::allowed_value<std::remove_const_t<decltype(before)>>(checkpoint, key, allowed);
    report.loaded.emplace_back(option);
    if (before != value) report.changed.push_back({option, text_of(before), text_of(value)});
  });
  plateau.options = options;
  plateau.set_state(state);
  return report;
}

TWILL_BODY void set_position(Checkpoint& checkpoint, std::string_view name, const data::Position& position) {
  checkpoint.set(join_text({name, ".epoch"}), position.epoch);
  checkpoint.set(join_text({name, ".batch"}), position.batch);
}

TWILL_BODY data::Position position_of(const Checkpoint& checkpoint, std::string_view name) {
  return {checkpoint.integer(join_text({name, ".epoch"})), checkpoint.integer(join_text({name, ".batch"}))};
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::io
