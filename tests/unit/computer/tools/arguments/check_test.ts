import { assert, assertEquals } from "@std/assert";
import { checkArguments } from "../../../../../src/computer/tools/arguments/check.ts";

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
const DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema";
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

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
      d: { maxLength: 1 },
      e: { minimum: 9 },
      f: { not: {} },
      g: false,
      h: { anyOf: [{ type: "null" }, { type: "object", required: ["x"] }] },
      i: { maxProperties: 0 },
    },
  };
  const args = Object.fromEntries([..."abcdf"].map((name) => [name, "SECRET"]));
  const texts = problems(strict, { ...args, e: 8, g: "SECRET", h: ["SECRET"], i: { SECRET: 1 } });
  assertEquals(texts.length, 9);
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
  const many = { properties: { k: { enum: Array.from({ length: 100 }, (_, i) => `${i}`.repeat(100)) } } };
  const [text = ""] = problems(many, { k: "x" });
  assert(text.endsWith(" and 80 more") && text.length < 2_000, text);
});

Deno.test("an unknown argument is named, with the closest known name", () => {
  assertEquals(problems(schema, { path: "", pth: 1, zebra: 2 }), [
    'argument "pth" is unknown, did you mean "path"?',
    'argument "zebra" is unknown',
  ]);
  const closed = {
    allOf: [{ properties: { path: {} } }],
    properties: { count: {} },
    unevaluatedProperties: false,
  };
  assertEquals(problems(closed, { path: 1, coutn: 1 }), [
    'argument "coutn" is unknown, did you mean "count"?',
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

Deno.test("problems of the arguments object as a whole are described", () => {
  assertEquals(problems({ minProperties: 1 }, {}), [
    "the arguments object must not have fewer than 1 properties",
  ]);
  assertEquals(problems({ propertyNames: { maxLength: 2 } }, { abc: 1 }), [
    'argument "abc" has a name that is not allowed',
  ]);
  assertEquals(problems({ dependentRequired: { a: ["b"] } }, { a: 1 }), [
    'argument "b" is missing: it is required with "a"',
  ]);
  const conditional = { if: { required: ["a"] }, then: { required: ["b"] } };
  assertEquals(problems(conditional, { a: 1 }), ['argument "b" is missing']);
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

Deno.test("a schema whose $schema is no text is left to the MCP server", () => {
  for (const $schema of [{ toString: 0 }, null, 7]) {
    assertEquals(whyUnchecked({ $schema, required: ["a"] }), "its draft of JSON Schema is not supported");
  }
});

Deno.test("2020-12 is the default, 2019-09 and draft 7 are checked, other drafts are left to the MCP server", () => {
  const pair = [{ type: "string" }, { type: "integer" }];
  for (const $schema of [undefined, DRAFT_2020]) {
    const tuple = { ...($schema === undefined ? {} : { $schema }), properties: { t: { prefixItems: pair } } };
    assertEquals(problems(tuple, { t: ["a", "b"] }), ['argument "t[1]" must be integer'], $schema);
  }
  for (const $schema of [DRAFT_2019, DRAFT_07, "http://json-schema.org/draft-06/schema"]) {
    const tuple = { $schema, properties: { t: { items: pair } } };
    assertEquals(problems(tuple, { t: ["a", "b"] }), ['argument "t[1]" must be integer'], $schema);
  }
  const draft4 = { $schema: "http://json-schema.org/draft-04/schema#", required: ["a"] };
  assertEquals(whyUnchecked(draft4), "its draft of JSON Schema is not supported");
});

Deno.test("in draft 7 a reference hides the keywords beside it, and newer keywords are ignored", () => {
  const definitions = { a: { required: ["x"] } };
  const beside = { $ref: "#/definitions/a", required: ["y"], minProperties: 5, definitions };
  const newer = {
    dependentRequired: { x: ["z"] },
    dependentSchemas: { x: false },
    unevaluatedProperties: false,
  };
  const missing = ["x", "y"].map((name) => `argument "${name}" is missing`);
  assertEquals(problems({ $schema: DRAFT_07, ...beside }, {}), missing.slice(0, 1));
  assertEquals(problems({ $schema: DRAFT_2019, ...beside, minProperties: 0 }, {}), missing.toReversed());
  assertEquals(problems({ $schema: DRAFT_07, ...newer }, { x: 1 }), []);
  assert(problems({ $schema: DRAFT_2019, ...newer }, { x: 1 }).length > 0);
});

Deno.test("multipleOf compares numbers in decimal", () => {
  const isMultiple = (n: number, multipleOf: number) =>
    problems({ properties: { n: { multipleOf } } }, { n }).length === 0;
  for (
    const [n, of] of [[0.3, 0.1], [-1.1, 0.1], [19.99, 0.01], [1e300, 1e-300], [0, 0.7], [1e22, 1]] as const
  ) {
    assert(isMultiple(n, of), `${n} of ${of}`);
  }
  for (const [n, of] of [[0.35, 0.1], [1, 2], [1e-7, 1], [7.5, 0.2]] as const) {
    assert(!isMultiple(n, of), `${n} of ${of}`);
  }
  assertEquals(whyUnchecked({ multipleOf: 0 }), 'its "multipleOf" is not valid');
});

Deno.test("texts are measured in code points, and values are compared as JSON", () => {
  const measured = { properties: { s: { maxLength: 2 }, c: { const: { a: [1, { b: null }] } } } };
  assertEquals(problems(measured, { s: "😀😀", c: { a: [1.0, { b: null }] } }), []);
  assertEquals(problems(measured, { s: "e\u0301x" }).length, 1);
  assertEquals(problems(measured, { c: { a: [{ b: null }, 1] } }).length, 1);
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

Deno.test("a malformed schema is left to the MCP server", () => {
  const cases: Schema[] = [
    { type: "strin" },
    { required: true },
    { $ref: "https://example.com/schema" },
    { properties: { a: { $ref: "#/nowhere" } } },
    { properties: { a: { $id: "https://example.com/a" } } },
    { $ref: "#" },
    { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
  ];
  for (const schema of cases) assert(whyUnchecked(schema) !== CHECKED, JSON.stringify(schema));
});

Deno.test("formats, patterns and uniqueItems are left to the MCP server", () => {
  const properties = {
    mail: { type: "string", format: "email" },
    code: { type: "string", pattern: "^a+$" },
    list: { type: "array", uniqueItems: true },
  };
  assertEquals(problems({ properties }, { mail: "x", code: "b", list: [1, 1] }), []);
  assertEquals(problems({ properties }, { code: 1 }), ['argument "code" must be string']);
});

Deno.test("a keyword that is left out never makes a schema stricter", () => {
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
      { properties: { s: { anyOf: Array.from({ length: 900 }, () => ({ maxLength: 1 })) } } },
      { s: "x".repeat(10_000_000) },
      "checking these arguments against it takes too much work",
    ],
    [
      { properties: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, {}])) },
      {},
      "it has too many parts",
    ],
    [{ description: "x".repeat(600_000) }, {}, "it is too large"],
    [JSON.parse('{"not":'.repeat(70) + "{}" + "}".repeat(70)), {}, "it is too deep"],
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
