# SPDX-License-Identifier: Apache-2.0
#
# twill::compiled, a static library of the bodies in .ipp files: programs that link it in place of twill::twill compile those
# no more. Used by twill's own build and by twillConfig.cmake, so that a package holds its sources and each project builds it
# once, with its own flags: kernels belong to an instruction set, and one that differs is refused by the linker.

set(TWILL_QUICK AUTO CACHE STRING "Quick builds of what links twill::compiled, with interpreted programs: AUTO (in Debug), ON or OFF")
set_property(CACHE TWILL_QUICK PROPERTY STRINGS AUTO ON OFF)

# Adds the target, from the .cpp files in `folder`.
function(twill_add_compiled_library folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  add_library(twill_compiled STATIC EXCLUDE_FROM_ALL ${sources})
  add_library(twill::compiled ALIAS twill_compiled)
  # Traces take milliseconds at any level; at -O3 g++ 12 warns of writes past arrays whose bounds it has lost.
  set_source_files_properties(${folder}/constexpr.cpp PROPERTIES COMPILE_OPTIONS -O1)
  set_target_properties(twill_compiled PROPERTIES OUTPUT_NAME twill POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(twill_compiled PUBLIC twill::twill)
  # Files that nvcc compiles have flags of their own, and stay header-only where a target does not say otherwise.
  target_compile_definitions(twill_compiled PUBLIC $<$<COMPILE_LANGUAGE:CXX>:TWILL_COMPILED=1>)
  target_compile_options(twill_compiled PUBLIC
                         $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-gnu-inline-cpp-without-extern>)
  # A target's property TWILL_QUICK goes before the option.
  if(TWILL_QUICK STREQUAL "AUTO")
    set(quick $<CONFIG:Debug>)
  else()
    set(quick $<BOOL:${TWILL_QUICK}>)
  endif()
  set(own $<TARGET_PROPERTY:TWILL_QUICK>)
  target_compile_definitions(twill_compiled INTERFACE
                             $<$<COMPILE_LANGUAGE:CXX>:TWILL_QUICK=$<IF:$<STREQUAL:${own},>,${quick},$<BOOL:${own}>>>)
endfunction()
