# SPDX-License-Identifier: Apache-2.0
#
# twill_add_fit(<target> <header> [STEP <type>] [PRECISIONS <type>...] [LINK <library>] [GPU])
#
# A program that says whether the training step of a header fits: `<target> --size batch=256 --budget 24GB --devices 64`, see
# docs/will_it_fit.md. The header names a training::StepOf<...>, `Step` unless told otherwise. PRECISIONS are types of elements,
# `float` if there are none; LINK is twill::twill or twill::compiled. With GPU the step is that of GPUs, which need not be there.

function(twill_add_fit target header)
  cmake_parse_arguments(PARSE_ARGV 2 fit "GPU" "STEP;LINK" "PRECISIONS")
  if(fit_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "twill_add_fit: unknown arguments: ${fit_UNPARSED_ARGUMENTS}; there are STEP, PRECISIONS, LINK and GPU")
  endif()
  get_filename_component(twill_fit_header ${header} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT EXISTS ${twill_fit_header})
    message(FATAL_ERROR "twill_add_fit: ${target}: there is no header ${twill_fit_header}")
  endif()
  if(NOT fit_STEP)
    set(fit_STEP Step)
  endif()
  if(NOT fit_LINK)
    set(fit_LINK twill::twill)
  endif()
  set(twill_fit_arguments ${fit_STEP})
  if(fit_GPU)
    set(twill_fit_arguments "twill::parallel::fit::OnGpu<${fit_STEP}>")
  endif()
  foreach(precision IN LISTS fit_PRECISIONS)
    string(APPEND twill_fit_arguments ", ${precision}")
  endforeach()
  set(main ${CMAKE_CURRENT_BINARY_DIR}/${target}_main.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fit_main.cpp.in ${main} @ONLY)
  add_executable(${target} ${main})
  target_link_libraries(${target} PRIVATE ${fit_LINK})
endfunction()
