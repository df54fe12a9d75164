/** Reads lines from a stream of bytes. */

/**
 * Yields the lines of a UTF-8 stream without their ends (`\n` or `\r\n`). The last line may have no end. Keeps at most
 * one line and one chunk in memory, and takes linear time.
 *
 * @throws {RangeError} for a line of more than `maxBytes` bytes; it may be longer by the size of a chunk.
 */
export async function* readLines(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string, undefined> {
  let parts: string[] = [];
  let sizeBytes = 0;
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    sizeBytes += chunk.length;
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    parts.push(first);
    for (const other of others) {
      yield withoutReturn(parts.join(""));
      parts = [other];
      sizeBytes = other.length;
    }
    if (sizeBytes > maxBytes) throw new RangeError(`Cannot read a line of more than ${maxBytes} bytes`);
  }
  const last = parts.join("") + decoder.decode();
  if (last !== "") yield withoutReturn(last);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
