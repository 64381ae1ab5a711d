# SPDX-License-Identifier: Apache-2.0
#
# Runs of three processes in which a rank dies or throws, or whose launcher gets a batch system's SIGTERM, started again by a loop
# like that of docs/parallel.md, with as many processes or one less: each ends in the file of a run that nothing disturbed, byte for byte. LAUNCHER starts PROGRAM as so
# many processes as stand after COUNT, files go to FOLDER.

file(REMOVE_RECURSE ${FOLDER})
set(last step-000000000007.safetensors)

function(start rank how ranks folder)
  execute_process(COMMAND ${LAUNCHER} --oversubscribe --allow-run-as-root --mca odls_base_sigkill_timeout 2
                          ${COUNT} ${ranks} ${PROGRAM} ${rank} ${how} ${folder}
                  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  message("rank ${rank} ${how}, ${ranks} processes: ${status}\n${output}")
  set(output "${output}" PARENT_SCOPE)
  set(status ${status} PARENT_SCOPE)
endfunction()

start(none none 3 ${FOLDER}/undisturbed)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the undisturbed run ended with ${status}")
endif()
foreach(trial IN ITEMS "0;dies;2;process rank 0 " "2;throws;3;the device is gone" "1;ends;2;.")
  list(GET trial 0 rank)
  list(GET trial 1 how)
  list(GET trial 2 next) # processes of the second start
  list(GET trial 3 said)
  set(folder ${FOLDER}/${rank}-${how})
  start(${rank} ${how} 3 ${folder})
  if(status EQUAL 0 OR NOT output MATCHES "${said}")
    message(FATAL_ERROR "rank ${rank} ${how}, and nobody says so")
  endif()
  start(${rank} ${how} ${next} ${folder})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the second start ended with ${status}")
  elseif(NOT output MATCHES "begins with step 4")
    message(FATAL_ERROR "the newest commit, of step 4, is lost")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${FOLDER}/undisturbed/${last} ${folder}/${last}
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the run that went on has other bits than the undisturbed one")
  endif()
endforeach()
