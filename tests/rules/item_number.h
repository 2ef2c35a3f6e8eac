/* item_number rules — shared by the Check suite and the fuzz targets. */
#ifndef TESTS_RULES_ITEM_NUMBER_H
#define TESTS_RULES_ITEM_NUMBER_H

#include "engine/item/number.h"
#include "tests/support/property.h"

#include <stdbool.h>

/* Any number, often one with much in common with others drawn. */
struct number draw_number(struct draw *draw);

/* The text and the encoding of a number lead back to it. */
bool rule_number_comes_back(struct draw *draw);

/* Encodings sort as their numbers, and none is the start of another. */
bool rule_number_encoding_keeps_order(struct draw *draw);

/* Bytes that decode are the encoding of what they decode to. */
bool rule_number_decodes_only_canonical_bytes(struct draw *draw);

/* A text that parses is the same number as its plain digits. */
bool rule_number_parses_any_text_or_refuses(struct draw *draw);

/* a + b = b + a, (a + b) - b = a, a * b = b * a, -(a * b) = -a * b, where they can be held. */
bool rule_number_arithmetic_obeys_its_laws(struct draw *draw);

/* Sums, products and order of small whole numbers are those of C. */
bool rule_number_agrees_with_integers(struct draw *draw);

#endif
