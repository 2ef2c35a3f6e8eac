#include "importers/postgres/pg_type.h"

static const struct pg_conversion {
    struct str name;
    pg_convert *convert;
    bool unlisted;
} conversions[] = {
    {STR_INIT("bool"), pg_convert_boolean, false},
    {STR_INIT("int2"), pg_convert_number, false},
    {STR_INIT("int4"), pg_convert_number, false},
    {STR_INIT("int8"), pg_convert_number, false},
    {STR_INIT("numeric"), pg_convert_number, false},
    {STR_INIT("float4"), pg_convert_number, false},
    {STR_INIT("float8"), pg_convert_number, false},
    {STR_INIT("oid"), pg_convert_number, false},
    {STR_INIT("xid"), pg_convert_number, false},
    {STR_INIT("xid8"), pg_convert_number, false},
    {STR_INIT("cid"), pg_convert_number, false},
    {STR_INIT("money"), pg_convert_money, false},
    {STR_INIT("text"), pg_convert_text, false},
    {STR_INIT("varchar"), pg_convert_text, false},
    {STR_INIT("bpchar"), pg_convert_char, false},
    {STR_INIT("char"), pg_convert_text, false},
    {STR_INIT("name"), pg_convert_text, false},
    {STR_INIT("citext"), pg_convert_text, false},
    {STR_INIT("uuid"), pg_convert_text, false},
    {STR_INIT("json"), pg_convert_text, false},
    {STR_INIT("jsonb"), pg_convert_jsonb, false},
    {STR_INIT("jsonpath"), pg_convert_text, false},
    {STR_INIT("xml"), pg_convert_text, false},
    {STR_INIT("bytea"), pg_convert_bytea, false},
    {STR_INIT("date"), pg_convert_date, false},
    {STR_INIT("time"), pg_convert_time, false},
    {STR_INIT("timetz"), pg_convert_time, false},
    {STR_INIT("timestamp"), pg_convert_timestamp, false},
    {STR_INIT("timestamptz"), pg_convert_timestamptz, false},
    {STR_INIT("interval"), pg_convert_text, false},
    {STR_INIT("inet"), pg_convert_text, false},
    {STR_INIT("cidr"), pg_convert_text, false},
    {STR_INIT("macaddr"), pg_convert_text, false},
    {STR_INIT("macaddr8"), pg_convert_text, false},
    {STR_INIT("bit"), pg_convert_text, false},
    {STR_INIT("varbit"), pg_convert_text, false},
    {STR_INIT("point"), pg_convert_text, false},
    {STR_INIT("line"), pg_convert_text, false},
    {STR_INIT("lseg"), pg_convert_text, false},
    {STR_INIT("box"), pg_convert_text, false},
    {STR_INIT("path"), pg_convert_text, false},
    {STR_INIT("polygon"), pg_convert_text, false},
    {STR_INIT("circle"), pg_convert_text, false},
    {STR_INIT("tsvector"), pg_convert_text, true},
    {STR_INIT("tsquery"), pg_convert_text, false},
    {STR_INIT("hstore"), pg_convert_hstore, false},
    {STR_INIT("ltree"), pg_convert_text, false},
    {STR_INIT("pg_lsn"), pg_convert_text, false},
    {STR_INIT("tid"), pg_convert_text, false},
    {STR_INIT("regclass"), pg_convert_text, false},
    {STR_INIT("regtype"), pg_convert_text, false},
    {STR_INIT("regproc"), pg_convert_text, false},
};

bool pg_type_base(struct str name, struct pg_type *out)
{
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++) {
        if (str_equal(conversions[i].name, name)) {
            out->convert = conversions[i].convert;
            out->unlisted = conversions[i].unlisted;
            return true;
        }
    }
    return false;
}

/* Composites cannot hold themselves except through arrays, where a type meets itself by pointer;
 * the catalogue refuses those, so this ends. */
const struct pg_type *pg_type_refused(const struct pg_type *type)
{
    if (type->convert == NULL) {
        return type;
    }
    const struct pg_type *refused = type->element == NULL ? NULL : pg_type_refused(type->element);
    for (size_t i = 0; i < type->field_count && refused == NULL; i++) {
        refused = pg_type_refused(type->fields[i].type);
    }
    return refused;
}
