/** Arguments against a tool's input schema, before anybody is asked to confirm the call or the MCP server sees it. */
import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describeError } from "../protocol/errors.ts";
import { describeProblems } from "./argument_problems.ts";
import {
  draftOf,
  type SchemaDraft,
  toCheckableSchema,
  UncheckableSchemaError,
  valueWeight,
  WEIGHT_KEYWORD,
} from "./argument_schema.ts";

/** The most that one check may evaluate, in schemas times values: at worst a few tenths of a second. */
const MAX_STEPS = 50_000;

/** How much of the engine's own words is passed on; they quote the schema. */
const MAX_REASON_LENGTH = 200;

/** What came of a check. */
export interface ArgumentVerdict {
  /** What is wrong, argument by argument; empty when nothing is known to be. */
  readonly problems: readonly string[];
  /** Why nothing was checked: the MCP server decides alone. */
  readonly uncheckedBecause?: string;
}

/** An input schema as a program, or why it is none. */
type Check = (args: Readonly<Record<string, unknown>>) => ArgumentVerdict;

/** By the schema as it was listed, so that a schema is compiled at the first call of its tool and never again. */
const checks = new WeakMap<object, Check>();

/**
 * Checks arguments. What the schema's regular expressions, formats and `uniqueItems` say is left to the MCP server.
 *
 * @param schema The tool's `inputSchema`: the very object each time, since what it compiles to is kept with it.
 * @param args The arguments; they are not changed.
 */
export function checkArguments(
  schema: Readonly<Record<string, unknown>>,
  args: Readonly<Record<string, unknown>>,
): ArgumentVerdict {
  let check = checks.get(schema);
  if (check === undefined) checks.set(schema, check = toCheck(schema));
  return check(args);
}

function toCheck(schema: Readonly<Record<string, unknown>>): Check {
  const budget = { steps: 0 };
  try {
    const validate = compile(schema, budget);
    return (args) => runCheck(validate, args, budget);
  } catch (error) {
    const verdict = { problems: [], uncheckedBecause: reasonOf(error) };
    return () => verdict;
  }
}

function runCheck(
  validate: ValidateFunction,
  args: Readonly<Record<string, unknown>>,
  budget: { steps: number },
): ArgumentVerdict {
  budget.steps = MAX_STEPS;
  try {
    return validate(args) ? { problems: [] } : { problems: describeProblems(validate.errors ?? [], args) };
  } catch (error) {
    return { problems: [], uncheckedBecause: reasonOf(error) };
  } finally {
    // The errors hold the arguments.
    validate.errors = null;
  }
}

/** An instance of its own for each schema, so that ids do not collide and all of it goes with the schema. */
function compile(schema: Readonly<Record<string, unknown>>, budget: { steps: number }): ValidateFunction {
  const engine = createEngine(draftOf(schema));
  engine.addKeyword({
    keyword: WEIGHT_KEYWORD,
    errors: false,
    validate: (weight: number, value: unknown) => {
      budget.steps -= weight + valueWeight(value);
      if (budget.steps < 0) {
        throw new UncheckableSchemaError({ reason: "checking these arguments by it takes too much work" });
      }
      return true;
    },
  });
  return engine.compile(toCheckableSchema(schema));
}

function createEngine(draft: SchemaDraft): Ajv | Ajv2019 | Ajv2020 {
  switch (draft) {
    case "draft-07":
      return new Ajv(ENGINE_OPTIONS);
    case "2019-09":
      return new Ajv2019(ENGINE_OPTIONS);
    case "2020-12":
      return new Ajv2020(ENGINE_OPTIONS);
  }
}

const ENGINE_OPTIONS: Options = {
  allErrors: true,
  // Errors come with the schema that they are about, for what may be said instead.
  verbose: true,
  strict: false,
  // The meta-schema would have to be compiled first; what it forbids does not compile, either.
  meta: false,
  validateSchema: false,
  validateFormats: false,
  // A definition that is used a thousand times becomes one function, not a thousand.
  inlineRefs: false,
  // An argument may be called like a method that every object has.
  ownProperties: true,
  logger: false,
};

function reasonOf(error: unknown): string {
  if (error instanceof UncheckableSchemaError) return error.reason;
  if (error instanceof RangeError) return "it refers to itself without end";
  return `it does not compile (${describeError(error).slice(0, MAX_REASON_LENGTH)})`;
}
