/** Reads a stream as text, within a bound. */

/** The text of a stream, which may be a pipe; `undefined` for more than `maxBytes`. */
export async function readBoundedText(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<string | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const source = signal === undefined ? stream : stream.pipeThrough(new TransformStream(), { signal });
  for await (const piece of source) {
    size += piece.length;
    if (size > maxBytes) return undefined;
    pieces.push(piece);
  }
  return await new Blob(pieces).text();
}
