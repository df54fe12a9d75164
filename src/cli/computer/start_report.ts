/** What becomes of the MCP servers and of the way to the office at the start, for whoever sits at the prompt. */
import { settledWithin, untilAborted } from "../../async/abortable.ts";
import { countOf } from "../../text.ts";
import { failureText, paintFailure, toFailure } from "../outcome.ts";
import type { LineEditor } from "../../terminal/editor/line_editor.ts";
import { currentScreen, PLAIN } from "../../terminal/screen.ts";
import { printable } from "../../terminal/safe_text.ts";
import { showProgress } from "../../terminal/progress.ts";
import { quoteWord } from "../../terminal/words.ts";
import type { Computer } from "../../computer/computer.ts";
import type { Arrival } from "./arrival.ts";
import type { Session } from "./session.ts";

/** How long the MCP servers keep the first prompt waiting; what starts later is told above it. */
const START_GRACE_MS = 3_000;

/** How long the Server keeps the first prompt waiting. */
const ARRIVAL_GRACE_MS = 2_000;

/** Shows how many servers have started, for a few seconds or until Ctrl-C, and tells at last what came of them. */
export async function reportStart(session: Session, editor: LineEditor): Promise<void> {
  const { computer, quitting: signal } = session;
  const names = [...computer.servers].filter(([, { status }]) => status !== "stopped").map(([name]) => name);
  if (names.length === 0) return;
  using interruption = editor.listenForInterrupt();
  using progress = showProgress("starting MCP servers");
  let settled = 0;
  const all = Promise.all(names.map(async (name) => {
    await computer.ready({ servers: [name], signal });
    progress.update(`${++settled} of ${names.length}`);
  })).then(() => editor.print(startText(computer, names)), () => {});
  await settledWithin(Promise.race([all, untilAborted(interruption.signal)]), START_GRACE_MS);
}

/** Waits a moment for the Server; one that comes later, or refuses, is told above the prompt. */
export async function reportArrival(
  arrival: Arrival,
  { session, editor }: { readonly session: Session; readonly editor: LineEditor },
): Promise<void> {
  const { url, office } = arrival;
  const there = office === undefined
    ? `connected to ${url}`
    : `joined office "${office}" as "${session.options.name}"`;
  const again = office === undefined ? "connect" : `join ${quoteWord(office)}`;
  using interruption = editor.listenForInterrupt();
  using progress = showProgress("");
  progress.update(office === undefined ? `connecting to ${url}` : `joining ${office}`);
  const told = arrival.done
    .then(
      (isThere) => isThere ? editor.print(there) : undefined,
      (error) => {
        const failure = paintFailure(failureText(toFailure(error)), currentScreen()?.palette ?? PLAIN);
        editor.printDrawn(`${failure}\n${printable(`"${again}" tries again`)}`);
      },
    )
    .finally(() => editor.redraw());
  await settledWithin(Promise.race([told, untilAborted(interruption.signal)]), ARRIVAL_GRACE_MS);
  if (arrival.isOver) return;
  editor.print(`the Server at ${url} is not there yet; it is tried again until "leave" gives it up`);
}

/** `3 of 4 MCP servers run, with 36 tools; "status" tells why broken does not` */
function startText({ servers, tools }: Computer, names: readonly string[]): string {
  const others = names.filter((name) => servers.get(name)?.status !== "running");
  const part = others.length === 0 ? "" : `${names.length - others.length} of `;
  const all = `${countOf(names.length, "MCP server")} ${names.length === 1 ? "runs" : "run"}`;
  const sum = `${part}${all}, with ${countOf(tools.length, "tool")}`;
  if (others.length === 0) return sum;
  return `${sum}; "status" tells why ${others.join(", ")} ${others.length === 1 ? "does" : "do"} not`;
}
