import { assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "../../../fixtures/fast_check.ts";
import { checkArguments } from "../../../../src/computer/tools/arguments.ts";
import { sized } from "../../../fixtures/test_size.ts";

// What comes over the wire has a prototype; the engine of a server stumbles over what has none.
const AS_JSON = { noNullPrototype: true };
const name = fc.constantFrom("a", "b", "pattern");
const word = fc.constantFrom("", "a", "ab", "b");
const scalar = fc.oneof(word, fc.integer({ min: 0, max: 2 }), fc.constant(null), fc.boolean());
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), AS_JSON),
  ),
}));
const assertion = fc.record({
  type: fc.constantFrom("string", "integer", "object", "array", ["null", "string"]),
  enum: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  minLength: fc.integer({ min: 0, max: 2 }),
  pattern: fc.constantFrom("^a", "b$"),
  required: fc.uniqueArray(name),
  uniqueItems: fc.boolean(),
  minProperties: fc.integer({ min: 0, max: 2 }),
  maxLength: fc.integer({ min: 0, max: 2 }),
  minItems: fc.integer({ min: 0, max: 2 }),
  maximum: fc.integer({ min: 0, max: 2 }),
  multipleOf: fc.constantFrom(1, 2),
  const: value,
  dependentRequired: fc.dictionary(name, fc.uniqueArray(name), AS_JSON),
}, { requiredKeys: [] });
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2 },
    assertion,
    fc.boolean(),
    fc.record({
      type: fc.constantFrom("object", "array"),
      properties: fc.dictionary(name, tie("schema")),
      patternProperties: fc.record({ "^a": tie("schema") }),
      additionalProperties: tie("schema"),
      unevaluatedProperties: tie("schema"),
      items: tie("schema"),
      prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      unevaluatedItems: tie("schema"),
      contains: tie("schema"),
      maxContains: fc.constantFrom(1, 2),
      propertyNames: tie("schema"),
      dependentSchemas: fc.dictionary(name, tie("schema"), AS_JSON),
      allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      $ref: fc.constantFrom("#/$defs/a", "#/$defs/b"),
      not: tie("schema"),
      if: tie("schema"),
      then: tie("schema"),
      else: tie("schema"),
      anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
    }, { requiredKeys: [] }),
  ),
}));
const definitions = fc.record({ a: assertion, b: assertion });
const inputSchema = fc.record({ properties: fc.dictionary(name, schema, AS_JSON), $defs: definitions });
const args = fc.dictionary(name, value, AS_JSON);

/** The whole schema, as its MCP server would check it. */
function takes(schema: object, args: object): boolean {
  return new Ajv2020({
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    ownProperties: true,
  }).validate(schema, args);
}

Deno.test("arguments that a JSON Schema validator accepts are accepted", () => {
  fc.assert(
    fc.property(inputSchema, args, (schema, args) => {
      if (takes(schema, args)) assertEquals(checkArguments(schema, args), { problems: [] });
    }),
    { numRuns: sized({ reduced: 20, full: 400 }) },
  );
});

/** Schemas of the keywords that are checked whole. */
const { checked } = fc.letrec((tie) => ({
  checked: fc.oneof(
    { maxDepth: 2 },
    fc.record({
      type: fc.constantFrom("string", "integer", "object", "array", ["null", "string"]),
      required: fc.uniqueArray(name),
    }, { requiredKeys: [] }),
    fc.record({ type: fc.constant("string"), enum: fc.array(word, { minLength: 1, maxLength: 3 }) }),
    fc.boolean(),
    fc.record({
      properties: fc.dictionary(name, tie("checked"), AS_JSON),
      additionalProperties: tie("checked"),
      items: tie("checked"),
      allOf: fc.array(tie("checked"), { minLength: 1, maxLength: 2 }),
      anyOf: fc.array(tie("checked"), { minLength: 1, maxLength: 2 }),
      $ref: fc.constantFrom("#/$defs/a", "#/$defs/b"),
    }, { requiredKeys: [] }),
  ),
}));

Deno.test("arguments that a validator rejects are rejected, if the schema has only keywords that are checked", () => {
  const $defs = fc.record({ a: checked, b: fc.constant({ type: "string" }) });
  const onlyChecked = fc.record({ properties: fc.dictionary(name, checked, AS_JSON), $defs });
  fc.assert(
    fc.property(onlyChecked, args, (schema, args) => {
      const { problems, uncheckedBecause } = checkArguments(schema, args);
      // A reference to itself around nothing never ends, for Ajv neither.
      if (uncheckedBecause !== undefined) return;
      assertEquals(problems.length === 0, takes(schema, args));
    }),
    { numRuns: sized({ reduced: 20, full: 400 }) },
  );
});
