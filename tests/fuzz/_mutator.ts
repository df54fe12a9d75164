/** Sound things made unsound: small changes where structure is, which random alone would hardly ever hit. */
import type { Random } from "../fixtures/random.ts";

/** Pieces that parsers, orderings and renderers have a meaning for, or trip over. */
const PIECES: readonly string[] = [
  ..."/?#%&=+.:@[]()<>|`\\!*_~$-\"' \t\n\r",
  ..."\u0000\u001b\u0007\u007f\u009b\u00a0\u0301\u200d\u2028\u202e\ufe0f\ufeff\ud800\udc00",
  ...[
    "//",
    "..",
    "%2F",
    "%00",
    "%zz",
    "%C3",
    "%C3%A9",
    "dpe://",
    "window://",
    "DPE://",
    "pages/",
    "elements/",
    "?format=markdown",
  ],
  ...[
    "depth=pages",
    "limit=101",
    "offset=-1",
    "offset=00",
    "categories=table,",
    "9007199254740993",
    "1e3",
    "０",
  ],
  ...[
    "年",
    "é",
    "𝄞",
    "👩‍👩‍👧",
    "🇩🇪",
    "한",
    "```",
    "](",
    "- ",
    "# ",
    "| ",
    "\\|",
    "&amp;",
    "<br>",
    "$",
    "\u001b[2J",
    "\u001b]0;x\u0007",
  ],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "null",
    "NaN",
    "2026-01-15T08:30:00+25:00",
    "2026-13-45",
    "0000-00-00",
  ],
];

/** Values of every type, the hostile among them. */
const VALUES: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -0, -1, 0.5, 1.5, 2 ** 53, 1e308, NaN, Infinity, -Infinity, 10n],
  ...["", " ", "text", "x".repeat(5_000), [], {}, [[]], [null], [[[[[[[]]]]]]], { text: 1 }, {
    items: [{ items: [[]] }],
  }],
  ...[Symbol.iterator, new Date(NaN), new Map([["a", 1]]), () => "f", Object.create(null)],
];

/** A text with a few pieces put in, taken out, doubled or put elsewhere. */
export function mutateText(random: Random, text: string): string {
  let mutated = text;
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const at = random.below(mutated.length + 1);
    const end = Math.min(mutated.length, at + random.below(4));
    const piece = random.pick(PIECES);
    mutated = random.pick([
      () => mutated.slice(0, at) + piece + mutated.slice(at),
      () => mutated.slice(0, at) + piece + mutated.slice(end),
      () => mutated.slice(0, at) + mutated.slice(end),
      () => mutated.slice(0, at),
      () => mutated.slice(0, at) + mutated.slice(at, end).repeat(3) + mutated.slice(end),
      () => mutated.slice(at) + mutated.slice(0, at),
    ])();
  }
  return mutated;
}

/** A few pieces after each other. */
export function randomText(random: Random): string {
  return Array.from({ length: random.below(12) }, () => random.pick(PIECES)).join("");
}

/** Something of any type. */
export function randomValue(random: Random): unknown {
  return random.once(3) ? randomText(random) : random.pick(VALUES);
}

/** A value with one place in it changed: a member or item replaced, left out, added, or one of its texts mutated. */
export function mutateValue(random: Random, value: unknown): unknown {
  if (random.once(8)) return randomValue(random);
  if (typeof value === "string") return random.once(2) ? mutateText(random, value) : randomText(random);
  if (Array.isArray(value)) return mutateList(random, value);
  if (typeof value === "object" && value !== null) return mutateMembers(random, { ...value });
  return randomValue(random);
}

function mutateList(random: Random, list: readonly unknown[]): unknown[] {
  const at = random.below(list.length + 1);
  return random.pick([
    () => [...list.slice(0, at), randomValue(random), ...list.slice(at)],
    () => list.map((item, i) => i === at ? mutateValue(random, item) : item),
    () => list.filter((_, i) => i !== at),
    () => [...list, ...list],
    () => [list],
  ])();
}

function mutateMembers(random: Random, members: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(members);
  const name = names.length === 0 || random.once(10) ? random.pick(PIECES) : random.pick(names);
  if (random.once(6)) delete members[name];
  else {
    // As JSON.parse would, also for `__proto__`
    const value = mutateValue(random, Object.hasOwn(members, name) ? members[name] : undefined);
    Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return members;
}

/** The value changed in one to four places. */
export function mutate(random: Random, value: unknown): unknown {
  let mutated = value;
  for (let changes = 1 + random.below(4); changes > 0; changes--) mutated = mutateValue(random, mutated);
  return mutated;
}
