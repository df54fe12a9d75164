/** Reads what a running Computer says about a command, and answers what it asks. */
import { readLines } from "../../../async/lines.ts";
import { ConnectionClosedError } from "../../../protocol/local_errors.ts";
import type { Person } from "../conversation.ts";
import { type ControlAnswer, type ControlTalk, parseReply, toLine } from "./message.ts";

const MAX_REPLY_BYTES = 256 * 1024 * 1024;

export interface ReplyListener {
  readonly progress: (text: string) => void;
  /** Reads what the command prints, and answers what it asks; by default nobody. */
  readonly person?: Person;
}

export interface ReplyContext {
  readonly writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly listener: ReplyListener;
}

/**
 * Reads replies until the answer.
 *
 * @throws {ConnectionClosedError} when the Computer ends before it answers.
 * @throws {ExitRequest} when the person declines a question.
 */
export async function readReplies(
  replies: ReadableStream<Uint8Array>,
  context: ReplyContext,
): Promise<ControlAnswer> {
  const declined = Promise.withResolvers<never>();
  declined.promise.catch(() => {});
  const over = new AbortController();
  const talk = new Talk(context, { over: over.signal, onDeclined: declined.reject });
  const answer = readUntilAnswer(replies, talk);
  answer.catch(() => {});
  try {
    return await Promise.race([answer, declined.promise]);
  } finally {
    over.abort();
  }
}

async function readUntilAnswer(replies: ReadableStream<Uint8Array>, talk: Talk): Promise<ControlAnswer> {
  for await (const line of readLines(replies, MAX_REPLY_BYTES)) {
    const reply = parseReply(line);
    if (reply === undefined) continue;
    if ("output" in reply) return reply;
    talk.hear(reply);
  }
  throw new ConnectionClosedError("Cannot reach the Computer any more: it ended before it answered");
}

interface TalkEnd {
  readonly over: AbortSignal;
  readonly onDeclined: (error: unknown) => void;
}

class Talk {
  readonly #context: ReplyContext;
  readonly #end: TalkEnd;
  readonly #questions = new Map<number, AbortController>();

  constructor(context: ReplyContext, end: TalkEnd) {
    this.#context = context;
    this.#end = end;
  }

  hear(talk: ControlTalk): void {
    const { progress, person } = this.#context.listener;
    if ("progress" in talk) return progress(talk.progress);
    if ("print" in talk) return person?.print(talk.print);
    if ("withdrawn" in talk) return this.#questions.get(talk.withdrawn)?.abort(talk.why);
    this.#answer(talk).catch(this.#end.onDeclined);
  }

  async #answer(talk: Extract<ControlTalk, { id: number }>): Promise<void> {
    const { writer, listener: { person } } = this.#context;
    const withdrawal = new AbortController();
    this.#questions.set(talk.id, withdrawal);
    const signal = AbortSignal.any([withdrawal.signal, this.#end.over]);
    const line = await lineFor(talk, { person, signal });
    this.#questions.delete(talk.id);
    if (!signal.aborted) await writer.write(toLine({ id: talk.id, line }));
  }
}

async function lineFor(
  talk: Extract<ControlTalk, { id: number }>,
  { person, signal }: { readonly person: Person | undefined; readonly signal: AbortSignal },
): Promise<string | null> {
  if (person === undefined) return null;
  if ("page" in talk) return await person.open(talk.page) ? "" : null;
  if ("question" in talk) return await person.ask({ text: talk.question, signal }) ?? null;
  // Loaded only now, because few commands are asked anything.
  const { fromWire } = await import("./asked_question.ts");
  const { question, presets } = fromWire(talk.asked, signal);
  const answer = await person.answer(question, { presets });
  return answer === undefined ? null : JSON.stringify(answer);
}
