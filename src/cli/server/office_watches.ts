/** Events of offices for who looks at them: on a terminal, and on the stream of the console. */
import type { SeenValue } from "../../api_values.ts";
import { Followers } from "../../async/followers.ts";
import { rateOf, TokenBucket } from "../../async/token_bucket.ts";
import type { Logger } from "../../log.ts";
import type { Insight } from "../../server/observe/insight.ts";
import type { SeenEvent } from "../../server/observe/seen_event.ts";
import { UsageError } from "../outcome.ts";

/** The events of one office that are shown; of others, only the number. */
const SHOWN_EVENTS = rateOf(500, 5_000);
/** How long the console tells the events of an office after it was asked for them, in milliseconds. */
const WATCH_MS = 60_000;
/** The most offices whose events the console tells at a time. */
const MAX_WATCHED = 16;

/** Tells the events of an office, up to 100 a second, until it is disposed of. */
export function watchOffice(
  insight: Insight,
  office: string,
  tell: (event: SeenValue) => void,
): Disposable {
  const bucket = new TokenBucket(SHOWN_EVENTS);
  let leftOut = 0;
  return insight.watch((event) => {
    if (event.office !== office) return;
    if (!bucket.take()) return void leftOut++;
    tell(toShown(event, leftOut));
    leftOut = 0;
  });
}

function toShown({ to, code, answerBytes, ...event }: SeenEvent, left_out: number): SeenValue {
  return {
    ...event,
    to: to ?? null,
    code: code ?? null,
    answer_bytes: answerBytes ?? null,
    left_out,
  };
}

interface Watched {
  readonly watch: Disposable;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** The offices whose events the console tells, each until some time after somebody has asked for it. */
export class OfficeWatches implements Disposable {
  readonly #insight: Insight;
  /** The one asked for last is last. */
  readonly #watched = new Map<string, Watched>();
  /** The streams of consoles. */
  readonly followers: Followers<SeenValue>;
  #readers = 0;

  constructor(insight: Insight, log: Logger) {
    this.#insight = insight;
    this.followers = new Followers(log);
  }

  /**
   * Has the events of an office told for a minute; returns its end.
   *
   * @throws {UsageError} when no console is open.
   */
  watch(office: string): Date {
    if (this.followers.isEmpty) throw new UsageError("Cannot tell events: no console is open");
    this.#end(office);
    const timer = setTimeout(() => this.#end(office), WATCH_MS);
    const watch = watchOffice(this.#insight, office, (event) => this.followers.tell(event));
    this.#watched.set(office, { watch, timer });
    const [oldest = ""] = this.#watched.keys();
    if (this.#watched.size > MAX_WATCHED) this.#end(oldest);
    return new Date(Date.now() + WATCH_MS);
  }

  /** Somebody reads a stream; when nobody does any more, all watches end. */
  whileRead(): Disposable {
    this.#readers++;
    return {
      [Symbol.dispose]: () => {
        if (--this.#readers === 0) this[Symbol.dispose]();
      },
    };
  }

  /** Ends all of them. May be called twice. */
  [Symbol.dispose](): void {
    for (const office of [...this.#watched.keys()]) this.#end(office);
  }

  #end(office: string): void {
    const { watch, timer } = this.#watched.get(office) ?? {};
    clearTimeout(timer);
    watch?.[Symbol.dispose]();
    this.#watched.delete(office);
  }
}
