# SPDX-License-Identifier: Apache-2.0
#
# twill_flags: what this tree's own sources are compiled with and users of the library are not. Warnings, sanitizers and the
# instruction set live here and nowhere else; no global flag is touched. twill_development is what tests, benchmarks and
# examples link: these flags with the compiled library, twill_header_only with the headers alone.

option(TWILL_WERROR "Treat warnings as errors in this tree's own sources" OFF)
set(TWILL_SANITIZE "" CACHE STRING "Sanitizers of this tree's own sources: address,undefined or thread")
set(TWILL_ARCH "" CACHE STRING "Instruction set of this tree's own sources: empty (the compiler's default) or a value of -march")
option(TWILL_USE_CCACHE "Compile through ccache, where it is installed" ON)

# Precompiled headers are cached when ccache is told that they contain no times and that their macros are on the command line;
# g++'s know no folder, so that they and what includes them serve every clone. With CCACHE_DEPEND the files that were read decide,
# not the preprocessed text: g++ knows the files of a precompiled header by size, so that one from before a comment was
# changed is of no use.
if(PROJECT_IS_TOP_LEVEL AND TWILL_USE_CCACHE)
  find_program(TWILL_CCACHE ccache)
  mark_as_advanced(TWILL_CCACHE)
  if(TWILL_CCACHE)
    set(twill_ccache ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND twill_ccache CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1)
      set(twill_ccache_for_cxx CCACHE_DEPEND=1)
    endif()
    if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
      set(CMAKE_CXX_COMPILER_LAUNCHER ${twill_ccache} ${twill_ccache_for_cxx} ${TWILL_CCACHE})
    endif()
    if(NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER) # which has no precompiled headers
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${twill_ccache} ${TWILL_CCACHE})
    endif()
  endif()
endif()

add_library(twill_flags INTERFACE)
target_link_libraries(twill_compiled PRIVATE twill_flags)
# g++ 12 sees overlapping copies in its own std::string at -O3 (GCC bug 105651).
target_compile_options(twill_compiled PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
add_library(twill_development INTERFACE)
target_link_libraries(twill_development INTERFACE twill_flags twill::compiled)
add_library(twill_header_only INTERFACE)
target_link_libraries(twill_header_only INTERFACE twill_flags twill::twill)
set(twill_cxx_options -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${TWILL_WERROR}>:-Werror>)
target_compile_options(twill_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${twill_cxx_options}>")

# g++ begins to collect its garbage at 1 GB instead of at 128 MB: a seventh less time for files full of templates.
set(twill_gcc_heap --param=ggc-min-heapsize=1000000)
target_compile_options(twill_flags INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${twill_gcc_heap}>")
# The same for the host's side of .cu files.
target_compile_options(twill_flags INTERFACE
                       "$<$<AND:$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>,$<CXX_COMPILER_ID:GNU>>:-Xcompiler=${twill_gcc_heap}>")
if(TWILL_CCACHE) # without it ccache cannot tell which precompiled header was read
  target_compile_options(twill_flags INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")
endif()

# Programs of so many small functions link in a seventh of the time, where lld is installed, which cannot link g++'s LTO.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld TWILL_HAS_LLD)
if(TWILL_HAS_LLD AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION AND NOT "${CMAKE_EXE_LINKER_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fuse-ld=|-flto")
  target_link_options(twill_flags INTERFACE $<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
endif()

if(TWILL_ARCH)
  include(CheckCXXCompilerFlag)
  string(MAKE_C_IDENTIFIER "TWILL_COMPILER_KNOWS_MARCH_${TWILL_ARCH}" known)
  check_cxx_compiler_flag(-march=${TWILL_ARCH} ${known})
  if(${known})
    target_compile_options(twill_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=${TWILL_ARCH}>)
    twill_note("instruction set" "-march=${TWILL_ARCH}" "tests, benchmarks and examples run on this kind of processor only")
  else()
    twill_note("instruction set" "default" "the compiler does not know -march=${TWILL_ARCH}")
  endif()
endif()

if(TWILL_SANITIZE)
  set(sanitize -fsanitize=${TWILL_SANITIZE} -fno-omit-frame-pointer)
  if(TWILL_SANITIZE MATCHES undefined)
    list(APPEND sanitize -fno-sanitize-recover=all)
  endif()
  # g++ 12 sees uninitialised members in its own <functional> once the sanitizers' checks stand between the accesses.
  list(APPEND sanitize $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_options(twill_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${sanitize}>")
  target_link_options(twill_flags INTERFACE -fsanitize=${TWILL_SANITIZE})
  twill_note(sanitizers "${TWILL_SANITIZE}" "slower, and every finding ends the program")
endif()
