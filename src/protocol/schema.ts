/** Reading messages by a schema, whichever library made it. */
import { badRequest, type SmcpError } from "./errors.ts";

/** A schema. */
export interface Schema<T> {
  /** Reads a value, or says where it is wrong. */
  safeParse(message: unknown): { success: true; data: T } | { success: false; error: SchemaError };
}

/** Where a value is wrong. */
export interface SchemaError {
  /** The first place, then the others. */
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

/** The first place where a value is wrong; `field` is absent when it is the value as a whole. */
export function firstIssue({ issues }: SchemaError): { readonly field?: string; readonly why: string } {
  const { path = [], message: why = "malformed" } = issues[0] ?? {};
  return path.length === 0 ? { why } : { field: path.map(String).join("."), why };
}

/** Reads a message, or throws a 400 {@linkcode SmcpError} whose `details.field` says where it is wrong. */
export type Parser<T> = (message: unknown) => T;

/** Reads messages as a whole; `what` names them in errors. */
export function parserOf<T>(what: string, schema: Schema<T>): Parser<T> {
  return (message) => {
    const parsed = schema.safeParse(message);
    if (parsed.success) return parsed.data;
    const { field = what, why } = firstIssue(parsed.error);
    throw unreadable(what, field, why);
  };
}

/** Refuses a message for one of its fields. */
export function unreadable(what: string, field: string, why: string): SmcpError {
  return badRequest(field, `Cannot read ${what} field "${field}": ${why}`);
}
