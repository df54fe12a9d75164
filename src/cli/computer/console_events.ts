/** What the page of a Computer is told: the events of the API. */
import { Throttle } from "../../async/throttle.ts";
import type { ComputerEvent, RunningToolCall } from "../../computer/shared/computer_events.ts";
import type { UpdateKind } from "../../computer/office/office_link.ts";
import type { TellEvent } from "../console.ts";
import { toRunningEntry } from "./answers/calls.ts";
import { toHistoryEntry } from "./answers/status.ts";
import type { HostedComputer } from "./hosted_computer.ts";
import { toWaitingEntry } from "./people/waiting.ts";

/** How often the page is told of one call that makes progress, and of one log that grows, in milliseconds. */
const INTERVAL_MS = 250;

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
  const events = ending.adopt(new HostedEvents(tell), (each) => each.close());
  ending.use(hosted.computer.follow(events.onEvent));
  ending.use(
    hosted.people.follow(({ waiting, gone }) =>
      tell("waiting", gone === undefined ? toWaitingEntry(waiting) : { id: waiting.id, gone })
    ),
  );
  ending.use(hosted.follow((name) => tell(name)));
  return ending;
}

class HostedEvents {
  readonly #tell: TellEvent;
  /** The latest of each call that runs, and how often it is told. */
  readonly #calls = new Map<string, { latest: RunningToolCall; readonly telling: Throttle }>();
  readonly #logs = new Map<string, Throttle>();

  constructor(tell: TellEvent) {
    this.#tell = tell;
  }

  readonly onEvent = (event: ComputerEvent): void => {
    switch (event.type) {
      case "view":
        return this.#tell(VIEW_EVENTS[event.view]);
      case "server":
        return this.#tell("servers", { name: event.name, status: event.status });
      case "log":
        return this.#onLog(event.server);
      case "connection":
        return this.#tell("connection");
      case "running":
        return this.#onRunning(event.call);
      case "ended": {
        const { callId, outcome } = event.record;
        this.#calls.get(callId)?.telling.close();
        this.#calls.delete(callId);
        this.#tell("running", { id: callId, ended: outcome });
        return this.#tell("call", toHistoryEntry(event.record));
      }
      case "paused":
        return this.#tell("paused", { paused: event.isPaused });
    }
  };

  close(): void {
    for (const { telling } of this.#calls.values()) telling.close();
    for (const telling of this.#logs.values()) telling.close();
  }

  #onRunning(call: RunningToolCall): void {
    const known = this.#calls.get(call.id);
    if (known !== undefined) {
      known.latest = call;
      return known.telling.request();
    }
    const fresh = {
      latest: call,
      telling: new Throttle(() => this.#tell("running", toRunningEntry(fresh.latest)), INTERVAL_MS),
    };
    this.#calls.set(call.id, fresh);
    fresh.telling.request();
  }

  #onLog(server: string): void {
    let telling = this.#logs.get(server);
    if (telling === undefined) {
      telling = new Throttle(() => this.#tell("log", { server }), INTERVAL_MS);
      this.#logs.set(server, telling);
    }
    telling.request();
  }
}
