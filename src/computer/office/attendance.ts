/** Follows the Agent of the office, and ends the requests of an Agent that has left. */
import { settledWithin } from "../../async/abortable.ts";
import type { IncomingEvent } from "../../link/connect.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text.ts";
import { ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION } from "../../protocol/events.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import { parseOfficeNotification } from "../../protocol/parse.ts";

const LOOKUP_TIMEOUT_MS = 2_000;

export interface OfficeCalls {
  endOfficeCalls(): void;
  endConfirmations(): void;
  forget(): void;
}

export interface AttendanceContext {
  readonly agent: OfficeAgent;
  readonly calls: OfficeCalls;
  readonly blobs: { endOffice(): void };
  readonly questions: { readonly channel: { close(): void } };
  readonly resources: { endOffice(): void };
  readonly followed: { endOffice(): void };
  readonly uploads: { endOpen(): void };
  readonly members: () => Promise<readonly SessionInfo[]>;
  readonly log: Logger;
}

/**
 * The one Agent of the office, by the name under which the Server admitted it. The name in a request is not checked by
 * the Server; this name is.
 */
export class OfficeAgent {
  #name: string | undefined;
  #lookup: Promise<void> = Promise.resolve();

  get name(): string | undefined {
    return this.#name;
  }

  /** The name, after waiting a limited time for the list of members. */
  async known(): Promise<string | undefined> {
    if (this.#name === undefined) await settledWithin(this.#lookup, LOOKUP_TIMEOUT_MS);
    return this.#name;
  }

  /** Sets the name; `undefined` when the Agent has left. */
  set(name: string | undefined): void {
    this.#name = name;
  }

  expect(lookup: Promise<void>): void {
    this.#lookup = lookup;
  }
}

export class Attendance {
  readonly #context: AttendanceContext;
  /** Counts notifications, so that an older list of members does not replace a newer notification. */
  #heard = 0;
  /** The Agent at the moment when the connection was lost. */
  #before: string | undefined;
  /** The Agent that left the office last. */
  #left: string | undefined;

  constructor(context: AttendanceContext) {
    this.#context = context;
  }

  /** The office was joined or rejoined. */
  onJoined(): void {
    const { agent, log } = this.#context;
    agent.expect(
      this.#look().catch((error) =>
        log.debug("cannot list the members of the office", { error: describeError(error) })
      ),
    );
  }

  /** Handles a notification of the Server; ignores events of other kinds. */
  onEvent({ event, body }: IncomingEvent): void {
    if (event !== ENTER_OFFICE_NOTIFICATION && event !== LEAVE_OFFICE_NOTIFICATION) return;
    const { agent } = parseOfficeNotification(body);
    if (typeof agent !== "string") return;
    if (event === ENTER_OFFICE_NOTIFICATION) {
      this.#hear(agent);
      return this.#forgetOthers(agent);
    }
    this.#hear(undefined);
    this.#left = agent;
    this.#endAgent();
  }

  /** The office was left: no answer is needed any more. */
  onLeft(): void {
    const { calls, blobs } = this.#context;
    this.#hear(undefined);
    this.#before = undefined;
    this.#left = undefined;
    this.#endAgent();
    calls.forget();
    blobs.endOffice();
  }

  /**
   * The connection was lost, so the Server has answered the Agent's requests with an error. A running tool goes on, and
   * its result is kept for a repeated request of the same Agent; a call that waits for its confirmation is cancelled. An
   * open question at the Agent stays open; for further ones, the Agent has to open the channel again.
   */
  onLost(): void {
    const { agent, calls, questions } = this.#context;
    this.#before = agent.name ?? this.#before;
    this.#hear(undefined);
    calls.endConfirmations();
    questions.channel.close();
  }

  /** Requests the members. Ends the calls of the last Agent, if it has left. */
  async #look(): Promise<void> {
    const { agent, members } = this.#context;
    const heard = this.#heard;
    const found = (await members()).find(({ role }) => role === "agent")?.name;
    if (this.#heard === heard) agent.set(found);
    if (agent.name !== undefined) this.#forgetOthers(agent.name);
    const before = this.#before;
    this.#before = undefined;
    if (before === undefined || before === agent.name) return;
    this.#endAgent();
    this.#context.calls.forget();
  }

  /** Another Agent sits in the seat: it gets no results of the one before, whatever name it states in its requests. */
  #forgetOthers(agent: string): void {
    if (this.#left !== undefined && this.#left !== agent) this.#context.calls.forget();
    this.#left = undefined;
  }

  #endAgent(): void {
    this.#context.questions.channel.close();
    this.#context.calls.endOfficeCalls();
    this.#context.resources.endOffice();
    this.#context.followed.endOffice();
    this.#context.uploads.endOpen();
  }

  #hear(name: string | undefined): void {
    this.#heard++;
    this.#context.agent.set(name);
  }
}
