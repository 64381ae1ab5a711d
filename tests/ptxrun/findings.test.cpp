// SPDX-License-Identifier: Apache-2.0
//
// Each finding about memory, warps and launches, beside a twin that is right and silent.

#include "tests/ptxrun/program.hpp"

#include <catch2/catch.hpp>

using program::run;
using ptxrun::Outcome;

TEST_CASE("global accesses out of bounds name the nearest memory and the source", "[ptxrun]") {
  CHECK(run("st.global.u32 [%rd31+252], %r30;").is_clean());
  const program::Result result = run("st.global.u32 [%rd31+256], %r30;");
  CHECK(result.outcome == Outcome::illegal_address);
  REQUIRE(result.found("out of bounds"));
  CHECK(result.findings[0].find("block 0 thread 0 writes 4 bytes") != std::string::npos);
  CHECK(result.findings[0].find("0 bytes after the end of 'out' (256 bytes)") != std::string::npos);
  CHECK(result.findings[0].find("[test.cu:7]") != std::string::npos);
  CHECK(run("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd31+256];").found("out of bounds"));
  CHECK(run("mov.b64 %rd1, 16; ld.u32 %r1, [%rd1];").found("out of bounds"));
}

TEST_CASE("misaligned accesses are found", "[ptxrun]") {
  CHECK(run("ld.global.v2.u32 {%r1, %r2}, [%rd31+8];").is_clean());
  const program::Result result = run("ld.global.v2.u32 {%r1, %r2}, [%rd31+4];");
  CHECK(result.found("misaligned access"));
  CHECK(result.outcome == Outcome::misaligned_address);
  CHECK(run(".shared .align 16 .b8 s[32]; mov.u32 %r2, s; ld.shared.u64 %rd1, [%r2+4];").found("misaligned access"));
}

TEST_CASE("shared memory has bounds, by static and dynamic bytes", "[ptxrun]") {
  const std::string_view dynamic = ".extern .shared .align 16 .b8 d[];";
  const std::string_view body =
      "mov.u32 %r1, d; shl.b32 %r2, %r30, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %r30;";
  CHECK(run(body, {1, 32, 128}, dynamic).is_clean());
  CHECK(run(body, {1, 32, 124}, dynamic).found("shared memory out of bounds"));
  CHECK(run("cvta.shared.u64 %rd1, 0; st.u32 [%rd1], %r30;", {1, 1, 4}).is_clean());
  CHECK(run("cvta.shared.u64 %rd1, 0; st.u32 [%rd1+4], %r30;", {1, 1, 4}).outcome == Outcome::illegal_address);
}

TEST_CASE("local memory and parameters have bounds", "[ptxrun]") {
  const std::string depot = ".local .align 8 .b8 depot[16]; mov.u64 %rd1, depot; ";
  CHECK(run(depot + "st.local.u32 [%rd1+12], %r30;", {1, 4}).is_clean());
  CHECK(run(depot + "st.local.u32 [%rd1+16], %r30;", {1, 4}).found("local memory out of bounds"));
  CHECK(run(depot + "cvta.local.u64 %rd2, %rd1; st.u32 [%rd2+12], %r30;", {1, 4}).is_clean());
  CHECK(run(depot + "cvta.local.u64 %rd2, %rd1; st.u32 [%rd2+16], %r30;", {1, 4}).found("local memory out of bounds"));
  CHECK(run("ld.param.u64 %rd1, [out];").is_clean());
  CHECK(run("ld.param.u64 %rd1, [out+8];").found("parameter out of bounds"));
}

TEST_CASE("shuffles read lanes that are there", "[ptxrun]") {
  const std::string_view whole = "shfl.sync.bfly.b32 %r1, %r30, 16, 31, -1; st.global.u32 [%rd35], %r1;";
  const program::Result result = run(whole, {1, 32});
  CHECK(result.is_clean());
  CHECK(result.out[3] == 19);
  CHECK(run(whole, {1, 16}).found("shuffle reads a lane that does not exist"));
  CHECK(run(whole, {1, 16}).found("mask names lanes that do not exist"));
  CHECK(run("shfl.sync.bfly.b32 %r1, %r30, 8, 31, 0xffff;", {1, 16}).is_clean());
  CHECK(run("setp.lt.u32 %p1, %r30, 16; @%p1 shfl.sync.bfly.b32 %r1, %r30, 16, 31, 0xffff;", {1, 32})
            .found("shuffle reads an inactive lane"));
  CHECK(run("setp.lt.u32 %p1, %r30, 16; @%p1 shfl.sync.bfly.b32 %r1, %r30, 8, 31, 0xffff;", {1, 32}).is_clean());
}

TEST_CASE("shuffles up, down and by index stop at their segment", "[ptxrun]") {
  CHECK(run("shfl.sync.up.b32 %r1|%p1, %r30, 3, 0, -1; st.global.u32 [%rd35], %r1;", {1, 32}).out[2] == 2);
  CHECK(run("shfl.sync.up.b32 %r1|%p1, %r30, 3, 0, -1; st.global.u32 [%rd35], %r1;", {1, 32}).out[5] == 2);
  CHECK(run("shfl.sync.down.b32 %r1, %r30, 1, 31, -1; st.global.u32 [%rd35], %r1;", {1, 32}).out[31] == 31);
  CHECK(run("shfl.sync.down.b32 %r1, %r30, 1, 0x181f, -1; st.global.u32 [%rd35], %r1;", {1, 32}).out[7] == 7); // of 8
  CHECK(run("shfl.sync.idx.b32 %r1, %r30, 1, 0x1c1f, -1; st.global.u32 [%rd35], %r1;", {1, 32}).out[10] == 9); // of 4
}

TEST_CASE("warp-wide instructions wait for all lanes that they name", "[ptxrun]") {
  // Both arms come to the same instruction: the lanes meet there.
  CHECK(run("setp.lt.u32 %p1, %r30, 16; @%p1 bra NEXT; mov.u32 %r1, 1; NEXT: bar.warp.sync -1;", {1, 32}).is_clean());
  const program::Result result =
      run("setp.lt.u32 %p1, %r30, 16; @%p1 bra END; vote.sync.ballot.b32 %r1, %p1, -1; bar.sync 0; END:\n bar.sync 0;",
          {1, 32});
  CHECK(result.found("warp-wide instruction not reached by all named lanes"));
  CHECK(run("setp.lt.u32 %p1, %r30, 16; @%p1 bra END; vote.sync.ballot.b32 %r1, %p1, 0xffff0000; END:", {1, 32})
            .is_clean());
  CHECK(run("setp.lt.u32 %p1, %r30, 16; @%p1 exit; vote.sync.ballot.b32 %r1, %p1, -1;", {1, 32})
            .found("mask names lanes that have ended"));
  CHECK(run("setp.lt.u32 %p1, %r30, 16; @%p1 vote.sync.ballot.b32 %r1, %p1, 0xffff0000;", {1, 32})
            .found("lane not in its own mask"));
}

TEST_CASE("votes, matches and reductions", "[ptxrun]") {
  CHECK(
      run("setp.lt.u32 %p1, %r30, 4; vote.sync.ballot.b32 %r1, %p1, -1; st.global.u32 [%rd35], %r1;", {1, 32}).out[9] ==
      15);
  CHECK(
      run("setp.lt.u32 %p1, %r30, 4; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2; st.global.u32 [%rd35], %r1;",
          {1, 32})
          .out[9] == 1);
  CHECK(run("and.b32 %r2, %r30, 3; match.any.sync.b32 %r1, %r2, -1; st.global.u32 [%rd35], %r1;", {1, 32}).out[4] ==
        0x11111111U);
  CHECK(run("redux.sync.add.s32 %r1, %r30, -1; st.global.u32 [%rd35], %r1;", {1, 32}).out[4] == 496);
}

TEST_CASE("barriers that not all threads reach together are found", "[ptxrun]") {
  CHECK(run("bar.sync 0;", {1, 48}).is_clean());
  CHECK(run("setp.lt.u32 %p1, %r30, 16; @%p1 bra END; bar.sync 0; END:", {1, 32})
            .found("aligned barrier in divergent code"));
  CHECK(
      run("setp.lt.u32 %p1, %r30, 32; @%p1 exit; bar.sync 0;", {1, 64}).found("barrier after some threads have ended"));
  CHECK(run("setp.lt.u32 %p1, %r30, 32; @%p1 bra OTHER; bar.sync 0; bra END; OTHER: bar.sync 0; END:", {1, 64})
            .found("warps at different barriers"));
  const program::Result counted = run("setp.lt.u32 %p1, %r30, 32; @%p1 bra END; bar.sync 1, 64; END:", {1, 64});
  CHECK(counted.found("barrier that not all of its threads reach"));
  CHECK(counted.outcome == Outcome::launch_timeout);
}

TEST_CASE("traps and launches beyond limits fail", "[ptxrun]") {
  CHECK(run("setp.eq.u32 %p1, %r30, 40; @%p1 trap;", {1, 32}).is_clean());
  CHECK(run("setp.eq.u32 %p1, %r30, 30; @%p1 trap;", {1, 32}).outcome == Outcome::trap);
  CHECK(run("", {1, 1025}).found("invalid launch configuration"));
  CHECK(run("", {0, 32}).outcome == Outcome::invalid_configuration);
  CHECK(run("", {1, 32, 48 << 10}).is_clean());
  CHECK(run("", {1, 32, (48 << 10) + 4}).found("more shared memory than allowed"));
  CHECK(run(".shared .b8 s[16];", {1, 32, 48 << 10}).outcome == Outcome::invalid_value);
}

TEST_CASE("text that is not known is an error with its place", "[ptxrun]") {
  CHECK_THROWS_WITH(run("frobnicate.u32 %r1, %r2;"), Catch::Contains("unknown instruction: frobnicate.u32 %r1, %r2"));
  CHECK_THROWS_WITH(run("add.u32 %r1, %rd2, 1;"), Catch::Contains("another width"));
  CHECK_THROWS_WITH(run("bra NOWHERE;"), Catch::Contains("unknown label"));
}

TEST_CASE("atomics update memory in any space", "[ptxrun]") {
  CHECK(run("red.global.add.u32 [%rd31], %r30;", {2, 32}).out[0] == 992);
  CHECK(run("atom.global.inc.u32 %r1, [%rd31], 6;", {1, 32}).out[0] == 32 % 7);
  CHECK(run("atom.global.cas.b32 %r1, [%rd31], 0, 9; st.global.u32 [%rd35+4], %r1;", {1, 1}).out[0] == 9);
  CHECK(run("mov.b32 %r1, 0x3c003c00; red.global.add.noftz.f16x2 [%rd31], %r1;", {1, 2}).out[0] == 0x40004000U);
  CHECK(run("mov.f32 %f1, 0f3F000000; red.global.add.f32 [%rd31], %f1;", {1, 32}).out[0] == program::bits(16.0F));
  CHECK(
      run(".shared .align 4 .b8 s[4]; mov.u32 %r1, 0; st.shared.u32 [s], %r1; atom.shared.max.u32 %r1, [s], %r30; ld.shared.u32 %r2, [s]; st.global.u32 [%rd31], %r2;",
          {1, 32})
          .out[0] == 31);
}
