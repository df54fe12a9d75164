/** The Agent of the office: its name, and what is kept and runs for it. */
import { settledWithin } from "../../async/abortable.ts";
import type { IncomingEvent } from "../../link/connect.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text/text.ts";
import { ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION } from "../../protocol/events.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import { AGENT_RETURN_MS } from "../../protocol/call.ts";
import { parseOfficeNotification } from "../../protocol/office_requests.ts";

const LOOKUP_TIMEOUT_MS = 2_000;

/** A part of a Computer that keeps or runs something for the Agent. */
export interface AgentPart {
  /** The Agent or this Computer has left the office: nothing but its calls runs for the Agent any more. */
  endAgent?(): void;
  /**
   * The Agent has not come back for a while, or will not: no call runs for it any more of those that it asked for last at
   * `askedUntilMs`, by `performance.now()`, or before.
   */
  giveUpAgent?(askedUntilMs: number): void;
  /** No answer and nothing else of the Agent is needed any more: another one may come. */
  forgetAgent?(): void;
  /**
   * The connection was lost, so the Server has answered the Agent's requests with an error. What runs may go on: its result
   * is kept for a repeated request of the same Agent.
   */
  onConnectionLost?(): void;
}

/**
 * The one Agent of the office, by the name under which the Server admitted it. The name in a request is not checked by
 * the Server; this name is.
 */
export class OfficeAgent {
  readonly #members: () => Promise<readonly SessionInfo[]>;
  readonly #onChange: () => void;
  readonly #log: Logger;
  readonly #parts: AgentPart[] = [];
  #name: string | undefined;
  #lookup: Promise<void> = Promise.resolve();
  /** Counts notifications, so that an older list of members does not replace a newer notification. */
  #heard = 0;
  /** The Agent at the moment when the connection was lost. */
  #before: string | undefined;
  /** When that was, by `performance.now()`. */
  #lostAtMs = 0;
  /** The Agent that left the office last. */
  #left: string | undefined;
  #givingUp: ReturnType<typeof setTimeout> | undefined;

  /** @param options `members`: lists the members of the office; `onChange`: called when the name is another one. */
  constructor(
    { members = () => Promise.resolve([]), onChange = () => {}, log }: {
      readonly members?: (() => Promise<readonly SessionInfo[]>) | undefined;
      readonly onChange?: (() => void) | undefined;
      readonly log: Logger;
    },
  ) {
    this.#members = members;
    this.#onChange = onChange;
    this.#log = log;
  }

  get name(): string | undefined {
    return this.#name;
  }

  /** Tells these parts from now on what becomes of the Agent. */
  follow(...parts: readonly AgentPart[]): void {
    this.#parts.push(...parts);
  }

  /** The name, after waiting a limited time for the list of members. */
  async known(): Promise<string | undefined> {
    if (this.name === undefined) await settledWithin(this.#lookup, LOOKUP_TIMEOUT_MS);
    return this.name;
  }

  /** The office was joined or rejoined. */
  onJoined(): void {
    this.#lookup = this.#look().catch((error) =>
      this.#log.debug("cannot list the members of the office", { error: describeError(error) })
    );
  }

  /** Handles a notification of the Server; ignores events of other kinds. */
  onEvent({ event, body }: IncomingEvent): void {
    if (event !== ENTER_OFFICE_NOTIFICATION && event !== LEAVE_OFFICE_NOTIFICATION) return;
    const { agent } = parseOfficeNotification(body);
    if (typeof agent !== "string") return;
    if (event === ENTER_OFFICE_NOTIFICATION) {
      this.#hear(agent);
      return this.#onArrived(agent);
    }
    this.#hear(undefined);
    this.#onDeparted(agent);
  }

  /** The office was left. */
  onLeft(): void {
    this.#hear(undefined);
    this.#before = this.#left = undefined;
    this.#end();
  }

  onLost(): void {
    this.#before = this.name ?? this.#before;
    this.#lostAtMs = performance.now();
    this.#hear(undefined);
    for (const part of this.#parts) part.onConnectionLost?.();
  }

  /** Requests the members. The Agent that was there before may have left. */
  async #look(): Promise<void> {
    const heard = this.#heard;
    const found = (await this.#members()).find(({ role }) => role === "agent")?.name;
    if (this.#heard === heard) this.#rename(found);
    const before = this.#before;
    this.#before = undefined;
    this.#left ??= before;
    if (before !== undefined) this.#giveUpLater(this.#lostAtMs);
    if (this.name !== undefined) this.#onArrived(this.name);
  }

  /** Another Agent sits in the seat: it gets no results of the one before, whatever name it states in its requests. */
  #onArrived(agent: string): void {
    if (this.#left !== undefined && this.#left !== agent) this.#end();
    this.#left = undefined;
  }

  /** The Agent may have lost its connection alone, as the Server may that has just been started again. */
  #onDeparted(agent: string): void {
    this.#left = agent;
    this.#endAgent();
    this.#giveUpLater(performance.now());
  }

  /** Also where the Agent is there again: it may not ask again for what was lost, and the Server may have forgotten it. */
  #giveUpLater(askedUntilMs: number): void {
    clearTimeout(this.#givingUp);
    this.#givingUp = setTimeout(() => {
      // While the connection is lost again, nobody knows.
      if (this.name === undefined && this.#before === undefined) this.#endAgent();
      this.#giveUp(askedUntilMs);
    }, AGENT_RETURN_MS);
  }

  #endAgent(): void {
    for (const part of this.#parts) part.endAgent?.();
  }

  #giveUp(askedUntilMs: number): void {
    for (const part of this.#parts) part.giveUpAgent?.(askedUntilMs);
  }

  #end(): void {
    clearTimeout(this.#givingUp);
    this.#endAgent();
    this.#giveUp(Infinity);
    for (const part of this.#parts) part.forgetAgent?.();
  }

  #hear(name: string | undefined): void {
    this.#heard++;
    this.#rename(name);
  }

  #rename(name: string | undefined): void {
    if (this.#name === name) return;
    this.#name = name;
    this.#onChange();
  }
}
