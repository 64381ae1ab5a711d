# SPDX-License-Identifier: Apache-2.0
#
# Where CUDA's libraries lie: used by twill's own build and by twillConfig.cmake, so that a package finds on the machine that
# uses it what the build would find there. The system's come first, then the toolkit's, then the wheels of pip.

# The folders of `nvidia-cudnn-cu13`, `nvidia-nccl-cu13` and other wheels of NVIDIA's, which are below site-packages of the active
# environment and of the first python3 in the PATH: site-packages/nvidia/<package>/{include,lib}.
function(twill_find_wheels package result)
  file(GLOB sites $ENV{VIRTUAL_ENV}/lib/python3*/site-packages $ENV{CONDA_PREFIX}/lib/python3*/site-packages)
  find_program(TWILL_PYTHON NAMES python3 python)
  mark_as_advanced(TWILL_PYTHON)
  if(TWILL_PYTHON)
    execute_process(COMMAND ${TWILL_PYTHON} -c
                            "import site; print(';'.join(site.getsitepackages() + [site.getusersitepackages()]))"
                    OUTPUT_VARIABLE of_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND sites ${of_python})
  endif()
  list(TRANSFORM sites APPEND /nvidia/${package})
  set(${result} ${sites} PARENT_SCOPE)
endfunction()

# True for targets that are not for the PTX interpreter (ptxrun/), whose stand-ins take the place of the libraries.
set(twill_on_a_device "$<NOT:$<BOOL:$<TARGET_PROPERTY:TWILL_ON_PTX_INTERPRETER>>>")

# Sets TWILL_CUBLASLT_LIBRARY, and for each of CUDNN, CUFFT, CUSOLVER, CUSPARSE and NCCL: TWILL_HAS_<name>,
# TWILL_<name>_LIBRARY and, when its header is not the toolkit's, TWILL_<name>_EXTRA_INCLUDE_DIR. cuSOLVER comes with
# TWILL_CUBLAS_LIBRARY, which it needs.
macro(twill_find_cuda_libraries)
  set(twill_cuda_roots $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
  if(CMAKE_CUDA_COMPILER)
    get_filename_component(twill_nvcc_folder ${CMAKE_CUDA_COMPILER} DIRECTORY)
    list(PREPEND twill_cuda_roots ${twill_nvcc_folder}/..)
  endif()
  set(twill_cuda_search PATHS ${twill_cuda_roots} PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
  find_library(TWILL_CUBLASLT_LIBRARY NAMES cublasLt ${twill_cuda_search})
  find_library(TWILL_CUDNN_LIBRARY NAMES cudnn ${twill_cuda_search})
  find_library(TWILL_CUFFT_LIBRARY NAMES cufft ${twill_cuda_search})
  find_library(TWILL_CUSOLVER_LIBRARY NAMES cusolver ${twill_cuda_search})
  find_library(TWILL_CUBLAS_LIBRARY NAMES cublas ${twill_cuda_search})
  find_library(TWILL_CUSPARSE_LIBRARY NAMES cusparse ${twill_cuda_search})
  find_library(TWILL_NCCL_LIBRARY NAMES nccl ${twill_cuda_search})
  if(NOT TWILL_CUDNN_LIBRARY) # wheels have no libcudnn.so
    twill_find_wheels(cudnn twill_wheels)
    find_library(TWILL_CUDNN_LIBRARY NAMES libcudnn.so.9 PATHS ${twill_wheels} PATH_SUFFIXES lib)
  endif()
  if(NOT TWILL_CUFFT_LIBRARY)
    twill_find_wheels(cufft twill_wheels)
    find_library(TWILL_CUFFT_LIBRARY NAMES libcufft.so.12 libcufft.so.11 PATHS ${twill_wheels} PATH_SUFFIXES lib)
  endif()
  if(NOT TWILL_CUSOLVER_LIBRARY OR NOT TWILL_CUBLAS_LIBRARY)
    twill_find_wheels(cusolver twill_wheels)
    find_library(TWILL_CUSOLVER_LIBRARY NAMES libcusolver.so.12 libcusolver.so.11 PATHS ${twill_wheels} PATH_SUFFIXES lib)
    twill_find_wheels(cublas twill_wheels)
    find_library(TWILL_CUBLAS_LIBRARY NAMES libcublas.so.13 libcublas.so.12 PATHS ${twill_wheels} PATH_SUFFIXES lib)
  endif()
  if(NOT TWILL_CUSPARSE_LIBRARY)
    twill_find_wheels(cusparse twill_wheels)
    find_library(TWILL_CUSPARSE_LIBRARY NAMES libcusparse.so.12 PATHS ${twill_wheels} PATH_SUFFIXES lib)
  endif()
  if(NOT TWILL_NCCL_LIBRARY)
    twill_find_wheels(nccl twill_wheels)
    find_library(TWILL_NCCL_LIBRARY NAMES libnccl.so.2 PATHS ${twill_wheels} PATH_SUFFIXES lib)
  endif()
  # a header beside its library is of the same version
  get_filename_component(twill_cudnn_folder "${TWILL_CUDNN_LIBRARY}" DIRECTORY)
  get_filename_component(twill_cufft_folder "${TWILL_CUFFT_LIBRARY}" DIRECTORY)
  get_filename_component(twill_cusolver_folder "${TWILL_CUSOLVER_LIBRARY}" DIRECTORY)
  get_filename_component(twill_cusparse_folder "${TWILL_CUSPARSE_LIBRARY}" DIRECTORY)
  get_filename_component(twill_nccl_folder "${TWILL_NCCL_LIBRARY}" DIRECTORY)
  find_path(TWILL_CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${twill_cudnn_folder}/../include
            PATHS ${twill_cuda_roots} PATH_SUFFIXES include)
  find_path(TWILL_CUFFT_INCLUDE_DIR cufft.h HINTS ${twill_cufft_folder}/../include
            PATHS ${twill_cuda_roots} PATH_SUFFIXES include)
  find_path(TWILL_CUSOLVER_INCLUDE_DIR cusolverDn.h HINTS ${twill_cusolver_folder}/../include
            PATHS ${twill_cuda_roots} PATH_SUFFIXES include)
  find_path(TWILL_CUSPARSE_INCLUDE_DIR cusparse.h HINTS ${twill_cusparse_folder}/../include
            PATHS ${twill_cuda_roots} PATH_SUFFIXES include)
  find_path(TWILL_NCCL_INCLUDE_DIR nccl.h HINTS ${twill_nccl_folder}/../include
            PATHS ${twill_cuda_roots} PATH_SUFFIXES include)
  foreach(twill_library IN ITEMS CUDNN CUFFT CUSOLVER CUSPARSE NCCL)
    set(TWILL_HAS_${twill_library} FALSE)
    set(TWILL_${twill_library}_EXTRA_INCLUDE_DIR "")
    if(TWILL_${twill_library}_LIBRARY AND TWILL_${twill_library}_INCLUDE_DIR)
      set(TWILL_HAS_${twill_library} TRUE)
      # nvcc finds the toolkit's own headers by itself, and in an order that must not be disturbed
      if(NOT EXISTS ${TWILL_${twill_library}_INCLUDE_DIR}/cuda_runtime.h)
        set(TWILL_${twill_library}_EXTRA_INCLUDE_DIR ${TWILL_${twill_library}_INCLUDE_DIR})
      endif()
    endif()
  endforeach()
  if(TWILL_HAS_CUDNN)
    file(STRINGS ${TWILL_CUDNN_INCLUDE_DIR}/cudnn_version.h twill_cudnn_version REGEX "#define CUDNN_M(AJOR|INOR) ")
    string(REGEX REPLACE "[^0-9;]" "" twill_cudnn_version "${twill_cudnn_version}")
    list(JOIN twill_cudnn_version "." TWILL_CUDNN_VERSION)
    if(TWILL_CUDNN_VERSION VERSION_LESS 9.8)
      set(TWILL_HAS_CUDNN FALSE) # older ones plan with handles only
    endif()
  endif()
  if(NOT TWILL_CUBLAS_LIBRARY)
    set(TWILL_HAS_CUSOLVER FALSE)
  endif()
  # Loading them takes time, and most programs transform nothing and solve nothing.
  set(twill_CUFFT_where_used "$<${twill_on_a_device}:-Wl,--push-state,--as-needed,${TWILL_CUFFT_LIBRARY},--pop-state>")
  string(CONCAT twill_CUSOLVER_where_used "$<${twill_on_a_device}:-Wl,--push-state,--as-needed,${TWILL_CUSOLVER_LIBRARY},"
                                          "${TWILL_CUBLAS_LIBRARY},--pop-state>")
  set(twill_CUSPARSE_where_used "$<${twill_on_a_device}:-Wl,--push-state,--as-needed,${TWILL_CUSPARSE_LIBRARY},--pop-state>")
  mark_as_advanced(TWILL_CUBLASLT_LIBRARY TWILL_CUDNN_LIBRARY TWILL_CUDNN_INCLUDE_DIR TWILL_CUFFT_LIBRARY
                   TWILL_CUFFT_INCLUDE_DIR TWILL_CUSOLVER_LIBRARY TWILL_CUSOLVER_INCLUDE_DIR TWILL_CUBLAS_LIBRARY
                   TWILL_CUSPARSE_LIBRARY TWILL_CUSPARSE_INCLUDE_DIR TWILL_NCCL_LIBRARY TWILL_NCCL_INCLUDE_DIR)
endmacro()
