/* date() and epoch(). */
#include "engine/expr/expr_date_internal.h"
#include "engine/expr/expr_functions_internal.h"
#include "engine/expr/expr_literal_internal.h"

enum { MS_PER_SECOND = 1000 };

static bool is_iso(struct str format)
{
    return str_equal(format, STR("iso"));
}

/* 0 if the format is text. */
static int64_t epoch_scale(struct str format)
{
    if (str_equal(format, STR("epoch"))) {
        return 1;
    }
    return str_equal(format, STR("epoch_ms")) ? MS_PER_SECOND : 0;
}

bool expr_function_is_date_format(struct value v, struct error *err)
{
    struct str format = value_bytes(v);
    return is_iso(format) || epoch_scale(format) != 0 || expr_date_check_pattern(format, err);
}

unsigned expr_function_date_types(const struct expr *expr)
{
    return epoch_scale(value_bytes(expr->arguments[2]->constant)) != 0 ? TYPE_N : TYPE_S;
}

static bool read_moment(struct value v, struct str format, struct moment *out, struct error *err)
{
    int64_t scale = epoch_scale(format);
    enum value_type wanted = scale != 0 ? VALUE_N : VALUE_S;
    if (value_type(v) != wanted) {
        return error_set(err, ERROR_ITEM, "%.*s is read from %s", STR_ARG(format),
                         value_type_name(wanted));
    }
    if (scale != 0) {
        struct number n = value_number(v);
        return expr_date_from_epoch(&n, scale, out, err);
    }
    return is_iso(format) ? expr_date_read_iso(value_bytes(v), out, err)
                          : expr_date_read(value_bytes(v), format, out, err);
}

static bool write_moment(struct evaluation *in, struct moment moment, struct str format,
                         struct value *out)
{
    int64_t scale = epoch_scale(format);
    if (scale == 0) {
        struct str text = is_iso(format) ? expr_date_write_iso(moment, in->scratch)
                                         : expr_date_write(moment, format, in->scratch);
        *out = value_string(in->scratch, text);
        return true;
    }
    struct number n;
    if (!expr_date_to_epoch(moment, scale, &n, in->err)) {
        return false;
    }
    *out = value_from_number(in->scratch, &n);
    return true;
}

static bool convert(struct evaluation *in, struct value v, struct str from, struct str to,
                    struct value *out)
{
    struct moment moment = {0};
    if (!read_moment(v, from, &moment, in->err)) {
        return error_wrap(in->err, "%s", expr_literal_shown(v).text);
    }
    return write_moment(in, moment, to, out);
}

bool expr_function_date(struct evaluation *in, const struct value *arguments, struct value *out)
{
    return convert(in, arguments[0], value_bytes(arguments[1]), value_bytes(arguments[2]), out);
}

bool expr_function_date_of_epoch(struct evaluation *in, const struct value *arguments,
                                 struct value *out)
{
    return convert(in, arguments[0], STR("epoch"), STR("iso"), out);
}

bool expr_function_epoch(struct evaluation *in, const struct value *arguments, struct value *out)
{
    return convert(in, arguments[0], STR("iso"), STR("epoch"), out);
}
