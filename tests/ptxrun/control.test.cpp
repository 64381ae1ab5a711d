// SPDX-License-Identifier: Apache-2.0

#include "tests/ptxrun/program.hpp"

#include <catch2/catch.hpp>

using ptxrun::Outcome;

TEST_CASE("lanes meet again after a branch", "[ptxrun]") {
  // Both arms count the active lanes, and so does the join.
  const program::Result result = program::run(R"(
    setp.lt.u32 %p1, %r30, 8;
    @%p1 bra LESS;
    activemask.b32 %r1; bra.uni JOIN;
  LESS:
    activemask.b32 %r1;
  JOIN:
    activemask.b32 %r2; popc.b32 %r1, %r1; popc.b32 %r2, %r2; mad.lo.u32 %r3, %r1, 100, %r2;
    st.global.u32 [%rd35], %r3;)",
                                              {1, 32});
  CHECK(result.is_clean());
  CHECK(result.out[0] == 832);
  CHECK(result.out[31] == 2432);
}

TEST_CASE("lanes meet again at a join whose arm stands after it", "[ptxrun]") {
  // Within a loop, whose lanes leave it by and by: after the join and after the loop, all lanes are there.
  const program::Result result = program::run(R"(
    mov.u32 %r1, 0; mov.u32 %r2, 0;
  LOOP:
    and.b32 %r3, %r30, 1; setp.eq.u32 %p1, %r3, 1;
    @%p1 bra ODD;
    add.u32 %r2, %r2, 10;
  JOIN:
    activemask.b32 %r4; popc.b32 %r4, %r4; mad.lo.u32 %r2, %r4, 1000, %r2;
    add.u32 %r1, %r1, 1; shr.u32 %r5, %r30, 4; setp.le.u32 %p2, %r1, %r5;
    @%p2 bra LOOP;
    bra END;
  ODD:
    add.u32 %r2, %r2, 1; bra JOIN;
  END:
    bar.sync 0; st.global.u32 [%rd35], %r2;)",
                                              {1, 32});
  CHECK(result.is_clean());
  CHECK(result.out[0] == 32010);
  CHECK(result.out[15] == 32001);
  CHECK(result.out[16] == 48020);
  CHECK(result.out[31] == 48002);
}

TEST_CASE("lanes leave a loop at different times", "[ptxrun]") {
  const program::Result result = program::run(R"(
    mov.u32 %r1, 0; mov.u32 %r2, 0;
  LOOP:
    add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, 1; setp.le.u32 %p1, %r1, %r30;
    @%p1 bra LOOP;
    shfl.sync.idx.b32 %r3, %r2, 31, 31, -1;
    sub.u32 %r4, %r3, %r2; st.global.u32 [%rd35], %r4;)",
                                              {1, 32});
  CHECK(result.is_clean());
  CHECK(result.out[0] == 496);
  CHECK(result.out[4] == 486);
}

TEST_CASE("tables of branches are followed by each lane", "[ptxrun]") {
  const program::Result result = program::run(R"(
    and.b32 %r1, %r30, 1;
  TABLE: .branchtargets EVEN, ODD;
    brx.idx %r1, TABLE;
  EVEN: mov.u32 %r2, 5; bra JOIN;
  ODD:  mov.u32 %r2, 6;
  JOIN: st.global.u32 [%rd35], %r2;)",
                                              {1, 32});
  CHECK(result.is_clean());
  CHECK(result.out[2] == 5);
  CHECK(result.out[3] == 6);
}

TEST_CASE("barriers order warps, vote and count", "[ptxrun]") {
  const program::Result result = program::run(R"(
    .shared .align 4 .b8 s[512];
    mov.u32 %r1, s; shl.b32 %r2, %r30, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r30;
    bar.sync 0;
    sub.u32 %r4, 127, %r30; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r1; ld.shared.u32 %r5, [%r4];
    setp.lt.u32 %p1, %r30, 100; bar.red.popc.u32 %r6, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1;
    selp.u32 %r7, 1000, 0, %p2; selp.u32 %r8, 10000, 0, %p3; add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r8;
    mad.lo.u32 %r5, %r6, 100000, %r5; st.global.u32 [%rd35], %r5;)",
                                              {1, 128});
  CHECK(result.is_clean());
  CHECK(result.out[0] == 10010127);
  CHECK(result.out[127] == 10010000);
}

TEST_CASE("barriers of some warps leave the others alone", "[ptxrun]") {
  // Warp 0 produces and only arrives; warp 1 consumes; warp 2 does neither.
  const program::Result result = program::run(R"(
    .shared .align 4 .b8 s[4];
    shr.u32 %r1, %r30, 5; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2;
    @%p2 bra END;
    @%p1 bra CONSUME;
    mov.u32 %r2, 42; st.shared.u32 [s], %r2; bar.arrive 3, 64; bra END;
  CONSUME:
    bar.sync 3, 64; ld.shared.u32 %r2, [s]; st.global.u32 [%rd35], %r2;
  END:)",
                                              {1, 96});
  CHECK(result.is_clean());
  CHECK(result.out[40] == 42);
}

TEST_CASE("functions are called with parameters and results", "[ptxrun]") {
  const std::string_view function = R"(
.visible .func (.param .b32 result) twice(.param .b32 x, .param .b64 y) {
  .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u32 %r1, [x]; setp.gt.u32 %p1, %r1, 5;
  @%p1 bra BIG;
  add.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret;
BIG:
  mov.u32 %r2, 99; st.param.b32 [result], %r2; ret;
})";
  const program::Result result = program::run(R"(
    { .param .b32 a; .param .b64 b; .param .b32 c;
      st.param.b32 [a], %r30; st.param.b64 [b], %rd30;
      call.uni (c), twice, (a, b);
      ld.param.b32 %r1, [c]; }
    st.global.u32 [%rd35], %r1;)",
                                              {1, 32}, function);
  CHECK(result.is_clean());
  CHECK(result.out[3] == 6);
  CHECK(result.out[9] == 99);
}

TEST_CASE("a function without a body is a finding, once", "[ptxrun]") {
  const program::Result result = program::run("call.uni stranger, ();", {2, 32}, ".extern .func stranger ();");
  CHECK(result.found("call of a function that the interpreter does not know"));
  CHECK(result.findings.size() == 1);
}

TEST_CASE("blocks that wait for each other all get their turn", "[ptxrun]") {
  const std::string_view barrier_of_grid = R"(
    setp.ne.u32 %p1, %r30, 0;
    @%p1 bra AFTER;
    atom.global.add.u32 %r1, [%rd31], 1;
  WAIT:
    ld.volatile.global.u32 %r1, [%rd31]; setp.lt.u32 %p2, %r1, 16;
    @%p2 bra WAIT;
  AFTER:
    bar.sync 0;)";
  CHECK(program::run(barrier_of_grid, {16, 64}).is_clean());

  ptxrun::Options shuffled = ptxrun::options();
  shuffled.shuffle_seed = 7;
  const program::OptionsScope scope{shuffled};
  CHECK(program::run(barrier_of_grid, {16, 64}).is_clean());
}

TEST_CASE("a wait that nothing ends is an endless loop", "[ptxrun]") {
  const program::Result result = program::run(R"(
  WAIT:
    ld.volatile.global.u32 %r1, [%rd31]; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WAIT;)",
                                              {3, 64});
  CHECK(result.found("endless loop"));
  CHECK(result.outcome == Outcome::launch_timeout);
  CHECK(program::run("SELF: bra SELF;").outcome == Outcome::launch_timeout);
}

TEST_CASE("a wait for blocks that do not fit on the device is an endless loop", "[ptxrun]") {
  const std::string_view body = R"(
    atom.global.add.u32 %r1, [%rd31], 1;
  WAIT:
    ld.volatile.global.u32 %r1, [%rd31]; setp.lt.u32 %p2, %r1, 4;
    @%p2 bra WAIT;)";
  ptxrun::Options small = ptxrun::options();
  small.multiprocessors = 1;
  const program::OptionsScope scope{small};
  CHECK(program::run(body, {4, 1}).is_clean());
  CHECK(program::run(body, {4, 1, 48 << 10}).is_clean());
  small.capability = 75; // one block of 48 KiB
  ptxrun::set_options(small);
  CHECK(program::run(body, {4, 1, 48 << 10}).found("endless loop"));
}

TEST_CASE("a block may wait for those before it, in any order and on a small device", "[ptxrun]") {
  ptxrun::Options small = ptxrun::options();
  small.multiprocessors = 1;
  for (const std::uint64_t seed : {0, 3, 4}) {
    small.shuffle_seed = seed;
    const program::OptionsScope scope{small};
    const program::Result result = program::run(R"(
      mul.wide.u32 %rd1, %r31, 4; add.s64 %rd1, %rd31, %rd1; mov.u32 %r2, 0; setp.eq.u32 %p1, %r31, 0;
      @%p1 bra FIRST;
    WAIT:
      ld.acquire.gpu.global.u32 %r2, [%rd1+-4]; setp.eq.u32 %p2, %r2, 0;
      @%p2 bra WAIT;
    FIRST:
      add.u32 %r2, %r2, 1; st.release.gpu.global.u32 [%rd1], %r2;)",
                                                {50, 1, 40 << 10});
    CHECK(result.is_clean());
    CHECK(result.out[49] == 50);
  }
}

TEST_CASE("a lane waits for one further on in the code", "[ptxrun]") {
  const program::Result result = program::run(R"(
    setp.ne.u32 %p1, %r30, 0;
    @%p1 bra SET;
  WAIT:
    ld.volatile.global.u32 %r1, [%rd31]; setp.eq.u32 %p2, %r1, 0;
    @%p2 bra WAIT;
    bra END;
  SET:
    mov.u32 %r2, 1; st.volatile.global.u32 [%rd31], %r2;
  END:)",
                                              {1, 32});
  CHECK(result.is_clean());
}

TEST_CASE("a register that only some passes of a loop define keeps its value", "[ptxrun]") {
  const program::Result result = program::run(R"(
    mov.u32 %r1, 0; mov.u32 %r9, 0;
  LOOP:
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra SKIP;
    mov.u32 %r2, 77;
  SKIP:
    add.u32 %r9, %r9, %r2;
    mul.lo.u32 %r3, %r1, 5; add.u32 %r4, %r3, 1; add.u32 %r5, %r4, %r3; st.global.u32 [%rd35], %r5;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 3;
    @%p2 bra LOOP;
    st.global.u32 [%rd35], %r9;)");
  CHECK(result.out[0] == 231);
}

TEST_CASE("printf and assert speak", "[ptxrun]") {
  const program::Result result = program::run(
      R"(
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; .reg .b64 %x<4>;
      mov.b64 %x1, message; cvta.global.u64 %x1, %x1; st.param.b64 [a], %x1; st.param.b64 [b], %x1; st.param.b32 [c], 12; st.param.b64 [d], %x1; st.param.b64 [e], 1;
      call.uni __assertfail, (a, b, c, d, e); })",
      {1, 1},
      ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n.global .align 1 .b8 message[4] = {120, 62, 48};");
  CHECK(result.outcome == Outcome::assert_failed);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0] == "assertion failed: block 0 thread 0: x>0 at x>0:12 [test.cu:7]");
}
