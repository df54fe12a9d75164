/** How each structure is tested: what it accepts, and where it says a message is wrong. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { SmcpError } from "../../../src/protocol/errors.ts";
import type { Parser } from "../../../src/protocol/schemas/schema.ts";

/** A change of a good message: the field, and the value it must not have; `undefined` for a missing field. */
export type Wrong = readonly [field: string, value: unknown];

/**
 * Checks that a message is accepted as it is, unknown keys kept, and that each wrong value is a 400 which names its
 * field; a missing field is named, too. `within`: where the message stands in the one that is parsed.
 */
export function checkParser<T>(
  parse: Parser<T>,
  message: Readonly<Record<string, unknown>>,
  wrong: readonly Wrong[],
  { within = "" }: { readonly within?: string } = {},
): void {
  const withUnknown = { ...message, x_unknown: { kept: [true] } };
  assertEquals(parse(withUnknown) as unknown, withUnknown);
  for (const [field, value] of wrong) {
    const error = assertThrows(
      () => parse({ ...message, [field]: value }),
      SmcpError,
      undefined,
      `${field}: ${value}`,
    );
    const named = String(error.details?.["field"]);
    assert(named.startsWith(within), error.message);
    assertEquals([error.code, named.slice(within.length).split(".")[0]], [400, field], error.message);
  }
  for (const nothing of [undefined, null, "x", 7, []]) {
    assertEquals(assertThrows(() => parse(nothing), SmcpError).code, 400);
  }
}
