/** Where a command line finds the values of inputs: the environment, a private file, and whoever sits at the terminal. */
import { fileInputs, readInputFile } from "../input_file.ts";
import { environmentInputs, type InputSource, type InputValue, inputVariable } from "../inputs.ts";
import type { MCPServerInput } from "../../protocol/config.ts";

/** Where the value of an input comes from, or that there is none. */
export type InputOrigin = "environment" | "file" | "terminal" | "command" | "default" | "missing";

/** What a session's inputs come from. */
export interface SessionInputsOptions {
  readonly environment: (name: string) => string | undefined;
  /** A JSON file of values by id, which nobody else may read. */
  readonly file?: string | undefined;
  /** Asks a person; `undefined` when there is nobody, or no answer. */
  readonly ask?: InputSource | undefined;
}

/** The sources of a session in their order. An answer is remembered for as long as the session lasts. */
export class SessionInputs {
  readonly file: string | undefined;
  readonly #options: SessionInputsOptions;
  readonly #environment: InputSource;
  readonly #answers = new Map<string, InputValue>();
  /** Questions that wait for their answer: several servers may use one input. */
  readonly #questions = new Map<string, Promise<InputValue | undefined>>();

  constructor(options: SessionInputsOptions) {
    this.file = options.file;
    this.#options = options;
    this.#environment = environmentInputs(options.environment);
  }

  /** Asks one source after the other. */
  readonly source: InputSource = async (id, request) => {
    const { file } = this.#options;
    return await this.#environment(id, request) ??
      (file === undefined ? undefined : await fileInputs(file)(id, request)) ??
      this.#answers.get(id) ?? await this.#ask(id, request);
  };

  /** Where a server that is started now finds the value, without asking anybody. */
  async originOf(input: MCPServerInput): Promise<InputOrigin> {
    const { environment, file } = this.#options;
    if (environment(inputVariable(input.id)) !== undefined) return "environment";
    if (file !== undefined && (await readInputFile(file)).has(input.id)) return "file";
    if (this.#answers.has(input.id)) return "terminal";
    if (input.type === "command") return "command";
    return typeof input.default === "string" ? "default" : "missing";
  }

  /** Forgets an answer, so that it is asked for again; tells whether there was one. */
  forget(id: string): boolean {
    return this.#answers.delete(id);
  }

  async #ask(id: string, request: Parameters<InputSource>[1]): Promise<InputValue | undefined> {
    const { ask } = this.#options;
    const { input } = request;
    const hasValue = input.type === "command" || typeof input.default === "string";
    if (ask === undefined || hasValue) return undefined;
    let question = this.#questions.get(id);
    if (question === undefined) {
      question = Promise.resolve(ask(id, request)).finally(() => this.#questions.delete(id));
      this.#questions.set(id, question);
    }
    const answer = await question;
    if (answer !== undefined) this.#answers.set(id, answer);
    return answer;
  }
}
