#include "migrate/cli/command.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static size_t option_place(const struct command *command, const char *name)
{
    size_t place = 0;
    while (place < command->option_count && strcmp(command->options[place].name, name) != 0) {
        place++;
    }
    assert(place < command->option_count);
    return place;
}

const char *invocation_text(const struct invocation *invocation, const char *name)
{
    return invocation->values[option_place(invocation->command, name)];
}

bool invocation_flag(const struct invocation *invocation, const char *name)
{
    return invocation_text(invocation, name) != NULL;
}

/* strtoull alone takes "-1", " 7" and "7x". */
static bool parse_whole_number(const char *text, uint64_t *out)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0') {
        return false;
    }
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

bool invocation_number(const struct invocation *invocation, const char *name,
                       struct number_range range, uint64_t *out, struct error *err)
{
    const char *text = invocation_text(invocation, name);
    if (text == NULL) {
        return true;
    }
    uint64_t number = 0;
    if (!parse_whole_number(text, &number) || number < range.low || number > range.high) {
        return error_set(err, ERROR_USAGE,
                         "--%s: expected a whole number from %ju to %ju, found '%s'", name,
                         (uintmax_t)range.low, (uintmax_t)range.high, text);
    }
    *out = number;
    return true;
}
