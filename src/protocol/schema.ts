/** What readers need of a schema, whichever library made it. */

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
