# SPDX-License-Identifier: Apache-2.0
#
# A run that nothing disturbs, one whose rank 1 is killed, and one that goes on from its checkpoints, which compares its weights
# to those of the first: LAUNCHER starts PROGRAM as so many processes as stand behind COUNT, WRAPPER is its first argument,
# FOLDER where files go.

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
foreach(mode IN ITEMS whole dies resumes)
  execute_process(COMMAND ${LAUNCHER} --oversubscribe --allow-run-as-root ${COUNT} 2 ${PROGRAM} ${WRAPPER} ${mode} ${FOLDER}
                  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  message("${mode}: ${status}\n${output}")
  if(mode STREQUAL dies)
    if(status EQUAL 0 OR NOT output MATCHES "process rank 1 ")
      message(FATAL_ERROR "nobody names rank 1, which was killed")
    endif()
  elseif(NOT status EQUAL 0)
    message(FATAL_ERROR "${mode} ended with ${status}")
  endif()
endforeach()
