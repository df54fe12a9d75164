/** What every screen of the owner knows: what waits, what runs, the last calls, and the state of the Computer. */
import { computed, signal } from "@preact/signals";
import type {
  CallsValue,
  HistoryValue,
  RunningValue,
  StatusValue,
  WaitingValue,
} from "../../../api_values.ts";
import { listen, run, type Told } from "../kit/client.ts";
import { say } from "../kit/parts.ts";
import { nameText } from "../kit/words.ts";
import { texts } from "../texts.ts";

/** The state of the Computer; the page reads it. */
export const status = signal<StatusValue | undefined>(undefined);
/** What waits and runs; `undefined` until it was read once. */
export const calls = signal<CallsValue | undefined>(undefined);
export const waiting = computed(() => calls.value?.waiting ?? []);
export const isPaused = computed(() => calls.value?.paused ?? false);
export const history = signal<readonly HistoryValue[]>([]);

const MAX_HISTORY = 1_000;

function take(event: Told): void {
  const { value: known } = calls;
  if (known === undefined) return;
  if (event["event"] === "waiting") calls.value = { ...known, waiting: takeWaiting(event) };
  if (event["event"] === "running") {
    calls.value = { ...known, running: changed(known.running, event, "ended") };
  }
  if (event["event"] === "paused") calls.value = { ...known, paused: event["paused"] === true };
  if (event["event"] === "call") {
    const others = history.value.filter(({ call }) => call !== event["call"]);
    history.value = [...others, event as unknown as HistoryValue].slice(-MAX_HISTORY);
  }
}

/** The entries with the told one as it is now; without it when it has the member `end`. */
function changed<Entry extends RunningValue | WaitingValue>(
  entries: readonly Entry[],
  event: Told,
  end: string,
): readonly Entry[] {
  const others = entries.filter(({ id }) => id !== event["id"]);
  return end in event ? others : [...others, event as unknown as Entry];
}

function takeWaiting(event: Told): readonly WaitingValue[] {
  const { id, tool, server, gone } = event as unknown as WaitingValue & { readonly gone?: string };
  const known = waiting.value.find((each) => each.id === id);
  if (gone === undefined && known === undefined) say(texts.arrived(nameText(tool), nameText(server)));
  if (gone !== undefined && known !== undefined) say(texts.gone(nameText(known.tool), gone));
  return changed(waiting.value, event, "gone");
}

/** Reads all at the beginning and whenever events were missed, and applies what happens meanwhile and afterwards. */
export function followComputer(): void {
  /** Events that come while all is read: they are newer than what is read. */
  let meanwhile: Told[] = [];
  const readAll = async () => {
    const events: Told[] = [];
    meanwhile = events;
    const [now, records] = await Promise.all([
      run<CallsValue>("calls/list"),
      run<{ history: readonly HistoryValue[] }>("history"),
    ]);
    if (meanwhile !== events) return;
    calls.value = now;
    history.value = records.history;
    meanwhile = [];
    events.forEach(take);
  };
  listen(["waiting", "running", "call", "paused"], (event) => {
    // The connection tells when the Computer is gone; when it comes back, all is read again.
    if (event["event"] === "reset") return void readAll().catch(() => {});
    meanwhile.push(event);
    take(event);
  });
}
