/** Requests and headers, as far as who answers them reads them. */

/** A request: that of the web, or one like it that costs less to make. */
export interface AskedRequest {
  /** In capitals. */
  readonly method: string;
  /** Absolute, with its query. */
  readonly url: string;
  /** By their names in any case. */
  readonly headers: AskedHeaders;
  /** Not read yet; `null` where it has none. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Aborted when the client is gone before it has the whole answer. */
  readonly signal: AbortSignal;
}

/** Headers of a request. */
export interface AskedHeaders {
  /** The value of a header; `null` where there is none. */
  get(name: string): string | null;
  /** Whether the request has a header. */
  has(name: string): boolean;
  /** Calls with each value and its name. */
  forEach(visit: (value: string, name: string) => void): void;
}

/**
 * The headers of a request or an answer as pairs, for another one. Deno makes a sorted list for each step of an iteration over
 * `Headers`, which is how it copies them: that takes the square of their number, and this does not.
 */
export function pairsOf(headers: Pick<AskedHeaders, "forEach">): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  headers.forEach((value, name) => pairs.push([name, value]));
  return pairs;
}

/** An answer that has it is in memory as a whole. */
export const LENGTH_HEADER = "content-length";
