#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// NaN attribution: the first value of a run that is not finite, in the words of the model: its layer, operation and
// shapes. For that the compiler's trace is lowered once more at run time. Read next: training/train_step.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/report/observation.hpp>
#include <twill/compile/run/observer.hpp>
#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] std::string operation_name(const graph::Graph& graph, const graph::Node& node);

/// The path of the scope in which a node, or the node whose gradient it is, was traced.
[[nodiscard]] std::string layer_of(const graph::Graph& graph, const graph::Node& node);

/// A function traced again, and the values of its table.
struct Retraced {
  graph::Graph graph;
  Lowered lowered;

  explicit Retraced(graph::Graph traced);
  [[nodiscard]] const graph::Node& node_of(int value) const;
  /// The node that made a value, which may be the copy of a tap.
  [[nodiscard]] const graph::Node& made_of(int value) const;
};

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The first value that is not finite.
struct NotFinite {
  int value = -1; ///< in the table's list; -1: all are finite
  std::int64_t elements = 0;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;

  [[nodiscard]] bool is_found() const { return value >= 0; }
};

/// Keeps the first value that is not finite.
struct FiniteWatcher final : Watcher {
  NotFinite found{};

  TWILL_BODY void see(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) override;
};

/// The sentence for the first value of a run of S that is not finite.
template <Source S>
[[nodiscard]] std::string nan_attribution(const NotFinite& found, const graph::SymbolValues& symbols) {
  const detail::Retraced retraced{trace_of<S>()};
  const graph::Graph& graph = retraced.graph;
  const graph::Node& node = retraced.made_of(found.value);
  const std::string layer = detail::layer_of(graph, node);
  const std::string place = layer.empty() ? "" : (node.scope < 0 ? " in the gradient of " : " in ") + layer;
  std::string text = detail::operation_name(graph, node) + place + " gives " + std::to_string(found.nans) +
                     " NaN and " + std::to_string(found.infinities) + " infinities among " +
                     std::to_string(found.elements) + " elements of shape " + to_string(node.shape.evaluate(symbols));
  for (int k = 0; k < node.arity; ++k) {
    const graph::Node& input = graph.node(node.input(k));
    text += (k == 0 ? ", from " : " and ") + std::string{twill::name(input.dtype)} + " " +
            to_string(input.shape.evaluate(symbols));
  }
  return text;
}

/// Copies the values of layers whose path fits a pattern.
class Tap final : public Watcher {
public:
  Tap(graph::Graph traced, std::string_view pattern) : retraced_{std::move(traced)}, pattern_{pattern} {}

  TWILL_BODY void see(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) override;

  [[nodiscard]] const std::vector<Observation>& observations() const { return observations_; }

private:
  detail::Retraced retraced_;
  std::string pattern_;
  std::vector<Observation> observations_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/report/nan_attribution.ipp>
#endif
