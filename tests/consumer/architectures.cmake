# SPDX-License-Identifier: Apache-2.0
#
# cmake -D TREE=<twill> -D FOLDER=<empty folder> -P: what a build without CMAKE_CUDA_ARCHITECTURES compiles for, with an nvcc and
# a driver that are made up.
cmake_minimum_required(VERSION 3.25)
include(${TREE}/cmake/cuda_architectures.cmake)

function(write_program path text)
  file(WRITE ${path} "#!/bin/sh\n${text}\n")
  file(CHMOD ${path} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# expect(<value> <nvcc>), with the driver's program of the moment
function(expect expected nvcc)
  unset(chosen)
  twill_choose_cuda_architectures("${nvcc}" chosen)
  if(NOT "${chosen}" STREQUAL "${expected}")
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES is '${chosen}', not '${expected}'")
  endif()
endfunction()

write_program(${FOLDER}/nvcc_12.4 "printf 'sm_50\nsm_75\nsm_80\nsm_86\nsm_87\nsm_89\nsm_90\nsm_90a\n'")
write_program(${FOLDER}/nvcc_13.0 "printf 'sm_75\nsm_80\nsm_86\nsm_87\nsm_88\nsm_89\nsm_90\nsm_100\nsm_110\nsm_103\nsm_120\nsm_121\n'")
write_program(${FOLDER}/broken "exit 1")
write_program(${FOLDER}/driver "echo 'GPU 0: NVIDIA A10G (UUID: GPU-0)'")
write_program(${FOLDER}/driver_without_gpus "echo 'No devices found.'")

set(TWILL_NVIDIA_SMI ${FOLDER}/broken)
expect("75-real;80-real;86-real;89-real;90-real;100-real;120" ${FOLDER}/nvcc_13.0)
expect("75-real;80-real;86-real;89-real;90" ${FOLDER}/nvcc_12.4)
expect("" ${FOLDER}/broken)
expect("" "")
set(TWILL_NVIDIA_SMI ${FOLDER}/driver_without_gpus)
expect("75-real;80-real;86-real;89-real;90" ${FOLDER}/nvcc_12.4)
set(TWILL_NVIDIA_SMI ${FOLDER}/driver)
expect("native" ${FOLDER}/nvcc_13.0)
