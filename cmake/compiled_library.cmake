# SPDX-License-Identifier: Apache-2.0
#
# twill::compiled, a static library of the bodies in .ipp files: programs that link it in place of twill::twill compile those
# no more. Used by twill's own build and by twillConfig.cmake, so that a package holds its sources and each project builds it
# once, with its own flags: kernels belong to an instruction set, and one that differs is refused by the linker.

# Adds the target, from the .cpp files in `folder`.
function(twill_add_compiled_library folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  add_library(twill_compiled STATIC EXCLUDE_FROM_ALL ${sources})
  add_library(twill::compiled ALIAS twill_compiled)
  set_target_properties(twill_compiled PROPERTIES OUTPUT_NAME twill POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(twill_compiled PUBLIC twill::twill)
  # Files that nvcc compiles have flags of their own, and stay header-only.
  target_compile_definitions(twill_compiled PUBLIC $<$<COMPILE_LANGUAGE:CXX>:TWILL_COMPILED=1>)
endfunction()
