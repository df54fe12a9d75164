/** The lines of a script on standard input. */

/** Longer lines are refused: this is no script. */
const MAX_LINE_LENGTH = 1 << 20;

/** The lines of a stream of UTF-8, the last one also without its line feed. */
export async function* readLines(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.map(withoutReturn);
    if (rest.length > MAX_LINE_LENGTH) {
      throw new RangeError(`Cannot read standard input: a line has more than ${MAX_LINE_LENGTH} characters`);
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.replace(/\r$/, "");
}
