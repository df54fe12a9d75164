/** What every screen of the owner knows: what waits, what runs, the last calls, and the state of the Computer. */
import { signal } from "@preact/signals";
import { say } from "../kit/parts.ts";
import { listen, read } from "../kit/client.ts";
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

export interface Question {
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
  readonly timeout_at?: string;
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
  readonly servers: readonly ServerRow[];
}

export const waiting = signal<readonly Waiting[]>([]);
export const running = signal<readonly Running[]>([]);
export const history = signal<readonly HistoryRecord[]>([]);
export const isPaused = signal(false);
/** Whether what waits has been read once. */
export const isKnown = signal(false);

const MAX_HISTORY = 1_000;
type Told = Readonly<Record<string, unknown>>;
/** Events that come while all is read: they are newer than what is read. */
let meanwhile: Told[] | undefined;

function take(event: Told): void {
  meanwhile?.push(event);
  if (event["event"] === "waiting") takeWaiting(event);
  if (event["event"] === "running") takeRunning(event);
  if (event["event"] === "call") addRecord(event as unknown as HistoryRecord);
  if (event["event"] === "paused") isPaused.value = event["paused"] === true;
}

function takeWaiting(event: Told): void {
  const entry = event as unknown as Waiting & { readonly gone?: string };
  const others = waiting.value.filter(({ id }) => id !== entry.id);
  if (entry.gone === undefined) {
    if (others.length === waiting.value.length) {
      say(texts.arrived(nameText(entry.tool), nameText(entry.server)));
    }
    waiting.value = [...others, entry];
    return;
  }
  if (others.length < waiting.value.length && !answeredHere.delete(entry.id)) {
    say(texts.gone(nameText(entry.tool), entry.gone));
  }
  waiting.value = others;
}

/** Calls that were answered on this page, which need not be told. */
export const answeredHere = new Set<string>();

function takeRunning(event: Told): void {
  const entry = event as unknown as Running & { readonly ended?: string };
  const others = running.value.filter(({ id }) => id !== entry.id);
  running.value = entry.ended === undefined ? [...others, entry] : others;
}

function addRecord(record: HistoryRecord): void {
  if (history.value.some(({ id }) => id === record.id)) return;
  history.value = [...history.value, record].slice(-MAX_HISTORY);
}

/** Reads all anew, and then applies what has happened meanwhile. */
async function readAll(): Promise<void> {
  const events: Told[] = [];
  meanwhile = events;
  try {
    const [calls, records] = await Promise.all([
      read<{ paused: boolean; waiting: readonly Waiting[]; running: readonly Running[] }>("calls/list"),
      read<{ history: readonly HistoryRecord[] }>("history"),
    ]);
    if (meanwhile !== events) return;
    meanwhile = undefined;
    waiting.value = calls.waiting;
    running.value = calls.running;
    isPaused.value = calls.paused;
    history.value = records.history;
    isKnown.value = true;
    events.forEach(take);
  } catch {
    // The connection tells when the Computer is gone; when it comes back, all is read again.
  }
}

export function followComputer(): void {
  listen(["waiting", "running", "call", "paused"], (event) => {
    if (event["event"] === "reset") void readAll();
    else take(event);
  });
}
