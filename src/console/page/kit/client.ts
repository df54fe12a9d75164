/** The API and the stream of events of the program that serves this page. */
import { batch, signal } from "@preact/signals";

/** `refused`: the program does not know the token, or does not want one from here. */
export type Connection = "connecting" | "open" | "lost" | "refused";

export const connection = signal<Connection>("connecting");

/** An error that the program answered, or that kept the request from it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What a command is run with. */
export interface Asked {
  readonly arguments?: readonly string[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

const TOKEN_KEY = "a2c-smcp.token";
const TOKEN = /#([\w-]{40,})$/;

/** Takes the token from an address, such as that of the page; tells whether there was one. */
export function takeToken(address: string): boolean {
  const [, token] = TOKEN.exec(address.trim()) ?? [];
  if (token !== undefined) sessionStorage.setItem(TOKEN_KEY, token);
  return token !== undefined;
}

/** Uses this token from now on, in this tab; an empty one is none. */
export function useToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token.trim());
}

export function hasToken(): boolean {
  return Boolean(sessionStorage.getItem(TOKEN_KEY));
}

/** Runs a command that only reads. The value is as the command's `--json` prints it. */
export async function read<Value>(
  path: string,
  { arguments: words = [], options = {}, signal }: Asked = {},
): Promise<Value> {
  const url = addressOf(path);
  for (const word of words) url.searchParams.append("argument", word);
  for (const [name, value] of Object.entries(options)) url.searchParams.append(name, String(value));
  return await request<Value>(url, signal === undefined ? {} : { signal });
}

/** Runs a command. */
export async function act<Value>(path: string, { signal, ...asked }: Asked = {}): Promise<Value> {
  return await request<Value>(addressOf(path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(asked),
    ...signal === undefined ? {} : { signal },
  });
}

function addressOf(path: string): URL {
  return new URL(`api/${path}`, document.baseURI.replace(/#.*/s, ""));
}

async function request<Value>(url: URL, options: RequestInit): Promise<Value> {
  let response: Response;
  try {
    response = await fetch(url, { ...options, headers: { ...options.headers, ...authorization() } });
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new ApiError(0, `Cannot reach the program: ${String(cause)}`);
  }
  const value = await response.json().catch(() => undefined);
  if (response.ok) return value;
  throw new ApiError(response.status, String(value?.error ?? response.statusText));
}

function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

type Listener = (value: Record<string, unknown>) => void;

const listeners = new Map<string, Set<Listener>>();

/** Calls a listener for each event of these names, and for `reset`, when events may have been missed. */
export function listen(names: readonly string[], listener: Listener): () => void {
  const all = [...names, "reset"].map((name) => {
    const set = listeners.get(name) ?? new Set();
    listeners.set(name, set);
    set.add(listener);
    return set;
  });
  return () => all.forEach((set) => set.delete(listener));
}

interface Told {
  readonly name: string;
  readonly value: Record<string, unknown>;
}

/** Events that come closer together than this are told at once, in milliseconds. */
const BATCH_MS = 100;
let pending: Told[] = [];
let flushedAtMs = 0;

function tell(event: Told): void {
  pending.push(event);
  if (pending.length > 1) return;
  const leftMs = flushedAtMs + BATCH_MS - performance.now();
  setTimeout(flush, Math.max(0, leftMs));
}

function flush(): void {
  const events = pending;
  pending = [];
  flushedAtMs = performance.now();
  batch(() => {
    for (const { name, value } of events) {
      for (const listener of [...listeners.get(name) ?? []]) listener({ ...value, event: name });
    }
  });
}

const LEAST_BACKOFF_MS = 500;
const MOST_BACKOFF_MS = 8_000;
/** The program says something at least every 15 seconds. */
const SILENCE_MS = 40_000;

/** Follows the events until the program refuses the token; comes back after each loss. */
export async function follow(): Promise<void> {
  let lastId: string | undefined;
  let backoffMs = LEAST_BACKOFF_MS;
  while (connection.value !== "refused") {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const headers = { ...authorization(), ...lastId === undefined ? {} : { "last-event-id": lastId } };
      const response = await fetch(addressOf("events"), { headers, signal: silence.signal });
      if (response.status === 401 || response.status === 403) connection.value = "refused";
      if (!response.ok || response.body === null) throw new ApiError(response.status, response.statusText);
      if (connection.value === "connecting") tell({ name: "reset", value: {} });
      connection.value = "open";
      backoffMs = LEAST_BACKOFF_MS;
      for await (const { id, ...event } of readEvents(response.body)) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        lastId = id ?? lastId;
        if (event.name !== "") tell(event);
      }
    } catch {
      // Told by `connection`, below.
    }
    clearTimeout(timer);
    if (connection.value === "refused") return;
    connection.value = "lost";
    await new Promise((resolve) => setTimeout(resolve, backoffMs));
    backoffMs = Math.min(MOST_BACKOFF_MS, backoffMs * 2);
  }
}

/** The events of a stream; a comment is one without a name. */
async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Told & { readonly id?: string }> {
  let text = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(
        block.split("\n").map((line) => {
          const cut = line.indexOf(":");
          return [line.slice(0, cut), line.slice(cut + 1).trimStart()];
        }),
      );
      const id = fields.get("id");
      yield {
        name: fields.get("event") ?? "",
        value: JSON.parse(fields.get("data") ?? "{}"),
        ...id === undefined ? {} : { id },
      };
    }
  }
}
