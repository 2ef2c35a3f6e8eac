#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "migrate/cli/secret.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *says;
    const char *text;
    const char *hidden;
} texts[] = {
    {"nothing to hide", "refold status shop.refold", "refold status shop.refold"},
    {"empty", "", ""},
    {"a URI", "postgresql://me:geheim@host/db", "postgresql://me:***@host/db"},
    {"without a password", "postgresql://me@host/db", "postgresql://me@host/db"},
    {"without a user", "postgresql:///db?host=/run", "postgresql:///db?host=/run"},
    {"an @ in the password", "postgresql://me:a@b@host/db", "postgresql://me:***@host/db"},
    {"a slash in the password", "postgresql://me:a/b?c@host/db", "postgresql://me:***@host/db"},
    {"slashes are missing", "no database: 'postgres:/me:p@h/d'",
     "no database: 'postgres:/me:***@h/d'"},
    {"all slashes are missing", "postgresql:me:p@h", "postgresql:me:***@h"},
    {"another word", "the word postgres: a b@c", "the word postgres: a b@c"},
    {"an @ only in the path", "postgresql://host/a@b", "postgresql://host/a@b"},
    {"a URI in a sentence", "cannot reach 'postgres://u:p@h': refused",
     "cannot reach 'postgres://u:***@h': refused"},
    {"two URIs", "a://u:p@h b://v:q@i", "a://u:***@h b://v:***@i"},
    {"a parameter", "postgresql://h/d?password=p&x=1", "postgresql://h/d?password=***&x=1"},
    {"key and value", "host=h password=p dbname=d", "host=h password=*** dbname=d"},
    {"a quoted value", "password='it\\'s a' dbname=d", "password=*** dbname=d"},
    {"a quote without end", "password='abc", "password=***"},
    {"the key's password", "sslpassword=p", "sslpassword=***"},
};

START_TEST(secret_hide_follows_the_table)
{
    struct arena *arena = arena_new();
    struct str hidden = secret_hide((struct str){texts[_i].text, strlen(texts[_i].text)}, arena);
    ck_assert_msg(strcmp(hidden.ptr, texts[_i].hidden) == 0, "%s: %s", texts[_i].says, hidden.ptr);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *hiding = tcase_create("hide");
    tcase_add_loop_test(hiding, secret_hide_follows_the_table, 0, ROWS(texts));
    Suite *suite = suite_create("migrate/cli/secret");
    suite_add_tcase(suite, hiding);
    return suite_run(suite);
}
