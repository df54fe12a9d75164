/** Sends a command to a program that runs in another process of this user, and answers what the command asks. */
import { readLines } from "../../async/lines.ts";
import { ConnectionClosedError } from "../../link/errors.ts";
import { hasColors, type Screen } from "../../terminal/screen.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import type { ShownQuestion } from "../questions/shown_question.ts";
import {
  type ControlAnswer,
  type ControlQuestion,
  type ControlRequest,
  parseReply,
  toLine,
} from "./message.ts";
import type { Person } from "./person.ts";

const MAX_REPLY_BYTES = 256 * 1024 * 1024;

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
  return { version: PACKAGE_VERSION, words, json, columns: screen?.columns, colors };
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
  const connection = await Deno.connect({ transport: "unix", path });
  const onAbort = () => connection.close();
  signal.addEventListener("abort", onAbort, { once: true });
  const over = new AbortController();
  try {
    const writer = connection.writable.getWriter();
    await writer.write(toLine(request));
    const declined = Promise.withResolvers<never>();
    const answering = new Answering(writer, { ...listener, over: over.signal, onDeclined: declined.reject });
    return await Promise.race([readUntilAnswer(connection.readable, answering), declined.promise]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
    signal.removeEventListener("abort", onAbort);
    if (!signal.aborted) closeQuietly(connection);
  }
}

async function readUntilAnswer(
  replies: ReadableStream<Uint8Array>,
  answering: Answering,
): Promise<ControlAnswer> {
  const { progress, person } = answering.listener;
  for await (const line of readLines(replies, MAX_REPLY_BYTES)) {
    const reply = parseReply(line);
    if (reply === undefined) continue;
    if ("output" in reply) return reply;
    if ("progress" in reply) progress(reply.progress);
    else if ("print" in reply) person?.print(reply.print);
    else if ("question" in reply) answering.answer(reply.id, reply.question);
    else answering.withdraw(reply.withdrawn, reply.why);
  }
  throw new ConnectionClosedError("Cannot reach the running program any more: it ended before it answered");
}

/** Answers the questions of one command. */
class Answering {
  readonly listener: ReplyListener & {
    readonly over: AbortSignal;
    readonly onDeclined: (error: unknown) => void;
  };
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #questions = new Map<number, AbortController>();

  constructor(writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>, listener: Answering["listener"]) {
    this.#writer = writer;
    this.listener = listener;
  }

  answer(id: number, question: ControlQuestion): void {
    this.#answer(id, question).catch(this.listener.onDeclined);
  }

  withdraw(id: number, why: string | undefined): void {
    this.#questions.get(id)?.abort(why);
  }

  async #answer(id: number, question: ControlQuestion): Promise<void> {
    const { person, over } = this.listener;
    const withdrawal = new AbortController();
    this.#questions.set(id, withdrawal);
    const signal = AbortSignal.any([withdrawal.signal, over]);
    const answer = await answerOf(question, { person, signal });
    this.#questions.delete(id);
    if (!signal.aborted) await this.#writer.write(toLine({ id, answer }));
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

function closeQuietly(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // Closed already, with its stream.
  }
}
