"""Random tables and plans for the model, and how they are spelled."""
from decimal import Decimal

from model import FAIL, KEEP_NEWER, OVERWRITE, SKIP, Index, Schema, Step, plain

NUMBERS = ["0", "1", "2", "3", "10", "-1", "0.5"]
TEXTS = ["x", "y", "X", "5", "10", "", "U#1", "V#2", "it's"]
PREFIXES = ["U#", "u#", "V#", "P#"]
SORTS = ["P", "p", "O#1", "o#1", "O#2"]
ATTRIBUTES = ["a", "b", "c", "n", "At"]
MARKERS = ["m1", "m2"]
INDEX_KEYS = {"G1": "S", "G1s": "N", "G2": "N", "G2s": "S"}


# ---------------------------------------------------------------- spelling

def value_json(value):
    kind, content = value
    if kind == "N":
        return {"N": plain(content)}
    if kind == "NULL":
        return {"NULL": True}
    if kind == "SS":
        return {"SS": sorted(content)}
    if kind == "L":
        return {"L": [value_json(member) for member in content]}
    return {kind: content}


def item_json(item):
    return {name: value_json(value) for name, value in item.items()}


def value_read(json):
    (kind, content), = json.items()
    if kind == "N":
        return ("N", Decimal(content))
    if kind == "NULL":
        return ("NULL", None)
    if kind == "SS":
        return ("SS", frozenset(content))
    if kind == "L":
        return ("L", tuple(value_read(member) for member in content))
    return (kind, content)


def item_read(json):
    return {name: value_read(value) for name, value in json.items()}


def spell_literal(value):
    kind, content = value
    if kind == "S":
        return "'" + content.replace("'", "''") + "'"
    if kind == "BOOL":
        return "true" if content else "false"
    return "null" if kind == "NULL" else plain(content)


def spell(expr):
    kind, *arguments = expr
    if kind == "path":
        alias, name = arguments
        return name if alias is None else f"{alias}.{name}"
    if kind == "literal":
        return spell_literal(arguments[0])
    spelled = [spell(argument) for argument in arguments]
    if kind in ("AND", "OR", "=", "<>", "<", "||", "+"):
        return "(" + f" {kind} ".join(spelled) + ")"
    return f"NOT ({spelled[0]})" if kind == "NOT" else f"{kind}({', '.join(spelled)})"


def spell_template(template):
    kind, *content = template
    if kind == "constant":
        value = content[0]
        return value_json(value)
    if kind == "alone":
        return "${" + spell(content[0]) + "}"
    if kind == "typed":
        return {content[0]: spell_template(content[1])}
    return "".join(part if isinstance(part, str) else "${" + spell(part) + "}" for part in content)


def spell_templates(templates):
    return {name: spell_template(template) for name, template in templates.items()}


def spell_step(step):
    if isinstance(step, str):
        return {"pass": "next"} if step == "pass" else {"drop_index": step}
    if isinstance(step, Index):
        return {"create_index": spell_index(step)}
    json = {}
    if step.where is not None:
        json["where"] = spell(step.where)
    if step.lookup:
        json["lookup"] = {alias: spell_templates(key) for alias, key in step.lookup.items()}
    for member in ("set", "rekey", "put"):
        if getattr(step, member):
            json[member] = spell_templates(getattr(step, member))
    if step.rename:
        json["rename"] = step.rename
    if step.remove:
        json["remove"] = step.remove
    if step.delete:
        json["delete"] = True
    if step.rule != (FAIL,):
        json["on_collision"] = ": ".join(step.rule)
    return json


def spell_index(index):
    json = {"name": index.name, "partition": [f"{name}:{kind}" for name, kind in index.partition], "projection": index.projection}
    if index.sort:
        json["sort"] = [f"{name}:{kind}" for name, kind in index.sort]
    if index.leave_out:
        json["on_violation"] = "leave_out"
    return json


# ---------------------------------------------------------------- drawing

def own(name):
    """An attribute of the item itself."""
    return ("path", None, name)


def text(content):
    return ("literal", ("S", content))


def number(content):
    return ("literal", ("N", Decimal(content)))


class Maker:
    """Draws a table, then plans for it, of few values, so that they meet. A careful one makes few item errors."""

    def __init__(self, rng):
        self.rng = rng
        self.careful = self.chance(0.7)
        self.keys_max = rng.choice([2, 4, 8, 15])
        self.schema = Schema(("PK", "N" if self.chance(0.1) else "S"), rng.choice([None] + 3 * [("SK", "N")] + 6 * [("SK", "S")]))

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, *choices):
        return self.rng.choice(choices)

    # ------------------------------------------------------------ values and items

    def text(self):
        return ("S", self.rng.choice(TEXTS))

    def number(self):
        return ("N", Decimal(self.rng.choice(NUMBERS)))

    def literal(self):
        return ("literal", self.pick(self.text, self.number)())

    def value(self):
        kind = self.rng.random() * (0.75 if self.careful else 1)
        if kind < 0.45:
            return self.text()
        if kind < 0.75:
            return self.number()
        if kind < 0.83:
            return ("BOOL", self.chance(0.5))
        if kind < 0.88:
            return ("NULL", None)
        members = self.rng.sample(["x", "y", "X"], self.rng.randint(1, 2))
        return ("SS", frozenset(members)) if kind < 0.94 else ("L", tuple(("S", member) for member in members))

    def key_part(self, name, kind):
        if kind == "N":
            return ("N", Decimal(self.rng.randint(-1, self.keys_max)))
        if name == "PK":
            return ("S", self.rng.choice(PREFIXES) + str(self.rng.randint(1, self.keys_max)))
        return ("S", self.rng.choice(SORTS + ["5"]))

    def index_part(self, kind):
        value = self.text() if kind == "S" else self.number()
        return ("S", "x") if value[1] == "" and self.chance(0.9) else value

    def item(self):
        item = {name: self.key_part(name, kind) for name, kind in self.schema.key()}
        item.update({name: self.value() for name in ATTRIBUTES if self.chance(0.6)})
        item.update({name: self.number() for name in ("n", "At") if self.chance(0.7)})
        item.update({name: self.index_part(kind) for name, kind in INDEX_KEYS.items() if self.chance(0.4)})
        if self.chance(0.005 if self.careful else 0.03):
            item[self.rng.choice(list(INDEX_KEYS))] = self.value()
        return item

    def mended(self, item):
        """With other values that mostly can be computed with."""
        kept = {name: value for name, value in item.items() if name not in INDEX_KEYS}
        return {**kept, **{name: self.text() for name in ("a", "b", "c")}, **{name: self.number() for name in ("n", "At")}}

    def table(self):
        made = (self.item() for _ in range(self.rng.randint(20, 200)))
        return {self.schema.of(item): item for item in made}

    # ------------------------------------------------------------ conditions

    def path(self, aliases=()):
        if aliases and self.chance(0.5):
            return ("path", self.rng.choice(aliases), self.rng.choice(ATTRIBUTES))
        names = ATTRIBUTES + [name for name, _ in self.schema.key()] + (["G1", "G2"] if self.chance(0.2) else [])
        return own(self.rng.choice(names))

    def some_keys(self):
        if self.schema.partition[1] == "N":
            return ("<", own("PK"), number(self.rng.randint(0, self.keys_max)))
        return ("begins_with", own("PK"), text(self.rng.choice(PREFIXES + ["U#1", "W#"])))

    def condition(self, depth, aliases=()):
        kind = self.rng.random()
        if depth > 0 and kind < 0.3:
            return (self.pick("AND", "OR"), self.condition(depth - 1, aliases), self.condition(depth - 1, aliases))
        if depth > 0 and kind < 0.4:
            return ("NOT", self.condition(depth - 1, aliases))
        path = self.path(aliases)
        if kind < 0.55:
            return (self.pick("=", "<>", "<"), path, self.literal())
        if kind < 0.6:
            return (self.pick("=", "<"), path, self.path(aliases))
        if kind < 0.7:
            return self.some_keys()
        if kind < 0.85:
            return (self.pick("attribute_exists", "attribute_not_exists"), path)
        if kind < 0.95:
            return ("attribute_type", path, text(self.pick("S", "N", "BOOL", "SS")))
        return ("contains", path, text(self.pick("x", "X", "#")))

    # ------------------------------------------------------------ values of templates

    def sure(self, kind, path):
        """The path's value, where it has that type."""
        other = {"S": self.text, "N": self.number}[kind]()
        return ("if", ("attribute_type", path, text(kind)), path, ("literal", other))

    def sure_expression(self, path):
        return self.pick(("lower", self.sure("S", path)), ("upper", self.sure("S", path)), ("||", self.sure("S", path), text("x")),
                         self.sure("N", path), ("+", self.sure("N", path), number(1)), ("coalesce", path, self.literal()))

    def expression(self, depth, aliases=()):
        path = self.path(aliases)
        if self.careful:
            return self.sure_expression(path)
        inner = path if depth == 0 else self.expression(depth - 1, aliases)
        return self.pick(path, path, path, ("lower", inner), ("upper", inner), ("||", inner, text("x")), ("+", inner, number(1)),
                         ("coalesce", inner, self.literal()), ("if", self.condition(0, aliases), inner, text("x")))

    def template(self, aliases=()):
        kind = self.rng.random()
        if kind < 0.2:
            return ("constant", self.value())
        if kind < 0.5:
            return ("alone", self.expression(1, aliases))
        if kind < 0.85:
            return ("text", self.pick("A#", "x", "5"), self.expression(1, aliases), self.pick("", "#z"))
        if self.careful:
            return ("typed", "S", ("alone", ("coalesce", own("n"), text("x"))))
        return ("typed", self.pick("S", "N"), ("alone", self.path(aliases)))

    def chain(self, path, values):
        """The first becomes the second, and perhaps that the third."""
        first, second, third = (("literal", value) for value in self.rng.sample(values, 3))
        rest = ("if", ("=", path, second), third, path) if self.chance(0.3) else path
        return ("alone", ("if", ("=", path, first), second, rest))

    def number_key(self, name):
        small = self.sure("N", own("n")) if self.careful else own(self.pick("n", "a"))
        return self.pick(("constant", ("N", Decimal(self.rng.randint(0, 2)))), ("alone", small), ("alone", ("+", own(name), number(1))),
                         self.chain(own(name), [("N", Decimal(one)) for one in range(4)]))

    def text_key(self, name):
        small = own(self.pick("n", "n", "a", "b"))
        if self.careful or self.chance(0.2):
            small = ("coalesce", small, text("0"))
        values = [("S", one) for one in (["U#1", "U#2", "u#1", "V#1"] if name == "PK" else SORTS)]
        return self.pick(("text", self.rng.choice(PREFIXES), small), ("text", self.pick("W#", "U#"), small), ("text", "W#", own(name)),
                         ("alone", ("lower", own(name))), ("alone", ("upper", own(name))), ("constant", self.rng.choice(values)),
                         ("alone", self.sure("S", own("c")) if self.careful else small), self.chain(own(name), values))

    def key_template(self, name, kind):
        """Becomes one of few keys."""
        return self.number_key(name) if kind == "N" else self.text_key(name)

    # ------------------------------------------------------------ steps

    def mark(self, step):
        """So that it converges, mostly."""
        marker = self.rng.choice(MARKERS)
        unmarked = ("attribute_not_exists", own(marker))
        step.where = unmarked if step.where is None else ("AND", step.where, unmarked)
        step.set[marker] = ("constant", ("BOOL", True))

    def rule(self):
        newer = (KEEP_NEWER, self.pick("At", "At", "a"))
        return self.pick(*[(FAIL,), (SKIP,), (SKIP,), (OVERWRITE,), (OVERWRITE,), newer][self.careful:])

    def set_step(self, number):
        step = Step(number)
        if self.chance(0.8):
            step.where = self.condition(2)
        for name in self.rng.sample(ATTRIBUTES + (list(INDEX_KEYS) if self.chance(0.5) else []), self.rng.randint(1, 2)):
            step.set[name] = self.template()
        if self.chance(0.9):
            self.mark(step)
        free = [name for name in ATTRIBUTES if name not in step.set]
        if self.chance(0.2):
            step.remove = [free.pop()]
        if self.chance(0.05 if self.careful else 0.2):
            step.rename = {free.pop(): free.pop()}
        return step

    def lookup_step(self, number):
        """Other items than its own, mostly, so that it is not refused."""
        step = Step(number, where=self.some_keys())
        if self.schema.partition[1] == "N" or self.chance(0.2):
            key = ("alone", own(self.pick("PK", "n")))
        else:
            key = ("text", self.rng.choice(PREFIXES), own("n"))
        step.lookup = {"other": {"PK": key}}
        if self.schema.sort:
            step.lookup["other"]["SK"] = self.pick(("alone", own("SK")), self.key_template(*self.schema.sort))
        step.where = ("AND", step.where, self.condition(1, ["other"]))
        step.set = {self.rng.choice(ATTRIBUTES): self.template(["other"])}
        self.mark(step)
        return step

    def rekey_step(self, number):
        step = Step(number, where=self.pick(self.some_keys, lambda: self.condition(1))(), rule=self.rule())
        names = self.rng.sample(self.schema.key(), self.rng.randint(1, len(self.schema.key())))
        step.rekey = {name: self.key_template(name, kind) for name, kind in names}
        if self.chance(0.5):
            self.mark(step)
        if self.chance(0.2):
            step.set[self.rng.choice(ATTRIBUTES)] = self.template()
        return step

    def put_step(self, number):
        step = Step(number, where=self.pick(self.some_keys, lambda: self.condition(1))(), rule=self.rule())
        step.put = {name: self.key_template(name, kind) for name, kind in self.schema.key()}
        if self.schema.partition[1] == "S" and self.chance(0.6):
            step.where = ("AND", step.where, ("NOT", ("begins_with", own("PK"), text("P#"))))
            step.put["PK"] = ("text", "P#", ("coalesce", own(self.pick("n", "a")), text("1")))
        for name in self.rng.sample(ATTRIBUTES, self.rng.randint(0, 2)):
            step.put[name] = self.pick(("constant", self.value()), ("alone", ("coalesce", own(name), text("x"))), self.template())
        if self.chance(0.2):
            step.put["G1"] = self.template()
        if self.chance(0.7):  # so that other steps leave it alone
            step.put.update({marker: ("constant", ("BOOL", True)) for marker in MARKERS})
        return step

    def delete_step(self, number):
        return Step(number, where=self.condition(2), delete=True)

    def duel(self, number):
        """Items that are to move to keys where others are put."""
        rekey, put = self.rekey_step(number), self.put_step(number + 1)
        rekey.rekey = {name: put.put[name] for name, _ in self.schema.key()}
        rekey.rule = put.rule if self.chance(0.7) else rekey.rule
        if self.chance(0.5):
            return [rekey, put]
        rekey.number, put.number = put.number, rekey.number
        return [put, rekey]

    def item_steps(self, steps):
        make = self.pick(self.set_step, self.rekey_step, self.rekey_step, self.put_step, self.put_step, self.duel, self.delete_step,
                         self.lookup_step)
        if steps and isinstance(steps[-1], Step) and self.chance(0.7 if make == self.lookup_step else 0.2):
            steps.append("pass")
        made = make(len(steps))
        steps += made if isinstance(made, list) else [made]

    def index(self, name):
        attributes = {"GSI1": ["G1", "G1s"], "GSI2": ["G2", "G2s"], "GSI3": ["G1"]}[name]
        keys = [(attribute, INDEX_KEYS[attribute]) for attribute in attributes]
        width = 2 if name == "GSI2" and self.chance(0.3) else 1
        return Index(name, keys[:width], keys[width:], self.pick("ALL", "ALL", "KEYS_ONLY", {"include": ["a"]}), self.chance(0.5))

    def plan(self, standing):
        """Steps: a Step, "pass", an Index to create, or the name of one to drop. `standing`: indexes of the table."""
        steps, standing = [], list(standing)
        for _ in range(self.rng.randint(1, 4)):
            kind = self.rng.random()
            free = [name for name in ("GSI1", "GSI2", "GSI3") if name not in standing]
            if kind < 0.15 and free:
                steps.append(self.index(self.rng.choice(free)))
                standing.append(steps[-1].name)
            elif kind < 0.2 and standing:
                steps.append(standing.pop())
            else:
                self.item_steps(steps)
        return steps
