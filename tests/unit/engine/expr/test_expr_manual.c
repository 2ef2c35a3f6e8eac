/* The manual is right: every row of its tables headed "expression | gives". */
#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "tests/rules/expr_answer.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1024, ROWS_MIN = 80 };

static const char header[] = "| expression | gives |\n";

struct manual {
    FILE *file;
    struct arena *arena;
    struct value item;
    int rows;
};

static bool next_line(struct manual *manual, char line[LINE_MAX_BYTES])
{
    return fgets(line, LINE_MAX_BYTES, manual->file) != NULL;
}

/* The item stands in the block that is fenced as "item". */
static void read_item(struct manual *manual)
{
    char line[LINE_MAX_BYTES];
    struct buffer text = {0};
    while (next_line(manual, line) && strcmp(line, "```item\n") != 0) {
    }
    while (next_line(manual, line) && strcmp(line, "```\n") != 0) {
        buffer_add(&text, (struct str){line, strlen(line)});
    }
    buffer_add_char(&text, '\0');
    manual->item = value_of_expr(manual->arena, text.bytes);
    buffer_free(&text);
}

/* Without blanks behind it, then without back-quotes around it. */
static struct str bare(struct str cell)
{
    while (cell.len > 0 && cell.ptr[cell.len - 1] == ' ') {
        cell.len--;
    }
    bool quoted = cell.len > 1 && cell.ptr[0] == '`' && cell.ptr[cell.len - 1] == '`';
    return quoted ? (struct str){cell.ptr + 1, cell.len - 2} : cell;
}

/* The cell at *at, which is moved past it; a bar within it is written \|. */
static struct str next_cell(struct arena *arena, const char **at)
{
    char *bytes = arena_bytes(arena, LINE_MAX_BYTES);
    size_t len = 0;
    const char *c = *at + strspn(*at, "| ");
    for (; *c != '\0' && *c != '\n' && *c != '|'; c++) {
        c += c[0] == '\\' && c[1] == '|' ? 1 : 0;
        bytes[len++] = *c;
    }
    *at = c;
    return bare((struct str){bytes, len});
}

static const char *literal_json(struct arena *arena, struct str literal)
{
    return answer_of(arena, literal, (struct value){NULL, 0});
}

static void check_row(struct manual *manual, const char *line)
{
    struct str text = next_cell(manual->arena, &line);
    struct str gives = next_cell(manual->arena, &line);
    const char *answer = answer_of(manual->arena, text, manual->item);
    bool ok = false;
    if (str_equal(gives, STR("item error"))) {
        ok = strncmp(answer, "item: ", 6) == 0;
    } else if (str_equal(gives, STR("missing"))) {
        ok = strcmp(answer, "missing") == 0;
    } else {
        ok = answer[0] == '{' && strcmp(answer, literal_json(manual->arena, gives)) == 0;
    }
    ck_assert_msg(ok, "%.*s gives %s, not %.*s", STR_ARG(text), answer, STR_ARG(gives));
    manual->rows++;
}

static void check_tables(struct manual *manual)
{
    char line[LINE_MAX_BYTES];
    bool inside = false;
    while (next_line(manual, line)) {
        if (strcmp(line, header) == 0) {
            inside = next_line(manual, line); /* the rule below the header */
        } else if (line[0] != '|') {
            inside = false;
        } else if (inside) {
            check_row(manual, line);
        }
    }
}

START_TEST(every_example_of_the_manual_is_true)
{
    struct manual manual = {.file = fopen(SOURCE_DIR "/docs/language.md", "r")};
    ck_assert_ptr_nonnull(manual.file);
    manual.arena = arena_new();
    read_item(&manual);
    check_tables(&manual);
    ck_assert_int_ge(manual.rows, ROWS_MIN);
    arena_free(manual.arena);
    ck_assert_int_eq(fclose(manual.file), 0);
}
END_TEST

int main(void)
{
    TCase *manual = tcase_create("manual");
    tcase_add_test(manual, every_example_of_the_manual_is_true);
    Suite *suite = suite_create("engine/expr/manual");
    suite_add_tcase(suite, manual);
    return suite_run(suite);
}
