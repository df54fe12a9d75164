/** The API and the stream of events of the program that serves this page. */
import { batch, signal } from "@preact/signals";
import { texts } from "../texts.ts";

/** `refused`: the program does not know the token, or does not want one from here. */
export const connection = signal<"connecting" | "open" | "lost" | "refused">("connecting");

/** An error that the program answered, or that kept the request from it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What a command is run with. */
export interface Asked {
  readonly arguments?: readonly string[];
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | null;
}

const TOKEN_KEY = "a2c-smcp.token";

/** Uses the token of a link, or a token itself, in this tab from now on; tells whether there was one. */
export function takeToken(link: string): boolean {
  const token = link.trim().replace(/^https?:[^#]*#?/, "");
  const isToken = !/^\/|\s|^$/.test(token);
  if (isToken) sessionStorage.setItem(TOKEN_KEY, token);
  return isToken;
}

export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

/** Runs a command. The value is as the command's `--json` prints it. */
export async function run<Value>(path: string, { signal = null, ...asked }: Asked = {}): Promise<Value> {
  if (connection.value === "lost" || connection.value === "refused") throw new ApiError(texts.lost);
  await proven.promise;
  const headers = { "content-type": "application/json" };
  const response = await send(path, { method: "POST", headers, body: JSON.stringify(asked), signal })
    .catch((cause) => {
      throw new ApiError(texts.lost, { cause });
    });
  const value = await response.json().catch(() => undefined);
  if (response.ok) return value;
  throw new ApiError(String(value?.error ?? response.statusText));
}

function send(path: string, options: RequestInit): Promise<Response> {
  const headers = new Headers(options.headers);
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  return fetch(new URL(`api/${path}`, document.baseURI.replace(/#.*/s, "")), { ...options, headers });
}

/** Resolves when what listens at this address has proven that it knows the token. */
const proven = Promise.withResolvers<void>();

/**
 * Whether what listens at this address knows the token. When the program has ended, that may be a process of another user,
 * who must get neither the token nor what is typed here. Nobody else takes the port of a hub.
 */
async function isProven(signal: AbortSignal): Promise<boolean> {
  if (location.pathname !== "/") return true;
  const [token, nonce] = [sessionStorage.getItem(TOKEN_KEY), crypto.randomUUID()];
  if (token === null) return false;
  const response = await fetch(`/proof?nonce=${nonce}`, { signal });
  const [algorithm, encoder] = [{ name: "HMAC", hash: "SHA-256" }, new TextEncoder()];
  const key = await crypto.subtle.importKey("raw", encoder.encode(token), algorithm, false, ["verify"]);
  const proof = await response.arrayBuffer();
  return await crypto.subtle.verify("HMAC", key, proof, encoder.encode(`a2c-smcp console ${nonce}`));
}

export type Told = Readonly<Record<string, unknown>>;
type Listener = (value: Told) => void;

const listeners = new Set<{ readonly names: readonly string[]; readonly listener: Listener }>();

/** Calls a listener for each event of these names, and for `reset`, when events may have been missed. */
export function listen(names: readonly string[], listener: Listener): () => void {
  const entry = { names: [...names, "reset"], listener };
  listeners.add(entry);
  return () => listeners.delete(entry);
}

function tell(events: readonly Told[]): void {
  batch(() => {
    for (const value of events) {
      for (const { names, listener } of [...listeners]) {
        if (names.includes(String(value["event"]))) listener(value);
      }
    }
  });
}

const LEAST_BACKOFF_MS = 500;
const MOST_BACKOFF_MS = 8_000;
/** The program says something at least every 15 seconds. */
const SILENCE_MS = 40_000;

/** Follows the events until the program refuses the token; comes back after each loss. */
export async function follow(): Promise<void> {
  let backoffMs = LEAST_BACKOFF_MS;
  while (true) {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      if (!await isProven(silence.signal)) {
        sessionStorage.removeItem(TOKEN_KEY);
        return void (connection.value = "refused");
      }
      proven.resolve();
      const response = await send("events", { signal: silence.signal });
      if (response.status === 401 || response.status === 403) return void (connection.value = "refused");
      if (!response.ok || response.body === null) throw new ApiError(response.statusText);
      connection.value = "open";
      tell([{ event: "reset" }]);
      backoffMs = LEAST_BACKOFF_MS;
      for await (const events of readEvents(response.body)) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        tell(events);
      }
    } catch {
      // Told by `connection`, below.
    }
    clearTimeout(timer);
    connection.value = "lost";
    await new Promise((resolve) => setTimeout(resolve, backoffMs));
    backoffMs = Math.min(MOST_BACKOFF_MS, backoffMs * 2);
  }
}

/** The events of a stream as they come together; a comment is none. */
async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  let text = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + part).split("\n\n");
    text = blocks.pop() ?? "";
    const told = blocks.map((block) => new Map(block.split("\n").map(fieldOf)));
    yield told.filter((fields) => fields.has("event"))
      .map((fields): Told => ({ ...JSON.parse(fields.get("data") ?? "{}"), event: fields.get("event") }));
  }
}

function fieldOf(line: string): [name: string, value: string] {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}
