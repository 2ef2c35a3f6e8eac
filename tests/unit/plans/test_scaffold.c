#include "plans/scaffold.h"

#include "tests/rules/plans_map.h"
#include "tests/rules/plans_scaffold.h"
#include "tests/rules/plans_schema.h"
#include "tests/support/suite.h"

#define ESCAPED(path) "${replace(replace(" path ", '%', '%25'), '#', '%23')}"
#define PADDED(path)  "${pad(" path ", 10, 'signed')}"

/* An entity a line: its name, the table's key, and that of the index where it is in one. */
static const struct {
    const char *says;
    const char *schema;
    const char *entities;
} folds[] = {
    {"a table by itself", "customers id:i* name:t", "Customer: CUSTOMER#${id} | CUSTOMER\n"},
    {"an unique key where there is no primary one", "customers name:t email:t! =email",
     "Customer: CUSTOMER#${email} | CUSTOMER\n"},
    {"kinds of keys",
     "a id:n*; b id:b*; c id:p*; d id:t*; e id:y*; f id:d*; g id:x*; h in:i*; i odd}:i*",
     "A: A#${id} | A\nB: B#${id} | B\nC: C#${id} | C\nD: D#${id} | D\n"
     "E: E#${base64(id)} | E\nF: F#${json(id)} | F\nG: G#${id} | G\n"
     "H: H#${\"in\"} | H\nI: I#${\"odd}\"} | I\n"},
    {"no two texts of a key run into each other", "pairs a:t* b:p* c:t*",
     "Pair: PAIR#" ESCAPED("a") "#${b}#${c} | PAIR\n"},
    {"a reference", "customers id:i*; orders id:i* customer:i! customer>customers.id",
     "Customer: CUSTOMER#${id} | CUSTOMER\n"
     "Order: ORDER#${id} | ORDER | CUSTOMER#${customer} | ORDER#" PADDED("id") "\n"},
    {"one reference is listed: a certain one before one that may be NULL, then the first column's",
     "a id:i*; b id:i*; c id:i*; d id:i* a:i b:i! c:i! c>c.id a>a.id b>b.id",
     "A: A#${id} | A\nB: B#${id} | B\nC: C#${id} | C\n"
     "D: D#${id} | D | B#${b} | D#" PADDED("id") "\n"},
    {"a reference to itself", "employees id:i* boss:i boss>employees.id",
     "Employee: EMPLOYEE#${id} | EMPLOYEE | EMPLOYEE#${boss} | EMPLOYEE#" PADDED("id") "\n"},
    {"a reference to another key, in its order however it is spelled",
     "a id:i* x:t! y:t! =x,y; b id:i* p:t! q:t! q,p>a.y,x",
     "A: A#${id} | A\n"
     "B: B#${id} | B | A.X.Y#" ESCAPED("p") "#${q} | B#" PADDED("id") "\n"},
    {"a key that holds another is in its collection, numbers in order",
     "orders id:i*; order_lines order:i* line:i* order>orders.id",
     "Order: ORDER#${id} | ORDER\n"
     "OrderLine: ORDER#${order} | ORDER_LINE#" PADDED("line") "\n"},
    {"a key that is another's", "people id:i*; profiles id:i* id>people.id",
     "People: PEOPLE#${id} | PEOPLE\n"
     "Profile: PEOPLE#${id} | PROFILE\n"},
    {"what is deleted with it, too, and is found by its own key",
     "customers id:i*; orders id:i* customer:i! customer>customers.id+",
     "Customer: CUSTOMER#${id} | CUSTOMER\n"
     "Order: CUSTOMER#${customer} | ORDER#" PADDED("id") " | ORDER#${id} | ORDER\n"},
    {"not what may belong to nobody",
     "customers id:i*; orders id:i* customer:i customer>customers.id+",
     "Customer: CUSTOMER#${id} | CUSTOMER\n"
     "Order: ORDER#${id} | ORDER | CUSTOMER#${customer} | ORDER#" PADDED("id") "\n"},
    {"below what only the reference places, the index brings all together",
     "customers id:i*; lines id:i* order:i! order>orders.id+;"
     "orders id:i* customer:i! customer>customers.id+",
     "Customer: CUSTOMER#${id} | CUSTOMER\n"
     "Order: CUSTOMER#${customer} | ORDER#" PADDED(
         "id") " | ORDER#${id} | ORDER\n"
               "Line: LINE#${id} | LINE | ORDER#${order} | LINE#" PADDED("id") "\n"},
    {"a chain of keys is one collection, and its texts tell where they end",
     "depts org:t* code:t* org>orgs.code; orgs code:t*;"
     "squads org:t* dept:t* code:t* org,dept>depts.org,code org>orgs.code",
     "Org: ORG#${code} | ORG\n"
     "Dept: ORG#${org} | DEPT#" ESCAPED("code") "\n"
                                                "Squad: ORG#${org} | DEPT#" ESCAPED(
                                                    "dept") "#SQUAD#${code}\n"},
    {"a join table leads both ways",
     "courses id:i*; enrolments student:i* course:i* grade:n course>courses.id "
     "student>students.id; students id:i*",
     "Courses: COURSES#${id} | COURSES\n"
     "Student: STUDENT#${id} | STUDENT\n"
     "Enrolment: STUDENT#${student} | ENROLMENT#" PADDED(
         "course") " | COURSES#${course} | ENROLMENT#" PADDED("student") "\n"},
    {"a join table of a table with itself",
     "follows by:i* of:i* by>users.id+ of>users.id+; users id:i*",
     "User: USER#${id} | USER\n"
     "Follow: USER#${by} | FOLLOW#" PADDED("of") " | USER#${of} | FOLLOW#" PADDED("by") "\n"},
    {"a join table of three", "a id:i*; b id:i*; c id:i*; d a:i* b:i* c:i* a>a.id b>b.id c>c.id",
     "A: A#${id} | A\n"
     "D: A#${a} | D#" PADDED("b") "#" PADDED("c") " | B#${b} | D#" PADDED("a") "#" PADDED(
         "c") "\n"
              "B: B#${id} | B\nC: C#${id} | C\n"},
    {"what a reference has beside the other's key still tells rows apart",
     "a id:i* x:i! =id,x; b p:i* q:i* p,q>a.id,x",
     "A: A#${id} | A\nB: A#${p} | B#" PADDED("q") "\n"},
    {"circles end where they were entered", "a id:i* id>b.id; b id:i* id>c.id; c id:i* id>a.id",
     "C: C#${id} | C | A#${id} | C\nB: C#${id} | B\nA: C#${id} | B#A\n"},
    {"columns that are not written alike do not meet", "a day:p*; b id:i* day:d! day>a.day",
     "A: A#${day} | A\nB: B#${id} | B\n"},
    {"nothing refers to what is left out", "a id:i* @forbidden; b id:i* a:i! a>a.id",
     "B: B#${id} | B\n"},
    {"views and others are left out",
     "a id:i* @view; b id:i* @security; c id:i* @extension; d id:i; e id:i*", "E: E#${id} | E\n"},
    {"plurals that only lose their s",
     "addresses a:i*; boxes a:i*; categories a:i*; employees a:i*; gas a:i*; invoices a:i*;"
     "keys a:i*; news a:i*; sales_days a:i*; status a:i*",
     "Addresses: ADDRESSES#${a} | ADDRESSES\nBoxes: BOXES#${a} | BOXES\n"
     "Categories: CATEGORIES#${a} | CATEGORIES\nEmployee: EMPLOYEE#${a} | EMPLOYEE\n"
     "Gas: GAS#${a} | GAS\nInvoice: INVOICE#${a} | INVOICE\nKey: KEY#${a} | KEY\n"
     "News: NEWS#${a} | NEWS\nSalesDay: SALES_DAY#${a} | SALES_DAY\n"
     "Status: STATUS#${a} | STATUS\n"},
    {"names that are no words stay",
     "Order a:i*; _x a:i*; a#b a:i*; a__b a:i*; \xc3\xa9\xc3\xa9 a:i*",
     "Order: ORDER#${a} | ORDER\n_x: _X#${a} | _X\na#b: A_B#${a} | A_B\n"
     "a__b: A__B#${a} | A__B\n\xc3\xa9\xc3\xa9: \xc3\xa9\xc3\xa9#${a} | \xc3\xa9\xc3\xa9\n"},
    {"names that would be one are the tables' own, then with their schema",
     "a.orders a:i*; a.user a:i*; a.users a:i*; b.orders a:i*",
     "a.orders: A_ORDERS#${a} | A_ORDERS\nuser: USER#${a} | USER\nusers: USERS#${a} | USERS\n"
     "b.orders: B_ORDERS#${a} | B_ORDERS\n"},
    {"tags are single where names are", "a+b a:i*; a-b a:i*",
     "a+b: A_B#${a} | A_B\na-b: A_B_2#${a} | A_B_2\n"},
};

static const char *show(const struct scaffold *scaffold, struct arena *arena)
{
    struct buffer out = {0};
    for (size_t i = 0; i < scaffold->order_count; i++) {
        const struct scaffold_entity *one = &scaffold->entities[scaffold->order[i]];
        buffer_format(&out, "%.*s: %.*s | %.*s", STR_ARG(one->name), STR_ARG(one->pk),
                      STR_ARG(one->sk));
        if (one->index_pk.len > 0) {
            buffer_format(&out, " | %.*s | %.*s", STR_ARG(one->index_pk), STR_ARG(one->index_sk));
        }
        buffer_add_char(&out, '\n');
    }
    const char *text = arena_copy(arena, buffer_str(&out)).ptr;
    buffer_free(&out);
    return text;
}

START_TEST(scaffold_make_follows_the_table)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct scaffold scaffold;
    struct schema schema = schema_of(folds[_i].schema, arena);
    ck_assert_msg(scaffold_make(&schema, arena, &scaffold, &err), "%s: %s", folds[_i].says,
                  err.text);
    const char *made = show(&scaffold, arena);
    ck_assert_msg(strcmp(made, folds[_i].entities) == 0, "%s:\n%s", folds[_i].says, made);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *schema;
    const char *message;
} faults[] = {
    {"an empty database", "", "there is no table in the database shop"},
    {"nothing that can be folded", "log text:t; sums n:i* @view",
     "no table in the database shop can be folded, of 2 tables and views; public.log: no primary "
     "key"},
};

START_TEST(scaffold_make_says_why_there_is_no_map)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct scaffold scaffold;
    struct schema schema = schema_of(faults[_i].schema, arena);
    ck_assert_msg(!scaffold_make(&schema, arena, &scaffold, &err), "%s", faults[_i].says);
    ck_assert_msg(err.code == ERROR_SOURCE, "%s", faults[_i].says);
    ck_assert_msg(strncmp(err.text, faults[_i].message, strlen(faults[_i].message)) == 0, "%s: %s",
                  faults[_i].says, err.text);
    arena_free(arena);
}
END_TEST

/* A piece of the file; ` is " in it. */
static const struct {
    const char *says;
    const char *schema;
    const char *piece;
} prints[] = {
    {"an entity", "customers id:i* name:t",
     "  `entities`: [\n"
     "    // public.customers\n"
     "    { `name`: `Customer`, `from`: `public.customers`,\n"
     "      `key`: { `PK`: `CUSTOMER#${id}`, `SK`: `CUSTOMER` },\n"
     "      `columns`: `*` }\n"
     "  ]\n}\n"},
    {"no index that nothing is in", "customers id:i*",
     "  `table`: {\n    `partition`: `PK:S`, `sort`: `SK:S`\n  },\n"},
    {"an index", "employees id:i* boss:i boss>employees.id",
     "`sort`: `SK:S`,\n    `indexes`: [ { `name`: `GSI1`, `partition`: `GSI1PK:S`, `sort`: "
     "`GSI1SK:S` } ]\n  },\n"},
    {"why it is listed", "employees id:i* boss:i boss>employees.id",
     "    // public.employees\n"
     "    // GSI1 lists it by Employee (boss), where that is not NULL\n"},
    {"what is in a collection", "order_lines order:i* line:i* order>orders.id; orders id:i*",
     "    // public.orders: one query reads it with OrderLine\n"},
    {"why, and what it could be", "order_lines order:i* line:i* order>orders.id; orders id:i*",
     "    // public.order_lines: in the collection of Order (order), which its key holds\n"
     "    // or a list in Order, instead of this: `embed`: { `order_lines`: { `from`: "
     "`public.order_lines`, `on`: `order_lines.order = orders.id`, `order`: `order_lines.line` } "
     "}\n    {"},
    {"what refers to it goes on doing so",
     "customers id:i*; lines id:i* order:i! order>orders.id;"
     "orders id:i* customer:i! customer>customers.id+",
     "    // public.orders: in the collection of Customer (customer), with which it is deleted\n"
     "    // GSI1 finds it by its own key\n    {"},
    {"a join table", "a id:i*; b id:i*; c a:i* b:i* x:t a>a.id b>b.id",
     "    // public.c, a join table: in the collection of A (a); GSI1 leads back from B (b)\n"},
    {"what is not listed", "a id:i*; b id:i*; c id:i*; d id:i* a:i! b:i! c:i! a>a.id b>b.id c>c.id",
     "    // GSI1 lists it by A (a)\n"
     "    // not listed by B (b), C (c): that takes an index more\n"},
    {"the collection tells more than one reference",
     "depts org:t* code:t* org>orgs.code; orgs code:t*;"
     "squads org:t* dept:t* code:t* org,dept>depts.org,code org>orgs.code",
     "Dept (org, dept), which its key holds\n    // or a list in Dept"},
    {"what is left out, and why", "a id:i* @view; b id:i*; c id:i",
     "// Left out:\n"
     "//   public.a: a view; to fold it, name it in `from` and give it a key\n"
     "//   public.c: no primary key, and no unique key of NOT NULL columns; give it one, or fold a "
     "`query` that has a key\n{"},
    {"a type without conversion", "a id:i* g:x",
     "    // g: x has no conversion, so its text is kept\n"},
    {"and its policy", "a id:i* g:x h:x",
     "      `columns`: `*`,\n      `policy`: { `g`: `text`, `h`: `text` } }\n"},
    {"columns called as keys are", "a PK:i* GSI1SK:t PK_column:t",
     "      `set`: { `PK_column_`: `${PK}`, `GSI1SK_column`: `${GSI1SK}` },\n"
     "      `columns`: { `except`: [`PK`, `GSI1SK`] } }\n"},
    {"a table that others inherit from", "a id:i* @inherited",
     "    // the rows of tables that inherit from it are entities of their own\n"
     "    { `name`: `A`, `from`: { `query`: `SELECT * FROM ONLY \\`public\\`.\\`a\\``, `as`: `a` "
     "},\n"},
    {"a name that is quoted", "a\"b id:i*", "`from`: `\\`public\\`.\\`a\\`\\`b\\``,\n"},
    {"a comment stays one line", "a\nb id:i*", "    // public.a\\nb\n"},
};

START_TEST(scaffold_print_follows_the_table)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct scaffold scaffold;
    struct buffer out = {0};
    struct schema schema = schema_of(prints[_i].schema, arena);
    ck_assert_msg(scaffold_make(&schema, arena, &scaffold, &err), "%s: %s", prints[_i].says,
                  err.text);
    scaffold_print(&scaffold, &out);
    buffer_add_char(&out, '\0');
    ck_assert_msg(strstr(out.bytes, map_text(prints[_i].piece, arena).ptr) != NULL, "%s:\n%s",
                  prints[_i].says, out.bytes);
    buffer_free(&out);
    arena_free(arena);
}
END_TEST

START_TEST(scaffold_makes_maps_that_fold_no_two_rows_to_one_key)
{
    property_check("any schema", rule_scaffold_folds_any_schema);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/scaffold");
    TCase *tcase = tcase_create("scaffold");
    tcase_add_loop_test(tcase, scaffold_make_follows_the_table, 0, ROWS(folds));
    tcase_add_loop_test(tcase, scaffold_make_says_why_there_is_no_map, 0, ROWS(faults));
    tcase_add_loop_test(tcase, scaffold_print_follows_the_table, 0, ROWS(prints));
    tcase_add_test(tcase, scaffold_makes_maps_that_fold_no_two_rows_to_one_key);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
