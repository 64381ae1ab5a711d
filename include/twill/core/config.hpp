#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Configuration macros, all of twill's. They name the instruction set of a translation unit, so that kernels
// of differently compiled files never share code, and hide the differences between compilers. Everything else in twill
// is plain C++20. Read next: core/dtype.hpp.

/// The version of the binary interface; the inline namespace `v0` of every header carries it.
#define TWILL_VERSION "0.1.0"

/// The inline namespace of kernels and vector math: one name for each instruction set, and one for test files that
/// count the accesses of kernels (kernel/table.hpp), so that their kernels stay separate.
#if defined(TWILL_COUNT_ACCESS)
#define TWILL_ISA counting
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TWILL_ISA avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define TWILL_ISA avx2
#else
#define TWILL_ISA baseline
#endif

/// True while nvcc compiles the file, as host or as device code.
#if defined(__CUDACC__)
#define TWILL_NVCC 1
#if !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "twill: compile .cu files with --expt-relaxed-constexpr; the target twill::cuda sets it"
#endif
#else
#define TWILL_NVCC 0
#endif

/// The architecture that device code is being compiled for, 900 for sm_90; 0 in host code.
#if defined(__CUDA_ARCH__)
#define TWILL_DEVICE_CODE __CUDA_ARCH__
#else
#define TWILL_DEVICE_CODE 0
#endif

/// Placed before a loop of device code: unrolls it, because the values that it indexes are in registers; or keeps it,
/// because its body is long or its count small. Host compilers decide for themselves.
#if TWILL_DEVICE_CODE
#define TWILL_UNROLL _Pragma("unroll")
#define TWILL_NO_UNROLL _Pragma("unroll 1")
#else
#define TWILL_UNROLL
#define TWILL_NO_UNROLL
#endif

/// Conversions between half and float by one instruction. nvcc's front end does not know the type that they need.
#if defined(__F16C__) && defined(__FLT16_MANT_DIG__) && !TWILL_NVCC
#define TWILL_HARDWARE_HALF 1
#else
#define TWILL_HARDWARE_HALF 0
#endif

/// Bodies that use no type of a user's are in .ipp files beside their headers. A header-only build includes them as
/// inline functions; with TWILL_COMPILED, which the target twill::compiled sets, only that library has them. Files that
/// count the accesses of kernels have kernels of their own. A virtual function has the word in its class as well: else
/// g++ emits the class's virtual table, and all that it calls, into every file.
#if defined(TWILL_COMPILED) && !defined(TWILL_COUNT_ACCESS)
#define TWILL_HEADER_ONLY 0
#define TWILL_BODY
#else
#define TWILL_HEADER_ONLY 1
#define TWILL_BODY inline
#endif

/// Quick builds: the interpreter of programs is in the compiled library. See compile/quick.hpp.
#if defined(TWILL_QUICK) && TWILL_QUICK && !TWILL_HEADER_ONLY
#define TWILL_IS_QUICK 1
#elif defined(TWILL_QUICK) && TWILL_QUICK && !defined(TWILL_COMPILED)
#error "twill: quick builds need the compiled library; link twill::compiled"
#else
#define TWILL_IS_QUICK 0
#endif

/// Host kernels of this file run slowly: they are neither optimised nor interpreted by the compiled library.
#if defined(__OPTIMIZE__) || TWILL_IS_QUICK || TWILL_NVCC
#define TWILL_IS_SLOW 0
#else
#define TWILL_IS_SLOW 1
#endif

/// Placed before an explicit instantiation for host devices, which the compiled library has.
#if defined(TWILL_BUILDS_INSTANCES)
#define TWILL_INSTANCE
#else
#define TWILL_INSTANCE extern
#endif

/// A constexpr function that the compiled library provides at run time: files that are not optimised emit no code for
/// it. The optimiser would inline every call of such a function.
#if defined(TWILL_BUILDS_CONSTEXPR)
#define TWILL_CONSTEXPR __attribute__((used)) constexpr
#elif TWILL_HEADER_ONLY || defined(__OPTIMIZE__)
#define TWILL_CONSTEXPR constexpr
#elif defined(__clang__) // clang requires the word
#define TWILL_CONSTEXPR __attribute__((gnu_inline)) inline constexpr
#else
#define TWILL_CONSTEXPR __attribute__((gnu_inline)) constexpr
#endif

/// Visible across shared libraries built with hidden visibility: a process has one pool and one registry.
#define TWILL_EXPORT __attribute__((visibility("default")))

/// Always inlined, even where the compiler's cost model hesitates: the bodies of vector kernels. Where nothing is
/// optimised it would make a file of statements over rows compile in twice the time.
#if defined(__OPTIMIZE__) || TWILL_NVCC
#define TWILL_ALWAYS_INLINE __attribute__((always_inline))
#else
#define TWILL_ALWAYS_INLINE
#endif
#define TWILL_INLINE inline TWILL_ALWAYS_INLINE

/// Tells the compiler of device code that an address is in global memory.
#if TWILL_DEVICE_CODE
#define TWILL_ASSUME_GLOBAL(address) __builtin_assume(__isGlobal(address))
#else
#define TWILL_ASSUME_GLOBAL(address) static_cast<void>(address)
#endif

/// Marks start-up and error paths: called rather than inlined and compiled for size, so that the optimiser spends its
/// time on code that runs often, in each of the many files that include such a path.
#define TWILL_COLD __attribute__((cold, noinline))

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The instruction set for which this file is compiled, as a type. Files for different ones share types and state, but
/// no code that leads to a kernel: such functions are in this inline namespace, and a member function of a shared type
/// has a last template parameter, `class Isa = InstructionSet`, which makes its name differ too.
struct InstructionSet;

}}} // namespace twill::v0::TWILL_ISA
