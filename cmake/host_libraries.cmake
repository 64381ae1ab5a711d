# SPDX-License-Identifier: Apache-2.0
#
# Where the libraries of host devices lie: used by twill's own build and by twillConfig.cmake, so that a package finds on the
# machine that uses it what the build would find there.

include(CheckFunctionExists)

# Sets, for each of CBLAS, ONEDNN and LAPACK, TWILL_HAS_<name>, TWILL_<name>_LIBRARY and, but for LAPACK, TWILL_<name>_INCLUDE_DIR.
macro(twill_find_host_libraries)
  # CBLAS for large matrix products. OpenBLAS's OpenMP build comes first: its threads can be bounded by the caller, and it
  # does not compete with the teams of twill. Any other library that offers cblas.h will do.
  find_path(TWILL_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp openblas)
  find_library(TWILL_CBLAS_LIBRARY NAMES openblas PATH_SUFFIXES openblas-openmp)
  if(NOT TWILL_CBLAS_LIBRARY)
    find_library(TWILL_CBLAS_LIBRARY NAMES mkl_rt blis cblas blas)
  endif()
  # oneDNN beside it, faster for most shapes of float32 products, for bfloat16 and for convolutions (its version 2).
  find_path(TWILL_ONEDNN_INCLUDE_DIR dnnl_version.h)
  find_library(TWILL_ONEDNN_LIBRARY NAMES dnnl)
  foreach(twill_library IN ITEMS CBLAS ONEDNN)
    set(TWILL_HAS_${twill_library} FALSE)
    if(TWILL_${twill_library}_INCLUDE_DIR AND TWILL_${twill_library}_LIBRARY)
      set(TWILL_HAS_${twill_library} TRUE)
    endif()
    mark_as_advanced(TWILL_${twill_library}_INCLUDE_DIR TWILL_${twill_library}_LIBRARY)
  endforeach()
  # LAPACK for linalg/: OpenBLAS and MKL have it themselves. Its calls go with CBLAS's setting of threads.
  set(TWILL_HAS_LAPACK FALSE)
  if(TWILL_HAS_CBLAS)
    set(CMAKE_REQUIRED_LIBRARIES ${TWILL_CBLAS_LIBRARY})
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_function_exists(dgesdd_ TWILL_CBLAS_HAS_LAPACK)
    unset(CMAKE_REQUIRED_LIBRARIES)
    unset(CMAKE_REQUIRED_QUIET)
    if(TWILL_CBLAS_HAS_LAPACK)
      set(TWILL_LAPACK_LIBRARY ${TWILL_CBLAS_LIBRARY})
    else()
      find_library(TWILL_LAPACK_LIBRARY NAMES lapack)
      mark_as_advanced(TWILL_LAPACK_LIBRARY)
    endif()
    if(TWILL_LAPACK_LIBRARY)
      set(TWILL_HAS_LAPACK TRUE)
    endif()
  endif()
endmacro()

# Thrust and libcu++ (CCCL) for <twill/algorithms.hpp>, from the CUDA toolkit or libthrust-dev, which compile without CUDA; TBB for
# its `in_parallel`. Sets TWILL_HAS_CCCL, TWILL_CCCL_INCLUDE_DIR and TBB_FOUND. For C++ files alone there are TWILL_CCCL_SYSTEM,
# system directories, and TWILL_CCCL_DEFINITIONS: Thrust includes the CUDA runtime's header unless told that there is none.
macro(twill_find_algorithm_libraries)
  set(twill_toolkit HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda)
  find_path(TWILL_CCCL_INCLUDE_DIR thrust/version.h ${twill_toolkit} PATH_SUFFIXES include/cccl include)
  find_path(TWILL_CUDA_RUNTIME_INCLUDE_DIR cuda_runtime_api.h ${twill_toolkit} PATH_SUFFIXES include)
  find_package(TBB CONFIG QUIET)
  mark_as_advanced(TWILL_CCCL_INCLUDE_DIR TWILL_CUDA_RUNTIME_INCLUDE_DIR TBB_DIR)
  set(TWILL_HAS_CCCL FALSE)
  if(TWILL_CCCL_INCLUDE_DIR)
    set(TWILL_HAS_CCCL TRUE)
  endif()
  set(TWILL_CCCL_SYSTEM $<$<COMPILE_LANGUAGE:CXX>:${TWILL_CCCL_INCLUDE_DIR}>)
  set(TWILL_CCCL_DEFINITIONS "")
  if(TWILL_CUDA_RUNTIME_INCLUDE_DIR)
    list(APPEND TWILL_CCCL_SYSTEM $<$<COMPILE_LANGUAGE:CXX>:${TWILL_CUDA_RUNTIME_INCLUDE_DIR}>)
  else()
    set(TWILL_CCCL_DEFINITIONS $<$<COMPILE_LANGUAGE:CXX>:THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP>)
  endif()
endmacro()
