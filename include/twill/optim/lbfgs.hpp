#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// L-BFGS (Liu and Nocedal, 1989): minimises a function of many numbers from its values and gradients, with the
// curvature of the last steps and a line search that satisfies the strong Wolfe conditions (Nocedal and Wright,
// Numerical Optimization, algorithms 3.5, 3.6 and 7.5). Steps, tolerances and the choice of trial points are those of
// torch.optim.LBFGS; the arithmetic is on the host, in float64. Not in twill.hpp. Read next: training/lbfgs_step.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// How far L-BFGS goes along a direction.
enum class LineSearch : bool {
  none,         ///< the rate times the direction; in the first step at most the rate in the sum of all elements
  strong_wolfe, ///< until value and slope are low enough
};

/// Options of L-BFGS, those of torch.optim.LBFGS.
struct LbfgsOptions {
  double rate = 1;                                   ///< the first trial step along a direction
  std::int64_t iterations = 20;                      ///< the most in one step
  std::int64_t evaluations = 0;                      ///< the most in one step; 0: five for four iterations
  double gradient_tolerance = 1e-7;                  ///< a step ends where no element of the gradient is larger
  double change_tolerance = 1e-9;                    ///< and where neither value nor any element change by more
  std::int64_t history = 100;                        ///< steps whose curvature is kept
  LineSearch line_search = LineSearch::strong_wolfe; ///< PyTorch's default is none
};

/// The method with what it knows of the function so far.
class Lbfgs {
public:
  /// The value at x; writes the gradient.
  using Function = std::function<double(std::span<const double> x, std::span<double> gradient)>;

  /// throws: ValueError for an option outside its range
  explicit Lbfgs(LbfgsOptions given = {});

  /// One step, of several iterations: moves x and returns the value where it was. The curvature of earlier steps
  /// counts, so all steps are of one function. A value that is not finite is taken for too far along a direction.
  /// throws: ValueError when x has another size than before; what the function throws, x then being as it was
  double step(std::span<double> x, const Function& function);

  /// Iterations of all steps.
  [[nodiscard]] std::int64_t iterations() const { return iterations_; }
  /// Values and gradients computed in all steps.
  [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }
  /// The size of x in earlier steps; 0 before the first one and after `reset`.
  [[nodiscard]] std::size_t size() const { return last_gradient_.size(); }
  /// Forgets the curvature, for another function.
  void reset();

  /// The curvature and the counts, to go on elsewhere with the bits of an unbroken run: float64, by PyTorch's meanings
  /// "gradient", "direction" (size), "changes", "changes_of_gradient" (kept steps, size), "length", "scale", and the
  /// integers "iterations" and "evaluations". Options are not among them.
  [[nodiscard]] nn::StateDict state_dict() const;
  /// Goes on from such a state; options stay as they are.
  /// throws: ValueError naming what is missing, or has another shape or type, with nothing changed
  void load_state_dict(const nn::StateDict& state);

  LbfgsOptions options; ///< may change between steps

private:
  using Vector = std::vector<double>;

  /// A place along a direction.
  struct Point {
    double length = 0; ///< times the direction
    double value = 0;  ///< of the function
    double slope = 0;  ///< of the function along the direction
    Vector gradient{}; ///< of the function
  };
  /// A pair of changes along one iteration.
  struct Change {
    Vector of_x{};
    Vector of_gradient{};
    double inverse_product = 0; ///< 1 / (of_x . of_gradient)
  };

  void remember(const Vector& gradient);
  void choose_direction(const Vector& gradient);
  [[nodiscard]] Point evaluate(const Vector& start, double length, const Function& function);
  [[nodiscard]] Point search(const Vector& start, double first, const Point& here, std::int64_t most,
                             const Function& function);

  Vector direction_{};
  Vector last_gradient_{};
  std::vector<Change> changes_{};
  double length_ = 0; ///< of the last iteration, times its direction
  double scale_ = 1;  ///< of the first guess of the inverse Hessian
  std::int64_t iterations_ = 0;
  std::int64_t evaluations_ = 0;
};

}}}} // namespace twill::v0::optim::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/optim/lbfgs.ipp>
#endif
