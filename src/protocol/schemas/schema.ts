/** Reads messages by schemas. */
import * as z from "zod";
import { unreadable } from "../errors.ts";

export interface Schema<T> {
  /** Reads a value, or returns where it is invalid. */
  safeParse(message: unknown): { success: true; data: T } | { success: false; error: SchemaError };
}

export interface SchemaError {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

/** The first problem of a value; `field` is absent when the value as a whole is invalid. */
export function firstIssue({ issues }: SchemaError): { readonly field?: string; readonly why: string } {
  const { path = [], message: why = "malformed" } = issues[0] ?? {};
  return path.length === 0 ? { why } : { field: path.map(String).join("."), why };
}

/** Reads a message, or throws a 400 {@linkcode SmcpError} whose `details.field` names the invalid field. */
export type Parser<T> = (message: unknown) => T;

/** Makes a parser from a schema; `what` names the message in errors. */
export function parserOf<T>(what: string, schema: Schema<T>): Parser<T> {
  return (message) => {
    // A schema would look at each byte as a member: seconds for some megabytes.
    if (ArrayBuffer.isView(message)) throw unreadable(what, what, "expected an object, received bytes");
    const parsed = schema.safeParse(message);
    if (parsed.success) return parsed.data;
    const { field = what, why } = firstIssue(parsed.error);
    throw unreadable(what, field, why);
  };
}

/** A member that may be absent or `null`: peers in Python write `null` for absent ones. */
export function optional<T>(
  schema: z.ZodType<T>,
): z.ZodPipe<z.ZodType<T | null | undefined>, z.ZodTransform<T | undefined, T | null | undefined>> {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Bytes become nothing: a schema of an object would look at each byte as a member. */
export function withoutBytes<T>(schema: z.ZodType<T>): z.ZodType<T> {
  return z.preprocess((value) => ArrayBuffer.isView(value) ? undefined : value, schema);
}
