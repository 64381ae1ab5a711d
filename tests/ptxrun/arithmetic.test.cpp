// SPDX-License-Identifier: Apache-2.0

#include "tests/ptxrun/program.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using program::bits;
using program::evaluate;

TEST_CASE("shifts by the width and more empty a value or fill it with its sign", "[ptxrun]") {
  CHECK(evaluate("shl.b32 %r0, %r1, %r2;", {1, 31}).r == 0x80000000U);
  CHECK(evaluate("shl.b32 %r0, %r1, %r2;", {1, 32}).r == 0);
  CHECK(evaluate("shl.b64 %rd0, %rd1, %r2;", {1, 64}).rd == 0);
  CHECK(evaluate("shr.u32 %r0, %r1, %r2;", {0x80000000, 33}).r == 0);
  CHECK(evaluate("shr.s32 %r0, %r1, %r2;", {0x80000000, 33}).r == 0xffffffffU);
  CHECK(evaluate("shr.s32 %r0, %r1, %r2;", {0x7fffffff, 0xffffffff}).r == 0);
  CHECK(evaluate("shr.u16 %h0, %h1, %r2;", {0x8000, 15}).h == 1);
  CHECK(evaluate("shr.s16 %h0, %h1, %r2;", {0x8000, 16}).h == 0xffff);
  CHECK(evaluate("shr.s64 %rd0, %rd1, %r2;", {std::uint64_t{1} << 63, 200}).rd == ~std::uint64_t{0});
}

TEST_CASE("funnel shifts wrap or clamp their distance", "[ptxrun]") {
  CHECK(evaluate("shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 40}).r == 0x23456789U);
  CHECK(evaluate("shf.l.clamp.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 40}).r == 0x89abcdefU);
  CHECK(evaluate("shf.r.wrap.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 8}).r == 0x6789abcdU);
  CHECK(evaluate("shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 99}).r == 0x01234567U);
}

TEST_CASE("products have low, high and wide halves", "[ptxrun]") {
  CHECK(evaluate("mul.hi.u32 %r0, %r1, %r2;", {0xffffffff, 0xffffffff}).r == 0xfffffffeU);
  CHECK(evaluate("mul.hi.s32 %r0, %r1, %r2;", {bits(-2), 3}).r == 0xffffffffU);
  CHECK(evaluate("mul.hi.s64 %rd0, %rd1, %rd2;", {~std::uint64_t{0}, 5}).rd == ~std::uint64_t{0});
  CHECK(evaluate("mul.hi.u64 %rd0, %rd1, %rd2;", {~std::uint64_t{0}, 5}).rd == 4);
  CHECK(evaluate("mul.hi.u16 %h0, %h1, %h2;", {0xffff, 0xffff}).h == 0xfffe);
  CHECK(evaluate("mul.wide.s32 %rd0, %r1, %r2;", {bits(-7), 3}).rd == static_cast<std::uint64_t>(-21));
  CHECK(evaluate("mul.wide.u16 %r0, %h1, %h2;", {0xffff, 0xffff}).r == 0xfffe0001U);
  CHECK(evaluate("mad.wide.s16 %r0, %h1, %h2, %r3;", {0xffff, 5, 1}).r == bits(-4));
  CHECK(evaluate("mul24.lo.u32 %r0, %r1, %r2;", {0xff000002, 3}).r == 6);
}

TEST_CASE("division by zero and of the lowest number is defined", "[ptxrun]") {
  CHECK(evaluate("div.u32 %r0, %r1, %r2;", {5, 0}).r == 0xffffffffU);
  CHECK(evaluate("rem.u32 %r0, %r1, %r2;", {5, 0}).r == 5);
  CHECK(evaluate("div.s32 %r0, %r1, %r2;", {0x80000000, bits(-1)}).r == 0x80000000U);
  CHECK(evaluate("rem.s32 %r0, %r1, %r2;", {0x80000000, bits(-1)}).r == 0);
  CHECK(evaluate("rem.s32 %r0, %r1, %r2;", {bits(-7), 3}).r == bits(-1));
}

TEST_CASE("sums saturate and carry", "[ptxrun]") {
  CHECK(evaluate("add.sat.s32 %r0, %r1, %r2;", {0x7fffffff, 1}).r == 0x7fffffffU);
  CHECK(evaluate("sub.sat.s32 %r0, %r1, %r2;", {0x80000000, 1}).r == 0x80000000U);
  CHECK(evaluate("add.cc.u32 %r5, %r1, %r2; addc.u32 %r0, %r3, 0;", {0xffffffff, 1, 7}).r == 8);
  CHECK(evaluate("sub.cc.u32 %r5, %r1, %r2; subc.u32 %r0, %r3, 0;", {0, 1, 7}).r == 6);
  CHECK(evaluate("mad.lo.cc.u32 %r5, %r1, %r2, %r3; madc.hi.u32 %r0, %r1, %r2, 0;", {0x80000000, 2, 0xffffffff}).r ==
        1);
  CHECK(evaluate("mad.lo.cc.u32 %r5, %r1, %r2, %r3; madc.hi.u32 %r0, %r1, %r2, 0;", {0x80000001, 2, 0xffffffff}).r ==
        2);
}

TEST_CASE("minima and maxima prefer numbers to NaN, and order zeros", "[ptxrun]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(evaluate("min.f32 %f0, %f1, %f2;", {bits(nan), bits(2.0F)}).f == 2.0F);
  CHECK(std::isnan(evaluate("min.NaN.f32 %f0, %f1, %f2;", {bits(nan), bits(2.0F)}).f));
  CHECK(std::signbit(evaluate("min.f32 %f0, %f1, %f2;", {bits(0.0F), bits(-0.0F)}).f));
  CHECK_FALSE(std::signbit(evaluate("max.f32 %f0, %f1, %f2;", {bits(-0.0F), bits(0.0F)}).f));
  CHECK(evaluate("max.f64 %d0, %d1, %d2;", {bits(std::numeric_limits<double>::quiet_NaN()), bits(3.0)}).d == 3.0);
  CHECK(evaluate("min.s32 %r0, %r1, %r2;", {bits(-1), 1}).r == bits(-1));
  CHECK(evaluate("min.u32 %r0, %r1, %r2;", {bits(-1), 1}).r == 1);
}

TEST_CASE("fused products round once, in the named direction", "[ptxrun]") {
  const float a = 1.0F + 0x1p-12F;
  CHECK(evaluate("fma.rn.f32 %f0, %f1, %f2, %f3;", {bits(a), bits(a), bits(-1.0F)}).f == std::fma(a, a, -1.0F));
  CHECK(evaluate("mul.rn.f32 %f5, %f1, %f2; add.rn.f32 %f0, %f5, %f3;", {bits(a), bits(a), bits(-1.0F)}).f !=
        std::fma(a, a, -1.0F));
  CHECK(evaluate("add.rz.f32 %f0, %f1, %f2;", {bits(1.0F), bits(-0x1p-30F)}).f == std::nextafter(1.0F, 0.0F));
  CHECK(evaluate("add.rp.f32 %f0, %f1, %f2;", {bits(1.0F), bits(0x1p-30F)}).f == std::nextafter(1.0F, 2.0F));
  CHECK(evaluate("fma.rm.f32 %f0, %f1, %f2, %f3;", {bits(1.0F), bits(-1.0F), bits(-0x1p-30F)}).f ==
        std::nextafter(-1.0F, -2.0F));
  CHECK(evaluate("div.rn.f32 %f0, %f1, %f2;", {bits(1.0F), bits(3.0F)}).f == 1.0F / 3.0F);
  CHECK(evaluate("add.sat.f32 %f0, %f1, %f2;", {bits(1.0F), bits(3.0F)}).f == 1.0F);
  CHECK(evaluate("add.ftz.f32 %f0, %f1, %f2;", {bits(0x1p-140F), bits(0.0F)}).f == 0.0F);
  CHECK(program::bits(evaluate("add.f32 %f0, %f1, %f2;", {0x7f800000, 0xff800000}).f) ==
        0x7fffffff); // the canonical NaN
}

TEST_CASE("arithmetic of half and bfloat16 rounds once", "[ptxrun]") {
  CHECK(evaluate("add.f16 %h0, %h1, %h2;", {0x3c00, 0x1000}).h == 0x3c00); // 1 + 2^-11: a tie, to even
  CHECK(evaluate("add.f16 %h0, %h1, %h2;", {0x3c01, 0x1000}).h == 0x3c02); // the tie beside it
  CHECK(evaluate("fma.rn.f16 %h0, %h1, %h2, %h3;", {0x3c01, 0x3c01, 0x0001}).h == 0x3c02);
  CHECK(evaluate("mul.f16 %h0, %h1, %h2;", {0x7bff, 0x4000}).h == 0x7c00); // 65504 * 2
  CHECK(evaluate("mul.f16 %h0, %h1, %h2;", {0x0001, 0x3800}).h == 0);      // 2^-24 / 2: to even
  CHECK(evaluate("mul.f16 %h0, %h1, %h2;", {0x0003, 0x3800}).h == 2);
  CHECK(evaluate("add.bf16 %h0, %h1, %h2;", {0x3f80, 0x3b80}).h == 0x3f80); // 1 + 2^-8
  CHECK(evaluate("add.f16x2 %r0, %r1, %r2;", {0x3c004000, 0x3c003c00}).r == 0x40004200U);
  CHECK(evaluate("fma.rn.relu.f16 %h0, %h1, %h2, %h3;", {0x3c00, 0xbc00, 0}).h == 0);
  CHECK(evaluate("max.NaN.f16 %h0, %h1, %h2;", {0x7e00, 0x3c00}).h == 0x7fff);
  CHECK(evaluate("neg.f16x2 %r0, %r1;", {0x3c00bc00}).r == 0xbc003c00U);
}
