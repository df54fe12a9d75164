// The signatures of `jsr:@std/assert` 1.x, in the order of the alphabet.

/** Error thrown when an assertion fails. */
export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

/** A concrete or abstract class whose instances `assertInstanceOf` and its kin check for. */
// deno-lint-ignore no-explicit-any -- the genuine type: only `any` accepts every constructor signature
export type AnyConstructor = new (...args: any[]) => any;

/** The instance type of a constructor that may be none. */
export type GetConstructorType<T extends AnyConstructor> = InstanceType<T>;

/** What `assertArrayIncludes` takes. */
export type ArrayLikeArg<T> = ArrayLike<T> & object;

/** The falsy values; `number` and `bigint` cannot be narrowed to their falsy members. */
export type Falsy = false | 0 | 0n | "" | null | undefined;

export function assert(expr: unknown, msg?: string): asserts expr;
export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void;
export function assertArrayIncludes<T>(
  actual: ArrayLikeArg<T>,
  expected: ArrayLikeArg<T>,
  msg?: string,
): void;
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T>;
export function assertFalse(expr: unknown, msg?: string): asserts expr is Falsy;
export function assertGreater<T>(actual: T, expected: T, msg?: string): void;
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void;
export function assertInstanceOf<
  // deno-lint-ignore no-explicit-any -- as above
  T extends abstract new (...args: any[]) => any,
>(actual: unknown, expectedType: T, msg?: string): asserts actual is InstanceType<T>;
export function assertIsError<E extends Error = Error>(
  error: unknown,
  // deno-lint-ignore no-explicit-any -- as above
  ErrorClass?: abstract new (...args: any[]) => E,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E;
export function assertLess<T>(actual: T, expected: T, msg?: string): void;
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void;
export function assertMatch(actual: string, expected: RegExp, msg?: string): void;
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;
export function assertNotInstanceOf<A, T>(
  actual: A,
  // deno-lint-ignore no-explicit-any -- as above
  unexpectedType: abstract new (...args: any[]) => T,
  msg?: string,
): asserts actual is Exclude<A, T>;
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void;
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void;
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- the genuine signature
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void;
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  // deno-lint-ignore no-explicit-any -- as above
  ErrorClass: abstract new (...args: any[]) => E,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T;
export function assertStringIncludes(actual: string, expected: string, msg?: string): void;
export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  // deno-lint-ignore no-explicit-any -- as above
  ErrorClass: abstract new (...args: any[]) => E,
  msgIncludes?: string,
  msg?: string,
): E;
export function equal(a: unknown, b: unknown): boolean;
export function fail(msg?: string): never;
export function unimplemented(msg?: string): never;
export function unreachable(msg?: string): never;
