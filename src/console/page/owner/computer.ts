/** What every screen of the owner knows: what waits, what runs, the last calls, and the state of the Computer. */
import { computed, signal } from "@preact/signals";
import { act, listen, read } from "../kit/client.ts";
import { say } from "../kit/parts.ts";
import { nameText } from "../kit/words.ts";
import { texts } from "../texts.ts";

interface CallBase {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly name: string;
  readonly agent?: string;
  readonly client?: string;
  readonly is_local: boolean;
  readonly since: string;
}

interface Question {
  readonly mode: "form" | "url" | "sign-in";
  readonly message: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
  readonly user_code?: string;
  readonly problems?: readonly string[];
}

export interface Waiting extends CallBase {
  readonly kind: "call" | "question";
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly claimed_agent: string;
  readonly must_ask?: boolean;
  readonly has_always?: boolean;
  readonly ends_at?: string;
  readonly digest: string;
  readonly changed?: string;
  readonly changes?: readonly Change[];
  readonly arguments_bytes?: number;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly question?: Question;
}

export interface Change {
  readonly member: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface Running extends CallBase {
  readonly awaits?: "confirmer" | "approver" | "answerer";
  readonly progress?: { readonly progress: number; readonly total?: number; readonly message?: string };
  readonly cancelled?: boolean;
}

export interface HistoryRecord {
  readonly id: number;
  /** The id of the call while it waited and ran. */
  readonly call: string;
  readonly agent: string | null;
  readonly client: string | null;
  readonly server: string | null;
  readonly tool: string;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly error_code: number | null;
  /** JSON as a text, masked. */
  readonly arguments: string;
  readonly is_cut: boolean;
}

export interface ServerRow {
  readonly name: string;
  readonly status: "starting" | "running" | "retrying" | "needs sign-in" | "failed" | "stopped";
  readonly mcp_version?: string;
  readonly since: string;
  readonly restarts: number;
  readonly tools: number;
  readonly memory_bytes?: number;
  readonly last_error?: string;
  readonly problem?: string;
  readonly remedy?: string;
  readonly stderr_tail?: string;
}

export interface Status {
  readonly name: string;
  readonly server: string | null;
  readonly connected: boolean;
  readonly office: string | null;
  readonly agent?: string | null;
  readonly since?: string | null;
  readonly config: string | null;
  readonly refused_edit: string | null;
  readonly can_undo: boolean;
  readonly servers: readonly ServerRow[];
}

interface Calls {
  readonly paused: boolean;
  readonly waiting: readonly Waiting[];
  readonly running: readonly Running[];
}

/** What waits and runs; `undefined` until it was read once. */
export const calls = signal<Calls | undefined>(undefined);
export const waiting = computed(() => calls.value?.waiting ?? []);
export const isPaused = computed(() => calls.value?.paused ?? false);
export const history = signal<readonly HistoryRecord[]>([]);

const MAX_HISTORY = 1_000;
type Told = Readonly<Record<string, unknown>>;
/** Events that come while all is read: they are newer than what is read. */
let meanwhile: Told[] = [];
/** Calls that were answered on this page, which need not be told. */
const answeredHere = new Set<string>();

/** Answers what waits, by a command. */
export async function answer(
  { id }: Waiting,
  path: string,
  { done, ...options }: Readonly<Record<string, unknown>> & { readonly done: string },
): Promise<void> {
  answeredHere.add(id);
  await act(path, { arguments: [id], options }).catch((error) => {
    answeredHere.delete(id);
    throw error;
  });
  say(done);
}

function take(event: Told): void {
  const { value: known } = calls;
  if (known === undefined) return;
  if (event["event"] === "waiting") calls.value = { ...known, waiting: takeWaiting(event) };
  if (event["event"] === "running") {
    calls.value = { ...known, running: changed(known.running, event, "ended") };
  }
  if (event["event"] === "paused") calls.value = { ...known, paused: event["paused"] === true };
  if (event["event"] === "call") {
    const others = history.value.filter(({ id }) => id !== event["id"]);
    history.value = [...others, event as unknown as HistoryRecord].slice(-MAX_HISTORY);
  }
}

/** The entries with the told one as it is now; without it when it has the member `end`. */
function changed<Entry extends CallBase>(
  entries: readonly Entry[],
  event: Told,
  end: string,
): readonly Entry[] {
  const others = entries.filter(({ id }) => id !== event["id"]);
  return end in event ? others : [...others, event as unknown as Entry];
}

function takeWaiting(event: Told): readonly Waiting[] {
  const { id, tool, server, gone } = event as unknown as Waiting & { readonly gone?: string };
  const isKnown = waiting.value.some((each) => each.id === id);
  if (gone === undefined && !isKnown) say(texts.arrived(nameText(tool), nameText(server)));
  if (gone !== undefined && isKnown && !answeredHere.delete(id)) say(texts.gone(nameText(tool), gone));
  return changed(waiting.value, event, "gone");
}

/** Reads all anew, and then applies what has happened meanwhile. */
async function readAll(): Promise<void> {
  const events: Told[] = [];
  meanwhile = events;
  try {
    const [now, records] = await Promise.all([
      read<Calls>("calls/list"),
      read<{ history: readonly HistoryRecord[] }>("history"),
    ]);
    if (meanwhile !== events) return;
    calls.value = now;
    history.value = records.history;
    meanwhile = [];
    events.forEach(take);
  } catch {
    // The connection tells when the Computer is gone; when it comes back, all is read again.
  }
}

export function followComputer(): void {
  listen(["waiting", "running", "call", "paused"], (event) => {
    if (event["event"] === "reset") return void readAll();
    meanwhile.push(event);
    take(event);
  });
}
