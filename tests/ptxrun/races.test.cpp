// SPDX-License-Identifier: Apache-2.0
//
// Races in shared and in global memory, each beside a twin with the barrier, fence or atomic that orders it.

#include "tests/ptxrun/program.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace {

ptxrun::Options checking() {
  ptxrun::Options options = ptxrun::options();
  options.checks_shared_races = true;
  options.checks_global_races = true;
  return options;
}

/// %r1 is this thread's word of `s`, and %r2 that of its mirror image.
const std::string shared_words =
    ".shared .align 4 .b8 s[256]; mov.u32 %r3, s; shl.b32 %r1, %r30, 2; add.u32 %r1, %r1, %r3; "
    "not.b32 %r2, %r30; add.u32 %r2, %r2, %r32; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r3;\n";

program::Result run(const std::string& body, program::Shape shape) {
  const program::OptionsScope scope{checking()};
  return program::run(body, shape);
}

} // namespace

TEST_CASE("shared words that are read without a barrier race", "[ptxrun]") {
  const std::string write = shared_words + "st.shared.u32 [%r1], %r30; ", read = "ld.shared.u32 %r4, [%r2]; ";
  CHECK(run(write + read, {1, 64}).found("shared write-read race"));
  CHECK(run(write + "bar.sync 0; " + read, {1, 64}).is_clean());
  CHECK(run(write + "bar.sync 0; " + read + "st.shared.u32 [%r1], %r3;", {1, 64}).found("shared read-write race"));
  CHECK(run(write + "bar.sync 0; " + read + "bar.sync 0; st.shared.u32 [%r1], %r3;", {1, 64}).is_clean());
}

TEST_CASE("lanes of a warp are ordered by its own barrier", "[ptxrun]") {
  const std::string write = shared_words + "st.shared.u32 [%r1], %r30; ", read = "ld.shared.u32 %r4, [%r2]; ";
  CHECK(run(write + read, {1, 32}).found("shared write-read race within a warp"));
  CHECK(run(write + "bar.warp.sync -1; " + read, {1, 32}).is_clean());
  CHECK(run(write + "bar.warp.sync -1; " + read, {1, 64}).found("shared write-read race"));
}

TEST_CASE("threads may write one value to one word, but not several", "[ptxrun]") {
  CHECK(run(".shared .align 4 .b8 s[4]; mov.u32 %r1, 5; st.shared.u32 [s], %r1;", {1, 64}).is_clean());
  CHECK(run(".shared .align 4 .b8 s[4]; st.shared.u32 [s], %r30;", {1, 64}).found("shared write-write race"));
  CHECK(run("mov.u32 %r1, 5; st.global.u32 [%rd31], %r1;", {2, 64}).is_clean());
  CHECK(run("st.global.u32 [%rd31], %r31;", {2, 1}).found("global write-write race between blocks"));
  CHECK(run("st.global.u32 [%rd31], %r30;", {1, 64}).found("global write-write race within a block"));
}

TEST_CASE("shared memory that no thread wrote is read", "[ptxrun]") {
  const std::string half = shared_words + "setp.lt.u32 %p1, %r30, 16; @%p1 st.shared.u32 [%r1], %r30; bar.sync 0; ";
  CHECK(run(half + "ld.shared.u32 %r4, [%r1];", {1, 32}).found("uninitialised shared read"));
  CHECK(run(half + "@%p1 ld.shared.u32 %r4, [%r1];", {1, 32}).is_clean());
}

TEST_CASE("atomics do not race with one another, but with weak accesses", "[ptxrun]") {
  CHECK(run("red.global.add.u32 [%rd31], 1;", {4, 32}).is_clean());
  CHECK(run("red.global.add.u32 [%rd31], 1; ld.global.u32 %r1, [%rd31];", {4, 32})
            .found("global read-write race between blocks"));
  CHECK(run("red.global.add.u32 [%rd31], 1; ld.relaxed.gpu.global.u32 %r1, [%rd31];", {4, 32}).is_clean());
}

namespace {

/// Each block writes its word; the last one reads all of them.
std::string last_block(const std::string& before, const std::string& atomic) {
  return R"(
    .shared .align 4 .b8 last[4];
    setp.ne.u32 %p1, %r30, 0;
    mul.wide.u32 %rd1, %r31, 4; add.s64 %rd1, %rd31, %rd1;
    @!%p1 st.global.u32 [%rd1+4], %r31;
    )" + before +
         R"(
    @%p1 bra MEET;
    )" + atomic +
         R"(
    st.shared.u32 [last], %r1;
  MEET:
    bar.sync 0;
    ld.shared.u32 %r2, [last]; setp.ne.u32 %p2, %r2, 3; or.pred %p2, %p2, %p1;
    @%p2 bra END;
    ld.global.u32 %r3, [%rd31+4]; ld.global.u32 %r4, [%rd31+8]; ld.global.u32 %r5, [%rd31+12];
  END:)";
}

} // namespace

TEST_CASE("the last block sees what others wrote before their fence", "[ptxrun]") {
  const std::string add = "atom.global.add.u32 %r1, [%rd31], 1;";
  CHECK(run(last_block("membar.gl;", add), {4, 64}).is_clean());
  CHECK(run(last_block("membar.gl; bar.sync 0;", add), {4, 64}).is_clean());
  CHECK(run(last_block("bar.sync 0; membar.gl;", add), {4, 64}).is_clean());
  CHECK(run(last_block("", "atom.acq_rel.gpu.global.add.u32 %r1, [%rd31], 1;"), {4, 64}).is_clean());
  CHECK(run(last_block("bar.sync 0;", add), {4, 64}).found("global write-read race between blocks"));
}

TEST_CASE("a fence of one thread does not publish what others of its block wrote", "[ptxrun]") {
  // All threads write, but only thread 0 fences; a barrier before the fence makes it right.
  const auto body = [](const std::string& between) {
    return "st.global.u32 [%rd35], %r30;" + between + R"(
      setp.ne.u32 %p1, %r30, 0;
      @%p1 bra MEET;
      membar.gl; atom.global.add.u32 %r1, [%rd30], 1; setp.eq.u32 %p2, %r1, 0;
      @%p2 bra MEET;
      ld.global.u32 %r2, [%rd31+128];
    MEET:)";
  };
  CHECK(run(body(""), {2, 64}).found("global write-read race between blocks"));
  CHECK(run(body("bar.sync 0;"), {2, 64}).is_clean());
}

TEST_CASE("a flag that is released and acquired orders data", "[ptxrun]") {
  const auto body = [](const std::string& store, const std::string& load) {
    return R"(
      setp.ne.u32 %p1, %r31, 0;
      @%p1 bra READER;
      mov.u32 %r1, 1; st.global.u32 [%rd31+4], %r1; )" +
           store + R"( [%rd31], %r1;
      bra END;
    READER: )" +
           load + R"( %r2, [%rd31]; setp.eq.u32 %p2, %r2, 0;
      @%p2 bra READER;
      ld.global.u32 %r3, [%rd31+4]; st.global.u32 [%rd31+8], %r3;
    END:)";
  };
  const program::Result right = run(body("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32"), {2, 1});
  CHECK(right.is_clean());
  CHECK(right.out[2] == 1);
  CHECK(run(body("membar.gl; st.volatile.global.u32", "ld.volatile.global.u32"), {2, 1}).is_clean());
  CHECK(run(body("st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32"), {2, 1})
            .found("global write-read race between blocks"));
}

TEST_CASE("accesses to different bytes of a word do not race", "[ptxrun]") {
  CHECK(run("cvt.u64.u32 %rd1, %r33; add.s64 %rd1, %rd31, %rd1; st.global.u8 [%rd1], %r30;", {2, 33}).is_clean());
}
