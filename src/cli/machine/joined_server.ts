/** The Servers that this machine has joined by code, and its key for each. */
import { join } from "@std/path";
import { readRegularFile, replacePrivateFile } from "../../files/files.ts";
import { digestOfText } from "../../json/digest.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import {
  machineAudience,
  type MachineKey,
  makeMachineKey,
  type PrivateMachineKey,
  readMachineKey,
  signProof,
} from "../../jwt/proof.ts";
import type { CredentialsSource } from "../../link/credentials.ts";
import {
  type FailureContext,
  isMcpPath,
  mcpPathHint,
  toConnectError,
  unreachable,
} from "../../link/connect_failure.ts";
import { AuthenticationError } from "../../link/errors.ts";
import { sendRequest } from "../../link/http_request.ts";
import {
  type JoinedMachine,
  MACHINE_STATE_PATH,
  parseJoinedMachine,
  PROOF_FIELD,
} from "../../protocol/machines.ts";
import { printableLine } from "../../text/safe_text.ts";
import { shorten } from "../../text/text.ts";
import { CommandFailedError, UsageError } from "../outcome.ts";
import { permitted, stateFile, stateFolder } from "../../files/state_folder.ts";

const MAX_FILE_BYTES = 65_536;
const MAX_ANSWER_BYTES = 65_536;
const MAX_REASON_LENGTH = 300;
const REQUEST_TIMEOUT_MS = 15_000;
/** A smaller difference between the clocks needs no second request, in milliseconds. */
const CLOCK_DIFFERENCE_MS = 10_000;

/** What is kept of a Server. */
interface Kept {
  readonly server: string;
  readonly key: PrivateMachineKey;
  /** How far the clock of the Server is ahead, in milliseconds. */
  readonly aheadMs: number;
  /** What its operator has approved, if anything. */
  readonly machine?: JoinedMachine | undefined;
  /** The id of the service whose Computer has its name from there. */
  readonly service?: string | undefined;
}

/** What the Server answers to a machine. */
export interface MachineAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Why it refuses, where it does. */
  readonly refusal: Error;
}

/** What a machine sends; `subject` is what its proof is for. */
export interface MachineQuestion {
  /** Beside the proof. */
  readonly body?: object;
  readonly subject: string;
  readonly signal: AbortSignal;
}

/** This machine at one Server. */
export class JoinedServer {
  readonly #path: string;
  readonly #ca: string | undefined;
  #kept: Kept;

  private constructor(path: string, kept: Kept, { ca }: { readonly ca?: string | undefined }) {
    this.#path = path;
    this.#kept = kept;
    this.#ca = ca;
  }

  /** The Server of a URL; `undefined` for one that this machine has not joined. `ca`: its certificate authorities, as PEM. */
  static async find(
    url: string,
    options: { readonly ca?: string | undefined } = {},
  ): Promise<JoinedServer | undefined> {
    const { server, path } = placeOf(url);
    const kept = path === undefined ? undefined : await read(path, server);
    return path === undefined || kept?.machine === undefined
      ? undefined
      : new JoinedServer(path, kept, options);
  }

  /**
   * The Server of a URL, to be joined: with the key of an earlier join, or a new one.
   *
   * @throws {UsageError} where nothing can be kept.
   */
  static async begin(url: string, options: { readonly ca?: string | undefined } = {}): Promise<JoinedServer> {
    const { server, path } = placeOf(url);
    if (path === undefined) {
      throw new UsageError("Cannot join by code: the state folder cannot be used; it needs a home, and -A");
    }
    const kept = await read(path, server) ?? { server, key: await makeMachineKey(), aheadMs: 0 };
    const joined = new JoinedServer(path, kept, options);
    await joined.keep({});
    return joined;
  }

  /** The Server that names the Computer of a service. */
  static async ofService(id: string): Promise<JoinedServer | undefined> {
    return (await JoinedServer.#all()).find(({ service }) => service === id);
  }

  /** The URLs of the Servers that this machine has joined. */
  static async servers(): Promise<readonly string[]> {
    return (await JoinedServer.#all()).flatMap(({ server, machine }) =>
      machine === undefined ? [] : [server]
    );
  }

  static async #all(): Promise<readonly JoinedServer[]> {
    const folder = stateFolder();
    if (folder === undefined || permitted("read", folder) === undefined) return [];
    const files = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
    const paths = files.filter(({ name }) => /^joined-.*\.json$/.test(name)).map(({ name }) =>
      join(folder, name)
    );
    const all = await Promise.all(paths.map(async (path) => ({ path, kept: await read(path) })));
    return all.flatMap(({ path, kept }) => kept === undefined ? [] : [new JoinedServer(path, kept, {})]);
  }

  get server(): string {
    return this.#kept.server;
  }

  get publicKey(): MachineKey {
    const { d: _, ...key } = this.#kept.key;
    return key;
  }

  get service(): string | undefined {
    return this.#kept.service;
  }

  get machine(): JoinedMachine | undefined {
    return this.#kept.machine;
  }

  async keep(changed: Partial<Kept>): Promise<void> {
    this.#kept = { ...this.#kept, ...changed };
    await replacePrivateFile(this.#path, `${JSON.stringify(this.#kept, undefined, 2)}\n`);
  }

  /** Sends a request with a proof, once more when the clock of the Server is another one. Throws errors of the network. */
  async ask(path: string, question: MachineQuestion): Promise<MachineAnswer> {
    const first = await this.#send(path, question);
    const { now } = isRecord(first.body) ? first.body : {};
    const aheadMs = typeof now === "number" ? now - Date.now() : 0;
    if (first.status !== 401 || Math.abs(aheadMs - this.#kept.aheadMs) < CLOCK_DIFFERENCE_MS) return first;
    await this.keep({ aheadMs });
    return await this.#send(path, question);
  }

  /** Asks what the operator has approved by now. */
  async refresh(signal: AbortSignal): Promise<void> {
    const { body } = await this.ask(MACHINE_STATE_PATH, { subject: this.machine?.id ?? "", signal });
    const now = parseJoinedMachine(body);
    if (now !== undefined) await this.keep({ machine: now });
  }

  /** A fresh proof for a connection to this Server; nothing for another one, which could use it here. */
  readonly source: CredentialsSource = async ({ url = this.server }) => {
    const { id = "" } = this.machine ?? {};
    return machineAudience(url) === this.server ? { auth: { [PROOF_FIELD]: await this.#prove(id) } } : {};
  };

  #prove(subject: string): Promise<string> {
    const { key, server: audience, aheadMs } = this.#kept;
    return signProof(key, { audience, subject, nowMs: Date.now() + aheadMs });
  }

  async #send(path: string, { body, subject, signal }: MachineQuestion): Promise<MachineAnswer> {
    const { status, text, location } = await sendRequest(this.server + path, {
      body: JSON.stringify({ ...body, proof: await this.#prove(subject) }),
      headers: {},
      ca: this.#ca,
      maxBytes: MAX_ANSWER_BYTES,
      maxRefusalBytes: MAX_ANSWER_BYTES,
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    const answer = parseJson(text);
    return { status, body: answer, refusal: this.#refusalOf({ status, responseText: text, location }, path) };
  }

  #refusalOf({ status, ...context }: FailureContext & { readonly status: number }, path: string): Error {
    const { server: url } = this;
    const requested = url + path;
    if (isMcpPath(url) && status !== 200) {
      return unreachable(url, `HTTP ${status} from "${requested}"; ${mcpPathHint(url)}`);
    }
    const answer = parseJson(String(context.responseText));
    const { error } = isRecord(answer) ? answer : {};
    if (typeof error === "string") {
      const reason = printableLine(shorten(error, MAX_REASON_LENGTH));
      return status === 401 ? new AuthenticationError(reason) : new CommandFailedError(reason);
    }
    if (status === 200 || status === 404) {
      return new CommandFailedError(
        `Cannot join ${url}: it answered with HTTP ${status}, as a Server that takes no machines by code, or a proxy that does not pass /machines/ on`,
      );
    }
    const failure = Object.assign(new TypeError("Refused"), { context: { status, ...context } });
    return toConnectError(failure, { url, requested });
  }
}

/** The file of a Server; `undefined` where nothing can be kept. */
function placeOf(url: string): { readonly server: string; readonly path: string | undefined } {
  const server = machineAudience(url);
  const path = stateFile(`joined-${digestOfText(server).slice(0, 16)}.json`);
  return { server, path: path && permitted("read", path) };
}

/** What a file keeps for the Server, or for any one; `undefined` for no file, and for one that cannot be used: a join makes it anew. */
async function read(path: string, wanted?: string): Promise<Kept | undefined> {
  const reading = await readRegularFile(path, { maxBytes: MAX_FILE_BYTES });
  const value = "text" in reading ? parseJson(reading.text) : undefined;
  const { server, key: pair, aheadMs, machine, service } = isRecord(value) ? value : {};
  const { d } = isRecord(pair) ? pair : {};
  const key = readMachineKey(pair);
  if (
    typeof server !== "string" || server !== (wanted ?? server) || key === undefined ||
    typeof d !== "string" || typeof aheadMs !== "number"
  ) {
    return undefined;
  }
  return {
    server,
    key: { ...key, d },
    aheadMs,
    machine: parseJoinedMachine(machine),
    service: typeof service === "string" ? service : undefined,
  };
}
