// SPDX-License-Identifier: Apache-2.0

#include "tests/ptxrun/program.hpp"

#include <catch2/catch.hpp>

using program::bits;
using program::evaluate;

TEST_CASE("fields are extracted and inserted, beyond the value's end, too", "[ptxrun]") {
  CHECK(evaluate("bfe.u32 %r0, %r1, %r2, %r3;", {0x12345678, 8, 8}).r == 0x56);
  CHECK(evaluate("bfe.s32 %r0, %r1, %r2, %r3;", {0x12348678, 8, 8}).r == 0xffffff86U);
  CHECK(evaluate("bfe.s32 %r0, %r1, %r2, %r3;", {0x80000000, 28, 8}).r == 0xfffffff8U);
  CHECK(evaluate("bfe.u32 %r0, %r1, %r2, %r3;", {0xffffffff, 40, 8}).r == 0);
  CHECK(evaluate("bfe.s32 %r0, %r1, %r2, %r3;", {0x80000000, 40, 8}).r == 0xffffffffU);
  CHECK(evaluate("bfe.u64 %rd0, %rd1, %r2, %r3;", {~std::uint64_t{0}, 0, 64}).rd == ~std::uint64_t{0});
  CHECK(evaluate("bfe.u32 %r0, %r1, %r2, %r3;", {0xffffffff, 3, 0}).r == 0);
  CHECK(evaluate("bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0xff, 0, 28, 8}).r == 0xf0000000U);
  CHECK(evaluate("bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0xab, 0x11111111, 8, 8}).r == 0x1111ab11U);
  CHECK(evaluate("bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0xab, 0x11111111, 32, 8}).r == 0x11111111U);
  CHECK(evaluate("bmsk.clamp.b32 %r0, %r1, %r2;", {4, 40}).r == 0xfffffff0U);
  CHECK(evaluate("bmsk.wrap.b32 %r0, %r1, %r2;", {36, 33}).r == 0x10U);
}

TEST_CASE("bytes are permuted by selectors and by modes", "[ptxrun]") {
  CHECK(evaluate("prmt.b32 %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 0x7410}).r == 0x77441100U);
  CHECK(evaluate("prmt.b32 %r0, %r1, %r2, %r3;", {0x33228100, 0x77665544, 0x9999}).r == 0xffffffffU);
  CHECK(evaluate("prmt.b32.f4e %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 2}).r == 0x55443322U);
  CHECK(evaluate("prmt.b32.b4e %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 1}).r == 0x66770011U);
  CHECK(evaluate("prmt.b32.rc8 %r0, %r1, %r2, %r3;", {0x33221100, 0, 3}).r == 0x33333333U);
  CHECK(evaluate("prmt.b32.ecl %r0, %r1, %r2, %r3;", {0x33221100, 0, 2}).r == 0x33222222U);
  CHECK(evaluate("prmt.b32.ecr %r0, %r1, %r2, %r3;", {0x33221100, 0, 1}).r == 0x11111100U);
  CHECK(evaluate("prmt.b32.rc16 %r0, %r1, %r2, %r3;", {0x33221100, 0, 1}).r == 0x33223322U);
}

TEST_CASE("lop3 looks bits up in its table", "[ptxrun]") {
  CHECK(evaluate("lop3.b32 %r0, %r1, %r2, %r3, 0x80;", {0xf0, 0xcc, 0xaa}).r == 0x80);
  CHECK(evaluate("lop3.b32 %r0, %r1, %r2, %r3, 0x96;", {0xf0, 0xcc, 0xaa}).r == 0x96);
  CHECK(evaluate("lop3.b32 %r0, %r1, %r2, %r3, 0xfe;", {0x100, 0x10, 0x1}).r == 0x111);
}

TEST_CASE("bits are counted, found and reversed", "[ptxrun]") {
  CHECK(evaluate("popc.b64 %r0, %rd1;", {0xf00000000000000f}).r == 8);
  CHECK(evaluate("clz.b32 %r0, %r1;", {0}).r == 32);
  CHECK(evaluate("clz.b64 %r0, %rd1;", {1}).r == 63);
  CHECK(evaluate("brev.b32 %r0, %r1;", {1}).r == 0x80000000U);
  CHECK(evaluate("bfind.u32 %r0, %r1;", {0x100}).r == 8);
  CHECK(evaluate("bfind.s32 %r0, %r1;", {bits(-1)}).r == 0xffffffffU);
  CHECK(evaluate("bfind.s32 %r0, %r1;", {bits(-256)}).r == 7);
  CHECK(evaluate("bfind.shiftamt.u64 %r0, %rd1;", {1}).r == 63);
}

TEST_CASE("vectors are packed and unpacked", "[ptxrun]") {
  CHECK(evaluate("mov.b32 %r0, {%h1, %h2};", {0x1234, 0xabcd}).r == 0xabcd1234U);
  CHECK(evaluate("mov.b64 {%r5, %r0}, %rd1;", {0x1122334455667788}).r == 0x11223344U);
  CHECK(evaluate("mov.b64 %rd0, {%r1, %r2};", {1, 2}).rd == 0x200000001U);
  CHECK(evaluate("mov.b32 {_, %h0}, %r1;", {0xabcd1234}).h == 0xabcd);
}

TEST_CASE("comparisons know unordered numbers, and combine with predicates", "[ptxrun]") {
  const std::uint64_t nan = 0x7fc00000, one = bits(1.0F);
  CHECK_FALSE(evaluate("setp.lt.f32 %p0, %f1, %f2;", {nan, one}).p);
  CHECK(evaluate("setp.ltu.f32 %p0, %f1, %f2;", {nan, one}).p);
  CHECK_FALSE(evaluate("setp.ne.f32 %p0, %f1, %f2;", {nan, one}).p);
  CHECK(evaluate("setp.neu.f32 %p0, %f1, %f2;", {nan, one}).p);
  CHECK(evaluate("setp.nan.f32 %p0, %f1, %f2;", {nan, one}).p);
  CHECK(evaluate("setp.num.f32 %p0, %f1, %f2;", {one, one}).p);
  CHECK(evaluate("setp.lo.u32 %p0, %r1, %r2;", {1, bits(-1)}).p);
  CHECK_FALSE(evaluate("setp.lt.s32 %p0, %r1, %r2;", {1, bits(-1)}).p);
  CHECK(evaluate("setp.eq.s32 %p1, 1, 1; setp.eq.and.s32 %p0, %r1, %r2, !%p1; not.pred %p0, %p0;", {3, 3}).p);
  CHECK(evaluate("setp.eq.s32 %p5|%p0, %r1, %r2;", {1, 2}).p);
  CHECK(evaluate("set.eq.u32.s32 %r0, %r1, %r2;", {4, 4}).r == 0xffffffffU);
  CHECK(evaluate("set.gt.f32.f32 %f0, %f1, %f2;", {bits(2.0F), one}).f == 1.0F);
  CHECK(evaluate("setp.gt.f16 %p0, %h1, %h2;", {0x4000, 0x3c00}).p);
  CHECK(evaluate("slct.b32.s32 %r0, %r1, %r2, %r3;", {5, 6, bits(-1)}).r == 6);
  CHECK(evaluate("testp.subnormal.f32 %p0, %f1;", {1}).p);
}
