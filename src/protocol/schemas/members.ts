import * as z from "zod";

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
