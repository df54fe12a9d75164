/** The values of inputs on a command line: from the environment, a private file, or the user at the terminal. */
import { onAbort } from "../../async/abortable.ts";
import { privacyProblem, readRegularFile } from "../../files/files.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { ConfigurationError } from "../../mcp/errors.ts";
import {
  environmentInputs,
  type InputRequest,
  type InputSource,
  NO_VALUE,
} from "../../computer/inputs/sources.ts";
import type { InputValue } from "../../config/placeholders.ts";
import type { MCPServerInput } from "../../protocol/config.ts";

/** Where the value of an input comes from; `missing` without a value. */
export type InputOrigin = "set" | "environment" | "file" | "terminal" | "command" | "default" | "missing";

export interface HostedInputsOptions {
  readonly environment: (name: string) => string | undefined;
  /** A JSON file with values by id, which only the owner can access. */
  readonly file?: string | undefined;
  readonly ask?: InputSource | undefined;
  /** What to do when an input has no value, such as `set A2C_INPUT_KEY`. */
  readonly remedy: (id: string) => string;
}

/** Asks the sources one after another. An answer of the user is kept until the Computer closes. */
export class HostedInputs {
  readonly file: string | undefined;
  readonly #askPerson: InputSource | undefined;
  readonly #environment: (id: string) => InputValue | undefined;
  readonly #answers = new Map<string, InputValue>();
  readonly #remedy: (id: string) => string;
  /** Inputs that were cleared; the user is not asked for them until {@linkcode askAgain}. */
  readonly #cleared = new Set<string>();
  /** Open questions; several servers may wait for one. */
  readonly #questions = new Map<string, SharedQuestion>();

  constructor(options: HostedInputsOptions) {
    this.file = options.file;
    this.#askPerson = options.ask;
    this.#environment = environmentInputs(options.environment);
    this.#remedy = options.remedy;
  }

  /** Asks one source after another; throws a {@linkcode ConfigurationError} when none has a value. */
  readonly source: InputSource = async (id, request) => {
    const value = (await this.#find(id))?.value ?? await this.#ask(id, request);
    const { input } = request;
    if (value === undefined && input.type !== "command" && defaultOf(input) === undefined) {
      request.signal.throwIfAborted();
      throw new ConfigurationError(`Cannot resolve input "${id}": no value; ${this.#remedy(id)}`, {
        reason: NO_VALUE,
      });
    }
    return value;
  };

  /** Where a server that starts now would get the value. Asks no question. */
  async originOf(input: MCPServerInput): Promise<InputOrigin> {
    const found = await this.#find(input.id);
    if (found !== undefined) return found.origin;
    if (input.type === "command") return "command";
    return defaultOf(input) === undefined ? "missing" : "default";
  }

  async peek(input: MCPServerInput): Promise<InputValue | undefined> {
    return (await this.#find(input.id))?.value ?? defaultOf(input);
  }

  /** Forgets an answer and asks no more until {@linkcode askAgain}; returns whether an answer was known. */
  forget(id: string): boolean {
    this.#cleared.add(id);
    return this.#answers.delete(id);
  }

  /** Allows questions for inputs that were cleared, because the user starts a server. */
  askAgain(): void {
    this.#cleared.clear();
  }

  async #find(id: string): Promise<{ readonly origin: InputOrigin; readonly value: InputValue } | undefined> {
    const places = [
      ["environment", () => this.#environment(id)],
      ["file", async () => this.file === undefined ? undefined : (await readInputFile(this.file)).get(id)],
      ["terminal", () => this.#answers.get(id)],
    ] as const;
    for (const [origin, read] of places) {
      const value = await read();
      if (value !== undefined) return { origin, value };
    }
    return undefined;
  }

  async #ask(id: string, request: InputRequest): Promise<InputValue | undefined> {
    const { input } = request;
    const ask = this.#askPerson;
    if (
      ask === undefined || this.#cleared.has(id) || input.type === "command" || defaultOf(input) !== undefined
    ) return undefined;
    let question = this.#questions.get(id);
    if (question === undefined || question.isOver) {
      question = new SharedQuestion((signal) => ask(id, { ...request, signal }));
      this.#questions.set(id, question);
    }
    const answer = await question.wait(request.signal);
    if (answer !== undefined) this.#answers.set(id, answer);
    return answer;
  }
}

function defaultOf(input: MCPServerInput): string | undefined {
  return input.type === "command" ? undefined : input.default ?? undefined;
}

/** One question that several servers wait for. It is withdrawn when the last of them stops waiting. */
class SharedQuestion {
  readonly answer: Promise<InputValue | undefined>;
  readonly #withdrawing = new AbortController();
  #waiting = 0;
  #isAnswered = false;

  constructor(ask: (signal: AbortSignal) => ReturnType<InputSource>) {
    this.answer = Promise.resolve(ask(this.#withdrawing.signal)).finally(() => this.#isAnswered = true);
    this.answer.catch(() => {});
  }

  get isOver(): boolean {
    return this.#isAnswered || this.#withdrawing.signal.aborted;
  }

  async wait(signal: AbortSignal): Promise<InputValue | undefined> {
    this.#waiting++;
    using _ = onAbort(signal, () => {
      if (--this.#waiting === 0) this.#withdrawing.abort(signal.reason);
    });
    return await this.answer;
  }
}

const MAX_INPUTS_BYTES = 8 * 1024 * 1024;

/**
 * Reads the values of inputs from a JSON file such as `{ "api-key": "…", "port": 8080 }`.
 *
 * @throws {TypeError} when other users can access the file, or it has another form. The message shows no value.
 */
export async function readInputFile(path: string): Promise<ReadonlyMap<string, InputValue>> {
  const text = await readPrivately(path);
  const values = parseValues(text);
  if (values === undefined) {
    throw new TypeError(
      `Cannot read inputs "${path}": it must be a JSON object with a string, number or boolean for each input id`,
    );
  }
  return values;
}

async function readPrivately(path: string): Promise<string> {
  const refuse = (file: Deno.FileInfo) => privacyProblem(file, path);
  const reading = await readRegularFile(path, { maxBytes: MAX_INPUTS_BYTES, refuse });
  if ("text" in reading) return reading.text;
  const { state, cause } = reading;
  throw new TypeError(`Cannot read inputs "${path}": ${state}`, { cause });
}

function parseValues(text: string): Map<string, InputValue> | undefined {
  const value = parseJson(text);
  if (!isRecord(value)) return undefined;
  const values = new Map<string, InputValue>();
  for (const [id, each] of Object.entries(value)) {
    if (typeof each !== "string" && typeof each !== "number" && typeof each !== "boolean") return undefined;
    values.set(id, each);
  }
  return values;
}
