/** Asks people at the Computer: at its terminal, on its page, and by commands of other processes. */
import { abortable } from "../../../async/abortable.ts";
import { BoundedMap } from "../../../async/bounded_collections.ts";
import { Followers } from "../../../async/followers.ts";
import type { AnswerQuestion } from "../../../computer/questions/question.ts";
import type { Confirm, ConfirmRequest } from "../../../computer/tools/confirmation.ts";
import { describeChanges, toolChanges } from "../../../computer/tools/tool_changes.ts";
import type { Logger } from "../../../log.ts";
import { checkContent } from "../../../protocol/form_answer.ts";
import type { Answer } from "../../../protocol/questions.ts";
import { StateChangedError, UsageError } from "../../outcome.ts";
import {
  digestOf,
  type Waiting,
  type WaitingCall,
  type WaitingQuestion,
  type WaitingSignIn,
} from "./waiting.ts";

export type Decision = "yes" | "always" | "no";

/** A place where a person is asked as soon as something waits. What is withdrawn meanwhile needs no answer. */
export interface Face {
  /** Such as `at the terminal`. */
  readonly place: string;
  readonly decide: (call: WaitingCall, signal: AbortSignal) => Promise<Decision>;
  readonly answer: (question: WaitingQuestion, signal: AbortSignal) => Promise<Answer>;
}

/** Something begins to wait, or waits no more: why not. */
export type WaitingEvent =
  | { readonly waiting: Waiting; readonly gone?: undefined }
  | { readonly waiting: Waiting; readonly gone: string };

export interface PeopleOptions {
  readonly log: Logger;
  /** A monotonic clock in milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** How long somebody who has looked at what waits counts as being there, in milliseconds. */
const ATTENTION_MS = 60_000;
/** The most decisions whose place is remembered, for somebody who decides too late. */
const MAX_GONE = 1_000;
const ENDED = "the call has ended";
const ENDED_SIGN_IN = "the sign-in has ended";
/** How a call is answered when another one of its tool is allowed for good. */
const WITH_ANOTHER = 'by the "always" of another call';
/** The places of those who answer at the prompt and on the page. */
export const AT_TERMINAL = "at the terminal";
export const ON_PAGE = "on the page";

type AllowedTool = Pick<ConfirmRequest, "server" | "tool">;

/** What was allowed with `always`. */
interface Allowed {
  readonly fingerprints: Set<string>;
  readonly last: AllowedTool & Pick<ConfirmRequest, "definition">;
}

interface Asked<W extends Waiting, A> {
  readonly waiting: W;
  /** Takes the first answer. */
  readonly settle: (answer: A, place: string) => void;
}

type AskedCall = Asked<WaitingCall, Decision>;
type AskedQuestion = Asked<WaitingQuestion | WaitingSignIn, Answer>;

/**
 * The one place for what waits for a person. All faces are asked at once, and the first answer counts. Where there is no
 * face, those count who look at what waits; without them, nobody is asked.
 */
export class People {
  readonly #now: () => number;
  readonly #faces: Face[] = [];
  readonly #calls = new Map<string, AskedCall>();
  readonly #questions = new Map<string, AskedQuestion>();
  readonly #gone = new BoundedMap<string, string>(MAX_GONE);
  readonly #allowed = new Map<string, Allowed>();
  readonly #followers: Followers<WaitingEvent>;
  #lastQuestion = 0;
  #watchers = 0;
  #lookedAtMs = -Infinity;

  constructor({ log, now = () => performance.now() }: PeopleOptions) {
    this.#followers = new Followers(log);
    this.#now = now;
  }

  /** Asks at this place, too, from now on. */
  addFace(face: Face): void {
    this.#faces.push(face);
  }

  /** Somebody looks at what waits now, and counts as being there for a minute. */
  look(): void {
    this.#lookedAtMs = this.#now();
  }

  /** Somebody looks until the disposal, and counts as being there for a minute longer. */
  watch(): Disposable {
    this.#watchers++;
    return {
      [Symbol.dispose]: () => {
        this.#watchers--;
        this.look();
      },
    };
  }

  /** Tells what waits, to a program. */
  follow(listener: (event: WaitingEvent) => void): Disposable {
    return this.#followers.follow(listener);
  }

  /** What waits, oldest first. */
  get waiting(): readonly Waiting[] {
    const all = [...this.#calls.values(), ...this.#questions.values()].map(({ waiting }) => waiting);
    return all.sort((one, other) => one.since.getTime() - other.since.getTime());
  }

  /**
   * Asks before each call, unless a person has allowed the tool, as it is listed and configured now, to the Agent and its
   * client until this Computer ends; a call that demands a person is always asked about.
   */
  readonly confirm: Confirm = async (request) => {
    const { fingerprint, mustAsk } = request;
    const key = keyOf(request);
    const before = this.#allowed.get(key);
    if (!mustAsk && before?.fingerprints.has(fingerprint) === true) return true;
    const waiting: WaitingCall = {
      id: request.callId,
      since: new Date(),
      kind: "call",
      request,
      changed: changeOf(request, before),
    };
    const decision = await this.#ask(waiting, this.#calls, (face, signal) => face.decide(waiting, signal));
    if (decision !== "always" || mustAsk) return decision === undefined ? undefined : decision !== "no";
    const fingerprints = this.#allowed.get(key)?.fingerprints ?? new Set();
    this.#allowed.set(key, { fingerprints: fingerprints.add(fingerprint), last: request });
    for (const { waiting: { request: other }, settle } of [...this.#calls.values()]) {
      const isSame = keyOf(other) === key && other.fingerprint === fingerprint;
      if (isSame && !other.mustAsk) settle("yes", WITH_ANOTHER);
    }
    return "always";
  };

  /** Whether a tool is allowed to anybody by `always`. */
  isAllowed(tool: AllowedTool): boolean {
    return this.#allowedKeys(tool).length > 0;
  }

  /** Takes back what `always` allowed of a tool; tells whether there was anything. */
  forget(tool: AllowedTool): boolean {
    return this.#allowedKeys(tool).map((key) => this.#allowed.delete(key)).length > 0;
  }

  #allowedKeys({ server, tool }: AllowedTool): string[] {
    const entries = [...this.#allowed].filter(([, { last }]) => last.server === server && last.tool === tool);
    return entries.map(([key]) => key);
  }

  readonly answerQuestion: AnswerQuestion = async (request) => {
    const waiting: WaitingQuestion = { ...this.#newQuestion(), kind: "question", request };
    return await this.#ask(waiting, this.#questions, (face, signal) => face.answer(waiting, signal));
  };

  /**
   * Lets a sign-in wait until the disposal. It may get several answers.
   *
   * @return `update` shows it anew.
   */
  hold(
    signIn: Pick<WaitingSignIn, "server" | "told">,
    onAnswer: (answer: Answer, place: string) => void,
  ): Disposable & { readonly update: (problem: string) => void } {
    const { id, since } = this.#newQuestion();
    let gone = ENDED_SIGN_IN;
    const show = (problems: readonly string[]) => {
      const waiting: WaitingSignIn = { id, since, kind: "sign-in", ...signIn, problems };
      const settle = (answer: Answer, place: string) => {
        if (answer.action !== "accept") gone = `answered ${place}`;
        onAnswer(answer, place);
      };
      this.#questions.set(id, { waiting, settle });
      this.#followers.tell({ waiting });
    };
    show([]);
    return {
      update: (problem) => show([problem]),
      [Symbol.dispose]: () => {
        const waiting = this.#questions.get(id)?.waiting;
        if (waiting === undefined) return;
        this.#questions.delete(id);
        this.#gone.set(id, gone);
        this.#followers.tell({ waiting, gone });
      },
    };
  }

  /**
   * Decides about a call.
   *
   * @param decision `shown`: the digest of what the person was shown.
   * @throws {StateChangedError} when the call does not wait any more, or is another one than was shown.
   */
  decide(
    id: string,
    { decision, shown, place }: {
      readonly decision: Decision;
      readonly shown?: string | undefined;
      readonly place: string;
    },
  ): void {
    const { waiting, settle } = this.#find(this.#calls, id, "call");
    if (decision !== "no" && shown !== digestOf(waiting)) {
      throw new StateChangedError(
        `Cannot allow call "${id}": it is another one than was shown; look at it again`,
      );
    }
    if (decision === "always" && waiting.request.mustAsk) {
      throw new UsageError(
        `Cannot allow call "${id}" always: the Agent demands that a person is asked each time`,
      );
    }
    settle(decision, place);
  }

  /**
   * Answers a question.
   *
   * @throws {UsageError} when the content does not fit the form, with a line for each problem; the question still waits.
   * @throws {StateChangedError} when the question does not wait any more.
   */
  answer(id: string, { answer, place }: { readonly answer: Answer; readonly place: string }): void {
    const { waiting, settle } = this.#find(this.#questions, id, "question");
    const fields = waiting.kind === "question" && waiting.request.mode === "form"
      ? waiting.request.fields
      : undefined;
    if (answer.action === "accept" && fields !== undefined) {
      const { problems } = checkContent(fields, answer.content ?? {});
      if (problems !== undefined) {
        throw new UsageError(`Cannot answer question "${id}": ${problems.join("; ")}`);
      }
    }
    settle(answer, place);
  }

  /** A call that waits. */
  callOf(id: string): WaitingCall {
    return this.#find(this.#calls, id, "call").waiting;
  }

  #newQuestion(): Pick<Waiting, "id" | "since"> {
    return { id: `q${++this.#lastQuestion}`, since: new Date() };
  }

  get #isSomebodyHere(): boolean {
    return this.#faces.length > 0 || this.#watchers > 0 || this.#now() - this.#lookedAtMs < ATTENTION_MS;
  }

  #find<W extends Waiting, A>(
    all: ReadonlyMap<string, Asked<W, A>>,
    id: string,
    kind: "call" | "question",
  ): Asked<W, A> {
    const asked = all.get(id);
    if (asked !== undefined) return asked;
    const why = this.#gone.get(id);
    throw new StateChangedError(
      why === undefined ? `No ${kind} "${id}" waits` : `No ${kind} "${id}" waits any more: ${why}`,
    );
  }

  /**
   * Asks all faces, and takes the first answer; `undefined` when nobody is there.
   *
   * @throws The reason of the request's signal; what a face throws.
   */
  async #ask<W extends Waiting, A>(
    waiting: W & (WaitingCall | WaitingQuestion),
    all: Map<string, Asked<W, A>>,
    ask: (face: Face, signal: AbortSignal) => Promise<A>,
  ): Promise<A | undefined> {
    if (!this.#isSomebodyHere) return undefined;
    const { id, request: { signal } } = waiting;
    const { promise, resolve, reject } = Promise.withResolvers<A>();
    const over = new AbortController();
    let gone = ENDED;
    const settle = (answer: A, place: string) => {
      if (!all.delete(id)) return;
      gone = `answered ${place}`;
      over.abort(gone);
      resolve(answer);
    };
    all.set(id, { waiting, settle });
    try {
      this.#followers.tell({ waiting });
      const asked = AbortSignal.any([signal, over.signal]);
      for (const face of this.#faces) {
        // What a withdrawn question ends with is no answer.
        ask(face, asked).then((answer) => asked.aborted ? undefined : settle(answer, face.place), reject);
      }
      return await abortable(promise, signal);
    } finally {
      all.delete(id);
      over.abort(ENDED);
      this.#gone.set(id, gone);
      this.#followers.tell({ waiting, gone });
    }
  }
}

/** What `always` holds for, but for what the tool is. */
function keyOf({ isLocal, agent, client, server, tool }: ConfirmRequest): string {
  return JSON.stringify([isLocal, agent, client, server, tool]);
}

/** What has changed since the tool was allowed. */
function changeOf(request: ConfirmRequest, before: Allowed | undefined): WaitingCall["changed"] {
  const changes = before === undefined
    ? request.changes
    : toolChanges(before.last.definition, request.definition);
  if (changes.length === 0 && before === undefined) return undefined;
  return { what: changes.length === 0 ? "the entry of its MCP server" : describeChanges(changes), changes };
}
