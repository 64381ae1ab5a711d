// SPDX-License-Identifier: Apache-2.0

#include "tests/ptxrun/program.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using program::bits;
using program::evaluate;

TEST_CASE("integers are extended by their sign, cut and saturated", "[ptxrun]") {
  CHECK(evaluate("cvt.s64.s32 %rd0, %r1;", {bits(-5)}).rd == static_cast<std::uint64_t>(-5));
  CHECK(evaluate("cvt.u64.u32 %rd0, %r1;", {bits(-5)}).rd == 0xfffffffbU);
  CHECK(evaluate("cvt.s32.s8 %r0, %r1;", {0x80}).r == 0xffffff80U);
  CHECK(evaluate("cvt.u32.u8 %r0, %r1;", {0x1ff}).r == 0xff);
  CHECK(evaluate("cvt.sat.s8.s32 %r0, %r1;", {1000}).r == 127);
  CHECK(evaluate("cvt.sat.u8.s32 %r0, %r1;", {bits(-3)}).r == 0);
  CHECK(evaluate("cvt.sat.s32.u32 %r0, %r1;", {0xffffffff}).r == 0x7fffffffU);
  CHECK(evaluate("cvt.u16.u32 %h0, %r1;", {0x12345}).h == 0x2345);
}

TEST_CASE("floating-point numbers become integers by the named rounding, and saturate", "[ptxrun]") {
  CHECK(evaluate("cvt.rni.s32.f32 %r0, %f1;", {bits(2.5F)}).r == 2);
  CHECK(evaluate("cvt.rni.s32.f32 %r0, %f1;", {bits(3.5F)}).r == 4);
  CHECK(evaluate("cvt.rzi.s32.f32 %r0, %f1;", {bits(-2.9F)}).r == bits(-2));
  CHECK(evaluate("cvt.rmi.s32.f32 %r0, %f1;", {bits(-2.1F)}).r == bits(-3));
  CHECK(evaluate("cvt.rpi.s32.f32 %r0, %f1;", {bits(2.1F)}).r == 3);
  CHECK(evaluate("cvt.rzi.s32.f32 %r0, %f1;", {bits(3e9F)}).r == 0x7fffffffU);
  CHECK(evaluate("cvt.rzi.u32.f32 %r0, %f1;", {bits(-1.0F)}).r == 0);
  CHECK(evaluate("cvt.rzi.s32.f32 %r0, %f1;", {0x7fc00000}).r == 0);
  CHECK(evaluate("cvt.rzi.s64.f64 %rd0, %d1;", {0x7ff8000000000000}).rd == std::uint64_t{1} << 63);
  CHECK(evaluate("cvt.rzi.u64.f32 %rd0, %f1;", {bits(1e20F)}).rd == ~std::uint64_t{0});
  CHECK(evaluate("cvt.rni.f32.f32 %f0, %f1;", {bits(-0.4F)}).f == 0.0F);
  CHECK(std::signbit(evaluate("cvt.rni.f32.f32 %f0, %f1;", {bits(-0.4F)}).f));
  CHECK(evaluate("cvt.sat.f32.f32 %f0, %f1;", {bits(7.0F)}).f == 1.0F);
}

TEST_CASE("numbers are rounded once when they become narrower", "[ptxrun]") {
  CHECK(evaluate("cvt.rn.f32.f64 %f0, %d1;", {bits(1.0 + 0x1p-25)}).f == 1.0F);
  CHECK(evaluate("cvt.rp.f32.f64 %f0, %d1;", {bits(1.0 + 0x1p-50)}).f == std::nextafter(1.0F, 2.0F));
  CHECK(evaluate("cvt.rz.f32.f64 %f0, %d1;", {bits(-1.0 - 0x1p-25)}).f == -1.0F);
  CHECK(evaluate("cvt.rn.f32.u64 %f0, %rd1;", {0x8000008000000001}).f ==
        0x1.000002p63F); // above the tie: not through double
  CHECK(evaluate("cvt.rz.f32.u32 %f0, %r1;", {0xffffffff}).f == 0x1.fffffep31F);
  CHECK(evaluate("cvt.rn.f64.s64 %d0, %rd1;", {static_cast<std::uint64_t>(-3)}).d == -3.0);
}

TEST_CASE("half and bfloat16 convert in all roundings", "[ptxrun]") {
  CHECK(evaluate("cvt.rn.f16.f32 %h0, %f1;", {bits(1.0F + 0x1p-11F)}).h == 0x3c00);
  CHECK(evaluate("cvt.rn.f16.f32 %h0, %f1;", {bits(1.0F + 0x1p-11F + 0x1p-20F)}).h == 0x3c01);
  CHECK(evaluate("cvt.rz.f16.f32 %h0, %f1;", {bits(1.0F + 0x1p-11F + 0x1p-12F)}).h == 0x3c00);
  CHECK(evaluate("cvt.rn.f16.f32 %h0, %f1;", {bits(65520.0F)}).h == 0x7c00);
  CHECK(evaluate("cvt.rz.f16.f32 %h0, %f1;", {bits(70000.0F)}).h == 0x7bff);
  CHECK(evaluate("cvt.rn.f16.f32 %h0, %f1;", {bits(0x1p-25F)}).h == 0);
  CHECK(evaluate("cvt.rn.f16.f32 %h0, %f1;", {bits(0x1.8p-25F)}).h == 1);
  CHECK(evaluate("cvt.f32.f16 %f0, %h1;", {1}).f == 0x1p-24F);
  CHECK(evaluate("cvt.f32.f16 %f0, %h1;", {0xc500}).f == -5.0F);
  CHECK(evaluate("cvt.rn.bf16.f32 %h0, %f1;", {bits(1.0F + 0x1p-8F)}).h == 0x3f80);
  CHECK(evaluate("cvt.rn.bf16.f32 %h0, %f1;", {bits(3.4e38F)}).h == 0x7f80);
  CHECK(evaluate("cvt.rn.bf16.f32 %h0, %f1;", {0x7f800001}).h == 0x7fff);
  CHECK(evaluate("cvt.rn.f16x2.f32 %r0, %f1, %f2;", {bits(1.0F), bits(2.0F)}).r == 0x3c004000U);
  CHECK(evaluate("cvt.rn.bf16x2.f32 %r0, %f1, %f2;", {bits(1.0F), bits(2.0F)}).r == 0x3f804000U);
}
