/** Where the values of inputs come from: a function of the embedder, the environment, values that were set. */
import { type InputValue, inputVariable } from "../../config/placeholders.ts";
import type { MCPServerInput } from "../../protocol/config.ts";
import { unknownName } from "../../spelling.ts";

/** For what a value is asked. */
export interface InputRequest {
  /** The input as it is configured. */
  readonly input: MCPServerInput;
  /** The name of the MCP server that is to start. */
  readonly server: string;
  /** Aborted when the server is stopped, so that nobody is asked any longer. */
  readonly signal: AbortSignal;
}

/**
 * Gives the value of an input by its id, or `undefined` when it has none. A value keeps its type where a placeholder
 * stands alone.
 */
export type InputSource = (
  id: string,
  request: InputRequest,
) => InputValue | undefined | Promise<InputValue | undefined>;

/** The value of a variable of the environment, or `undefined` when it is not set. */
export type EnvironmentLookup = (name: string) => string | undefined;

/**
 * Values from the environment: the input `api-key` is read from `A2C_INPUT_API_KEY`.
 *
 * @param environment Gives the value of a variable.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { environmentInputs } from "@a2c-smcp/sdk/computer";
 *
 * const inputs = environmentInputs((name) => name === "A2C_INPUT_API_KEY" ? "s3cret" : undefined);
 * assertEquals([inputs("api-key"), inputs("other")], ["s3cret", undefined]);
 * ```
 */
export function environmentInputs(environment: EnvironmentLookup): (id: string) => string | undefined {
  return (id) => environment(inputVariable(id));
}

/** Values by input id over a source. */
export class InputValues {
  readonly #fallback: InputSource;
  readonly #values = new Map<string, InputValue>();

  constructor(fallback: InputSource) {
    this.#fallback = fallback;
  }

  /** Asks the values that were set, then the source below. */
  readonly source: InputSource = (id, request) => this.#values.get(id) ?? this.#fallback(id, request);

  /** The value that was set. */
  get(id: string): InputValue | undefined {
    return this.#values.get(id);
  }

  set(id: string, value: InputValue): void {
    this.#values.set(id, value);
  }

  /** Forgets a value; tells whether there was one. */
  clear(id: string): boolean {
    return this.#values.delete(id);
  }
}

/**
 * Finds the input of a configuration.
 *
 * @throws {TypeError} for an unknown id; the message lists the ids.
 */
export function findInput(id: string, inputs: readonly MCPServerInput[]): MCPServerInput {
  const input = inputs.find((each) => each.id === id);
  if (input !== undefined) return input;
  throw new TypeError(unknownName("input", id, inputs.map((each) => each.id)));
}

/**
 * Whether an input may have this value.
 *
 * @throws {TypeError} when it is none of the options of a `pickString` input.
 */
export function checkInputValue(input: MCPServerInput, value: InputValue): void {
  if (input.type !== "pickString" || input.options.includes(String(value))) return;
  throw new TypeError(
    `Cannot use the value of input "${input.id}": it is none of ${input.options.join(", ")}`,
  );
}
