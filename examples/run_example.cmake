# SPDX-License-Identifier: Apache-2.0
#
# Runs an example: it has to end with 0, and what it prints has to contain a text.

execute_process(COMMAND ${PROGRAM} ${FLAGS} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status ECHO_OUTPUT_VARIABLE
                ECHO_ERROR_VARIABLE)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()
foreach(text IN LISTS PRINTS)
  string(FIND "${output}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the output does not contain: ${text}")
  endif()
endforeach()
