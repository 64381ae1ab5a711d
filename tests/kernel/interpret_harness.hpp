#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Interpreted programs beside compiled ones: both run on the same operands, at sizes around a pack and a block and in memory
// of any layout, and every bit has to be the same.

#include "gpu/layouts.hpp"

#include <twill/kernel/interpret.hpp>
#include <twill/kernel/run.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <vector>

namespace interpret_test {

using namespace gpu_test;

/// Whether all bytes are the same; one NaN is as good as another.
inline bool same_elements(DType type, const std::byte* mine, const std::byte* theirs, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += size_of(type))
    if (std::memcmp(mine + at, theirs + at, size_of(type)) != 0 &&
        !(is_floating(type) && std::isnan(as_double(type, mine + at)) && std::isnan(as_double(type, theirs + at))))
      return false;
  return true;
}

template <class P> const InterpretedProgram& interpreted() {
  static const InterpretedProgram program{summary_of<P>.lines};
  return program;
}

/// Whether both give the same bits on operands that lie as the harness binds them.
template <class P> bool agrees(const Grid& grid, int threads = 1, unsigned seed = 1) {
  const Bound<P> mine{grid, seed}, theirs{grid, seed};
  run_table(interpreted<P>().table(), AnyTeam{Threads{threads}}, grid, mine.operands.data());
  run(P{}, Threads{threads}, grid, theirs.operands.data());
  std::size_t next = 0;
  for (const Line& line : summary_of<P>.lines) {
    if (line.operand < 0 || line.kind == LineKind::immediate || line.kind == LineKind::iota) continue;
    const Memory& own = mine.memory[next];
    if (!same_elements(line.type, own.data(), theirs.memory[next++].data(), own.bytes())) return false;
  }
  return true;
}

/// The same on operands that lie in any way.
template <class P> bool agrees_anyhow(const Grid& grid, unsigned seed) {
  const Laid<P> mine{grid, seed, Layouts::any}, theirs{grid, seed, Layouts::any};
  run_table(interpreted<P>().table(), AnyTeam{Threads{1}}, grid, mine.operands.data());
  run(P{}, Threads{1}, grid, theirs.operands.data());
  for (std::size_t i = 0; i < mine.held.size(); ++i)
    if (!same_elements(mine.held[i].type, mine.held[i].bytes.get(), theirs.held[i].bytes.get(), mine.held[i].size))
      return false;
  return true;
}

/// At sizes around a pack and a block, in rows and columns.
template <class P> void check_program() {
  unsigned seed = 0;
  for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 16, 17, 31, 33, 64, 65, 127, 257, 1009, 1024, 2051}) {
    CAPTURE(n);
    CHECK(agrees<P>(Dims(n), 1, ++seed));
    CHECK(agrees<P>(Dims(3, n), 1, ++seed));
    CHECK(agrees<P>(Dims(19, n), 2, ++seed));
  }
  CHECK(agrees<P>(Dims{}));
  CHECK(agrees<P>(Dims(0, 5)));
  CHECK(agrees<P>(Dims(2, 3, 65)));
  CHECK(agrees<P>(Dims(2, 5003), 3));
  for (const Grid& grid : {Dims(1), Dims(1009), Dims(37, 64), Dims(61, 13), Dims(3, 5, 7, 9), Dims(2, 1, 4, 2, 3, 8)})
    for (int layout = 0; layout < 4; ++layout) {
      CAPTURE(to_string(grid), ++seed);
      CHECK(agrees_anyhow<P>(grid, seed));
    }
}
template <class... P> void check_programs() { (check_program<P>(), ...); }

} // namespace interpret_test
