/** An event of a connection, until it is answered: the checks of its caller, its ack, and what is told of it. */
import { isRecord } from "../../json/json.ts";
import type { LogFields } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { readRequestId, SmcpError } from "../../protocol/errors.ts";
import { CLIENT_EVENT_PREFIX, LIST_PRESENCE_EVENT, READ_RESOURCE_EVENT } from "../../protocol/events.ts";
import { toErrorAckFor } from "../../protocol/flat_error.ts";
import type { Role } from "../../protocol/office.ts";
import { buildRefusalText } from "../../protocol/refusal_text.ts";
import { describeError, quoted } from "../../text/text.ts";
import { type OpenSpan, startRelay } from "../../tracing.ts";
import { type AuditAction, auditFields, LoggedRefusal } from "../observe/logs.ts";
import { type Outcome, ticksNow } from "../observe/meter.ts";
import { beginSeen, type EndSeen } from "../observe/seen_event.ts";
import type { Member } from "../offices/office.ts";
import { answerLost, outOfReach } from "../offices/offices.ts";
import { MESSAGE_OVERHEAD_BYTES } from "../engine/outbox.ts";
import { routingFieldsOf } from "../engine/raw.ts";
import type { Ack, Connection } from "./connection.ts";
import type { MemberEvent } from "./deferred_events.ts";
import type { RelayState } from "./relay_state.ts";
import { type Answer, errorCodeOf, type Settlement, withDetails } from "./pending_requests.ts";

/** How events of one kind are handled and refused. */
export interface Route {
  /**
   * Handles the event. Throws an {@linkcode SmcpError} to refuse it.
   *
   * @param body The argument of the event, unchecked.
   * @return The arguments of the ack, or a promise of them: later events of the connection then wait for it, unless
   * `isUnordered`. `undefined` when {@linkcode Call.settle} is called instead, now or later.
   */
  handle(call: Call, body: unknown): Answer | Promise<Answer> | undefined;
  readonly isUnordered?: boolean;
  /** Whether a refusal is acked as `(false, "reason")`, and not as an object. */
  readonly acksTexts?: boolean;
  /** What the audit trail calls it; `request` by default. */
  readonly action?: AuditAction;
  /** The code of further refusals that go into the audit trail; those with 403 always do. */
  readonly auditedCode?: number;
  /** Whether it is relayed to a Computer; only then it has a span. */
  readonly isRelayed?: boolean;
}

const RELAY_SPAN = "relay";
/**
 * The requests of observers: those that read, and make no Computer and no MCP server do anything else. `client:get_dpe`
 * may write files, and `client:get_prompt` has an MCP server run what fills the prompt in. Requests of newer peers are not
 * among them (`docs/protocol/extensions.md#observers`).
 */
const OBSERVER_EVENTS: ReadonlySet<string> = new Set([
  LIST_PRESENCE_EVENT,
  READ_RESOURCE_EVENT,
  ...("tools config desktop windows finder resources resource_templates resource_updates mcp_servers prompts " +
    "completion blob skills skill").split(" ").map((what) => `${CLIENT_EVENT_PREFIX}get_${what}`),
]);

/** It does not keep the body of the event, which may be large, while the answer may take a day. */
export class Call {
  readonly relayState: RelayState;
  readonly connection: Connection;
  readonly event: string;
  readonly route: Route;
  readonly startedAt: number;
  readonly #ack: Ack | undefined;
  readonly #reqId: string | undefined;
  #computer: string | undefined;
  readonly #wantedOffice: string | undefined;
  readonly #span: OpenSpan | undefined;
  /** Makes what is seen of it; `undefined` when nobody looks. */
  readonly #endSeen: EndSeen | undefined;

  constructor(relayState: RelayState, { connection, incoming: { event, args }, route }: {
    readonly connection: Connection;
    readonly incoming: MemberEvent;
    readonly route: Route;
  }) {
    this.relayState = relayState;
    this.connection = connection;
    this.event = event;
    this.route = route;
    this.startedAt = ticksNow();
    const last = args.at(-1);
    this.#ack = typeof last === "function" ? last as Ack : undefined;
    const fields = routingFieldsOf(args[0]);
    this.#reqId = readRequestId(fields);
    this.#computer = readText(fields, "computer");
    this.#wantedOffice = route.isRelayed ? undefined : readText(fields, "office_id");
    this.#span = route.isRelayed ? startRelay(RELAY_SPAN, this.#reqId) : undefined;
    const { member } = connection;
    if (relayState.seen.isEmpty || member === undefined) return;
    this.#endSeen = beginSeen(member, { event: quoted(event), body: args[0] });
  }

  /** Names the Computer, of which the request may have the id of its machine. */
  nameComputer(name: string): void {
    this.#computer = name;
  }

  get #shownComputer(): string | undefined {
    return this.#computer && quoted(this.#computer);
  }

  get wantsAck(): boolean {
    return this.#ack !== undefined;
  }

  /** Returns the membership of the caller; throws 4103 outside of any office. */
  requireMember(): Member {
    const { member } = this.connection;
    if (member !== undefined) return member;
    throw this.cannotHandle("the sender is not in an office", { code: ErrorCode.NOT_IN_ROOM });
  }

  /** The same; throws 503 while this process may not act for it. */
  requireServedMember(): Member {
    const member = this.requireMember();
    if (this.relayState.offices.isServing(this.connection.sid)) return member;
    throw outOfReach(`handle "${quoted(this.event)}"`);
  }

  /** The same; throws 403 for another role, and for an observer whose event does not only read. */
  requireRole(role: Role): Member {
    const member = this.requireServedMember();
    if (member.isObserver && !OBSERVER_EVENTS.has(this.event)) {
      throw this.cannotHandle("observers may only read", { code: ErrorCode.FORBIDDEN });
    }
    if (member.role === role) return member;
    throw this.cannotHandle(`only the role "${role}" may send it`, { code: ErrorCode.FORBIDDEN });
  }

  /** Limits the notifications that one connection causes: they fill the buffers of members that read slowly. */
  requirePace(notification: unknown): void {
    const bytes = MESSAGE_OVERHEAD_BYTES + 2 * JSON.stringify(notification).length;
    if (this.connection.notifying.take(bytes)) return;
    throw this.cannotHandle("too many notifications from this sender");
  }

  /** The error for a refused event. Only a 400 has details: the event is wrong, if they do not say what else. */
  cannotHandle(
    why: string,
    { code = ErrorCode.BAD_REQUEST, details = { field: "event" } }: Partial<
      Pick<SmcpError, "code" | "details">
    > = {},
  ): SmcpError {
    const message = `Cannot handle "${quoted(this.event)}": ${why}`;
    return new SmcpError(code, message, code === ErrorCode.BAD_REQUEST ? { details } : {});
  }

  /** Counts it as open, until it is answered or has failed. */
  open(): void {
    this.connection.openRequests++;
  }

  /** Answers it with what a Computer answered, unless it was given away, or with the error in place of an answer. */
  settle(settlement: Settlement): void {
    const { relayState, connection, event } = this;
    if (settlement.kind === "dropped") return this.finish(undefined, "dropped");
    if (settlement.kind === "failed") return this.fail(settlement.error);
    if (!relayState.offices.isServing(connection.sid)) {
      return this.fail(answerLost({ event, computer: this.#computer ?? "" }));
    }
    const { answer } = settlement;
    const code = errorCodeOf(answer);
    if (code === undefined) return this.finish(answer, "answered");
    connection.relayedErrors.write("info", "relayed an error of a Computer", { ...this.#describe(), code });
    this.finish(answer, "computer_error");
  }

  /** Answers it, unless its sender has left, and counts it. */
  finish(answer: Answer | undefined, outcome: Outcome = "handled"): void {
    this.connection.openRequests--;
    if (answer !== undefined && !this.#reply(answer)) return;
    const { meter } = this.relayState.settings;
    const code = answer && errorCodeOf(answer);
    meter?.ended(this, outcome);
    if (code !== undefined) meter?.failed(this, code);
    if (this.#span !== undefined) this.#endSpan(outcome);
    const seen = this.#endSeen?.({ to: this.#shownComputer, outcome, code, answer });
    if (seen !== undefined) this.relayState.seen.tell(seen);
  }

  fail(error: unknown): void {
    this.connection.openRequests--;
    this.refuse(error);
  }

  /** Answers a call that is not open with an error. */
  refuse(error: unknown): void {
    this.#reply(this.#toRefusal(error));
  }

  /** Sends the ack if the sender asked for one; `false` when the answer could not be written and became an error. */
  #reply(answer: Answer): boolean {
    const ack = this.#ack;
    if (ack === undefined || this.connection.isEnded) return true;
    try {
      this.connection.answer(ack, answer);
      return true;
    } catch (error) {
      // What was to be answered may have been done.
      const told = error instanceof SmcpError ? withDetails(error, { may_have_run: true }) : error;
      ack(...this.#toRefusal(told));
      return false;
    }
  }

  /** Logs and counts an error, and returns the ack that tells it. */
  #toRefusal(error: unknown): Answer {
    const { relayState, connection: { log, identity }, event, route } = this;
    const isExpected = error instanceof SmcpError;
    const refusal = isExpected ? error : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
    const { code, message } = refusal;
    relayState.settings.meter?.ended(this, "error");
    relayState.settings.meter?.failed(this, code);
    if (this.#span !== undefined) this.#endSpan("error", code);
    const seen = this.#endSeen?.({ to: this.#shownComputer, outcome: "error", code });
    if (seen !== undefined) relayState.seen.tell(seen);
    const fields = this.#auditRefusal({ ...this.#describe(), code });
    if (error instanceof LoggedRefusal) log.write("warn", message, { ...error.log, ...fields });
    else if (isExpected) log.write("warn", message, fields);
    else log.write("error", "failed to handle an event", { ...fields, error: describeError(error) });
    if (route.acksTexts) return [false, buildRefusalText(refusal)];
    return [toErrorAckFor(identity.version, refusal, event)];
  }

  /**
   * Puts a refusal for lack of a right into the audit trail; so does a request to a Computer that is not in the office, and
   * refused newer credentials.
   */
  #auditRefusal(fields: LogFields & { readonly code: number }): LogFields {
    const { connection: { sid, identity: { principal }, member }, route } = this;
    if (fields.code !== ErrorCode.FORBIDDEN && fields.code !== route.auditedCode) return fields;
    const wanted = this.#wantedOffice && quoted(this.#wantedOffice);
    const isCrossing = wanted !== undefined && member !== undefined && wanted !== member.officeId;
    return auditFields(route.action ?? "request", {
      ...fields,
      sid,
      principal,
      ...(wanted === undefined ? {} : { wanted_office: wanted }),
      ...(isCrossing ? { cross_office: true } : {}),
    });
  }

  #describe(): LogFields {
    const { member, sid } = this.connection;
    return {
      event: quoted(this.event),
      req_id: this.#reqId && quoted(this.#reqId),
      computer: this.#shownComputer,
      office: member?.officeId,
      [member?.role ?? "sid"]: member?.name ?? sid,
    };
  }

  /** Ends the span. Its name is fixed, since a peer chooses the name of the event. */
  #endSpan(outcome: string, error?: number): void {
    const { officeId, name } = this.connection.member ?? {};
    this.#span?.end({
      error,
      attributes: {
        "a2c.event": quoted(this.event),
        "a2c.outcome": outcome,
        "a2c.office": officeId,
        "a2c.agent": name,
        "a2c.computer": this.#shownComputer,
      },
    });
  }
}

function readText(body: unknown, member: string): string | undefined {
  const text = isRecord(body) ? body[member] : undefined;
  return typeof text === "string" ? text : undefined;
}
