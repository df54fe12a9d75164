/** Arguments against a tool's input schema, before anybody is asked to confirm the call or the MCP server sees it. */
import { describeProblems } from "./problems.ts";
import { Evaluated, Findings, Place, Run, UncheckableSchemaError } from "./run.ts";
import { readSchema } from "./schema.ts";

/** The most schemas, names and values that are kept ready in all; beyond it they are read again when they are needed. */
const MAX_KEPT_ENTRIES = 250_000;

/** What came of a check. */
export interface ArgumentVerdict {
  /** What is wrong, argument by argument; empty when nothing is known to be. */
  readonly problems: readonly string[];
  /** Why nothing was checked: the MCP server decides alone. */
  readonly uncheckedBecause?: string;
}

/** An input schema ready to check arguments, or why it cannot. */
type Check = (args: Readonly<Record<string, unknown>>) => ArgumentVerdict;

/** By the schema as it was listed, so that a schema is read at the first call of its tool. */
let checks = new WeakMap<object, Check>();
let keptEntries = 0;

/**
 * Checks arguments. What the schema's regular expressions, formats and `uniqueItems` say is left to the MCP server.
 *
 * @param schema The tool's `inputSchema`: the very object each time, since what it was read as is kept with it.
 * @param args The arguments; they are not changed.
 */
export function checkArguments(
  schema: Readonly<Record<string, unknown>>,
  args: Readonly<Record<string, unknown>>,
): ArgumentVerdict {
  let check = checks.get(schema);
  if (check === undefined) {
    const { run, entries } = toCheck(schema);
    check = run;
    keptEntries += entries;
    if (keptEntries > MAX_KEPT_ENTRIES) {
      checks = new WeakMap();
      keptEntries = entries;
    }
    checks.set(schema, check);
  }
  return check(args);
}

function toCheck(
  schema: Readonly<Record<string, unknown>>,
): { readonly run: Check; readonly entries: number } {
  try {
    const { root, parts, entries } = readSchema(schema);
    const run: Check = (args) =>
      attempt(() => {
        const findings = new Findings();
        const place = new Place();
        new Run().evaluate(root, args, { place, findings, evaluated: new Evaluated() });
        return { problems: describeProblems(findings) };
      });
    return { run, entries: parts + entries };
  } catch (error) {
    const verdict = { problems: [], uncheckedBecause: reasonOf(error) };
    return { run: () => verdict, entries: 1 };
  }
}

function attempt(check: () => ArgumentVerdict): ArgumentVerdict {
  try {
    return check();
  } catch (error) {
    return { problems: [], uncheckedBecause: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UncheckableSchemaError) return error.reason;
  // The stack is full, wherever this call came from.
  if (error instanceof RangeError) return "it is too deep";
  throw error;
}
