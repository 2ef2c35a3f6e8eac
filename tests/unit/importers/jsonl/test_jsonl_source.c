#include "importers/jsonl/jsonl_source.h"

#include "engine/base/buffer.h"
#include "engine/item/item_json.h"
#include "tests/support/suite.h"

#include <unistd.h>

/* What a sink was told, as text: an item's JSON or a reject, a line each. */
struct told {
    struct source *source;
    struct buffer text;
    size_t items;
};

static void tell_row(struct told *told, const struct source_row *row)
{
    struct arena *arena = arena_new();
    struct str name = source_row_name(told->source, row, arena);
    const char *colon = memrchr(name.ptr, ':', name.len);
    buffer_format(&told->text, "%s ", colon + 1);
    arena_free(arena);
}

static bool take_item(void *context, const struct source_row *row, struct value item,
                      struct error *err)
{
    (void)err;
    struct told *told = context;
    told->items++;
    tell_row(told, row);
    item_json_write_item(item, &told->text);
    buffer_add_char(&told->text, '\n');
    return true;
}

static bool take_reject(void *context, const struct source_row *row, const struct error *reason,
                        struct error *err)
{
    (void)err;
    struct told *told = context;
    tell_row(told, row);
    buffer_format(&told->text, "%s\n", reason->text);
    return true;
}

static void write_file(char *path, struct str content)
{
    int fd = mkstemp(path);
    ck_assert(fd >= 0);
    ck_assert(write(fd, content.ptr, content.len) == (ssize_t)content.len);
    ck_assert(close(fd) == 0);
}

static void read_file(struct str content, struct told *told)
{
    char path[] = "/tmp/refold-test-XXXXXX";
    struct error err = {0};
    atomic_bool stop = false;
    struct source_sink sink = {take_item, take_reject, told, &stop};
    struct source_reader *reader = NULL;
    write_file(path, content);
    ck_assert_msg(jsonl_source_open(path, &told->source, &err), "%s", err.text);
    ck_assert_msg(source_reader_open(told->source, &reader, &err), "%s", err.text);
    ck_assert_msg(source_read(reader, &sink, &err), "%s", err.text);
    source_reader_close(reader);
    source_close(told->source);
    ck_assert(unlink(path) == 0);
    buffer_add_char(&told->text, '\0');
}

static const struct {
    const char *says;
    struct str content;
    const char *told;
} files[] = {
    {"nothing", STR_INIT(""), ""},
    {"two lines",
     STR_INIT("{\"Item\":{\"a\":{\"S\":\"x\"}}}\n{\"Item\":{\"b\":{\"N\":\"1e2\"}}}\n"),
     "1 {\"a\":{\"S\":\"x\"}}\n2 {\"b\":{\"N\":\"100\"}}\n"},
    {"no line feed at the end", STR_INIT("{\"Item\":{}}"), "1 {}\n"},
    {"blank lines, a mark and carriage returns",
     STR_INIT("\xef\xbb\xbf{\"Item\":{}}\r\n \t\r\n\n{\"Item\":{}}"), "1 {}\n4 {}\n"},
    {"a NUL in a string", STR_INIT("{\"Item\":{\"a\":{\"S\":\"x\\u0000y\"}}}"),
     "1 {\"a\":{\"S\":\"x\\u0000y\"}}\n"},
    {"no JSON", STR_INIT("{\"Item\":{}}\n{\"Item\":\n"), "1 {}\n2 column "},
    {"something else", STR_INIT("{\"a\":{\"S\":\"x\"}}"),
     "1 expected {\"Item\": {DynamoDB JSON}}\n"},
    {"a member more", STR_INIT("{\"Item\":{},\"b\":1}"),
     "1 expected {\"Item\": {DynamoDB JSON}}\n"},
    {"bad base64", STR_INIT("{\"Item\":{}}\n\n{\"Item\":{\"a\":{\"B\":\"?\"}}}"), "1 {}\n3 "},
};

START_TEST(jsonl_source_names_its_lines)
{
    struct told told = {0};
    read_file(files[_i].content, &told);
    ck_assert_msg(strncmp(told.text.bytes, files[_i].told, strlen(files[_i].told)) == 0, "%s: %s",
                  files[_i].says, told.text.bytes);
    size_t lines = 0;
    for (const char *at = told.text.bytes; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    size_t wanted = 0;
    for (const char *at = files[_i].told; *at != '\0'; at++) {
        wanted += *at == '\n' ? 1 : 0;
    }
    bool whole = files[_i].told[0] == '\0' || files[_i].told[strlen(files[_i].told) - 1] == '\n';
    ck_assert_msg(lines == wanted + (whole ? 0 : 1), "%s: %s", files[_i].says, told.text.bytes);
    buffer_free(&told.text);
}
END_TEST

/* Longer than a part of the file, and lines longer than a block. */
START_TEST(jsonl_source_reads_each_line_of_a_long_file_once)
{
    struct buffer content = {0};
    struct told told = {0};
    size_t count = 0;
    while (content.len < (size_t)20 << 20) {
        size_t pad = count % 7 == 0 ? (size_t)3 << 20 : (count * 37) % 50000;
        buffer_format(&content, "{\"Item\":{\"n\":{\"N\":\"%zu\"}}%*s}\n", count, (int)pad, "");
        count++;
    }
    read_file(buffer_str(&content), &told);
    ck_assert_uint_eq(told.items, count);
    buffer_free(&content);
    buffer_free(&told.text);
}
END_TEST

static const off_t lengths[] = {0, 12, 100}; /* what becomes of the file's 24 bytes */

START_TEST(jsonl_source_says_that_its_file_was_written_to)
{
    char path[] = "/tmp/refold-test-XXXXXX";
    struct told told = {0};
    struct error err = {0};
    atomic_bool stop = false;
    struct source_sink sink = {take_item, take_reject, &told, &stop};
    struct source_reader *reader = NULL;
    write_file(path, STR("{\"Item\":{}}\n{\"Item\":{}}\n"));
    ck_assert(jsonl_source_open(path, &told.source, &err));
    ck_assert(source_reader_open(told.source, &reader, &err));
    ck_assert(truncate(path, lengths[_i]) == 0);
    ck_assert(!source_read(reader, &sink, &err));
    ck_assert_int_eq(err.code, ERROR_INPUT);
    ck_assert_msg(strstr(err.text, "was written to while it was read") != NULL, "%s", err.text);
    source_reader_close(reader);
    source_close(told.source);
    ck_assert(unlink(path) == 0);
    buffer_free(&told.text);
}
END_TEST

START_TEST(jsonl_source_refuses_what_is_no_file)
{
    struct source *source = NULL;
    struct error err = {0};
    ck_assert(!jsonl_source_open("/nowhere/in.jsonl", &source, &err) && err.code == ERROR_USAGE);
    ck_assert(!jsonl_source_open("/tmp", &source, &err) && err.code == ERROR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("importers/jsonl/jsonl_source");
    TCase *tcase = tcase_create("jsonl_source");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, jsonl_source_names_its_lines, 0, ROWS(files));
    tcase_add_test(tcase, jsonl_source_reads_each_line_of_a_long_file_once);
    tcase_add_loop_test(tcase, jsonl_source_says_that_its_file_was_written_to, 0, ROWS(lengths));
    tcase_add_test(tcase, jsonl_source_refuses_what_is_no_file);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
