/** Input schemas that a hostile MCP server might list, with arguments that make the most of them. Always the same. */

/** One attack on whoever checks arguments against a schema. */
export interface HostileSchema {
  readonly name: string;
  readonly schema: Record<string, unknown>;
  readonly args: Record<string, unknown>;
}

/** Names such as `n0`, `n1` … */
export function names(count: number, prefix = "n"): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

function members<T>(count: number, value: (index: number) => T): Record<string, T> {
  return Object.fromEntries(names(count).map((name, index) => [name, value(index)]));
}

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let schema: unknown = { type: "string" };
  for (let level = 0; level < depth; level++) schema = wrap(schema);
  return schema;
}

/** Definitions of which each uses the next twice: evaluations double with each. */
function doubling(keyword: "allOf" | "anyOf" | "oneOf", count: number): Record<string, unknown> {
  const next = (index: number) => ({ $ref: `#/$defs/n${index + 1}` });
  const $defs = members(count, (index) => ({ [keyword]: [next(index), next(index)] }));
  return { $ref: "#/$defs/n0", $defs: { ...$defs, [`n${count}`]: { type: "string" } } };
}

const object = (schema: Record<string, unknown>) => ({ type: "object", ...schema });
const present = (count: number) => members(count, () => 1);

/** Every attack at `scale` 1 is as large as the Computer reads a schema at most; beyond it, larger. */
export function hostileSchemas(scale = 1): HostileSchema[] {
  const many = Math.round(19_000 * scale);
  const some = Math.round(1_900 * scale);
  const texts = names(many);
  const long = "x".repeat(400);
  return [
    {
      name: "dependentRequired, one long list",
      schema: object({ dependentRequired: { n0: texts } }),
      args: { n0: 1 },
    },
    {
      name: "dependentRequired, many lists",
      schema: object({ dependentRequired: members(300, () => names(Math.round(120 * scale))) }),
      args: present(300),
    },
    { name: "dependencies, one long list", schema: object({ dependencies: { n0: texts } }), args: { n0: 1 } },
    {
      name: "dependencies, many schemas",
      schema: object({ dependencies: members(some, () => ({ required: ["z"] })) }),
      args: present(some),
    },
    { name: "required, one long list", schema: object({ required: texts }), args: {} },
    {
      name: "required, many lists",
      schema: object({ allOf: names(300).map(() => ({ required: names(Math.round(100 * scale)) })) }),
      args: {},
    },
    {
      name: "properties that are true",
      schema: object({ properties: members(many, () => true) }),
      args: present(many),
    },
    {
      name: "properties, none other",
      schema: object({ properties: members(some, () => ({ type: "string" })), additionalProperties: false }),
      args: members(10_000, (index) => index),
    },
    {
      name: "unknown names as long as the known ones",
      schema: object({
        properties: Object.fromEntries(names(some, "x".repeat(58)).map((name) => [name, true])),
        additionalProperties: false,
      }),
      args: Object.fromEntries(names(2_000, "y".repeat(58)).map((name) => [name, 1])),
    },
    {
      name: "unknown names that read the same, below a long one",
      schema: object({
        properties: {
          [long]: {
            properties: Object.fromEntries(names(some, "x".repeat(58)).map((name) => [name, true])),
            additionalProperties: false,
          },
        },
      }),
      args: { [long]: Object.fromEntries(names(2_000, "y".repeat(58)).map((name) => [name, 1])) },
    },
    { name: "enum of texts", schema: object({ properties: { a: { enum: texts } } }), args: { a: "z" } },
    {
      name: "enum of objects, for each of many items",
      schema: object({
        properties: { a: { items: { enum: texts.slice(0, 5_000).map((text) => ({ a: { text } })) } } },
      }),
      args: { a: names(10_000).map(() => ({ a: { text: "z" } })) },
    },
    {
      name: "const of one large value, for each of many items",
      schema: object({ properties: { a: { items: { const: texts.slice(0, 15_000) } } } }),
      args: { a: names(60).map(() => [...texts.slice(0, 14_999), "z"]) },
    },
    { name: "doubling allOf", schema: doubling("allOf", 60), args: {} },
    { name: "doubling anyOf", schema: doubling("anyOf", 60), args: {} },
    { name: "doubling oneOf", schema: doubling("oneOf", 60), args: {} },
    {
      name: "a long reference, again and again",
      schema: {
        $ref: "#/$defs/n0",
        $defs: {
          ...members(14, (index) => ({ allOf: [1, 2].map(() => ({ $ref: `#/$defs/n${index + 1}` })) })),
          n14: { $ref: `#${"%2F".repeat(Math.round(150_000 * scale / 4))}` },
        },
      },
      args: {},
    },
    {
      name: "many types, again and again",
      schema: {
        $ref: "#/$defs/n0",
        $defs: {
          ...members(14, (index) => ({ allOf: [1, 2].map(() => ({ $ref: `#/$defs/n${index + 1}` })) })),
          n14: { type: Array.from({ length: 60_000 * scale }, () => "null") },
        },
      },
      args: {},
    },
    {
      name: "many known names, for each of many items",
      schema: object({
        properties: {
          list: { items: { properties: members(20_000, () => true), additionalProperties: false } },
        },
      }),
      args: { list: names(2_000).map(() => ({ zz: 1 })) },
    },
    { name: "a reference to itself", schema: { $ref: "#" }, args: {} },
    {
      name: "a chain of references",
      schema: {
        $ref: "#/$defs/n0",
        $defs: { ...members(some, (index) => ({ $ref: `#/$defs/n${index + 1}` })), [`n${some}`]: {} },
      },
      args: {},
    },
    {
      name: "long references",
      schema: object({ allOf: names(400).map(() => ({ $ref: `#${"/n0".repeat(300)}` })) }),
      args: {},
    },
    {
      name: "long names, deep",
      schema: object({
        properties: { [long]: nested(60, (inner) => object({ properties: { [long]: inner } })) },
      }),
      args: {},
    },
    {
      name: "many schemas far below long names",
      schema: nested(
        55,
        (inner) => object({ properties: { [long]: inner, ...members(15, () => ({ minLength: 1 })) } }),
      ) as Record<string, unknown>,
      args: {},
    },
    {
      name: "evaluated members, level by level",
      schema: nested(60, (inner) =>
        object({
          allOf: [inner, { properties: members(60, () => true) }],
          unevaluatedProperties: false,
        })) as Record<string, unknown>,
      args: present(10_000),
    },
    {
      name: "many alternatives, each wrong in many ways",
      schema: object({
        anyOf: names(some).map(() => ({ required: ["a", "b"], properties: { n0: { type: "null" } } })),
      }),
      args: present(100),
    },
    {
      name: "many alternatives, each with many missing arguments",
      schema: object({
        anyOf: names(25).map((name) => ({ required: names(Math.round(990 * scale), name) })),
      }),
      args: {},
    },
    {
      name: "missing arguments, told again at each level",
      schema: nested(60, (inner) => ({ anyOf: [inner, { required: names(300) }] })) as Record<
        string,
        unknown
      >,
      args: {},
    },
    {
      name: "a long text that is counted",
      schema: object({ properties: { a: { allOf: names(900).map(() => ({ maxLength: 6_000_000 })) } } }),
      args: { a: "x".repeat(10_000_000) },
    },
    {
      name: "many names that are checked",
      schema: object({ propertyNames: { anyOf: names(20).map(() => ({ maxLength: 1 })) } }),
      args: present(50_000),
    },
    {
      name: "contains, for each of many items",
      schema: object({ properties: { a: { allOf: names(300).map(() => ({ contains: { const: 1 } })) } } }),
      args: { a: names(20_000) },
    },
    {
      name: "a long description",
      schema: { description: "x".repeat(Math.round(500_000 * scale)) },
      args: {},
    },
    // An entry of a list is left out when it has more than 200 levels.
    { name: "deep", schema: nested(198, (inner) => ({ not: inner })) as Record<string, unknown>, args: {} },
    {
      name: "deep below a keyword that is not read",
      schema: object({ examples: nested(196, (inner) => [inner]) }),
      args: {},
    },
    {
      name: "costly expression",
      schema: object({ properties: { a: { pattern: "^(a+)+$" } } }),
      args: { a: `${"a".repeat(60)}!` },
    },
  ];
}
