# SPDX-License-Identifier: Apache-2.0
#
# cmake -D TREE=<twill> -D FOLDER=<empty folder> -D COMPILER=<C++ compiler> -P: a project that does not say how to build it is told
# what that costs, once; others are not.
cmake_minimum_required(VERSION 3.25)

file(WRITE ${FOLDER}/source/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
set(TWILL_CUDA OFF CACHE STRING "")
add_subdirectory(${TWILL_SOURCE} twill)
]])

# warnings(<variable> <options>...): how many warnings of the build type a configuration gives.
function(warnings result)
  file(REMOVE_RECURSE ${FOLDER}/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${FOLDER}/source -B ${FOLDER}/build -D TWILL_SOURCE=${TREE}
                          -D CMAKE_CXX_COMPILER=${COMPILER} ${ARGN}
                  OUTPUT_QUIET ERROR_VARIABLE errors COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "CMAKE_BUILD_TYPE is not set" found "${errors}")
  list(LENGTH found count)
  set(${result} ${count} PARENT_SCOPE)
endfunction()

# expect(<number> <options>...)
function(expect expected)
  warnings(count ${ARGN})
  if(NOT count EQUAL expected)
    message(FATAL_ERROR "with '${ARGN}' there were ${count} warnings, not ${expected}")
  endif()
endfunction()

set(ENV{CMAKE_BUILD_TYPE} "")
set(ENV{CXXFLAGS} "")
expect(1 -G Ninja)
expect(0 -G Ninja -D CMAKE_BUILD_TYPE=Debug)
expect(0 -G Ninja -D "CMAKE_CXX_FLAGS=-g -O2")
expect(0 -G "Ninja Multi-Config")
