/* report — results on stdout, as text for people or JSON for programs; progress on stderr. */
#ifndef MIGRATE_CLI_REPORT_H
#define MIGRATE_CLI_REPORT_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prints a result object as one JSON text with a closing line feed, and frees it. A closed pipe or
 * a full disk is noticed at the end of the program (exit 1). */
void report_json(struct invocation *invocation, cJSON *object);

/* An aligned text table: cells are UTF-8, columns padded by characters; numbers right-aligned. */
struct report_table;
struct report_table *report_table_new(struct arena *arena, size_t columns);
void report_table_row(struct report_table *table, const struct str *cells);
/* Shortens the widest columns until a line has at most `width` characters; 0: no limit. Call it
 * after the last row. */
void report_table_fit(struct report_table *table, size_t width);

/* The first `header_rows` rows are the heading, underlined where color is on. */
void report_table_print(const struct report_table *table, FILE *out, size_t header_rows,
                        bool color);

/* Characters a line of the terminal has that `file` writes to; 0: it is no terminal. */
size_t report_width(FILE *file);

/* ERROR_STORE: the results cannot be written (a closed pipe, a full disk). For long outputs, which
 * should end early. */
MUST_CHECK bool report_check(const struct invocation *invocation, struct error *err);

/* What a store tells the user meanwhile is a line of invocation->messages. */
struct store_voice report_voice(struct invocation *invocation);

/* Thousands separated: 1,234,567. And 1.2 MB, 3.4 s, "2 h 5 min". */
struct str report_count(struct arena *arena, uint64_t n);
/* "1 item error", "1,200 item errors", "0 item errors": a count and what is counted. */
struct str report_counted(struct arena *arena, uint64_t n, const char *one, const char *many);
struct str report_bytes(struct arena *arena, uint64_t bytes);
struct str report_duration(struct arena *arena, uint64_t milliseconds);

/* A line of its own on invocation->messages, also where a bar stands. Any thread. */
void report_message(const struct invocation *invocation, const char *format, ...) PRINTF_LIKE(2, 3);

/* A progress line on invocation->messages: on a terminal a bar with items/s and ETA, redrawn at
 * most ten times a second; elsewhere a line every five seconds. Uses the monotonic clock. */
struct progress;
struct progress *progress_open(struct invocation *invocation, const char *phase, uint64_t total);
/* Of a whole table, whose count may be an estimate. */
struct progress *progress_open_table(struct invocation *invocation, const char *phase,
                                     const struct table_desc *table);
void progress_set(struct progress *progress, uint64_t done);
void progress_close(struct progress *progress);

/* How far a phase has come. */
struct progress_state {
    const char *phase;
    uint64_t done;
    uint64_t total; /* 0: not known */
    uint64_t elapsed_ms;
    bool is_estimate; /* the total */
};

/* One such line, as progress_set() shows it: "sorting  45 %  1,234 of 2,700  512/s  ETA 3.4 s".
 *   bar  characters of the bar; 0: none */
struct str progress_line(struct arena *arena, struct progress_state state, size_t bar);

#endif
