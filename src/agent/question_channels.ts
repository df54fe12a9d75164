/** Which Computers know that this Agent answers questions (`docs/protocol/questions.md#opening-the-channel`). */
import { settledWithin } from "../async/abortable.ts";
import { parseOpenInputRet } from "../protocol/answers.ts";
import { OPEN_INPUT_EVENT } from "../protocol/events.ts";
import { RequestTimeoutError } from "../protocol/local_errors.ts";
import { QUESTION_MODES } from "../protocol/questions.ts";
import type { ComputerRequests } from "./computer_requests.ts";
import type { Listeners } from "./listeners.ts";
import { isNotServed } from "./requests.ts";

/** The time limit for `client:open_input`: some other implementations do not answer unknown events. */
const OPEN_TIMEOUT_MS = 5_000;

/** The channels of one Agent, by Computer. A channel ends with the session of either side. */
export class QuestionChannels {
  /** The first answers to `client:open_input`, also a no. */
  readonly #opened = new Map<string, Promise<boolean>>();
  readonly #open = new Set<string>();

  constructor(listeners: Listeners) {
    const forget = ({ role, name }: { readonly role: string; readonly name: string }) => {
      if (role !== "computer") return;
      this.#opened.delete(name);
      this.#open.delete(name);
    };
    listeners.on("enterOffice", forget);
    listeners.on("leaveOffice", forget);
    listeners.on("disconnected", () => this.clear());
  }

  /**
   * Opens the channel to a Computer, once; resolves to whether it is open. One that is silent for five seconds counts as
   * one that does not know questions, until its answer comes. Never rejects.
   */
  open(requests: Pick<ComputerRequests, "computer" | "ask">): Promise<boolean> {
    const { computer } = requests;
    const known = this.#opened.get(computer);
    if (known !== undefined) return known;
    const answered = openChannel(requests).then((isOpen) => {
      if (isOpen && this.#opened.get(computer) === opening) this.#open.add(computer);
      return isOpen;
    }, (error: unknown) => {
      // A Computer that does not know the event need not be asked again; any other failure may pass.
      const isFinal = isNotServed(error) || error instanceof RequestTimeoutError;
      if (!isFinal && this.#opened.get(computer) === opening) this.#opened.delete(computer);
      return false;
    });
    const opening = settledWithin(answered, OPEN_TIMEOUT_MS).then((isOpen) => isOpen === true);
    this.#opened.set(computer, opening);
    return opening;
  }

  /** Whether the channel to a Computer is open, as far as this Agent knows. */
  has(computer: string): boolean {
    return this.#open.has(computer);
  }

  /** The Agent has left its office: all channels have ended. */
  clear(): void {
    this.#opened.clear();
    this.#open.clear();
  }
}

async function openChannel(requests: Pick<ComputerRequests, "ask">): Promise<boolean> {
  const options = { timeoutMs: OPEN_TIMEOUT_MS, parse: parseOpenInputRet, isFailureLogged: true };
  const { modes } = await requests.ask(OPEN_INPUT_EVENT, { modes: [...QUESTION_MODES] }, options);
  return modes.length > 0;
}
