# SPDX-License-Identifier: Apache-2.0
#
# twill_discover_tests(<target> <prefix> [NAME=VALUE]...): one CTest entry for each test case of a Catch2 program, listed
# after each build of it. The properties are those of every entry.

function(twill_discover_tests target prefix)
  set(tests ${CMAKE_CURRENT_BINARY_DIR}/${target}.tests.cmake)
  list(TRANSFORM ARGN PREPEND "--property=" OUTPUT_VARIABLE properties)
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM BYPRODUCTS ${tests}
                     COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/discover_tests.py --out ${tests}
                             --program $<TARGET_FILE:${target}> --prefix ${prefix} ${properties})
  # a program that was not built fails instead of being forgotten
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}.include.cmake)
  file(WRITE ${include} "if(EXISTS [==[${tests}]==])\n  include([==[${tests}]==])\nelse()\n  add_test([==[${prefix}not built]==] ${target}-not-built)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
