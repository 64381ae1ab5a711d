#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/layer_hooks.hpp.

#include <twill/nn/layer_hooks.hpp>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void require_tap(ListView<graph::TapInfo> taps, std::string_view where, std::string_view pattern,
                            graph::TapKind kind) {
  std::string known{};
  for (const graph::TapInfo& tap : taps) {
    if (tap.kind != kind) continue;
    if (matches(pattern, tap.name.view())) return;
    known += (known.empty() ? "" : ", ") + std::string{tap.name.view()};
  }
  const bool is_value = kind == graph::TapKind::value;
  throw ValueError(std::string{where} + ": no " + (is_value ? "tap" : "layer") + " of the model is called '" +
                   std::string{pattern} + "'; " +
                   (!known.empty() ? "there are " + known
                    : is_value     ? "mark values with nn::tap"
                                   : "make the network of nn::Hooked<Model>, which taps layers"));
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA
