import { assert, assertEquals } from "@std/assert";
import { checkArguments } from "../../../../src/computer/tools/arguments.ts";

type Schema = Record<string, unknown>;
type Args = Record<string, unknown>;

/** What is wrong, for a schema that must be one that is checked. */
function problems(schema: Schema, args: Args): readonly string[] {
  const { problems, uncheckedBecause } = checkArguments(schema, args);
  assertEquals(uncheckedBecause, undefined);
  return problems;
}

const CHECKED = "it is checked";

/** Why a schema is not checked; then nothing is refused. */
function whyUnchecked(schema: Schema, args: Args = {}): string {
  const { problems, uncheckedBecause } = checkArguments(schema, args);
  assertEquals(problems, []);
  return uncheckedBecause ?? CHECKED;
}

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

const schema = {
  type: "object",
  properties: {
    path: { type: "string" },
    count: { type: "integer", minimum: 1 },
    mode: { type: "string", enum: ["read", "write"] },
    items: { type: "array", items: { $ref: "#/$defs/item" }, maxItems: 3 },
  },
  required: ["path"],
  additionalProperties: false,
  $defs: { item: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
};

Deno.test("arguments that match the schema have no problem", () => {
  const args = { path: "a", count: 1, mode: "read", items: [{ name: "x", more: true }] };
  assertEquals(checkArguments(schema, args), { problems: [] });
  assertEquals(checkArguments({}, { anything: [1] }), { problems: [] });
});

Deno.test("each wrong argument is named, nested arguments by their path", () => {
  assertEquals(problems(schema, { count: "secret", items: [{ name: "x" }, {}, { name: 5 }] }), [
    'argument "path" is missing',
    'argument "count" must be integer',
    'argument "items[1].name" is missing',
    'argument "items[2].name" must be string',
  ]);
  const odd = { properties: { "a b": { properties: { "c.d/~": { type: "null" } } } } };
  assertEquals(problems(odd, { "a b": { "c.d/~": 1 } }), ['argument "a b["c.d/~"]" must be null']);
});

Deno.test("problems never quote a value of the call", () => {
  const strict = {
    properties: {
      a: { const: 1 },
      b: { enum: [1] },
      c: { type: "integer" },
      d: false,
      e: { anyOf: [{ type: "null" }, { type: "object", required: ["x"] }] },
    },
  };
  const args = Object.fromEntries([..."abcd"].map((name) => [name, "SECRET"]));
  const texts = problems(strict, { ...args, e: ["SECRET"] });
  assertEquals(texts.length, 5);
  assert(!texts.join().includes("SECRET"), texts.join());
});

Deno.test("allowed values are listed, up to a bounded number", () => {
  assertEquals(problems(schema, { path: "", mode: "wrte" }), [
    'argument "mode" must be one of "read", "write"',
  ]);
  assertEquals(problems(schema, { path: "", mode: 1 }), ['argument "mode" must be one of "read", "write"']);
  assertEquals(problems({ properties: { k: { const: { a: 1 } } } }, { k: 1 }), [
    'argument "k" must be {"a":1}',
  ]);
  // Whether two objects are the same is the MCP server's to say.
  assertEquals(problems({ properties: { k: { const: { a: 1 } } } }, { k: { a: 2 } }), []);
  const many = { properties: { k: { enum: Array.from({ length: 100 }, (_, i) => `${i}`.repeat(35)) } } };
  const [text = ""] = problems(many, { k: "x" });
  assert(text.endsWith(" and 80 more") && text.length < 2_000, text);
});

Deno.test("a long value or name of the schema is not cut, so that a secret is either masked or not shown", () => {
  const secret = `sk-live-${"s".repeat(84)}`;
  const allowing = (...values: unknown[]) => problems({ properties: { k: { enum: values } } }, { k: "x" });
  assertEquals(allowing(secret), ['argument "k" must be a value too long to show']);
  assertEquals(allowing(secret, { secret }), ['argument "k" must be one of 2 values too long to show']);
  assertEquals(allowing(secret, "a"), ['argument "k" must be one of "a" and 1 more']);
  assertEquals(problems({ required: [secret] }, {}), ["one with a name too long to show is missing"]);
  const [long, name] = ["l".repeat(40), "n".repeat(60)];
  assertEquals(problems({ properties: { [long]: { required: [name] } } }, { [long]: {} }), [
    `argument "${name}" of argument "${long}" is missing`,
  ]);
});

Deno.test("of the missing arguments of a union a bounded number is named", () => {
  const required = Array.from({ length: 200 }, (_, index) => `name${index}`);
  const [text = ""] = problems({ anyOf: Array.from({ length: 50 }, () => ({ required })) }, {});
  assert(text.endsWith(' or argument "name19" or one of 180 more is missing'), text);
});

Deno.test("an unknown argument is named, with the closest known name", () => {
  assertEquals(problems(schema, { path: "", pth: 1, zebra: 2 }), [
    'argument "pth" is unknown, did you mean "path"?',
    'argument "zebra" is unknown',
  ]);
});

Deno.test("the alternatives of a union give one problem", () => {
  const optional = { anyOf: [{ type: "integer" }, { type: "null" }] };
  const tagged = {
    oneOf: [{ properties: { kind: { const: "a" } } }, { properties: { kind: { const: "b" } } }],
  };
  const either = { anyOf: [{ required: ["a"] }, { required: ["b"] }] };
  const object = { anyOf: [{ $ref: "#/$defs/o" }, { type: "null" }] };
  const values = { anyOf: [{ type: "string", enum: ["x"] }, { const: "y" }] };
  const union = {
    properties: { optional, tagged, either, object, values },
    $defs: { o: { type: "object", properties: { n: { type: "number" } } } },
  };
  assertEquals(
    problems(union, { optional: "q", tagged: { kind: "c" }, either: {}, object: { n: "x" }, values: "z" }),
    [
      'argument "optional" must be integer or null',
      'argument "tagged" matches none of the allowed forms',
      'argument "either.a" or argument "either.b" is missing',
      'argument "object.n" must be number',
      'argument "values" must be one of "x", "y"',
    ],
  );
});

Deno.test("at most ten problems are described, with names of at most 80 characters on one line", () => {
  const numbers = { properties: { list: { items: { type: "number" } } } };
  const texts = problems(numbers, { list: Array.from({ length: 15 }, () => "x") });
  assertEquals([texts.length, texts.at(-1)], [11, "and 5 more"]);
  const [text = ""] = problems({ additionalProperties: false }, { [`a\nb${"c".repeat(200)}`]: 1 });
  assertEquals(text, `argument "a b${"c".repeat(77)}…" is unknown`);
});

Deno.test("an argument may have the name of a member that every object inherits", () => {
  const inherited = { properties: { constructor: { type: "string" } }, required: ["toString"] };
  assertEquals(problems(inherited, {}), ['argument "toString" is missing']);
  const args = JSON.parse('{"__proto__": 1}');
  assertEquals(problems({ additionalProperties: false }, args), ['argument "__proto__" is unknown']);
});

Deno.test("in draft 7 a reference hides the keywords beside it", () => {
  const definitions = { a: { required: ["x"] } };
  const beside = { $ref: "#/definitions/a", required: ["y"], definitions };
  const missing = ["x", "y"].map((name) => `argument "${name}" is missing`);
  assertEquals(problems({ $schema: DRAFT_07, ...beside }, {}), missing.slice(0, 1));
  for (const $schema of [undefined, null, { toString: 0 }, "https://json-schema.org/draft/2019-09/schema"]) {
    assertEquals(problems({ $schema, ...beside }, {}), missing);
  }
});

Deno.test("references to parts of the schema are followed", () => {
  const tree = { properties: { child: { $ref: "#" }, n: { type: "integer" } } };
  assertEquals(problems(tree, { child: { child: { n: "x" } } }), [
    'argument "child.child.n" must be integer',
  ]);
  const definitions = {
    properties: { n: { $ref: "#/definitions/n" } },
    definitions: { n: { type: "null" } },
  };
  assertEquals(problems({ $schema: DRAFT_07, ...definitions }, { n: 1 }), ['argument "n" must be null']);
});

Deno.test("what is malformed, or cannot be found, refuses nothing", () => {
  const cases: Schema[] = [
    { type: "strin" },
    { type: ["string", 5] },
    { required: true },
    { properties: [] },
    { enum: "a" },
    { anyOf: {}, allOf: 1, oneOf: "x", items: [false] },
    { $ref: "https://example.com/schema" },
    { $ref: "#named" },
    { properties: { a: { $ref: "#/nowhere" } } },
    { properties: { a: { $id: "https://example.com/a", type: "null" } } },
  ];
  for (const schema of cases) assertEquals(whyUnchecked(schema, { a: 1 }), CHECKED, JSON.stringify(schema));
  for (const $ref of ["#", "#/$defs/a"]) {
    const schema = { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref };
    assertEquals(whyUnchecked(schema), "its references never end");
  }
});

Deno.test("what other keywords say is left to the MCP server", () => {
  const lax: [Schema, Args][] = [
    [{ properties: { a: { not: { pattern: "x" } } } }, { a: "b" }],
    [{ properties: { a: { oneOf: [{ pattern: "^a" }, { pattern: "^b" }] } } }, { a: "a" }],
    [{ if: { properties: { a: { pattern: "x" } } }, then: { required: ["b"] } }, { a: "y" }],
    [{ patternProperties: { "^x": {} }, additionalProperties: false }, { xy: 1 }],
    [{ patternProperties: { "^x": {} }, unevaluatedProperties: false }, { xy: 1 }],
    [{ properties: { a: { contains: { pattern: "x" }, maxContains: 1 } } }, { a: ["x", "y"] }],
    [{ properties: { a: { oneOf: [{ format: "date" }, { format: "uri" }] } } }, { a: "2026-01-01" }],
    [{ properties: { a: { not: { contains: { const: 1 }, unevaluatedItems: false } } } }, { a: [1, 2] }],
  ];
  for (const [schema, args] of lax) assertEquals(problems(schema, args), [], JSON.stringify(schema));
  const strict = {
    mail: { type: "string", format: "email", maxLength: 1 },
    n: { type: "integer", minimum: 3 },
  };
  assertEquals(problems({ properties: strict }, { mail: "xyz", n: 1 }), []);
});

/** Definitions of which each uses the next twice: as many evaluations as two to the power of their number. */
function doubling(count: number): Schema {
  const names = Array.from({ length: count }, (_, index) => index);
  const $defs = names.map((index) => {
    const next = { $ref: `#/$defs/d${index + 1}` };
    return [`d${index}`, { anyOf: [next, next] }];
  });
  return {
    properties: { x: { $ref: "#/$defs/d0" } },
    $defs: Object.fromEntries([...$defs, [`d${count}`, false]]),
  };
}

Deno.test("a hostile schema is given up in bounded time", () => {
  const hostile: [Schema, Args, string][] = [
    [doubling(60), { x: 1 }, "checking these arguments against it takes too much work"],
    [
      { properties: { a: { items: { required: Array.from({ length: 5_000 }, (_, i) => `r${i}`) } } } },
      { a: Array.from({ length: 5_000 }, () => ({})) },
      "checking these arguments against it takes too much work",
    ],
    [
      JSON.parse('{"allOf":[{"items":'.repeat(250) + "{}" + "}]}".repeat(250)),
      {},
      CHECKED,
    ],
  ];
  for (const [schema, args, reason] of hostile) {
    const startMs = performance.now();
    assertEquals(whyUnchecked(schema, args), reason);
    assert(performance.now() - startMs < 60_000, reason);
  }
  assertEquals(
    problems({ properties: { s: { type: "string", pattern: "^(a+)+$" } } }, { s: `${"a".repeat(60)}!` }),
    [],
  );
});

Deno.test("arguments are not changed", () => {
  const args = { count: "1" };
  checkArguments({ properties: { count: { type: "integer" }, more: { default: 1 } } }, args);
  assertEquals(args, { count: "1" });
});
