// SPDX-License-Identifier: Apache-2.0

#include "tests/ptxrun/program.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

TEST_CASE("variables have their first values and addresses", "[ptxrun]") {
  const std::string_view variables = R"(
.global .align 4 .u32 table[3] = {1, 0x10, 0b101};
.global .align 8 .u64 pointer = generic(table)+4;
.const .align 8 .f64 numbers[2] = {0d3FF8000000000000, 0d0000000000000000};
.visible .global .align 1 .b8 zeros[8];)";
  const program::Result result = program::run(R"(
    ld.global.u64 %rd1, [pointer]; ld.u32 %r1, [%rd1]; ld.global.u32 %r2, [table+8]; ld.const.f64 %d1, [numbers]; cvt.rzi.s32.f64 %r3, %d1;
    ld.global.v2.u32 {%r4, %r5}, [zeros];
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r5; st.global.u32 [%rd31], %r1;)",
                                              {1, 1}, variables);
  CHECK(result.is_clean());
  CHECK(result.out[0] == 16 + 5 + 1);
}

TEST_CASE("variables have bounds and names", "[ptxrun]") {
  const program::Result result =
      program::run("ld.global.u32 %r1, [table+12];", {1, 1}, ".global .align 4 .u32 table[3];");
  REQUIRE(result.found("out of bounds"));
  CHECK(result.findings[0].find("'variable table' (12 bytes)") != std::string::npos);
}

TEST_CASE("a module knows its kernels and variables by name", "[ptxrun]") {
  const ptxrun::Module module{program::text(".shared .align 8 .b8 s[24]; .local .b8 l[5];", ".global .u32 x;")};
  REQUIRE(module.find_kernel("test") != nullptr);
  CHECK(module.find_kernel("tes") == nullptr);
  REQUIRE(module.find_variable("x") != nullptr);
  CHECK(module.find_variable("x")->bytes == 4);
  const ptxrun::KernelTraits& traits = ptxrun::traits_of(*module.find_kernel("test"));
  CHECK(traits.parameter_bytes == 16);
  REQUIRE(traits.parameters.size() == 2);
  CHECK(traits.parameters[1].offset == 8);
  CHECK(traits.static_shared_bytes == 24);
  CHECK(traits.local_bytes == 16);
}

TEST_CASE("bounds of threads and dynamic shared memory are a kernel's own", "[ptxrun]") {
  const ptxrun::Module module{
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry bound()\n.maxntid 64, 1, 1\n{\nret;\n}\n"};
  ptxrun::Kernel& kernel = *module.find_kernel("bound");
  CHECK(ptxrun::run(kernel, {{1, 1, 1}, {64, 1, 1}}) == ptxrun::Outcome::success);
  CHECK(ptxrun::run(kernel, {{1, 1, 1}, {65, 1, 1}}) == ptxrun::Outcome::invalid_configuration);
  CHECK(ptxrun::run(kernel, {{1, 1, 1}, {64, 1, 1}, nullptr, 100 << 10}) == ptxrun::Outcome::invalid_value);
  ptxrun::allow_dynamic_shared(kernel, 100 << 10);
  CHECK(ptxrun::run(kernel, {{1, 1, 1}, {64, 1, 1}, nullptr, 100 << 10}) == ptxrun::Outcome::success);
  CHECK(ptxrun::run(kernel, {{1, 1, 1}, {64, 1, 1}, nullptr, 101 << 10}) == ptxrun::Outcome::invalid_value);
  CHECK(ptxrun::take_findings().size() == 2);
}

TEST_CASE("the report says which instructions ran", "[ptxrun]") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("ptxrun_report_" + std::to_string(std::rand()));
  ptxrun::Options options = ptxrun::options();
  options.report_file = file.string();
  options.lists_unreached = true;
  const program::OptionsScope scope{options};
  program::run("setp.eq.u32 %p1, %r30, 77; @%p1 mul.wide.u32 %rd20, %r30, 777;", {1, 32});
  ptxrun::write_report();
  std::ifstream stream{file};
  const std::string text{std::istreambuf_iterator<char>{stream}, {}};
  std::filesystem::remove(file);
  CHECK(text.find("KERNEL launches 1 instructions ") != std::string::npos);
  CHECK(text.find("COVER test fff2") != std::string::npos);
  CHECK(text.find("test.cu:7: @%p1 mul.wide.u32 %rd20, %r30, 777\n") != std::string::npos);
  CHECK(text.find("TOTAL kernels ") != std::string::npos);
}
