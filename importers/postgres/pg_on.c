#include "importers/postgres/pg_on.h"

#include <string.h>

struct scanner {
    const char *at;
    const char *end;
    struct arena *arena;
};

static void skip_space(struct scanner *scanner)
{
    while (scanner->at < scanner->end && strchr(" \t\r\n", *scanner->at) != NULL) {
        scanner->at++;
    }
}

static bool take_char(struct scanner *scanner, char c)
{
    skip_space(scanner);
    if (scanner->at == scanner->end || *scanner->at != c) {
        return false;
    }
    scanner->at++;
    return true;
}

/* Names beyond ASCII are taken as they are: PostgreSQL does not fold them in UTF-8. */
static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static struct str take_plain_name(struct scanner *scanner)
{
    const char *start = scanner->at;
    while (scanner->at < scanner->end && is_name_char(*scanner->at)) {
        scanner->at++;
    }
    size_t len = (size_t)(scanner->at - start);
    char *name = arena_bytes(scanner->arena, len + 1);
    for (size_t i = 0; i < len; i++) {
        char c = start[i];
        name[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return (struct str){name, len};
}

static struct str take_quoted_name(struct scanner *scanner)
{
    char *name = arena_bytes(scanner->arena, (size_t)(scanner->end - scanner->at) + 1);
    size_t len = 0;
    while (scanner->at < scanner->end) {
        char c = *scanner->at++;
        if (c == '"' && (scanner->at == scanner->end || *scanner->at != '"')) {
            return (struct str){name, len};
        }
        scanner->at += c == '"' ? 1 : 0;
        name[len++] = c;
    }
    return (struct str){name, 0};
}

static bool take_name(struct scanner *scanner, struct str *out)
{
    *out = take_char(scanner, '"') ? take_quoted_name(scanner) : take_plain_name(scanner);
    return out->len > 0;
}

static bool take_column(struct scanner *scanner, struct pg_column_name *out)
{
    return take_name(scanner, &out->relation) && take_char(scanner, '.') &&
           take_name(scanner, &out->column);
}

static bool take_and(struct scanner *scanner)
{
    struct str word;
    return take_name(scanner, &word) && str_equal(word, STR("and"));
}

static bool take_equality(struct scanner *scanner, struct str relation, struct pg_on *out)
{
    struct pg_column_name left, right;
    if (!take_column(scanner, &left) || !take_char(scanner, '=') || !take_column(scanner, &right)) {
        return false;
    }
    bool left_inner = str_equal(left.relation, relation);
    if (left_inner == str_equal(right.relation, relation) || out->count == PG_ON_MAX) {
        return false;
    }
    out->inner[out->count] = left_inner ? left : right;
    out->outer[out->count] = left_inner ? right : left;
    out->count++;
    return true;
}

bool pg_on_parse(struct str sql, struct str relation, struct arena *arena, struct pg_on *out)
{
    struct scanner scanner = {sql.ptr, sql.ptr + sql.len, arena};
    struct pg_on on = {.count = 0};
    for (;;) {
        if (!take_equality(&scanner, relation, &on)) {
            return false;
        }
        skip_space(&scanner);
        if (scanner.at == scanner.end) {
            *out = on;
            return true;
        }
        if (!take_and(&scanner)) {
            return false;
        }
    }
}
