// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's profilers are told of runs, launches and statements: the names, and that each range that is begun is ended,
// when a node throws, too. A tool that is linked into this program stands for a profiler, as NVTX allows.

#include <twill/expr.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/profile/trace.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

static_assert(TWILL_WITH_NVTX == 1);

using namespace twill;

namespace {

/// What the tool was told, in one line of the program: the launches of a small network run in the calling thread.
struct Told {
  std::vector<std::string> names{}; ///< of ranges in the order in which they began, with a blank for each that was open
  int open = 0;
  int least = 0; ///< below zero where more ranges ended than had begun
};
Told told{};

int push(const char* name) {
  told.names.push_back(std::string(static_cast<std::size_t>(told.open), ' ') + name);
  return told.open++;
}
int pop() {
  told.least = --told.open < told.least ? told.open : told.least;
  return told.open;
}

/// Called by NVTX before its first function returns.
int attach(NvtxGetExportTableFunc_t export_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
  return 1;
}

/// NVTX finds a tool of the program's own by this pointer.
const bool is_attached = (InitializeInjectionNvtx2_fnptr = &attach) != nullptr;

bool throws_now = false;
inline constexpr graph::Operation fragile_operation{.name = "fragile", .wants_dense = true};

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 3> x) {
    const auto hidden = nn::linear(x, 4, "first");
    return tanh(graph::add_operation(fragile_operation, {hidden}, hidden.dtype(), hidden.shape()));
  }
};

} // namespace

template <> struct twill::KernelOf<&fragile_operation> {
  template <class T> static void run(const Team&, const kernel::Launch& launch) {
    if (throws_now) throw std::runtime_error("fragile: broken");
    const auto count = static_cast<std::size_t>(launch.shapes[0].elements());
    std::memcpy(launch.operands[1].data, launch.operands[0].data, count * sizeof(T));
  }
};

TEST_CASE("profilers are told the name of each run and launch, and each range ends", "[profile]") {
  REQUIRE(is_attached);
  const nn::Network<Model> model{};
  const auto x = full<float, Shape<dyn, 3>>(Dims(5, 3), 0.5F, Cpu{0});
  told.names.clear(); // what made them
  static_cast<void>(eval(x * x + tanh(x)));
  REQUIRE(told.names.size() == 1); // an eager statement by its operations
  CHECK(told.names[0].find("tanh") != std::string::npos);
  CHECK(told.names[0][0] != ' ');
  const std::vector<std::string> statement = told.names;
  told.names.clear();
  const profile::Trace trace = profile::trace([&] { static_cast<void>(eval(x * x + tanh(x))); });
  CHECK(trace.runs.size() == 1); // told to both
  CHECK(told.names == statement);
  told.names.clear();
  static_cast<void>(eval(x * x + tanh(x))); // and to profilers alone when the trace has ended
  CHECK(told.names == statement);
  const kernel::Grid grid(1);
  CHECK_THROWS_WITH(
      kernel::launch_watched(Cpu{0}, {.grid = &grid}, [](const Team&) { throw std::runtime_error("broken"); }),
      "broken");
  CHECK(told.open == 0);
  told.names.clear();
  static_cast<void>(model.infer(x));
  REQUIRE(told.names.size() >= 4);
  CHECK(told.names[0] == "run");
  CHECK(told.names[1].starts_with(" first: matmul"));
  std::vector<std::string> whole = told.names;
  bool has_fragile = false;
  for (const std::string& name : whole) has_fragile = has_fragile || name == " fragile";
  CHECK(has_fragile);
  CHECK(told.open == 0);

  told.names.clear();
  throws_now = true;
  CHECK_THROWS_WITH(model.infer(x), "fragile: broken");
  CHECK(told.open == 0);
  CHECK(told.names.size() < whole.size()); // what comes behind it did not run
  told.names.clear();
  throws_now = false;
  static_cast<void>(model.infer(x));
  CHECK(told.names == whole);
  CHECK(told.open == 0);
  CHECK(told.least == 0);
}
