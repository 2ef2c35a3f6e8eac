/* client_response rules — shared by the Check suite and the fuzz targets. */
#ifndef TESTS_RULES_CLIENT_RESPONSE_H
#define TESTS_RULES_CLIENT_RESPONSE_H

#include "tests/support/property.h"

#include <stdbool.h>

/* Whatever comes, it is read alike all at once, byte by byte and cut anywhere; what follows a whole
 * reply is left alone, and no body is longer than allowed. */
bool rule_replies_are_read_alike_however_they_come(struct draw *draw);

#endif
