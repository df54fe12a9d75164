/** What the page of a Computer is told: the events of the API. */
import type { ComputerEvent } from "../../computer/shared/computer_events.ts";
import type { UpdateKind } from "../../computer/office/office_link.ts";
import type { TellEvent } from "../console.ts";
import { toRunningEntry } from "./answers/calls.ts";
import { toHistoryEntry } from "./answers/status.ts";
import type { HostedComputer } from "./hosted_computer.ts";
import { toWaitingEntry } from "./people/waiting.ts";

/** The event of each view. */
const VIEW_EVENTS: Readonly<Record<UpdateKind, string>> = {
  config: "config",
  tools: "tools",
  desktop: "desktop",
  finder: "documents",
  resources: "tools",
  prompts: "tools",
  skills: "skills",
};

/** Tells what happens until the disposal. */
export function followHosted(hosted: HostedComputer, tell: TellEvent): Disposable {
  const ending = new DisposableStack();
  ending.use(hosted.computer.follow((event) => tellOf(event, tell)));
  ending.use(
    hosted.people.follow(({ waiting, gone }) =>
      tell("waiting", gone === undefined ? toWaitingEntry(waiting) : { id: waiting.id, gone })
    ),
  );
  ending.use(hosted.follow((name) => tell(name)));
  return ending;
}

/** A call that makes progress, and a log that grows, change often. */
function tellOf(event: ComputerEvent, tell: TellEvent): void {
  switch (event.type) {
    case "view":
      return tell(VIEW_EVENTS[event.view]);
    case "server":
      return tell("servers", { name: event.name, status: event.status });
    case "log":
      return tell("log", { server: event.server }, { key: event.server });
    case "connection":
      return tell("connection");
    case "running":
      return tell("running", toRunningEntry(event.call), { key: event.call.id });
    case "ended": {
      const { callId, outcome } = event.record;
      tell("running", { id: callId, ended: outcome }, { key: callId, isLast: true });
      return tell("call", toHistoryEntry(event.record));
    }
    case "read":
      return tell("call", toHistoryEntry(event.record), { key: event.record.callId });
    case "paused":
      return tell("paused", { paused: event.isPaused });
  }
}
