"""What docs/language.md says of plans, once more and in memory: a table is {key: item}, a plan changes it.

Values are pairs (type, content), as ("S", "x"), ("N", Decimal(1)), ("SS", frozenset), ("L", tuple); an item is {name: value}.
Expressions and templates are tuples, as tests/support/model_plans.py makes and spells them."""
import re
from dataclasses import dataclass, field
from decimal import Decimal

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
FAIL, SKIP, OVERWRITE, KEEP_NEWER = "fail", "skip", "overwrite", "keep_newer"


class ItemError(Exception):
    """A value that cannot be computed for an item."""


# ---------------------------------------------------------------- expressions; missing is None

def plain(number):
    """A number in digits, never with an exponent."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def ordered(value):
    """What values of one type are compared by; None where they have no order."""
    return {"S": lambda content: content.encode(), "N": lambda content: content}.get(value[0], lambda content: None)(value[1])


def is_less(a, b):
    return a is not None and b is not None and a[0] == b[0] and ordered(a) is not None and ordered(a) < ordered(b)


def contains(a, b):
    if a is None or b is None:
        return False
    if a[0] == "S":
        return b[0] == "S" and b[1] in a[1]
    if a[0] == "SS":
        return b[0] == "S" and b[1] in a[1]
    return a[0] == "L" and b in a[1]


def is_prefix(a, b):
    return a is not None and b is not None and a[0] == b[0] == "S" and a[1].startswith(b[1])


def typed(kind, *values):
    for value in values:
        if value[0] != kind:
            raise ItemError(f"expected {kind}, found {value[0]}")
    return [value[1] for value in values]


CALLS = {  # strict in every argument
    "lower": lambda a: ("S", typed("S", a)[0].lower()),
    "upper": lambda a: ("S", typed("S", a)[0].upper()),
    "||": lambda a, b: ("S", "".join(typed("S", a, b))),
    "+": lambda a, b: ("N", sum(typed("N", a, b))),
}
CONDITIONS = {
    "=": lambda a, b: a is not None and a == b,
    "<>": lambda a, b: a is None or a != b,
    "<": is_less,
    "begins_with": is_prefix,
    "contains": contains,
    "attribute_exists": lambda a: a is not None,
    "attribute_not_exists": lambda a: a is None,
    "attribute_type": lambda a, b: a is not None and a[0] == b[1],
}


def evaluate(expr, scope):
    """`scope` is the item by None, and what lookups found by their alias."""
    kind, *arguments = expr
    if kind == "path":
        found = scope[arguments[0]]
        return None if found is None else found.get(arguments[1])
    if kind == "literal":
        return arguments[0]
    if kind == "coalesce":
        found = (evaluate(argument, scope) for argument in arguments)
        return next((value for value in found if value is not None and value[0] != "NULL"), None)
    if kind == "if":
        return evaluate(arguments[1] if holds(arguments[0], scope) else arguments[2], scope)
    values = [evaluate(argument, scope) for argument in arguments]
    return None if None in values else CALLS[kind](*values)


def holds(condition, scope):
    kind, *arguments = condition
    if kind == "AND":
        return all(holds(argument, scope) for argument in arguments)
    if kind == "OR":
        return any(holds(argument, scope) for argument in arguments)
    if kind == "NOT":
        return not holds(arguments[0], scope)
    return CONDITIONS[kind](*(evaluate(argument, scope) for argument in arguments))


# ---------------------------------------------------------------- templates

def words(value):
    if value[0] == "S":
        return value[1]
    if value[0] == "N":
        return plain(value[1])
    if value[0] == "BOOL":
        return "true" if value[1] else "false"
    raise ItemError(f"{value[0]} in a text")


def convert(value, kind):
    if value[0] == kind:
        return value
    if kind == "S":
        return ("S", words(value))
    if kind == "N" and value[0] == "S" and NUMBER.fullmatch(value[1]):
        return ("N", Decimal(value[1]))
    raise ItemError(f"{value[0]} makes no {kind}")


def fill(template, scope):
    kind, *content = template
    if kind == "constant":
        return content[0]
    if kind == "alone":
        return evaluate(content[0], scope)
    if kind == "typed":
        value = fill(content[1], scope)
        return None if value is None else convert(value, content[0])
    text = ""
    for part in content:
        value = ("S", part) if isinstance(part, str) else evaluate(part, scope)
        if value is None:
            return None
        text += words(value)
    return ("S", text)


def fill_key(template, scope, kind):
    """For an attribute that is declared with a type (None: it is not)."""
    value = fill(template, scope)
    if value is None or kind is None:
        return value
    if template[0] == "alone" and {value[0], kind} == {"S", "N"}:
        value = convert(value, kind)
    if value[0] != kind or value[1] == "":
        raise ItemError(f"{value} as a key attribute declared {kind}")
    return value


def fill_all(templates, scope, types):
    """Of set, rekey and put: nothing may be missing."""
    filled = {}
    for name, template in templates.items():
        filled[name] = fill_key(template, scope, types.get(name))
        if filled[name] is None:
            raise ItemError(f"{name} is missing")
    return filled


# ---------------------------------------------------------------- plans

@dataclass
class Step:
    number: int
    where: tuple = None
    lookup: dict = field(default_factory=dict)  # alias: {key attribute: template}
    set: dict = field(default_factory=dict)
    rename: dict = field(default_factory=dict)
    remove: list = field(default_factory=list)
    rekey: dict = field(default_factory=dict)
    put: dict = field(default_factory=dict)
    delete: bool = False
    rule: tuple = (FAIL,)  # with the attribute of keep_newer


@dataclass
class Index:
    name: str
    partition: list  # (name, type)
    sort: list
    projection: object = "ALL"
    leave_out: bool = False

    def key(self):
        return self.partition + self.sort

    def violates(self, item):
        return any(item[name][0] != kind or item[name][1] == "" for name, kind in self.key() if name in item)

    def holds(self, item):
        return all(name in item for name, _ in self.key()) and not self.violates(item)


@dataclass
class Schema:
    partition: tuple  # (name, type)
    sort: tuple = None

    def key(self):
        return [self.partition] + ([self.sort] if self.sort else [])

    def of(self, item):
        return tuple(item[name] for name, _ in self.key())

    def lookup(self, templates, scope):
        parts = []
        for name, kind in self.key():
            parts.append(fill_key(templates[name], scope, kind))
            if parts[-1] is None:
                return None
        return tuple(parts)


def by_key(key):
    """Keys in the order in which the greatest wins."""
    return tuple(ordered(part) for part in key)


# ---------------------------------------------------------------- one item

@dataclass
class Effect:
    """What the steps make of an item."""
    fate: str  # unchanged, update, move, delete, failed
    item: dict = None
    puts: dict = field(default_factory=dict)  # key: (step, item)
    outcomes: dict = field(default_factory=dict)  # by step: written, unchanged, skipped
    rekey_step: int = None

    def changes(self):
        return self.fate not in ("unchanged", "failed") or bool(self.puts)


class Flow:
    """One item on its way through the steps. `keep` says that it keeps its key, `without` which steps put nothing."""

    def __init__(self, stage, item, keep, without):
        self.stage, self.item, self.keep, self.without = stage, dict(item), keep, without
        self.outcomes, self.puts, self.left_out = {}, {}, {}
        self.rekey_step, self.deleted = None, False

    def run(self):
        for place, step in enumerate(self.stage.steps):
            if not self.deleted:
                self.meet(place, step)

    def meet(self, place, step):
        scope = {None: self.item}
        if step.lookup and (step.where is None or reads_lookup(step.where)):
            self.look_up(step, scope)
        if step.where is not None and not holds(step.where, scope):
            return
        if step.lookup and len(scope) == 1:
            self.look_up(step, scope)
        if step.delete:
            self.deleted = True
            self.outcomes[place] = "written"
        elif step.put:
            self.outcomes[place] = self.put(place, step, scope)
        else:
            self.outcomes[place] = self.edit(place, step, scope)

    def look_up(self, step, scope):
        for alias, templates in step.lookup.items():
            key = self.stage.schema.lookup(templates, {None: self.item})
            scope[alias] = None if key is None else self.stage.before.get(key)

    def edit(self, place, step, scope):
        after = dict(self.item)
        after.update(fill_all(step.set, scope, self.stage.types))
        for old, new in step.rename.items():
            if old in self.item and new in self.item:
                raise ItemError(f"rename onto {new}")
            if old in self.item:
                after[new] = after.pop(old)
        for name in step.remove:
            after.pop(name, None)
        key = fill_all(step.rekey, scope, self.stage.types)
        moves = any(self.item[name] != value for name, value in key.items())
        skipped = moves and self.keep
        if moves and not self.keep:
            after.update(key)
            self.rekey_step = place
        changed = after != self.item
        self.item = after
        return "skipped" if skipped else "written" if changed else "unchanged"

    def put(self, place, step, scope):
        item = fill_all(step.put, scope, self.stage.types)
        self.stage.check(item, None)
        key = self.stage.schema.of(item)
        standing = self.puts.get(key) or self.left_out.get(key)
        if standing is not None and standing[1] != item:
            raise ItemError("a second item under the key of another put")
        if place in self.without or key in self.left_out:
            self.left_out[key] = (place, item)
            return "skipped"
        self.puts.setdefault(key, (place, item))
        return "written" if standing is None else "unchanged"


def reads_lookup(expr):
    if expr[0] == "path":
        return expr[1] is not None
    return any(reads_lookup(argument) for argument in expr[1:] if isinstance(argument, tuple) and expr[0] != "literal")


class Stage:
    """The steps of a pass, over the table as it is in `before`."""

    def __init__(self, schema, steps, before, types, indexes):
        self.schema, self.steps, self.before, self.types = schema, steps, before, types
        self.indexes = indexes

    def check(self, item, before):
        """An index refuses what it cannot hold; what an update leaves as it was may stay as it is."""
        for index in self.indexes:
            same = before is not None and all(item.get(name) == before.get(name) for name, _ in index.key())
            if index.violates(item) and not same:
                raise ItemError(f"index {index.name}")

    def effect(self, item, keep=False, without=()):
        try:
            return self.try_effect(item, keep, without)
        except ItemError:
            return Effect("failed")

    def try_effect(self, item, keep, without):
        flow = Flow(self, item, keep, without)
        flow.run()
        if flow.deleted:
            fate = "delete"
        elif flow.item == item:
            fate = "unchanged"
            self.take_back_writes(flow)
        else:
            fate = "update" if self.schema.of(flow.item) == self.schema.of(item) else "move"
            self.check(flow.item, item)
        if not flow.deleted:
            self.settle_own_key(flow)
        self.check_convergence(flow, fate in ("update", "move"))
        return Effect(fate, flow.item, flow.puts, flow.outcomes, flow.rekey_step)

    def take_back_writes(self, flow):
        """What came to nothing in the end was no write."""
        for place, outcome in flow.outcomes.items():
            if outcome == "written" and not self.steps[place].put:
                flow.outcomes[place] = "unchanged"

    def settle_own_key(self, flow):
        own = flow.puts.pop(self.schema.of(flow.item), None)
        if own is None:
            return
        if own[1] != flow.item:
            raise ItemError("another item under the item's own key")
        flow.outcomes[own[0]] = "unchanged"

    def check_convergence(self, flow, changed):
        known = [item for _, item in [*flow.puts.values(), *flow.left_out.values()]] + [flow.item] * (not flow.deleted)
        if changed:
            self.try_again(flow.item, known, flow.keep, flow.without)
        for _, item in flow.puts.values():
            self.try_again(item, known, False, ())

    def try_again(self, item, known, keep, without):
        again = Flow(self, item, keep, without)
        again.run()
        if again.deleted or again.item != item or any(put not in known for _, put in again.puts.values()):
            raise ItemError("does not converge")
