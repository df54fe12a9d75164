/** The person of a command that the page has begun: what the command asks waits with everything else. */
import { onAbort } from "../../../async/abortable.ts";
import { isRecord, parseJson } from "../../../json/json.ts";
import type { Answer } from "../../../protocol/questions.ts";
import type { AskedLine, Person } from "../../control/person.ts";
import type { People } from "./people.ts";

/** What a sign-in tells when it begins to wait, and when an answer was not accepted. */
const BEGINNINGS: ReadonlySet<unknown> = new Set(["open_url", "enter_code"]);
const REFUSAL = "not_accepted";

/** Dispose of it when the command has ended. */
export class PagePerson implements Person, Disposable {
  readonly #people: People;
  readonly #declined = new AbortController();
  #held: ReturnType<People["hold"]> | undefined;
  #takeLine: ((line: string | undefined) => void) | undefined;

  constructor(people: People) {
    this.#people = people;
  }

  /** Aborted when the person declines. */
  get declined(): AbortSignal {
    return this.#declined.signal;
  }

  readonly print = (text: string): void => {
    const told = parseJson(text);
    if (!isRecord(told)) return;
    const { type, server, message } = told;
    if (BEGINNINGS.has(type)) {
      this.#held?.[Symbol.dispose]();
      this.#held = this.#people.hold({ server: String(server), told }, (answer) => this.#take(answer));
    } else if (type === REFUSAL) this.#held?.update(String(message));
  };

  readonly ask = async ({ signal }: AskedLine): Promise<string | undefined> => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#takeLine = resolve;
    using _ = onAbort(signal, () => resolve(undefined));
    try {
      return await promise;
    } finally {
      this.#takeLine = undefined;
    }
  };

  readonly open = (): Promise<boolean> => Promise.resolve(false);

  /** Questions of calls wait by themselves. */
  readonly answer = (): Promise<undefined> => Promise.resolve(undefined);

  [Symbol.dispose](): void {
    this.#held?.[Symbol.dispose]();
    this.#takeLine?.(undefined);
  }

  #take(answer: Answer): void {
    if (answer.action !== "accept") return this.#declined.abort(new DOMException("Declined", "AbortError"));
    this.#takeLine?.(String(answer.content?.["line"] ?? ""));
  }
}
