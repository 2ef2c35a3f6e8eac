#include "migrate/cli/report.h"

#include "engine/base/buffer.h"
#include "engine/base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

void report_json(struct invocation *invocation, cJSON *object)
{
    char *text = cJSON_PrintUnformatted(object);
    (void)fprintf(invocation->out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(object);
}

size_t report_width(FILE *file)
{
    struct winsize size = {0};
    return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool report_check(const struct invocation *invocation, struct error *err)
{
    if (ferror(invocation->out) != 0) {
        return error_set(err, ERROR_STORE, "the results cannot be written: %s", strerror(errno));
    }
    return true;
}

/* ---------------------------------------------------------------- tables */

enum { GAP = 2, NARROWEST = 6 };

struct row {
    struct row *next;
    struct str cells[];
};

struct report_table {
    struct arena *arena;
    size_t columns;
    size_t *widths; /* in characters */
    struct row *first, *last;
};

struct report_table *report_table_new(struct arena *arena, size_t columns)
{
    struct report_table *table = arena_zero(arena, sizeof *table);
    table->arena = arena;
    table->columns = columns;
    table->widths = arena_zero(arena, (columns + 1) * sizeof *table->widths);
    return table;
}

/* Control characters would break the lines or command the terminal: they are shown as \xNN. */
static struct str printable(struct arena *arena, struct str cell)
{
    size_t plain = 0;
    while (plain < cell.len && (unsigned char)cell.ptr[plain] >= ' ' && cell.ptr[plain] != 0x7f) {
        plain++;
    }
    if (plain == cell.len) {
        return arena_copy(arena, cell);
    }
    struct buffer out = {0};
    for (size_t i = 0; i < cell.len; i++) {
        unsigned char byte = (unsigned char)cell.ptr[i];
        if (byte == '\n') {
            buffer_add(&out, STR("\\n"));
        } else if (byte < ' ' || byte == 0x7f) {
            buffer_format(&out, "\\x%02x", byte);
        } else {
            buffer_add_char(&out, (char)byte);
        }
    }
    struct str shown = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return shown;
}

void report_table_row(struct report_table *table, const struct str *cells)
{
    struct row *row =
        arena_alloc(table->arena, sizeof *row + table->columns * sizeof row->cells[0]);
    row->next = NULL;
    for (size_t i = 0; i < table->columns; i++) {
        row->cells[i] = printable(table->arena, cells[i]);
        size_t width = utf8_count(row->cells[i]);
        table->widths[i] = width > table->widths[i] ? width : table->widths[i];
    }
    if (table->last == NULL) {
        table->first = row;
    } else {
        table->last->next = row;
    }
    table->last = row;
}

void report_table_fit(struct report_table *table, size_t width)
{
    if (width == 0 || table->columns == 0) {
        return;
    }
    size_t total = GAP * (table->columns - 1);
    for (size_t i = 0; i < table->columns; i++) {
        total += table->widths[i];
    }
    while (total > width) {
        size_t widest = 0;
        for (size_t i = 1; i < table->columns; i++) {
            widest = table->widths[i] > table->widths[widest] ? i : widest;
        }
        if (table->widths[widest] <= NARROWEST) {
            return;
        }
        table->widths[widest]--;
        total--;
    }
}

static bool is_number(struct str cell)
{
    size_t digits = 0;
    for (size_t i = 0; i < cell.len; i++) {
        if (cell.ptr[i] >= '0' && cell.ptr[i] <= '9') {
            digits++;
        } else if (strchr("+-.,%~", cell.ptr[i]) == NULL) {
            return false;
        }
    }
    return digits > 0;
}

/* The start of a cell that has `width` characters. */
static struct str clip(struct str cell, size_t width)
{
    size_t at = 0;
    for (size_t i = 0; i < width; i++) {
        (void)utf8_next(cell, &at);
    }
    return (struct str){cell.ptr, at};
}

static void print_cell(struct str cell, size_t width, bool last, FILE *out)
{
    size_t len = utf8_count(cell);
    if (len > width) {
        (void)fprintf(out, "%.*s…", STR_ARG(clip(cell, width - 1)));
        len = width;
    } else if (is_number(cell)) {
        (void)fprintf(out, "%*s%.*s", (int)(width - len), "", STR_ARG(cell));
        len = width;
    } else {
        (void)fwrite(cell.ptr, 1, cell.len, out);
    }
    if (!last) {
        (void)fprintf(out, "%*s", (int)(width - len + GAP), "");
    }
}

static void print_row(const struct report_table *table, const struct row *row, FILE *out)
{
    size_t used = table->columns;
    while (used > 0 && row->cells[used - 1].len == 0) {
        used--;
    }
    for (size_t i = 0; i < used; i++) {
        print_cell(row->cells[i], table->widths[i], i + 1 == used, out);
    }
}

void report_table_print(const struct report_table *table, FILE *out, size_t header_rows, bool color)
{
    size_t place = 0;
    for (const struct row *row = table->first; row != NULL; row = row->next) {
        bool underlined = color && place < header_rows;
        (void)fputs(underlined ? "\033[4m" : "", out);
        print_row(table, row, out);
        (void)fputs(underlined ? "\033[0m\n" : "\n", out);
        place++;
    }
}

/* ---------------------------------------------------------------- quantities */

struct str report_count(struct arena *arena, uint64_t n)
{
    enum { DIGITS_MAX = 20, GROUP = 3 };
    char digits[DIGITS_MAX + 1];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *text = arena_bytes(arena, len + len / GROUP);
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % GROUP == 0) {
            text[used] = ',';
            used++;
        }
        text[used] = digits[i];
        used++;
    }
    return (struct str){text, used};
}

struct str report_counted(struct arena *arena, uint64_t n, const char *one, const char *many)
{
    return arena_format(arena, "%.*s %s", STR_ARG(report_count(arena, n)), n == 1 ? one : many);
}

/* Tenths are cut, not rounded, so that 999.96 kB never reads 1000.0 kB. */
struct str report_bytes(struct arena *arena, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    enum { THOUSAND = 1000, TENTHS = 10 };
    if (bytes < THOUSAND) {
        return arena_format(arena, "%" PRIu64 " B", bytes);
    }
    size_t unit = 0;
    uint64_t scale = THOUSAND;
    while (bytes / scale >= THOUSAND) {
        scale *= THOUSAND;
        unit++;
    }
    return arena_format(arena, "%" PRIu64 ".%" PRIu64 " %s", bytes / scale,
                        bytes % scale / (scale / TENTHS), units[unit]);
}

struct str report_duration(struct arena *arena, uint64_t milliseconds)
{
    enum { SECOND = 1000, TENTH = 100, MINUTE = 60, HOUR = 3600 };
    uint64_t seconds = milliseconds / SECOND;
    if (seconds < MINUTE) {
        return arena_format(arena, "%" PRIu64 ".%" PRIu64 " s", seconds,
                            milliseconds % SECOND / TENTH);
    }
    if (seconds < HOUR) {
        return arena_format(arena, "%" PRIu64 " min %" PRIu64 " s", seconds / MINUTE,
                            seconds % MINUTE);
    }
    return arena_format(arena, "%" PRIu64 " h %" PRIu64 " min", seconds / HOUR,
                        seconds % HOUR / MINUTE);
}

/* ---------------------------------------------------------------- messages */

void report_message(const struct invocation *invocation, const char *format, ...)
{
    enum { MESSAGE_MAX_BYTES = 1536 };
    char text[MESSAGE_MAX_BYTES];
    bool over_bar = report_width(invocation->messages) > 0;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fprintf(invocation->messages, over_bar ? "\r%s\033[K\n" : "%s\n", text);
}

static void say(void *context, const char *sentence)
{
    report_message(context, "%s", sentence);
}

struct store_voice report_voice(struct invocation *invocation)
{
    return (struct store_voice){.say = say, .context = invocation};
}
