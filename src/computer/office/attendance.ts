/** Who is in the office with a Computer, and the end of what was asked by an Agent that has gone. */
import { settledWithin } from "../../async/abortable.ts";
import type { IncomingEvent } from "../../link/connect.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text.ts";
import { ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION } from "../../protocol/events.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import { parseOfficeNotification } from "../../protocol/parse.ts";

/** How long a question about the Agent's name waits for the Server's list, in milliseconds. */
const LOOKUP_TIMEOUT_MS = 2_000;

/** The tool calls of an office, as far as they end with whoever asked. */
export interface OfficeCalls {
  endOfficeCalls(): void;
  endConfirmations(): void;
  forget(): void;
}

/** What following the office's Agent needs. */
export interface AttendanceContext {
  readonly agent: OfficeAgent;
  readonly calls: OfficeCalls;
  /** What was kept for the office. */
  readonly blobs: { endOffice(): void };
  /** What the Agent subscribed to. */
  readonly resources: { endOffice(): void };
  /** Asks the Server who is in the office. */
  readonly members: () => Promise<readonly SessionInfo[]>;
  readonly log: Logger;
}

/**
 * The Agent of the office, of which there is one, by the name under which the Server admitted it. What a request says
 * of its caller is anybody's text; this is what the Server vouches for.
 */
export class OfficeAgent {
  #name: string | undefined;
  #lookup: Promise<void> = Promise.resolve();

  /** Its name as far as it is known by now. */
  get name(): string | undefined {
    return this.#name;
  }

  /** Its name once the list that was asked for is there, or has taken too long. */
  async known(): Promise<string | undefined> {
    if (this.#name === undefined) await settledWithin(this.#lookup, LOOKUP_TIMEOUT_MS);
    return this.#name;
  }

  /** Its name is known, or it has gone. */
  set(name: string | undefined): void {
    this.#name = name;
  }

  /** Its name is being asked for. */
  expect(lookup: Promise<void>): void {
    this.#lookup = lookup;
  }
}

/** Follows who comes and goes. */
export class Attendance {
  readonly #context: AttendanceContext;
  /** Grows with each thing heard, so that an older list never undoes it. */
  #heard = 0;
  /** Who the Agent was when the connection was lost. */
  #before: string | undefined;

  constructor(context: AttendanceContext) {
    this.#context = context;
  }

  /** The office was joined, or joined again. */
  onJoined(): void {
    const { agent, log } = this.#context;
    agent.expect(
      this.#look().catch((error) =>
        log.debug("cannot ask who is in the office", { error: describeError(error) })
      ),
    );
  }

  /** A notification of the Server; those of no concern are passed over. */
  onEvent({ event, body }: IncomingEvent): void {
    if (event !== ENTER_OFFICE_NOTIFICATION && event !== LEAVE_OFFICE_NOTIFICATION) return;
    const { agent } = parseOfficeNotification(body);
    if (typeof agent !== "string") return;
    if (event === ENTER_OFFICE_NOTIFICATION) return this.#hear(agent);
    this.#hear(undefined);
    this.#endAgent();
  }

  /** The office is left for good: nobody waits for an answer any more. */
  onLeft(): void {
    const { calls, blobs } = this.#context;
    this.#hear(undefined);
    this.#before = undefined;
    this.#endAgent();
    calls.forget();
    blobs.endOffice();
  }

  /**
   * The connection is lost, and the Server has told the Agent that its requests failed. A tool that runs goes on, and
   * its answer is remembered for the same Agent's next try; a call that waits for its confirmation does not begin.
   */
  onLost(): void {
    const { agent, calls } = this.#context;
    this.#before = agent.name ?? this.#before;
    this.#hear(undefined);
    calls.endConfirmations();
  }

  /** Calls of an Agent that is not there any more are ended and forgotten. */
  async #look(): Promise<void> {
    const { agent, members } = this.#context;
    const heard = this.#heard;
    const found = (await members()).find(({ role }) => role === "agent")?.name;
    if (this.#heard === heard) agent.set(found);
    const before = this.#before;
    this.#before = undefined;
    if (before === undefined || before === agent.name) return;
    this.#endAgent();
    this.#context.calls.forget();
  }

  #endAgent(): void {
    this.#context.calls.endOfficeCalls();
    this.#context.resources.endOffice();
  }

  #hear(name: string | undefined): void {
    this.#heard++;
    this.#context.agent.set(name);
  }
}
