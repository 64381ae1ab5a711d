# SPDX-License-Identifier: Apache-2.0
#
# Programs of each consumer once it has twill: one, and with CUDA one that nvcc compiles.

if(NOT TARGET program)
  add_executable(program ${CMAKE_CURRENT_LIST_DIR}/program.cpp)
  target_link_libraries(program PRIVATE twill::twill)
endif()
if(CONSUMER_CUDA)
  add_executable(gpu_program ${CMAKE_CURRENT_LIST_DIR}/program.cu)
  target_link_libraries(gpu_program PRIVATE twill::cuda)
endif()

# A guest leaves the house as it was: no flags, no tests, no targets but its own.
if(NOT "${CMAKE_CXX_FLAGS}" STREQUAL "$CACHE{CMAKE_CXX_FLAGS}")
  message(FATAL_ERROR "twill changed CMAKE_CXX_FLAGS to '${CMAKE_CXX_FLAGS}'")
endif()
foreach(variable IN ITEMS CMAKE_CXX_STANDARD CMAKE_CXX_EXTENSIONS CMAKE_CXX_COMPILER_LAUNCHER BUILD_TESTING CPACK_PACKAGE_NAME)
  if(DEFINED ${variable})
    message(FATAL_ERROR "twill set ${variable} to '${${variable}}'")
  endif()
endforeach()
if(TWILL_SOURCE)
  get_property(targets DIRECTORY ${TWILL_SOURCE} PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER targets EXCLUDE REGEX "^twill(_algorithms|_compiled|_cuda|_mpi)?$")
  if(targets)
    message(FATAL_ERROR "twill brings the targets ${targets}")
  endif()
  get_property(tests DIRECTORY ${TWILL_SOURCE} PROPERTY TESTS)
  if(tests)
    message(FATAL_ERROR "twill brings the tests ${tests}")
  endif()
endif()
