/** The client of the console's API, and of its stream of events. */

const TOKEN_KEY = "token";
/** The time before the stream of events is opened again, in milliseconds; it doubles up to the last. */
const RETRY_MS = { first: 500, most: 8_000 } as const;

/** An answer of the API that is an error. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: unknown;

  constructor(status: number, { error, code }: { readonly error?: unknown; readonly code?: unknown }) {
    super(String(error ?? `HTTP status ${status}`));
    this.status = status;
    this.code = code;
  }
}

/** Moves a token from the address into the storage of this tab, so that neither history nor a copied address holds it. */
export function takeToken(): void {
  const token = /^#([\w-]{43})$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  sessionStorage.setItem(TOKEN_KEY, token);
  history.replaceState(null, "", location.pathname);
}

/** What a command gets. */
export interface Asked {
  readonly arguments?: readonly unknown[];
  readonly options?: Readonly<Record<string, unknown>>;
}

/**
 * Runs a command and resolves to its value.
 *
 * @param command Its words, such as `server logs`.
 * @throws {ApiError} when the command fails without a value.
 */
export async function run(command: string, asked: Asked = {}, signal?: AbortSignal): Promise<unknown> {
  const response = await fetch(`/api/${command.replaceAll(" ", "/")}`, {
    method: "POST",
    headers: { ...authorization(), "content-type": "application/json" },
    body: JSON.stringify(asked),
    ...signal && { signal },
  });
  const value = await response.json();
  if (!response.ok) throw new ApiError(response.status, value);
  return value;
}

/** An event of the stream; the name `reset` tells that some were missed. */
export interface ConsoleEvent {
  readonly name: string;
  readonly value: unknown;
}

export interface FollowOptions {
  readonly onEvent: (event: ConsoleEvent) => void;
  /** Whether events arrive; called when that changes. */
  readonly onState: (state: "open" | "lost" | "refused") => void;
  readonly signal: AbortSignal;
}

/** Follows the events, and opens the stream again when it is lost, until the signal is aborted or the token is refused. */
export async function followEvents(options: FollowOptions): Promise<void> {
  let lastId: string | undefined;
  let waitMs: number = RETRY_MS.first;
  while (!options.signal.aborted) {
    const read = await readStream({ ...options, lastId }).catch(() => "lost" as const);
    if (options.signal.aborted) return;
    if (read === "refused") return options.onState("refused");
    options.onState("lost");
    if (read !== "lost") {
      waitMs = RETRY_MS.first;
      lastId = read.lastId ?? lastId;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(waitMs * 2, RETRY_MS.most);
  }
}

async function readStream(
  { onEvent, onState, signal, lastId }: FollowOptions & { readonly lastId: string | undefined },
): Promise<{ readonly lastId: string | undefined } | "refused" | "lost"> {
  const headers = { ...authorization(), ...lastId !== undefined && { "last-event-id": lastId } };
  const response = await fetch("/api/events", { headers, signal });
  if (response.status === 401) return "refused";
  if (!response.ok || response.body === null) return "lost";
  onState("open");
  let id = lastId;
  let rest = "";
  try {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const blocks = (rest + piece.value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split("\n").map(fieldOf));
        id = fields["id"] ?? id;
        if (fields["event"] !== undefined) {
          onEvent({ name: fields["event"], value: JSON.parse(fields["data"] ?? "null") });
        }
      }
    }
  } catch {
    // The connection was lost: what came before counts.
  }
  return { lastId: id };
}

function fieldOf(line: string): [string, string] {
  const cut = line.indexOf(":");
  return [line.slice(0, cut), line.slice(cut + 1).trimStart()];
}

function authorization(): Record<string, string> {
  return { authorization: `Bearer ${sessionStorage.getItem(TOKEN_KEY) ?? ""}` };
}
