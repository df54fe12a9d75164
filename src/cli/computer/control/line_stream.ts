/** Lines of JSON over a stream of bytes. */

/** The lines of a stream, none longer than `maxBytes`. However long a line is, each byte is looked at once. */
export async function* readLines(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  let parts: string[] = [];
  let sizeBytes = 0;
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    sizeBytes += bytes.length;
    const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    parts.push(first);
    for (const other of others) {
      yield parts.join("");
      parts = [other];
      sizeBytes = other.length;
    }
    if (sizeBytes > maxBytes) throw new RangeError(`Cannot read a line of more than ${maxBytes} bytes`);
  }
}

/** A message as a line. */
export function toLine(message: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${JSON.stringify(message)}\n`);
}
