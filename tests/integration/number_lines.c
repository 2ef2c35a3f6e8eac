/* Reads lines "OP A B" (OP: + - * ? =) and prints each result, or "error": number_against_python.py
 * compares them with Python's decimal. */
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/number.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 2000 };

static bool read_number(const char *word, struct number *out)
{
    struct error err;
    return number_parse((struct str){word, strlen(word)}, out, &err);
}

static bool calculate(char op, const struct number *a, const struct number *b, struct number *out)
{
    struct error err;
    switch (op) {
    case '+':
        return number_add(a, b, out, &err);
    case '-':
        return number_subtract(a, b, out, &err);
    case '*':
        return number_multiply(a, b, out, &err);
    default:
        *out = *a;
        return true;
    }
}

static int compare_encoded(const struct number *a, const struct number *b)
{
    unsigned char left[NUMBER_ENCODED_MAX];
    unsigned char right[NUMBER_ENCODED_MAX];
    struct str left_str = {(const char *)left, number_encode(a, left)};
    struct str right_str = {(const char *)right, number_encode(b, right)};
    return str_compare(left_str, right_str);
}

static bool answer(char op, const char *left, const char *right, char out[NUMBER_TEXT_MAX])
{
    struct number a;
    struct number b;
    struct number result;
    if (!read_number(left, &a) || !read_number(right, &b)) {
        return false;
    }
    if (op == '?') {
        int order = compare_encoded(&a, &b);
        result = number_from_int((order > 0) - (order < 0));
    } else if (!calculate(op, &a, &b, &result)) {
        return false;
    }
    (void)number_format(&result, out);
    return true;
}

int main(void)
{
    char line[LINE_MAX_BYTES];
    char text[NUMBER_TEXT_MAX];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *left = strchr(line, ' ');
        char *right = left == NULL ? NULL : strchr(left + 1, ' ');
        char *end = right == NULL ? NULL : strchr(right + 1, '\n');
        if (end == NULL) {
            return EXIT_FAILURE;
        }
        *left = *right = *end = '\0';
        (void)puts(answer(line[0], left + 1, right + 1, text) ? text : "error");
    }
    return EXIT_SUCCESS;
}
