"""What becomes of a table in one pass: who gets which key, what is written, and what is counted."""
from dataclasses import dataclass

from model import FAIL, KEEP_NEWER, OVERWRITE, SKIP, Effect, by_key, ordered


@dataclass
class Counts:
    written: int = 0
    unchanged: int = 0
    skipped: int = 0
    overwritten: int = 0


# ---------------------------------------------------------------- collisions

@dataclass
class Claim:
    """An item that wants a key, by the step at `place`: it moves there, or puts another item there."""
    source: tuple
    place: int
    puts: bool
    item: dict
    rule: tuple
    unsteady: bool = False  # if it kept its key, later steps would do something else


class Group:
    """Claims on one key, and the item that stands there (`holder` is its key, or None): more than can have it."""

    def __init__(self, claims, holder, before, effects, seen):
        self.claims, self.holder, self.before, self.effects = claims, holder, before, effects
        self.done = holder in seen
        self.rule = claims[0].rule
        self.decides = self.rule[0] in (OVERWRITE, KEEP_NEWER)
        self.failed = self.is_undecided()
        self.winner = None if self.failed else max(claims, key=lambda claim: self.rank(claim.item, claim.source))
        self.wins = not self.failed and self.someone_wins()

    def is_undecided(self):
        if self.rule[0] == FAIL or any(claim.rule != self.rule for claim in self.claims) or not self.is_comparable():
            return True
        effect = self.effects.get(self.holder)
        return self.decides and effect is not None and (effect.fate in ("move", "failed") or bool(effect.puts))

    def newer(self):
        """All that keep_newer compares."""
        items = [claim.item for claim in self.claims] + ([self.before[self.holder]] if self.holder else [])
        return [item[self.rule[1]] for item in items if self.rule[1] in item]

    def is_comparable(self):
        if self.rule[0] != KEEP_NEWER or len(self.newer()) < 2:
            return True
        return len({value[0] for value in self.newer()}) == 1 and ordered(self.newer()[0]) is not None

    def rank(self, item, source):
        if self.rule[0] != KEEP_NEWER:
            return by_key(source)
        value = item.get(self.rule[1])
        compared = value is not None and len(self.newer()) > 1
        return (value is not None, ordered(value) if compared else 0, by_key(source))

    def someone_wins(self):
        if self.holder is None:
            return True
        if self.rule[0] == SKIP or stands_already(self.before, self.effects, self.holder, self.winner):
            return False
        if self.rule[0] == OVERWRITE:
            return not (self.done and self.winner.puts)
        own, other = self.rank(self.winner.item, self.winner.source), self.rank(self.before[self.holder], self.holder)
        return own[:2] > other[:2] if self.done else own > other

    def is_won_by(self, claim):
        return self.wins and claim is self.winner

    def deletes(self, claim):
        """It moves, and has lost."""
        return not claim.puts and self.decides and not self.is_won_by(claim)

    def keeps(self, claim):
        """It does not move."""
        return not claim.puts and self.rule[0] == SKIP and not self.is_won_by(claim)

    def members(self):
        return {claim.source for claim in self.claims} | ({self.holder} if self.holder else set())


def stands_already(before, effects, target, claim):
    return claim.puts and before.get(target) == claim.item and effects[target].fate in ("unchanged", "failed")


class Ruling:
    """All groups, and the keys of the items that fail because of them."""

    def __init__(self, stage, effects, seen):
        self.stage, self.effects, claims = stage, effects, {}
        for source, effect in effects.items():
            for target, claim in self.claims_of(source, effect):
                claims.setdefault(target, []).append(claim)
        self.groups = [Group(wanted, target if target in stage.before else None, stage.before, effects, seen)
                       for target, wanted in claims.items() if not self.is_quiet(target, wanted)]
        self.failed = self.find_failed()

    def claims_of(self, source, effect):
        for key, (place, item) in effect.puts.items():
            yield key, Claim(source, place, True, item, self.stage.steps[place].rule)
        if effect.fate == "move":
            rule = self.stage.steps[effect.rekey_step].rule
            unsteady = rule[0] == SKIP and self.is_unsteady(source, effect)
            yield self.stage.schema.of(effect.item), Claim(source, effect.rekey_step, False, effect.item, rule, unsteady)

    def is_unsteady(self, source, effect):
        kept = self.stage.effect(self.stage.before[source], keep=True)
        return kept.fate == "failed" or kept.puts != effect.puts

    def is_quiet(self, target, claims):
        """One item there in the end, whoever is met first."""
        if target not in self.stage.before:
            return len(claims) == 1 or all(claim.puts and claim.item == claims[0].item for claim in claims)
        return all(stands_already(self.stage.before, self.effects, target, claim) for claim in claims)

    def find_failed(self):
        failed, size = set(), None
        while size != (len(failed), sum(group.failed for group in self.groups)):
            size = (len(failed), sum(group.failed for group in self.groups))
            failed |= self.fail_once(failed)
        return {source for source in failed if self.effects[source].changes()}

    def fail_once(self, failed):
        """Who fails with a group, would do something else under its old key, or would decide one group and be deleted by another;
        and groups fail that one of them would decide."""
        found, deleted, decided = set(), set(), set()
        for group in self.groups:
            group.failed = group.failed or (group.decides and bool(failed & group.members()))
            if group.failed:
                found |= group.members()
                continue
            deleted |= {claim.source for claim in group.claims if group.deletes(claim)}
            found |= {claim.source for claim in group.claims if claim.unsteady and group.keeps(claim)}
            if group.wins and group.decides:
                decided.add(group.winner.source)
        return found | (deleted & decided)


# ---------------------------------------------------------------- the pass

class Pass:
    """What a pass comes to. `seen`: keys of items that an earlier attempt wrote, which are not met again, nor beaten by puts."""

    def __init__(self, stage, seen=frozenset()):
        self.stage, self.seen = stage, seen
        self.effects = {key: Effect("unchanged", item) if key in seen else stage.effect(item) for key, item in stage.before.items()}
        self.ruling = Ruling(stage, self.effects, seen)
        self.counts = [Counts() for _ in stage.steps]
        self.errors = 0
        self.deleted, self.overwritten, self.keep, self.without = set(), set(), set(), {}
        self.gone, self.new, self.puts = set(), {}, {}
        for group in self.ruling.groups:
            if not group.failed:
                self.obey(group)
        for key, item in stage.before.items():
            if key not in seen and key not in self.overwritten:
                self.meet(key, self.effect_of(key, item))
        self.settle_puts()
        self.table = {key: item for key, item in stage.before.items() if key not in self.gone | self.overwritten} | self.new

    def obey(self, group):
        for claim in group.claims:
            if claim.source in self.ruling.failed or group.is_won_by(claim):
                continue
            if group.deletes(claim):
                self.deleted.add(claim.source)
                self.counts[group.winner.place].overwritten += 1
            elif group.keeps(claim):
                self.keep.add(claim.source)
            elif group.wins or not stands_already(self.stage.before, self.effects, group.holder, claim):
                self.without.setdefault(claim.source, set()).add(claim.place)
        if group.wins and group.holder is not None:
            self.overwritten.add(group.holder)
            self.counts[group.winner.place].overwritten += 1

    def effect_of(self, key, item):
        effect = self.effects[key]
        if key in self.ruling.failed:
            return Effect("failed")
        if key in self.deleted:
            return Effect("delete", outcomes={place: "skipped" for place in effect.outcomes})
        if key in self.keep or key in self.without:
            return self.stage.effect(item, key in self.keep, self.without.get(key, ()))
        return effect

    def meet(self, key, effect):
        if effect.fate == "failed":
            self.errors += 1
            return
        for place, outcome in effect.outcomes.items():
            setattr(self.counts[place], outcome, getattr(self.counts[place], outcome) + 1)
        for target, (place, item) in effect.puts.items():
            self.puts.setdefault(target, []).append((place, item))
        if effect.fate in ("move", "delete"):
            self.gone.add(key)
        if effect.fate in ("move", "update"):
            self.write(self.stage.schema.of(effect.item), effect.item)

    def write(self, key, item):
        assert key not in self.new, "the model lets two items have one key"
        self.new[key] = item

    def settle_puts(self):
        """Equal puts are one, of the first step; what stands there already is none."""
        for target, puts in self.puts.items():
            assert all(item == puts[0][1] for _, item in puts), "the model puts two items under one key"
            stands = self.stage.before.get(target) == puts[0][1] and target not in self.gone
            for place, _ in sorted(puts, key=lambda put: put[0])[0 if stands else 1:]:
                self.counts[place].written -= 1
                self.counts[place].unchanged += 1
            if not stands:
                self.write(target, puts[0][1])
