/* template — JSON values with ${expressions} inside, as in `set`, `put`, `rekey`, `lookup` and in
 * maps. Immutable once parsed: threads may share them. */
#ifndef PLANS_TEMPLATE_H
#define PLANS_TEMPLATE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "engine/item/value.h"
#include "plans/place.h"

#include <stdbool.h>

struct template;

struct template_options {
    struct place place;       /* of the template itself */
    struct place_names names; /* {0}: every path is the item's */
    bool drop_missing;        /* members of M, L and sets that are missing are left out (maps);
                                 else they make the whole missing (steps) */
};

/* Parses the template that a JSON value is.
 *   arena  owns the template
 * ERROR_PLAN: "FILE:LINE:COLUMN: PLACE: …", pointing into the string where the fault is in an
 * expression. A constant part that can never be computed ({"N": "x"}) is one too. */
MUST_CHECK bool template_parse(const struct json *json, const struct template_options *options,
                               struct arena *arena, const struct template **out, struct error *err);

/* The same template for a key or index-key attribute of the type (S, N or B): what "${expr}" alone
 * gives is converted where that loses nothing (N to S in plain digits, S to N); another type, or an
 * empty S or B, is an item error. */
const struct template *template_for_key(const struct template *template, enum value_type type,
                                        struct arena *arena);

/* Evaluates. *out may point into the scope, the template or `scratch`. It is missing where a part
 * is missing: the caller decides what that means (template_missing() says which part). It is a set
 * without members where the template makes one, which removes an attribute: template_is_nothing().
 * ERROR_ITEM: the value cannot be computed, or has a type that the place does not take. */
MUST_CHECK bool template_eval(const struct template *template, const struct expr_scope *scope,
                              struct arena *scratch, struct value *out, struct error *err);

/* Missing, or a set without members: nothing that could be stored. */
bool template_is_nothing(struct value v);

/* For messages, after template_eval() gave missing: "OrderDate is missing". */
struct str template_missing(const struct template *template, const struct expr_scope *scope,
                            struct arena *arena);

/* Calls visit for every path that the template may read. */
void template_paths(const struct template *template, expr_visit *visit, void *context);

/* The value of a template that reads nothing; missing if it reads something. */
struct value template_constant(const struct template *template);

/* What every value of the template begins with: the text before the first "${" of a text template,
 * all of a constant S; empty where nothing is known. */
struct str template_literal_prefix(const struct template *template);

/* The type of what it gives, or VALUE_MISSING where only evaluation tells. */
enum value_type template_type(const struct template *template);

/* True if what it gives is never a set without members. */
bool template_always_stores(const struct template *template);

/* Canonical JSON: members sorted, numbers and expressions canonical, one spelling for templates
 * that mean the same by their form. */
struct str template_print(const struct template *template, struct arena *arena);

#endif
