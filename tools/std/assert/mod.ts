/**
 * Stands in for `jsr:@std/assert` where only npm can be reached: the genuine code, from the npm copy of the
 * standard library, with the types that the plain JavaScript there lacks. Never published.
 *
 * @module
 */

// @ts-types="./assert.d.ts"
export {
  assert,
  assertAlmostEquals,
  assertArrayIncludes,
  assertEquals,
  assertExists,
  assertFalse,
  assertGreater,
  assertGreaterOrEqual,
  assertInstanceOf,
  AssertionError,
  assertIsError,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertNotEquals,
  assertNotInstanceOf,
  assertNotMatch,
  assertNotStrictEquals,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  equal,
  fail,
  unimplemented,
  unreachable,
} from "npm:deno-std@1.4.0/assert/mod.js";
