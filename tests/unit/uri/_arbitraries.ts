/** Hostile texts for the laws of the URIs. */
import fc from "../../fixtures/fast_check.ts";

// deno-lint-ignore no-control-regex -- what no host may contain
const NOT_IN_HOST = /[\u0000-\u0020\u007f-\u009f@%/?#]/;

/** Any code points, the separators and percent signs of URIs more often than others. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", minLength: 1 }),
  fc.string({
    unit: fc.constantFrom("/", "%", "?", "#", ".", "&", "=", "+", " ", "2F", "é", "𝄞"),
    minLength: 1,
  }),
  fc.constantFrom(".", "..", "%2F", "%zz", "pages", "elements", "__proto__"),
);

/** Any host that is in lower case already. */
export const host: fc.Arbitrary<string> = fc.string({ unit: "binary", minLength: 1 })
  .map((text) => text.toLowerCase())
  .filter((text) => text !== "" && !NOT_IN_HOST.test(text));
