/** Reads the arguments that a model gives; what is wrong with them is told in words that it understands. */
import { isRecord, parseJson } from "../json/json.ts";
import { toSeenName } from "../text/safe_text.ts";
import type { Json } from "./mcp.ts";

/** An argument is wrong. The message says which, and what it should be. */
export class ArgumentError extends TypeError {
  override readonly name = "ArgumentError";
}

/** The arguments of one call. An argument that is `null` counts as absent: models write it so. */
export class Arguments {
  readonly #tool: string;
  readonly #args: Readonly<Record<string, unknown>>;

  /** @throws {ArgumentError} an argument has a name that the tool does not know. */
  constructor(tool: string, args: Readonly<Record<string, unknown>>, known: readonly string[]) {
    this.#tool = tool;
    this.#args = args;
    const unknown = Object.keys(args).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw this.#wrong(
        unknown,
        `is unknown. Arguments: ${known.join(", ") || "none"}`,
      );
    }
  }

  text(name: string): string | undefined {
    const value = this.#args[name] ?? undefined;
    if (value === undefined || (typeof value === "string" && value !== "")) return value;
    throw this.#wrong(name, "must be a text that is not empty");
  }

  /** A text such as `0-4,7`. A number, or a list of numbers and texts, counts as well, since models write those. */
  ranges(name: string): string | undefined {
    const value = this.#args[name];
    const items = Array.isArray(value) && value.length > 0 ? value : [value];
    const areRanges = items.every((item) =>
      typeof item === "number" || (typeof item === "string" && item !== "")
    );
    return areRanges ? items.join(",") : this.text(name);
  }

  /** Refuses a call without an argument that must be there. */
  missing(name: string): never {
    throw this.#wrong(name, "is missing");
  }

  /** An object, empty when absent. A text of JSON counts, since models write those as well. */
  object(name: string): Readonly<Record<string, unknown>> {
    const value = this.#args[name] ?? "";
    if (value === "") return {};
    const object = typeof value === "string" ? parseJson(value) : value;
    if (isRecord(object)) return object;
    throw this.#wrong(name, "must be an object");
  }

  /** A whole number. A text of digits counts, since models write those as well. */
  integer(
    name: string,
    { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
  ): number | undefined {
    const value = this.#args[name] ?? undefined;
    if (value === undefined) return undefined;
    const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) {
      return number;
    }
    const most = max === Number.MAX_SAFE_INTEGER ? "on" : `to ${max}`;
    throw this.#wrong(name, `must be a whole number from ${min} ${most}`);
  }

  /** Yes or no. A text of it counts, since models write that as well. */
  flag(name: string): boolean | undefined {
    const value = this.#args[name] ?? undefined;
    if (value === undefined || typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    throw this.#wrong(name, "must be true or false");
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#args[name] ?? undefined;
    if (value === undefined) return undefined;
    const texts = typeof value === "string" ? [value] : value;
    if (Array.isArray(texts) && texts.every((text) => typeof text === "string" && text !== "")) return texts;
    throw this.#wrong(name, "must be a list of texts that are not empty");
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(name);
    const choice = choices.find((each) => each === text);
    if (text !== undefined && choice === undefined) {
      throw this.#wrong(name, `must be one of ${choices.join(", ")}`);
    }
    return choice;
  }

  #wrong(name: string, state: string): ArgumentError {
    return new ArgumentError(`Cannot call "${this.#tool}": the argument ${toSeenName(name)} ${state}`);
  }
}

/** The arguments with which a list goes on. */
export interface Paging {
  readonly properties: Readonly<Record<string, Json>>;
  read(args: Arguments): { readonly limit: number; readonly offset: number };
}

export function pagingOf(
  what: string,
  { max, usual }: { readonly max: number; readonly usual: number },
): Paging {
  return {
    properties: {
      limit: {
        type: "integer",
        minimum: 1,
        maximum: max,
        description: `The most ${what}; ${usual} by default.`,
      },
      offset: { type: "integer", minimum: 0, description: `How many ${what} to skip, to go on.` },
    },
    read: (args: Arguments) => ({
      limit: args.integer("limit", { min: 1, max }) ?? usual,
      offset: args.integer("offset", { min: 0 }) ?? 0,
    }),
  };
}
