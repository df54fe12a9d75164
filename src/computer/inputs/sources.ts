/** Sources for the values of inputs: a function of the embedding program, the environment, values that were set. */
import { type InputValue, inputVariable } from "../../config/placeholders.ts";
import type { MCPServerInput } from "../../protocol/config.ts";
import { unknownName } from "../../text/spelling.ts";

/** A question for the value of an input. */
export interface InputRequest {
  /** The input as configured. */
  readonly input: MCPServerInput;
  /** The name of the MCP server that is to start. */
  readonly server: string;
  /** Aborted when the server is stopped and the value is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * Gives the value of an input by its id, or `undefined` when there is no value. A value that replaces a whole string
 * keeps its type.
 */
export type InputSource = (
  id: string,
  request: InputRequest,
) => InputValue | undefined | Promise<InputValue | undefined>;

/** Why a server does not start whose input has no value, as its Agent may know it. */
export const NO_VALUE = "an input has no value";

/** The value of a variable of the environment, or `undefined` when it is not set. */
export type EnvironmentLookup = (name: string) => string | undefined;

/**
 * Reads values from the environment: the input `api-key` from `A2C_INPUT_API_KEY`.
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

/** Values that a program sets while it runs. They come before another source and are kept in memory only. */
export class InputValues {
  readonly #fallback: InputSource;
  readonly #values = new Map<string, InputValue>();

  constructor(fallback: InputSource) {
    this.#fallback = fallback;
  }

  /** Gives the value that was set, otherwise that of the other source. */
  readonly source: InputSource = (id, request) => this.#values.get(id) ?? this.#fallback(id, request);

  get(id: string): InputValue | undefined {
    return this.#values.get(id);
  }

  set(id: string, value: InputValue): void {
    this.#values.set(id, value);
  }

  clear(id: string): boolean {
    return this.#values.delete(id);
  }
}

/**
 * Finds an input by its id.
 *
 * @throws {TypeError} for an unknown id; the message lists the ids.
 */
export function findInput(id: string, inputs: readonly MCPServerInput[]): MCPServerInput {
  const input = inputs.find((each) => each.id === id);
  if (input !== undefined) return input;
  throw new TypeError(unknownName("input", id, inputs.map((each) => each.id)));
}

/**
 * Checks the value of an input.
 *
 * @throws {TypeError} when the input is a `pickString` and the value is not one of its options.
 */
export function checkInputValue(input: MCPServerInput, value: InputValue): void {
  if (input.type !== "pickString" || input.options.includes(String(value))) return;
  throw new TypeError(
    `Cannot use the value of input "${input.id}": not one of ${input.options.join(", ")}`,
  );
}
