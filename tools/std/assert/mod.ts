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
  assertEquals,
  assertExists,
  assertGreaterOrEqual,
  assertInstanceOf,
  AssertionError,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertNotEquals,
  assertNotMatch,
  assertNotStrictEquals,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  fail,
} from "npm:deno-std@1.4.0/assert/mod.js";
