/** Tool calls: a call finds its tool, has its arguments checked and confirmed, and runs on its MCP server. */
import { onAbort } from "../../async/abortable.ts";
import type { Followers } from "../../async/followers.ts";
import type { Ask, Progress } from "../../mcp/call_options.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { describeError, shorten } from "../../text/text.ts";
import { withStrings } from "../../json/json.ts";
import type { CallToolResult, ToolCallReq } from "../../protocol/tools.ts";
import type { ComputerEvent } from "../shared/computer_events.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import type { OfficeAgent } from "../office/office_agent.ts";
import type { CallQuestions } from "../questions/call_questions.ts";
import type { AnswerQuestion } from "../questions/question.ts";
import type { AgentChannel } from "../questions/agent_channel.ts";
import type { AgentTexts } from "../secrets/agent_texts.ts";
import type { VrlEngine } from "../vrl/engine.ts";
import { checkArguments } from "./arguments.ts";
import type { Confirm, Confirmations } from "./confirmation.ts";
import type { Approving, ToolDirectory, ToolRoute } from "./directory.ts";
import type { ToolCallHistory } from "./history.ts";
import { OwnerCalls, type OwnerCallsContext } from "./owner_calls.ts";
import {
  busyResult,
  changedResult,
  disabledResult,
  MAX_KEPT_NAME_LENGTH,
  pausedResult,
  refuseUnknown,
} from "./refusals.ts";
import {
  failureResult,
  RepeatedCalls,
  toFailureOutcome,
  type ToolOutcome,
  toWireResult,
  withAuthHint,
  withEffect,
  withNotes,
  withTexts,
} from "./results.ts";
import {
  type ProgressUpdate,
  type RunningCall,
  RunningCalls,
  ToolCallCancelled,
} from "../shared/running_call.ts";
import { isForbidden } from "./settings.ts";
import { definitionOf, describeChanges, toolChanges } from "./tool_changes.ts";

/** How much of the text of a progress is passed on, in characters. */
const MAX_PROGRESS_LENGTH = 1_000;

export interface ToolCallsContext
  extends SharedParts, Approving, Pick<OwnerCallsContext, "name" | "onPaused"> {
  readonly directory: ToolDirectory;
  readonly history: ToolCallHistory;
  readonly confirm: Confirm | undefined;
  /** Reaches the person at the Computer; `undefined` when nobody does. */
  readonly answerQuestion: AnswerQuestion | undefined;
  /** The way to the Agent's user. */
  readonly channel: AgentChannel;
  readonly agent: Pick<OfficeAgent, "name" | "known">;
  /** Resolves when all is read that came during a sleep: to `false` when the connection has ended in it. */
  readonly isAwake: (() => Promise<boolean> | undefined) | undefined;
  /** A call that the Agent follows has made progress; ignored by default. */
  readonly onProgress: ((update: ProgressUpdate) => void) | undefined;
  readonly events: Followers<ComputerEvent>;
  readonly vrl: () => Promise<VrlEngine>;
  /** Masks what the caller is told of a failed call, and of its progress. */
  readonly maskerOf: (
    call: Pick<RunningCall, "request" | "isLocal">,
  ) => Pick<AgentTexts, "mask" | "maskFailure">;
}

export interface CallOptions {
  /** True for a call by this Computer's own program, false for one by the office's Agent; false by default. */
  readonly isLocal?: boolean | undefined;
  /** Asks the person at the Computer whatever the configuration allows; false by default. */
  readonly mustAsk?: boolean | undefined;
  /** Skips the confirmation; false by default. */
  readonly isConfirmed?: boolean | undefined;
  /** Reaches the person who made the call; by default the person at the Computer. */
  readonly answerQuestion?: AnswerQuestion | undefined;
  /** Cancels the call when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the progress of a local call. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** How long a local call may make no progress, in milliseconds; as long as its time-out by default. */
  readonly idleMs?: number | undefined;
}

export class ToolCalls {
  readonly #context: ToolCallsContext;
  #confirmations: Promise<Confirmations> | undefined;
  /** When the Agent was out of reach last, by `performance.now()`. */
  #agentLeftMs = -Infinity;
  readonly #repeated = new RepeatedCalls();
  readonly #running: RunningCalls;
  /** The calls for the owner of the Computer. */
  readonly owner: OwnerCalls;

  constructor(context: ToolCallsContext) {
    this.#context = context;
    const running = this.#running = new RunningCalls(context.onProgress);
    this.owner = new OwnerCalls({
      ...context,
      running,
      cancel: (call) => this.#end((each) => each === call),
    });
  }

  /**
   * Answers `client:tool_call`. A failure of the tool is a result with `isError`.
   *
   * @throws {SmcpError} 400 when the `req_id` was used for another call.
   * @throws The signal's reason when it is already aborted.
   */
  async call(request: ToolCallReq, options: CallOptions = {}): Promise<CallToolResult> {
    const { signal } = options;
    signal?.throwIfAborted();
    using _ = onAbort(signal, () => this.cancel(request.req_id));
    return await (this.#repeated.answerOf(request) ?? this.#start(request, options));
  }

  /** Answers `client:follow_call`, as {@linkcode RunningCalls.follow} does. */
  follow(reqId: string, idleMs: number | undefined): Progress | undefined {
    return this.#running.follow(reqId, idleMs);
  }

  /** Cancels the calls with this request id; ignores an unknown id. */
  cancel(reqId: string): void {
    this.#end(({ request }) => request.req_id === reqId);
  }

  /** Cancels the calls of the office that wait for an answer of the Agent's user. */
  endAgent(): void {
    this.#agentLeftMs = performance.now();
    this.#running.endAgent();
    this.#end(({ isLocal, isSuspended }) => !isLocal && isSuspended, { isCallerGone: true });
  }

  /** Cancels the calls of the office that were not asked for since, but none whose question the Agent can answer. */
  giveUpAgent(askedUntilMs: number): void {
    const isGivenUp = (call: RunningCall) =>
      !call.isLocal && !call.isSuspended && call.askedAtMs <= askedUntilMs;
    this.#end(isGivenUp, { isCallerGone: true });
  }

  onConnectionLost(): void {
    this.#agentLeftMs = performance.now();
  }

  /** Forgets the answers that are kept for repeated requests: the Computer has left the office. */
  forgetAgent(): void {
    this.#repeated.clear();
  }

  close(): void {
    this.#end(() => true);
  }

  #end(isMeant: (call: RunningCall) => boolean, why: { readonly isCallerGone?: boolean } = {}): void {
    for (const call of [...this.#running].filter(isMeant)) {
      call.clock.abort(new ToolCallCancelled(`Call "${call.request.req_id}" was cancelled`, why));
    }
  }

  #start(request: ToolCallReq, options: CallOptions): Promise<CallToolResult> {
    const isLocal = options.isLocal === true;
    const refusal = isLocal ? undefined : this.#refuseNow(request);
    if (refusal !== undefined) return Promise.resolve(refusal);
    const report = (progress: Progress) => {
      this.#running.onProgress(call, progress);
      this.owner.tell(call);
      if (isLocal) options.onProgress?.(progress);
    };
    const call: RunningCall = this.#running.begin(request, {
      isLocal,
      mustAsk: options.mustAsk === true,
      agentName: this.#context.agent.name,
      idleMs: options.idleMs,
      report: this.#masked({ request, isLocal }, report),
    });
    const result = this.#run(call, options);
    result.then((last) => call.finish(last), (error) => call.fail(error));
    this.#repeated.keep(request, { call, result });
    return call.answer;
  }

  /** This answer is not kept, so the Agent can send the same request again. */
  #refuseNow(request: ToolCallReq): CallToolResult | undefined {
    const { tool_name } = request;
    if (this.owner.isPaused) {
      this.owner.keepRefused(request);
      return pausedResult(tool_name, this.#context.name);
    }
    const { limits: { maxCalls }, warnOnce } = this.#context;
    if ([...this.#running].filter(({ isLocal }) => !isLocal).length < maxCalls) return undefined;
    warnOnce.warn("tool calls are refused: too many run at once", { limit: maxCalls });
    return busyResult(tool_name, maxCalls);
  }

  async #run(call: RunningCall, options: CallOptions): Promise<CallToolResult> {
    using running = call;
    const { request } = running;
    const startMs = performance.now();
    const { approved, directory } = this.#context;
    if (!approved.isReady) await approved.ready;
    const route = directory.view.routes.get(request.tool_name);
    if (route !== undefined) {
      call.place = { server: route.server.name, tool: route.tool.name };
      this.owner.tell(call);
    }
    const ended = route === undefined
      ? refuseUnknown(request.tool_name, { directory, fleet: this.#context.fleet })
      : await this.#execute(call, route, options);
    this.#record(call, ended, performance.now() - startMs);
    if (ended.isOwnResult === true) return ended.result;
    const masker = this.#context.maskerOf(call);
    const masked = withTexts(ended.result, (text) => masker.maskFailure(text));
    const result = call.mayHaveRun ? withEffect(masked) : masked;
    const server = route?.server.name ?? ended.server;
    const isHinted = this.#context.rules.hasAuthHints && server !== undefined;
    return isHinted ? withAuthHint(result, server) : result;
  }

  /** Writes a call to the history and the log; the log has names and numbers, never arguments or results. */
  #record(call: RunningCall, { outcome, result: { meta } }: ToolOutcome, durationMs: number): void {
    const { id: callId, request, startedAt, place } = call;
    const { log } = this.#context;
    const { server, tool = shorten(request.tool_name, MAX_KEPT_NAME_LENGTH) } = place ?? {};
    const { reqId, agent, client } = this.owner.callerOf(call);
    const told = { agent, client, server, tool, outcome };
    this.owner.keep({ ...told, callId, reqId, startedAt, durationMs, errorCode: meta?.error_code }, request);
    log.info("tool call", {
      req_id: reqId,
      ...told,
      error_code: meta?.error_code,
      duration_ms: Math.round(durationMs),
    });
  }

  /** Runs a call within its time, and as long as it is not cancelled. */
  async #execute(call: RunningCall, route: ToolRoute, options: CallOptions): Promise<ToolOutcome> {
    const { isConfirmed = false } = options;
    let questions: Promise<CallQuestions> | undefined;
    const questionsOf = () => questions ??= this.#openQuestions(call, route, options);
    const notes = async () => (await questions)?.notes ?? [];
    try {
      const isAutoApplied = route.isAutoApplied && route.changed === undefined;
      const isAllowed = !call.mustAsk && (isConfirmed || isAutoApplied);
      const wrong = this.#refuseWrongArguments(call.request, route);
      if (wrong !== undefined) return { result: wrong, outcome: "error" };
      const refusal = isAllowed ? undefined : await this.#refuseUnconfirmed(call, route);
      if (refusal !== undefined) return refusal;
      const used = await this.#use(call, route, questionsOf)
        .catch(async (error) => askForPages(error, await questionsOf()));
      return withNotes(used, await notes());
    } catch (error) {
      const { request: { tool_name: name }, clock: { limitMs: timeoutMs }, awaited } = call;
      const failed = { name, timeoutMs, awaited, server: route.server.name };
      return withNotes(toFailureOutcome(error, failed), await notes());
    }
  }

  /** Most calls ask nobody, so what asks is loaded with the first one that does. */
  #loadConfirmations(): Promise<Confirmations> {
    return this.#confirmations ??= import("./confirmation.ts")
      .then(({ Confirmations }) => new Confirmations(this.#context));
  }

  async #openQuestions(call: RunningCall, route: ToolRoute, options: CallOptions): Promise<CallQuestions> {
    const { answerQuestion = this.#context.answerQuestion } = options;
    const { CallQuestions } = await import("../questions/call_questions.ts");
    const { person } = await this.#loadConfirmations();
    return new CallQuestions(call, route, { ...this.#context, answerQuestion, person });
  }

  /** Passes on the progress of a call, without known secrets. */
  #masked(
    call: Pick<RunningCall, "request" | "isLocal">,
    report: (progress: Progress) => void,
  ): (progress: Progress) => void {
    const { maskerOf, log } = this.#context;
    let masker: Pick<AgentTexts, "mask"> | undefined;
    return (progress) => {
      const { message } = progress;
      try {
        masker ??= maskerOf(call);
        report(
          message === undefined
            ? progress
            : { ...progress, message: shorten(masker.mask(message), MAX_PROGRESS_LENGTH) },
        );
      } catch (error) {
        log.warn("the listener for the progress of a call failed", { error: describeError(error) });
      }
    };
  }

  /** Calls the MCP server. The call's clock limits the time, because it stands still while a person is asked. */
  async #use(
    call: RunningCall,
    route: ToolRoute,
    questionsOf: () => Promise<CallQuestions>,
  ): Promise<ToolOutcome> {
    await this.#untilAwake(call);
    const ask: Ask = async (question, options) => await (await questionsOf()).ask(question, options);
    const { request, clock: { limitMs, signal, onProgress } } = call;
    const { server, tool } = route;
    const needsTask = tool.execution?.["taskSupport"] === "required";
    const toolCall = { name: tool.name, arguments: request.params, needsTask };
    const taskMs = needsTask ? limitMs + this.#context.channel.timeoutMs : limitMs;
    const options = { timeoutMs: Infinity, taskMs, signal, onProgress, ask, isLocal: call.isLocal };
    const raw = await server.use((connection) => {
      call.mayHaveRun = true;
      return connection.callTool(toolCall, options);
    }, { signal });
    if (!Array.isArray(raw["content"])) {
      const fields = { server: server.name, tool: tool.name };
      this.#context.warnOnce.warn("the content of a tool's result is no list", fields);
    }
    // Long texts may be bytes instead of strings; only the way to an Agent can use them.
    const isForAgent = !call.isLocal && route.vrl === undefined;
    const own = toWireResult(isForAgent ? raw : withStrings(raw), route.meta);
    const result = await this.#transform(own, { call, route });
    return { result, outcome: result.isError === true ? "error" : "ok", isOwnResult: true };
  }

  /** A call that came during a sleep of this machine may be cancelled, or its connection lost, by what is still unread. */
  async #untilAwake({ isLocal, clock: { signal } }: RunningCall): Promise<void> {
    const isAwake = isLocal ? undefined : this.#context.isAwake?.();
    if (isAwake === undefined) return;
    if (!await isAwake) throw new ToolCallCancelled("The connection has ended while this machine slept");
    signal.throwIfAborted();
  }

  #refuseWrongArguments(request: ToolCallReq, { server, tool }: ToolRoute): CallToolResult | undefined {
    const { problems, uncheckedBecause } = checkArguments(tool.inputSchema, request.params);
    if (uncheckedBecause !== undefined) {
      this.#context.warnOnce.warn("arguments are not checked against the tool's input schema", {
        server: server.name,
        tool: tool.name,
        reason: uncheckedBecause,
      });
    }
    if (problems.length === 0) return undefined;
    const text = `Tool "${request.tool_name}" was not called: ${problems.join("; ")}`;
    return failureResult(text, { error_code: ErrorCode.TOOL_EXECUTION_FAILED, a2c_reason: "arguments" });
  }

  async #refuseUnconfirmed(call: RunningCall, route: ToolRoute): Promise<ToolOutcome | undefined> {
    // Nobody is asked about a call that cannot run.
    await route.server.use(() => Promise.resolve(), { signal: call.clock.signal });
    call.awaited = "confirmer";
    this.owner.tell(call);
    const refusal = await (await this.#loadConfirmations()).refusalOf(call, route);
    call.awaited = undefined;
    if (refusal !== undefined) return refusal;
    // Where its Agent has gone meanwhile, it runs when it is asked for again.
    if (!call.isLocal && call.askedAtMs <= this.#agentLeftMs) {
      call.awaited = "caller";
      this.owner.tell(call);
      await call.askedAfter(this.#agentLeftMs);
      call.awaited = undefined;
    }
    this.owner.tell(call);
    // The configuration may have changed meanwhile, and so may the tool.
    const { server, tool, spellings } = route;
    const { tool_name } = call.request;
    if (isForbidden(server.config, tool.name, spellings)) {
      return { result: disabledResult(tool_name), outcome: "error" };
    }
    const now = this.#context.directory.routeOf({ server: server.name, tool: tool.name });
    const changes = now === undefined ? [] : toolChanges(definitionOf(tool), definitionOf(now.tool));
    if (changes.length === 0) return undefined;
    return { result: changedResult(tool_name, describeChanges(changes)), outcome: "error" };
  }

  async #transform(
    result: CallToolResult,
    { call, route }: { readonly call: RunningCall; readonly route: ToolRoute },
  ): Promise<CallToolResult> {
    const { server, tool, vrl: script } = route;
    if (script === undefined) return result;
    const { vrl, log } = this.#context;
    const [engine, { transformResult }] = await Promise.all([vrl(), import("../vrl/transform.ts")]);
    const { request: { params, req_id }, clock: { signal } } = call;
    const fields = { req_id: shorten(req_id, MAX_KEPT_NAME_LENGTH), server: server.name, tool: tool.name };
    return await transformResult(result, { tool: tool.name, params }, {
      engine,
      script,
      signal,
      log,
      fields,
    });
  }
}

/** Asks the user to open the pages that an error of the MCP server wants; throws any other error. */
async function askForPages(error: unknown, questions: CallQuestions): Promise<ToolOutcome> {
  const sentence = await questions.askForPages(error);
  if (sentence === undefined) throw error;
  const result = failureResult(sentence, { error_code: ErrorCode.TOOL_EXECUTION_FAILED });
  return { result, outcome: "error" };
}
