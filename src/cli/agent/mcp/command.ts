/** `agent.ts mcp`: the office as one MCP server for an MCP client. */
import type { Agent } from "../../../agent/agent.ts";
import { longNames } from "../../../agent/group/computer_names.ts";
import { OfficeGroup } from "../../../agent/group/office_group.ts";
import { type OfficeJoin, startJoin } from "../../../agent/group/office_join.ts";
import type { Office } from "../../../agent/toolkit/office.ts";
import { TELL_USER } from "../../../agent/toolkit/tool_result.ts";
import { NoCredentialsError } from "../../../link/credentials.ts";
import { AuthenticationError, JoinRefusedError, ServerUnreachableError } from "../../../link/errors.ts";
import { untilAborted } from "../../../async/abortable.ts";
import { createGateway } from "../../../gateway/gateway_core.ts";
import type { Activity, Gateway, GatewayOptions } from "../../../gateway/gateway_options.ts";
import { createHttpHandler } from "../../../gateway/http/handler.ts";
import { serveOnStdio } from "../../../gateway/stdio.ts";
import { OWNER } from "../../../http/mcp/access.ts";
import type { Logger } from "../../../log.ts";
import { describeError, shorten } from "../../../text/text.ts";
import type { McpOptions } from "./install/entry.ts";
import { type CredentialOptions, credentialsRemedy } from "../../credentials.ts";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { admissionOf, listenOnHttp } from "../../http_service.ts";
import { protectResource } from "../../../http/mcp/resource_server.ts";
import { patienceMsOf } from "../../gateway_options.ts";
import { openResourceServer } from "../../resource_server.ts";
import { GatewayState } from "./gateway_state.ts";
import { describeFileError, openLineLog } from "../../../files/files.ts";
import { escapeUnseen } from "../../../text/safe_text.ts";
import { UsageError } from "../../outcome.ts";

export interface McpContext {
  readonly computers: readonly string[] | undefined;
  readonly offices: readonly string[];
  readonly credentials: CredentialOptions;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly connect: (office: string, signal: AbortSignal) => Promise<Agent>;
  /** Waits, before the Agents are closed, for other programs that use their connections. */
  readonly settle: () => Promise<void>;
}

/** Serves a client until it is gone, or the command is interrupted. Answers before the Server can be reached. */
export async function serveMcp(options: McpOptions, context: McpContext): Promise<void> {
  const { logger, signal, computers } = context;
  await using stack = new AsyncDisposableStack();
  const state = options.state === undefined ? undefined : await GatewayState.open(options.state, logger);
  const onActivity = openActivityLog(options, logger);
  const ending = new AbortController();
  const joining = { ...context, signal: AbortSignal.any([signal, ending.signal]) };
  const patienceMs = patienceMsOf(options);
  const isForClient = options.http === undefined;
  const explain = isForClient ? explainToClient(context.credentials) : explainToOperator;
  const { office, problem, failed, joins } = joinOffices(joining, { state, stack, patienceMs, explain });
  /** Why the office cannot be used any more, where the client is to hear it. */
  let failure: string | undefined;
  const presented: GatewayOptions = {
    computers,
    tools: options.tools,
    builtinTools: options.builtinTools,
    searchAndFetch: options.searchFetch,
    onChange: options.onChange,
    patienceMs,
    callTimeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
    onActivity,
    logger,
  };
  const gateway: Gateway = stack.use(
    createGateway(office, { ...presented, memory: state?.of(), problem: () => failure ?? problem() }),
  );
  const presentOne = ({ agent, label, problem }: OfficeJoin<Agent>) =>
    joins.length === 1
      ? gateway
      : stack.use(createGateway(agent, { ...presented, memory: state?.of([label]), problem }));
  const offices = () => Object.fromEntries(joins.map((join) => [join.label, presentOne(join)]));
  const stop = AbortSignal.any([signal, ending.signal]);
  failed.catch((error) => {
    const why = isForClient ? explain(error) : undefined;
    // What only the user can solve: this program does not try again.
    if (why?.includes(TELL_USER)) failure = why;
    else ending.abort();
  });
  try {
    await serveClients(gateway, { ...context, options, offices, signal: stop });
    if (!signal.aborted && ending.signal.aborted) await failed;
  } finally {
    // What ends on purpose is not a failure to reach the office.
    await gateway.close();
    await context.settle();
    ending.abort();
    await state?.close();
  }
}

/** Serves until the only client is gone, or the signal is aborted. */
async function serveClients(
  gateway: Gateway,
  { options, offices, signal, logger }: Pick<McpContext, "signal" | "logger"> & {
    readonly options: McpOptions;
    /** Makes a gateway of each office, for paths of their own. */
    readonly offices: () => Readonly<Record<string, Gateway>>;
  },
): Promise<void> {
  const { http, publicUrl } = options;
  if (http !== undefined) {
    await using tokens = await openResourceServer(options, logger);
    if (tokens !== undefined && publicUrl === undefined) {
      throw new UsageError(
        "Cannot use --oauth-issuer: clients ask for tokens by the URL of this port; add --public-url",
      );
    }
    const access = tokens && protectResource([tokens]);
    const place = { file: "gateway.token", what: "the office", logger, access };
    const admission = await admissionOf({ ...options, http }, place);
    const handler = createHttpHandler(gateway, {
      ...admission,
      publicUrl,
      offices: offices(),
      logger,
    });
    return await listenOnHttp(handler, { ...http, logger, signal });
  }
  const service = serveOnStdio(gateway, { logger });
  await Promise.race([service.closed, untilAborted(signal)]);
  await service.close();
}

interface Joined {
  readonly office: Office | Promise<Office>;
  /** Why no office is joined yet, in words for users. */
  readonly problem: () => string | undefined;
  /** Rejects when no office can be used any more; never resolves. */
  readonly failed: Promise<never>;
  /** The offices one by one. */
  readonly joins: readonly OfficeJoin<Agent>[];
}

type Joining = Pick<McpContext, "connect" | "offices" | "signal" | "logger" | "computers">;

/** Joins the offices: of several, one that cannot be joined, or not yet, keeps nobody from using the others. */
function joinOffices(
  { connect, offices, signal, logger, computers }: Joining,
  { state, stack, patienceMs, explain }: {
    readonly state: GatewayState | undefined;
    readonly stack: AsyncDisposableStack;
    readonly patienceMs: number | undefined;
    readonly explain: Explain;
  },
): Joined {
  const joins = offices.map((label) =>
    startJoin((ending) => connect(label, ending), {
      label,
      signal,
      logger,
      explain: (error) => Promise.resolve(explain(error)),
    })
  );
  for (const join of joins) stack.defer(join.close);
  const [only, ...others] = joins;
  if (only !== undefined && others.length === 0) {
    const { agent, problem } = only;
    let joined: Agent | undefined;
    agent.then((agent) => joined = agent, () => undefined);
    const refusal = () =>
      joined?.problem instanceof AuthenticationError ? explain(joined.problem) : undefined;
    return { office: agent, problem: () => problem() ?? refusal(), failed: agent.then(untilFailed), joins };
  }
  const given = [...longNames(computers, offices), ...state?.of().kept.computers ?? []];
  const group = stack.use(new OfficeGroup(joins, { names: given, patienceMs, logger }));
  return { office: group, problem: () => undefined, failed: untilFailed(group), joins };
}

/** Why an office is not joined yet; `undefined` where the gateway ends with the error. */
type Explain = (error: unknown) => string | undefined;

/** A service ends when only its operator can help. */
const explainToOperator: Explain = (error) => {
  const isPassing = error instanceof JoinRefusedError ||
    (error instanceof ServerUnreachableError && !error.isPermanent);
  return isPassing ? describeError(error) : undefined;
};

/** A gateway that ends looks like a crash to the user of a client, who has no log of it: the answers say why. */
function explainToClient(credentials: CredentialOptions): Explain {
  return (error) => {
    if (error instanceof ServerUnreachableError) return describeError(error);
    if (error instanceof JoinRefusedError && error.serverCode === ErrorCode.FORBIDDEN && !error.isPassing) {
      return `${describeError(error)}. ${TELL_USER}`;
    }
    if (!(error instanceof AuthenticationError)) return explainToOperator(error);
    // An address or a sender is refused whatever the credentials are, and where there are none, the error says why.
    const areRefused = error.serverCode !== ErrorCode.FORBIDDEN && !(error instanceof NoCredentialsError);
    const remedy = areRefused ? `, who has to ${credentialsRemedy(credentials)}` : "";
    return `${describeError(error)}. ${TELL_USER}${remedy}`;
  };
}

function untilFailed(office: Office): Promise<never> {
  return new Promise((_, reject) => void office.on("failed", ({ error }) => reject(error)));
}

/** The most characters of the names in an entry, which a client chooses. */
const MAX_LOGGED_NAME_LENGTH = 256;

/**
 * Returns what appends calls to a file. Arguments are left out unless they are wanted: they may hold secrets. Calls that cannot be
 * written go on: the log says so once, and again when the file can be written.
 *
 * @throws {UsageError} when the file cannot be written.
 */
export function openActivityLog(
  { activityLog: path, activityArguments: hasArguments = false }: Pick<
    McpOptions,
    "activityLog" | "activityArguments"
  >,
  logger: Logger,
): ((activity: Activity) => void) | undefined {
  if (path === undefined) return undefined;
  let append: (line: string) => void;
  try {
    append = openLineLog(path);
  } catch (cause) {
    throw new UsageError(`Cannot write the activity log "${path}": ${describeFileError(cause)}`, { cause });
  }
  let lost = 0;
  return (activity) => {
    const { args } = activity;
    const entry = { ...toEntry(activity), ...(hasArguments ? { arguments: args } : {}) };
    try {
      append(escapeUnseen(JSON.stringify(entry)));
    } catch (error) {
      if (lost++ === 0) {
        logger.error("failed to write the activity log: calls go on without a record", {
          path,
          error: describeError(error),
        });
      }
      return;
    }
    if (lost > 0) logger.warn("the activity log is written again", { path, lines_lost: lost });
    lost = 0;
  };
}

function toEntry({ client, credential, name, person, office, ...call }: Activity) {
  const short = (text: string | undefined) => text ? shorten(text, MAX_LOGGED_NAME_LENGTH) : undefined;
  return {
    time: new Date().toISOString(),
    client: short(client),
    ...(credential === OWNER.id ? {} : { credential, name: short(name), person: short(person) }),
    office,
    computer: call.computer,
    tool: short(call.tool),
    duration_ms: Math.round(call.durationMs),
    outcome: call.outcome,
    code: call.code,
    reason: short(call.reason),
  };
}
