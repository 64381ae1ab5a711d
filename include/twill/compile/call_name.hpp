#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Names of compiled calls in messages of a running program: "infer(Classifier): argument 1 of forward, axis 1: ...". A
// source says in `called()` which model or function it compiles and which call runs it; its table holds that as
// pointers, and a text is made when something is refused. C++ does not tell the names of arguments, so they are
// counted, from 1, as a reader of `forward` counts them; axes count from 0 and have the labels of `Dim<"batch">`. Read
// next: compile/plan/binding.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/type_name.hpp>
#include <twill/device/current.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Arguments of a call that follow those of its model or function.
enum class Others : std::uint8_t { targets, tangents, cotangents };

/// A compiled call, as messages name it.
struct CallName {
  const char* type = nullptr;      ///< `written_name` of the model or function, null where there is none
  const char* call = "";           ///< "infer", "train_step"; empty for a function, which is called itself
  bool is_model = false;           ///< whether the type is a model's
  Others others = Others::targets; ///< arguments from number `inputs` on
  std::size_t inputs = static_cast<std::size_t>(-1); ///< arguments before the others
};

/// The name of the calls of a source: its own, or none.
template <class S> [[nodiscard]] constexpr CallName call_name_of() {
  if constexpr (requires { S::called(); })
    return S::called();
  else
    return {};
}

/// The call with which a message begins: "infer(Classifier)", "compiled function (model.cpp:12)".
[[nodiscard]] std::string title_of(const CallName& name, const CallSite& site = {});

/// "argument 2 of forward" of a model, and after these "target 1"; "argument 2" of a function.
[[nodiscard]] std::string argument_of(const CallName& name, std::size_t argument);

/// Refuses an argument on another device than the model, or the model's slot, is on.
/// throws: DeviceError naming the call, the argument and both devices
[[noreturn]] void refuse_device(const CallName& name, std::size_t argument, std::string_view given,
                                std::string_view wanted);

/// Refuses tensors that are on another device than the model.
/// throws: DeviceError naming the call, the argument and both devices
template <class D, class... Tensors>
void require_device(const CallName& call, const D& device, const Tensors&... tensors) {
  std::size_t argument = 0;
  const auto check = [&](const auto& tensor) {
    if (!(tensor.device() == device)) refuse_device(call, argument, to_string(tensor.device()), to_string(device));
    ++argument;
  };
  (check(tensors), ...);
}

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/call_name.ipp>
#endif
