// SPDX-License-Identifier: Apache-2.0

#include "tests/compile/random_compiled.hpp"

using namespace twill;
using namespace twill::test;

namespace {
template <std::uint64_t... Seeds> void check_compiled_graphs(std::integer_sequence<std::uint64_t, Seeds...>) {
  const auto check = []<std::uint64_t Seed>(std::integral_constant<std::uint64_t, Seed>) {
    using Source = RandomSource<Seed>;
    RandomGraph made = random_graph(Seed, compiled_options);
    const GraphRun compiled = run_table(made, compile::Compiled<Source>::view(), compile::kernels<Source>);
    INFO("seed " << Seed);
    CHECK(fault_of(made, compiled) == "");
    const compile::QuickTable quick = quick_table(made.graph);
    CHECK((run_table(made, quick.view(), quick.kernels()) == compiled)); // to the bit
  };
  (check(std::integral_constant<std::uint64_t, Seeds + 1>{}), ...);
}
} // namespace

TEST_CASE("random graphs compute the same when they are compiled and when they are interpreted", "[compile][fuse]") {
  check_compiled_graphs(std::make_integer_sequence<std::uint64_t, 10>{});
}

TEST_CASE("random graphs compute the same when their tables are made at run time", "[compile][fuse]") {
  for (std::uint64_t seed = 11; seed <= 500; ++seed) {
    RandomGraph made = random_graph(seed, compiled_options);
    const compile::QuickTable quick = quick_table(made.graph);
    INFO("seed " << seed);
    CHECK(fault_of(made, run_table(made, quick.view(), quick.kernels())) == "");
  }
}
