/** What the MCP server of large results answers to its calls. */

const MIB = 1024 * 1024;

/** The text of a call, which takes 29 MiB as JSON. */
export function textOf(call: number): string {
  return `${call}: ${'a "line" of a long log, é 中 😀\n'.repeat(29 * MIB / 42)}`;
}

/** The image of a call, in base64. */
export function imageOf(call: number): string {
  return new Uint8Array(MIB).fill(call).toBase64();
}
