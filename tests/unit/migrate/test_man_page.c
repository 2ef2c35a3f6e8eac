#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/cli/files.h"
#include "migrate/commands.h"
#include "migrate/man_page.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_MAX_BYTES = 1 << 20 };

static char *print(const struct command *const *commands, size_t count)
{
    char *page = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&page, &len);
    ck_assert_ptr_nonnull(out);
    man_page_print(commands, count, out);
    ck_assert_int_eq(fclose(out), 0);
    return page;
}

START_TEST(man_page_stands_in_docs_as_it_is_printed)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct str page;
    size_t count = 0;
    const struct command *const *commands = commands_all(&count);
    char *printed = print(commands, count);
    ck_assert_msg(file_read(SOURCE_DIR "/docs/refold.1", PAGE_MAX_BYTES, arena, &page, &err), "%s",
                  err.text);
    ck_assert_msg(strcmp(page.ptr, printed) == 0,
                  "docs/refold.1 is old: refold help --man > docs/refold.1");
    heap_free(printed);
    arena_free(arena);
}
END_TEST

static const struct option options[] = {
    {"sort-by", "KEY", "- or +"},
    {"back\\slash", NULL, ".begins with a point"},
};
static const struct command command = {
    .name = "look",
    .synopsis = "TABLE [--sort-by KEY]",
    .summary = "Look at it.",
    .details = "A paragraph.\n\n  an example --with\n\n'Another' one.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};

START_TEST(man_page_escapes_what_roff_would_take)
{
    const struct command *const commands[] = {&command};
    char *page = print(commands, 1);
    const char *const parts[] = {
        ".SS refold look TABLE [\\-\\-sort\\-by KEY]\nLook at it.\n",
        "A paragraph.\n.PP\n.nf\n  an example \\-\\-with\n.fi\n.PP\n\\&'Another' one.\n",
        ".TP\n\\fB\\-\\-sort\\-by\\fR \\fIKEY\\fR\n\\- or +\n",
        ".TP\n\\fB\\-\\-back\\eslash\\fR\n\\&.begins with a point\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        ck_assert_msg(strstr(page, parts[i]) != NULL, "%s\n--\n%s", parts[i], page);
    }
    heap_free(page);
}
END_TEST

int main(void)
{
    TCase *pages = tcase_create("pages");
    tcase_add_test(pages, man_page_stands_in_docs_as_it_is_printed);
    tcase_add_test(pages, man_page_escapes_what_roff_would_take);
    Suite *suite = suite_create("migrate/man_page");
    suite_add_tcase(suite, pages);
    return suite_run(suite);
}
