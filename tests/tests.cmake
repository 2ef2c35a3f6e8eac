# Registers every test: tests/unit/<path>/test_<module>.c is found by its name and linked with the
# room that it mirrors; rules are shared with tests/fuzz.
pkg_check_modules(check REQUIRED IMPORTED_TARGET check)
file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.c)
add_library(support STATIC ${support_sources})
target_link_libraries(support PUBLIC scan PkgConfig::check)

set(ROOM_base base)
set(ROOM_item item)
set(ROOM_expr expr)
set(ROOM_sort sort)
set(ROOM_undo undo)
set(ROOM_store store_lmdb)
set(ROOM_lmdb store_lmdb)
set(ROOM_dynamodb store_dynamodb)
set(ROOM_client dynamodb_client)
set(ROOM_scan scan store_lmdb)
set(ROOM_plans plans)
set(ROOM_importers importers)
set(ROOM_postgres importers_postgres)
set(ROOM_jsonl importers_jsonl)
set(ROOM_cli migrate_cli)
set(ROOM_ledger migrate_ledger)
set(ROOM_run migrate_run)
set(ROOM_import migrate_import)
set(ROOM_migrate migrate)

# Whose laws a room's laws lean on.
set(RULES_expr rules_item)
set(RULES_plans rules_expr)

# tests/rules/<room>_*.c hold the laws of a room; one library a room.
foreach(room base item expr sort undo lmdb client plans importers postgres jsonl)
  file(GLOB rule_sources CONFIGURE_DEPENDS tests/rules/${room}_*.c)
  if(rule_sources)
    add_library(rules_${room} STATIC ${rule_sources})
    target_link_libraries(rules_${room} PUBLIC support ${ROOM_${room}} ${RULES_${room}})
  endif()
endforeach()

file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS tests/unit/test_*.c)
foreach(source IN LISTS unit_tests)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(room ${folder} NAME)
  file(RELATIVE_PATH place ${CMAKE_SOURCE_DIR}/tests ${folder}/${name})
  string(REPLACE "/test_" "/" place ${place})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${ROOM_${room}} support)
  if(TARGET rules_${room})
    target_link_libraries(${name} PRIVATE rules_${room})
  endif()
  target_compile_definitions(${name} PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${place} COMMAND ${name})
  # A suite that ran nothing has shown nothing.
  set_tests_properties(${place} PROPERTIES LABELS unit TIMEOUT 300 FAIL_REGULAR_EXPRESSION "Checks: 0,")
endforeach()

# tests/integration/test_*.py talk to the program itself; a skipped case is a failure.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB integration_tests CONFIGURE_DEPENDS tests/integration/test_*.py)
foreach(source IN LISTS integration_tests)
  get_filename_component(name ${source} NAME_WE)
  string(REPLACE "test_" "integration/" place ${name})
  add_test(NAME ${place} COMMAND Python3::Interpreter -B ${source})
  set_tests_properties(${place} PROPERTIES LABELS integration TIMEOUT 600
    ENVIRONMENT "REFOLD=$<TARGET_FILE:refold>;TEST_PROGRAMS=${CMAKE_BINARY_DIR}" FAIL_REGULAR_EXPRESSION "skipped=;Ran 0 tests")
endforeach()

# What they start besides it: tests/integration/ddb_*.c use the client of the DynamoDB API directly.
file(GLOB client_programs CONFIGURE_DEPENDS tests/integration/ddb_*.c)
foreach(source IN LISTS client_programs)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE store_dynamodb)
endforeach()

# Stands before LMDB where a test wants it slow.
add_library(slow_lmdb MODULE tests/integration/slow_lmdb.c)
target_link_libraries(slow_lmdb PRIVATE PkgConfig::lmdb)
add_library(note_syncs MODULE tests/integration/note_syncs.c)
add_library(silent_names MODULE tests/integration/silent_names.c)
add_library(two_addresses MODULE tests/integration/two_addresses.c)

# Numbers against Python's decimal.
add_executable(number_lines tests/integration/number_lines.c)
target_link_libraries(number_lines PRIVATE item)
add_test(NAME integration/number_against_python COMMAND Python3::Interpreter -B
  ${CMAKE_SOURCE_DIR}/tests/integration/number_against_python.py $<TARGET_FILE:number_lines>)
set_tests_properties(integration/number_against_python PROPERTIES LABELS integration TIMEOUT 300)

# What tests/bench/bench.py measures against.
file(GLOB bench_sources CONFIGURE_DEPENDS tests/bench/*.c)
foreach(source IN LISTS bench_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE base PkgConfig::lmdb)
endforeach()

if(REFOLD_FUZZ)
  # tests/fuzz/fuzz_<room>_<what>.c
  file(GLOB fuzz_targets CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
  foreach(source IN LISTS fuzz_targets)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^fuzz_([a-z]+)_.*" "\\1" room ${name})
    add_executable(${name} ${source})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${name} PRIVATE ${ROOM_${room}} support)
    if(TARGET rules_${room})
      target_link_libraries(${name} PRIVATE rules_${room})
    endif()
  endforeach()
endif()

add_test(NAME rules/layers COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -P ${CMAKE_SOURCE_DIR}/tests/layers.cmake)
