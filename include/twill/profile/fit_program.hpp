#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The program that `twill_add_fit` makes of a header: the bytes and the predicted time of a step, for one way to divide
// it or for all that fit, by a command line. It allocates on no device. `fit_usage` lists its options.
// Not in twill.hpp. Read next: parallel/fit/search.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/traces.hpp>

#include <span>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// The options of a command line, as text.
[[nodiscard]] std::string fit_usage();

inline namespace TWILL_ISA {

/// The traces of a step, and their element type.
struct FitPrecision {
  DType dtype = DType::float32;   ///< of the model's elements
  parallel::fit::Traces traces{}; ///< of the step
};

/// What the program prints for a command line without its own name; files are written.
/// throws: ValueError naming an argument or a size that is wrong, SystemError for a file
[[nodiscard]] std::string fit_program(std::span<const FitPrecision> precisions, std::span<const std::string> arguments);

/// The program of a step, `training::StepOf<Model, loss, Rule, Targets...>`, for models of these element types.
template <class Step, FloatingScalar... Elements>
[[nodiscard]] std::string fit_program(int argument_count, char** arguments) {
  const std::vector<std::string> all(arguments + 1, arguments + argument_count);
  if constexpr (sizeof...(Elements) == 0) {
    return fit_program<Step, float>(argument_count, arguments);
  } else {
    const FitPrecision precisions[] = {{dtype_of<Elements>, parallel::fit::traces_of<Step, Elements>}...};
    return fit_program(std::span<const FitPrecision>{precisions}, std::span<const std::string>{all});
  }
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/fit_program.ipp>
#endif
