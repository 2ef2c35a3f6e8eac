#include "importers/postgres/pg_schema_internal.h"

/* A numeric's modifier is (precision << 16 | scale) + 4; the scale has 11 bits. */
enum { MODIFIER_OFFSET = 4, PRECISION_SHIFT = 16, SCALE_MASK = 0x7ff, NUMBER_MAX_DIGITS = 38 };

/* Others have the kind of their conversion. */
static const struct {
    struct str name;
    enum schema_kind kind;
    uint32_t digits;
} kinds[] = {
    {STR_INIT("int2"), SCHEMA_INTEGER, 5},      {STR_INIT("int4"), SCHEMA_INTEGER, 10},
    {STR_INIT("int8"), SCHEMA_INTEGER, 19},     {STR_INIT("oid"), SCHEMA_INTEGER, 10},
    {STR_INIT("xid"), SCHEMA_INTEGER, 10},      {STR_INIT("xid8"), SCHEMA_INTEGER, 20},
    {STR_INIT("cid"), SCHEMA_INTEGER, 10},      {STR_INIT("uuid"), SCHEMA_PLAIN, 0},
    {STR_INIT("date"), SCHEMA_PLAIN, 0},        {STR_INIT("time"), SCHEMA_PLAIN, 0},
    {STR_INIT("timetz"), SCHEMA_PLAIN, 0},      {STR_INIT("timestamp"), SCHEMA_PLAIN, 0},
    {STR_INIT("timestamptz"), SCHEMA_PLAIN, 0}, {STR_INIT("interval"), SCHEMA_PLAIN, 0},
    {STR_INIT("inet"), SCHEMA_PLAIN, 0},        {STR_INIT("cidr"), SCHEMA_PLAIN, 0},
    {STR_INIT("macaddr"), SCHEMA_PLAIN, 0},     {STR_INIT("macaddr8"), SCHEMA_PLAIN, 0},
    {STR_INIT("bit"), SCHEMA_PLAIN, 0},         {STR_INIT("varbit"), SCHEMA_PLAIN, 0},
    {STR_INIT("pg_lsn"), SCHEMA_PLAIN, 0},
};

/* Of what has its kind from its conversion; text of what has none. */
static enum schema_kind kind_of_conversion(pg_convert *convert)
{
    if (convert == pg_convert_number || convert == pg_convert_money) {
        return SCHEMA_NUMBER;
    }
    if (convert == pg_convert_boolean) {
        return SCHEMA_BOOLEAN;
    }
    if (convert == pg_convert_bytea) {
        return SCHEMA_BYTES;
    }
    bool is_text = convert == NULL || convert == pg_convert_text || convert == pg_convert_char;
    return is_text ? SCHEMA_TEXT : SCHEMA_DOCUMENT;
}

/* numeric(12) and numeric(12,0) hold whole numbers. */
static void take_precision(long modifier, struct schema_column *out)
{
    if (modifier < MODIFIER_OFFSET) {
        return;
    }
    unsigned long packed = (unsigned long)modifier - MODIFIER_OFFSET;
    unsigned long precision = packed >> PRECISION_SHIFT;
    if ((packed & SCALE_MASK) == 0 && precision <= NUMBER_MAX_DIGITS) {
        out->kind = SCHEMA_INTEGER;
        out->digits = (uint32_t)precision;
    }
}

void pg_schema_kind(const struct pg_type *type, long modifier, struct schema_column *out)
{
    const struct pg_type *refused = pg_type_refused(type);
    out->refused = refused != NULL;
    out->type = out->refused ? refused->name : type->name;
    out->kind = out->refused ? SCHEMA_TEXT : kind_of_conversion(type->convert);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (str_equal(kinds[i].name, type->name)) {
            out->kind = kinds[i].kind;
            out->digits = kinds[i].digits;
        }
    }
    if (str_equal(type->name, STR("numeric"))) {
        take_precision(modifier, out);
    }
}
