/** Digests by which texts and values of JSON are compared without being kept. */
import { createHash } from "node:crypto";

/** The SHA-256 of a text, in hexadecimal digits. */
export function digestOfText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Digests of what stands for an object that does not change, such as a tool: each is made once. */
export class Digests {
  readonly #known = new WeakMap<object, string>();

  /** The digest of the JSON of `value`, which is that of `key` itself by default. */
  of(key: object, value: unknown = key): string {
    const digest = this.#known.get(key) ?? digestOfText(JSON.stringify(value));
    this.#known.set(key, digest);
    return digest;
  }
}
