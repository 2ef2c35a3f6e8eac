/* error — what went wrong, and what we were doing at the time. */
#ifndef ENGINE_BASE_ERROR_H
#define ENGINE_BASE_ERROR_H

#include <stdbool.h>

#define MUST_CHECK              __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, args) __attribute__((format(printf, text, args)))

/* One line a code: name, exit status of the program.
 *   USAGE     the command line or configuration is wrong
 *   PLAN      a plan, map or expression is wrong, changed or out of order
 *   INPUT     a file of data is malformed (JSON lines, DynamoDB JSON)
 *   ITEM      this one item cannot be computed or stored; the pass goes on
 *   LIMIT     a limit of DynamoDB's is passed (an item error where an item is at hand)
 *   STORE     the table cannot be opened, read or written
 *   DAMAGED   the table or an undo record fails its checksum or structure
 *   FULL      no room on the disk
 *   BUSY      another run holds the lease
 *   SOURCE    PostgreSQL refused, broke off, or holds a value that has no place in an item
 *   CONFLICT  two rows or items want one key; a standing item differs
 *   PENDING   changes are pending (dry run, status --exit-code)
 *   STOPPED   interrupted by a signal; resumable */
#define ERROR_CODES(X)   \
    X(ERROR_NONE, 0)     \
    X(ERROR_USAGE, 2)    \
    X(ERROR_PLAN, 2)     \
    X(ERROR_INPUT, 1)    \
    X(ERROR_ITEM, 3)     \
    X(ERROR_LIMIT, 3)    \
    X(ERROR_STORE, 1)    \
    X(ERROR_DAMAGED, 1)  \
    X(ERROR_FULL, 1)     \
    X(ERROR_BUSY, 1)     \
    X(ERROR_SOURCE, 1)   \
    X(ERROR_CONFLICT, 1) \
    X(ERROR_PENDING, 4)  \
    X(ERROR_STOPPED, 5)

enum error_code {
#define X(name, exit_status) name,
    ERROR_CODES(X)
#undef X
};

struct error {
    enum error_code code;
    char text[1024]; /* outermost context first, cut to fit, always NUL-ended */
};

/* Both return false, so a caller can write: return error_set(err, ...); A second line that begins
 * "hint: " says what to do. */
bool error_set(struct error *err, enum error_code code, const char *format, ...) PRINTF_LIKE(3, 4);
bool error_wrap(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Of a failed write's errno: ERROR_FULL where there is no room on the device, in the quota or
 * within the limit of file sizes, else ERROR_STORE. */
enum error_code error_code_of_write(int reason);

/* Gives an error that line, for who knows more of what to do than the callee. One that has a hint
 * keeps it. Returns false. */
bool error_hint(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Analyzers do not look into error.c: here they see that the result is false. */
static inline bool error_is_set(bool always_false)
{
    (void)always_false;
    return false;
}
#define error_set(...)  error_is_set((error_set)(__VA_ARGS__))
#define error_wrap(...) error_is_set((error_wrap)(__VA_ARGS__))
#define error_hint(...) error_is_set((error_hint)(__VA_ARGS__))

/* The exit status that belongs to a code. */
int error_exit_status(enum error_code code);

#endif
