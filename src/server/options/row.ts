/** A row of the table of options. */

/** `words` are several values, separated by spaces or commas; `texts` is one that may be repeated. */
export type OptionKind = "text" | "words" | "texts" | "switch" | "port" | "count" | "bytes" | "ms";

export interface OptionRow {
  /** `text` without it. */
  readonly kind?: OptionKind;
  /** What it is or does, in one sentence. */
  readonly help: string;
  readonly who: string;
  /** What a programmer has to know besides, in whole sentences. */
  readonly note?: string;
  /** Who has it: a Server with its own HTTP server, or the program alone. Without it, every Server. */
  readonly of?: "listen" | "program";
  readonly default?: string | number | readonly string[];
  /** What holds without a value, where that is no value. */
  readonly otherwise?: string;
  /** The least number; without it 1, and 0 for ports. The most follows from the kind. */
  readonly least?: number;
  /** Where the flag is not the name without its unit. */
  readonly flag?: string;
  /** What stands for an option of the program in the library. */
  readonly library?: string;
  /** What the help shows for the value; the end of the flag by default, or the kind of number. */
  readonly value?: string;
  /** Whether nobody is shown its value. */
  readonly isSecret?: boolean;
  /** Where the variable is not `A2C_` and the flag. */
  readonly variable?: string;
}

export type OptionRows = Readonly<Record<string, OptionRow>>;
