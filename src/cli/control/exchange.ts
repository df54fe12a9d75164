/** Sends a command to a program that runs in another process of this user, and answers what the command asks. */
import { onAbort } from "../../async/abortable.ts";
import { typingUser } from "../../files/user_sockets.ts";
import { ConnectionClosedError } from "../../link/errors.ts";
import { hasColors, type Screen } from "../../terminal/screen.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import { LineChannel } from "../line_channel.ts";
import { connectLocally } from "../local_socket.ts";
import type { ShownQuestion } from "../questions/shown_question.ts";
import type { ControlAnswer, ControlQuestion, ControlReply, ControlRequest } from "./message.ts";
import type { Person } from "./person.ts";

export interface ReplyListener {
  readonly progress: (text: string) => void;
  /** Reads what the command prints, and answers what it asks; by default nobody. */
  readonly person?: Person;
}

/** @param sent `screen`: the terminal that shows the answer; `undefined` when it is not a terminal. */
export function toRequest({ words, json, screen }: {
  readonly words: readonly string[];
  readonly json: boolean;
  readonly screen?: Screen | undefined;
}): ControlRequest {
  const colors = screen !== undefined && hasColors();
  return { version: PACKAGE_VERSION, words, json, columns: screen?.columns, colors, user: typingUser() };
}

/**
 * Sends a command to the program that listens at a path, and waits for the answer.
 *
 * @throws {ConnectionClosedError} when the program ends before it answers.
 * @throws {ExitRequest} when the person declines a question.
 */
export async function exchange(
  path: string,
  request: ControlRequest,
  { signal, ...listener }: ReplyListener & { readonly signal: AbortSignal },
): Promise<ControlAnswer> {
  const channel = new LineChannel(await connectLocally(path));
  using _ = onAbort(signal, () => channel.close());
  const over = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<ControlAnswer>();
  const answering = new Answering(channel, { ...listener, over: over.signal, onDeclined: reject });
  void channel.receive((message) => {
    const reply = message as unknown as ControlReply;
    if ("output" in reply) resolve(reply);
    else answering.receive(reply);
  }).then(() =>
    reject(
      new ConnectionClosedError("Cannot reach the running program any more: it ended before it answered"),
    )
  );
  void channel.send(request);
  try {
    return await promise;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
    channel.close();
  }
}

interface AnsweringListener extends ReplyListener {
  readonly over: AbortSignal;
  readonly onDeclined: (error: unknown) => void;
}

/** Answers the questions of one command. */
class Answering {
  readonly #channel: LineChannel;
  readonly #listener: AnsweringListener;
  readonly #questions = new Map<number, AbortController>();

  constructor(channel: LineChannel, listener: AnsweringListener) {
    this.#channel = channel;
    this.#listener = listener;
  }

  receive(reply: Exclude<ControlReply, ControlAnswer>): void {
    const { progress, person, onDeclined } = this.#listener;
    if ("progress" in reply) progress(reply.progress);
    else if ("print" in reply) person?.print(reply.print);
    else if ("question" in reply) this.#answer(reply.id, reply.question).catch(onDeclined);
    else this.#questions.get(reply.withdrawn)?.abort(reply.why);
  }

  async #answer(id: number, question: ControlQuestion): Promise<void> {
    const { person, over } = this.#listener;
    const withdrawal = new AbortController();
    this.#questions.set(id, withdrawal);
    const signal = AbortSignal.any([withdrawal.signal, over]);
    const answer = await answerOf(question, { person, signal });
    this.#questions.delete(id);
    if (!signal.aborted) void this.#channel.send({ id, answer });
  }
}

async function answerOf(
  question: ControlQuestion,
  { person, signal }: { readonly person: Person | undefined; readonly signal: AbortSignal },
): Promise<unknown> {
  if (person === undefined) return null;
  if ("page" in question) return await person.open(question.page) || null;
  if ("line" in question) return await person.ask({ text: question.line, signal }) ?? null;
  const asked = { ...question.form, signal } as unknown as ShownQuestion;
  return await person.answer(asked, question.options) ?? null;
}
