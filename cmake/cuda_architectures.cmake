# SPDX-License-Identifier: Apache-2.0
#
# GPU architectures of a build that names none: those of the machine's own GPUs where a driver answers, else all that nvcc has
# from 7.5 (Turing) to 12.0 (Blackwell), with PTX of the last for younger ones. CMAKE_CUDA_ARCHITECTURES or CUDAARCHS say
# otherwise.

# Sets `result` to a value of CMAKE_CUDA_ARCHITECTURES; leaves CMake's own default where `nvcc` does not answer.
function(twill_choose_cuda_architectures nvcc result)
  find_program(TWILL_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(TWILL_NVIDIA_SMI)
  if(TWILL_NVIDIA_SMI)
    execute_process(COMMAND ${TWILL_NVIDIA_SMI} --list-gpus RESULT_VARIABLE status OUTPUT_VARIABLE gpus ERROR_QUIET)
    if(status EQUAL 0 AND gpus MATCHES "GPU ")
      set(${result} native PARENT_SCOPE)
      return()
    endif()
  endif()
  set(known "")
  if(nvcc)
    execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
  endif()
  string(REGEX MATCHALL "[0-9]+" known "${known}")
  set(chosen "")
  foreach(architecture IN ITEMS 75 80 86 89 90 100 120)
    if(architecture IN_LIST known)
      list(APPEND chosen ${architecture}-real)
    endif()
  endforeach()
  if(chosen)
    string(REGEX REPLACE "-real$" "" chosen "${chosen}") # the last one's PTX, too
    set(${result} "${chosen}" PARENT_SCOPE)
  endif()
endfunction()
