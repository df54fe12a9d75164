/** The paths on the port of a Server by which machines join by code. */
import { rateOf, TokenBucket } from "../../async/token_bucket.ts";
import { BoundedLog } from "../../bounded_log.ts";
import { CODE_MS, parseCode } from "../../http/codes.ts";
import { answerByFetch } from "../../http/fetch_adapter.ts";
import type { AskedRequest } from "../../http/headers.ts";
import { originOf } from "../../http/proxies.ts";
import { senderProblem, type SenderRules } from "../../http/senders.ts";
import { StrangerQuotas } from "../../http/quotas.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { machineAudience, proofProblem, readMachineKey, subjectOf } from "../../jwt/proof.ts";
import type { Logger } from "../../log.ts";
import { SmcpError } from "../../protocol/errors.ts";
import {
  type JoinedMachine,
  type JoinStarted,
  MACHINE_JOIN_PATH,
  MACHINE_STATE_PATH,
} from "../../protocol/machines.ts";
import { nameProblem } from "../../protocol/names.ts";
import type { MachineJoins } from "../../server/admission/machine_joins.ts";
import type { Machines } from "../../server/admission/machines.ts";
import type { OtherPaths } from "../../server/engine/port.ts";
import { auditFields } from "../../server/observe/logs.ts";
import { readBoundedText } from "../../text/bounded_text.ts";
import { describeError, shorten } from "../../text/text.ts";

const MAX_BODY_BYTES = 8_192;
const MAX_SYSTEM_LENGTH = 100;
/** The longest URL of the Server, in characters. */
const MAX_URL_LENGTH = 300;
/** How long a machine waits between two questions, in seconds. */
const INTERVAL_S = 3;
/** The log lines about machines that ask to join, or are refused. */
const LINES = rateOf(30, 60_000);

/** A machine shows a proof, which no page has. Links are opened from anywhere. */
const SENDERS: SenderRules = { isFixed: true, isHostAllowed: () => true, isOriginAllowed: () => false };

export interface MachineDoorOptions {
  readonly machines: Machines;
  readonly joins: MachineJoins;
  readonly logger: Logger;
  /** Milliseconds since 1970; the clock of this machine by default. */
  readonly nowMs?: () => number;
}

/** Who asks, as far as proxies say. */
interface Asker {
  /** By which the machine has reached the Server. */
  readonly host: string;
  readonly address: string | undefined;
}

type Body = Readonly<Record<string, unknown>>;

export function createMachineDoor(options: MachineDoorOptions): OtherPaths {
  const door = new MachineDoor(options);
  return (request, response, { forwarded }) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    if (![MACHINE_JOIN_PATH, MACHINE_STATE_PATH].includes(path)) return false;
    const { headers, socket, method = "" } = request;
    const origin = originOf(request, forwarded);
    const asker = { host: new URL(origin).host, address: forwarded?.address ?? socket.remoteAddress };
    const isPage = senderProblem(headers, SENDERS, forwarded) !== undefined;
    const isRead = path === MACHINE_JOIN_PATH && ["GET", "HEAD"].includes(method);
    void answerByFetch(request, response, {
      origin,
      fetch: (asked) =>
        isRead ? Promise.resolve(showCode(asked.url)) : door.answer(asked, { path, asker, isPage }),
    });
    return true;
  };
}

class MachineDoor {
  readonly #options: MachineDoorOptions;
  readonly #quotas = new StrangerQuotas();
  readonly #log: BoundedLog;
  readonly #now: () => number;

  constructor(options: MachineDoorOptions) {
    this.#options = options;
    this.#now = options.nowMs ?? Date.now;
    this.#log = new BoundedLog(options.logger, { buckets: [new TokenBucket(LINES)], about: "machines" });
  }

  /** Answers in JSON; a refusal has the status of the error's code. */
  async answer(
    request: AskedRequest,
    { path, asker, isPage }: { readonly path: string; readonly asker: Asker; readonly isPage: boolean },
  ): Promise<Response> {
    try {
      if (request.method !== "POST") throw new SmcpError(405, "Cannot serve this method");
      if (isPage) throw new SmcpError(403, "Cannot serve web pages");
      const isJoin = path === MACHINE_JOIN_PATH;
      const waitS = this.#quotas.take(isJoin ? "join" : "machine", asker.address);
      if (waitS !== undefined) throw new SmcpError(429, `Too many requests: try again in ${waitS} seconds`);
      const body = await readBody(request);
      return this.#json(200, isJoin ? await this.#join(body, asker) : await this.#tellState(body));
    } catch (error) {
      const refused = error instanceof SmcpError
        ? error
        : new SmcpError(503, "Cannot answer now; try again later");
      const { code, message } = refused;
      const fields = { reason: describeError(error), address: asker.address };
      this.#log.write(code === 503 ? "warn" : "debug", "refused a machine", fields);
      return this.#json(code, { error: message });
    }
  }

  /** `now` lets a machine whose clock is wrong prove that it has its key. */
  #json(status: number, body: object): Response {
    return Response.json({ ...body, now: this.#now() }, { status, headers: { "cache-control": "no-store" } });
  }

  async #join(
    { name, system, server, proof, ...rest }: Body,
    { host, address }: Asker,
  ): Promise<JoinStarted> {
    const { machines, joins } = this.#options;
    const key = readMachineKey(rest["key"]);
    const url = typeof server === "string" && server.length <= MAX_URL_LENGTH ? URL.parse(server) : null;
    if (key === undefined || url === null || typeof proof !== "string") throw new SmcpError(400, BAD_BODY);
    if (typeof name !== "string" || nameProblem(name) !== undefined) {
      throw new SmcpError(400, "Cannot use this name for a machine; give another --name");
    }
    if (url.host !== host) {
      const text =
        `Cannot join "${url.host}": the Server was asked as "${host}"; behind a proxy that changes Host, ` +
        "it needs --trust-proxy";
      throw new SmcpError(400, text);
    }
    const audience = machineAudience(url.href);
    const seen = joins.seenOf(key);
    const target = { audience, subject: name, nowMs: this.#now() };
    const problem = await proofProblem(proof, { ...target, key, seen });
    if (problem !== undefined) throw new SmcpError(401, `Unauthorized: ${problem}`);
    if (machines.problem !== undefined) {
      throw new SmcpError(503, "Cannot take machines now: ask the Server's operator");
    }
    const asking = { key, name, system: shorten(String(system), MAX_SYSTEM_LENGTH), audience, address };
    const begun = joins.begin(asking, seen);
    if (begun === undefined) {
      throw new SmcpError(503, "Cannot join now: too many machines wait for the operator");
    }
    this.#log.write(
      "info",
      "a machine asks to join",
      auditFields("machine", { name, address, server: audience }),
    );
    const link = `${audience}${MACHINE_JOIN_PATH}?code=${begun.code}`;
    return { ...begun, link, expires_in: CODE_MS / 1_000, interval: INTERVAL_S };
  }

  /** Of a machine that waits, by its handle, or of one that has joined. */
  async #tellState({ proof, withdraw }: Body): Promise<JoinedMachine | { readonly pending: true }> {
    const { machines, joins } = this.#options;
    const waiting = joins.find(await subjectOf(proof) ?? "");
    if (waiting === undefined || typeof proof !== "string") {
      const checked = await machines.check(proof);
      if ("refused" in checked) throw new SmcpError(401, `Unauthorized: ${checked.refused}`);
      return factsOf(checked.machine);
    }
    const target = { ...waiting, subject: waiting.handle, nowMs: this.#now() };
    const problem = await proofProblem(proof, target);
    if (problem !== undefined) throw new SmcpError(401, `Unauthorized: ${problem}`);
    if (withdraw === true) joins.withdraw(waiting);
    const joined = waiting.code === undefined ? machines.find(waiting.id) : undefined;
    return joined === undefined ? { pending: true } : factsOf(joined);
  }
}

const BAD_BODY = "Cannot read the body: see the documentation of the join by code";

function factsOf({ id, name, offices, roles }: JoinedMachine): JoinedMachine {
  return { id, name, offices, roles };
}

async function readBody(request: AskedRequest): Promise<Body> {
  const text = request.body === null ? "" : await readBoundedText(request.body, { maxBytes: MAX_BODY_BYTES });
  if (text === undefined) throw new SmcpError(413, `Cannot read a body of more than ${MAX_BODY_BYTES} bytes`);
  const body = parseJson(text);
  if (!isRecord(body)) throw new SmcpError(400, BAD_BODY);
  return body;
}

/** What a person sees who opens the link. It says nothing of whether the code is good. */
function showCode(url: string): Response {
  const code = parseCode(new URL(url).searchParams.get("code") ?? "") ?? "CODE";
  const text = `A machine asks to join this Server, with the code ${code}.

This page approves nothing. Compare the code with the one on the machine. Then the Server's operator approves it
on the operator's page, under Machines, or on the Server's own machine with

  a2c-smcp server machines approve ${code} --office OFFICE

Do not approve a code that somebody has sent you unasked.
`;
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return new Response(text, { headers });
}
