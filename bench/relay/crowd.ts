/** Many members at once: idle members, members that join and leave, and offices that receive notifications. */
import { OutgoingFrame } from "./frames.ts";
import type { LoadOutcome } from "./load.ts";
import { RawPeer } from "./raw_peer.ts";
import { Histogram } from "./statistics.ts";

/** How many members connect in parallel. By default our Server admits 64 connections of one address in parallel. */
const CONNECTING = 16;
/** The number of notifications in flight. */
const UNDER_WAY = 4;

/** The members of a crowd. */
export interface CrowdOptions {
  readonly port: number;
  readonly version: string;
  readonly size: number;
  /** Whether all members join one office, or each member its own office. */
  readonly office: "shared" | "own";
  /** A part of all names, which makes them unique. */
  readonly id: string;
}

/** Connected members, see {@linkcode Crowd.gather}. */
export class Crowd implements AsyncDisposable {
  readonly members: readonly RawPeer[];
  #turn = 0;

  private constructor(members: readonly RawPeer[]) {
    this.members = members;
  }

  static async gather(options: CrowdOptions): Promise<Crowd> {
    const members: RawPeer[] = [];
    let next = 0;
    const connecting = async () => {
      while (next < options.size) members.push(await join(options, next++));
    };
    await Promise.all(Array.from({ length: CONNECTING }, connecting));
    return new Crowd(members);
  }

  get size(): number {
    return this.members.length;
  }

  /** The member whose turn it is; each call is the next one's turn, also across measurements. */
  nextSender(): RawPeer {
    const member = this.members[this.#turn++ % this.size];
    if (member === undefined) throw new TypeError("Cannot send: the crowd has no member");
    return member;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member[Symbol.asyncDispose]()));
  }
}

/**
 * The members send `server:update_config` in turn, since a Server bounds what one of them causes. Counts the
 * notifications that all others receive.
 */
export async function broadcast(crowd: Crowd, durationMs: number): Promise<LoadOutcome> {
  const receivers = crowd.size - 1;
  if (receivers < 1) throw new TypeError("Cannot broadcast: the office needs two members");
  const frame = new OutgoingFrame('42/smcp,["server:update_config",{"computer":"c"}]');
  const times = new Histogram();
  const sent: number[] = [];
  const over = Promise.withResolvers<void>();
  const startMs = performance.now();
  let count = 0;
  const send = () => {
    sent.push(performance.now());
    crowd.nextSender().send(frame);
  };
  const onNotification = () => {
    // Each time all receivers of a notification could have it, the oldest is taken for complete.
    if (++count % receivers !== 0) return;
    const nowMs = performance.now();
    times.add(nowMs - (sent.shift() ?? nowMs));
    if (nowMs - startMs < durationMs) send();
    else if (sent.length === 0) over.resolve();
  };
  for (const member of crowd.members) member.onNotification = onNotification;
  for (let index = 0; index < UNDER_WAY; index++) send();
  const ended = crowd.members.map(async ({ closed }) => {
    throw new TypeError(`Cannot go on: ${await closed}`);
  });
  await Promise.race([over.promise, ...ended]);
  for (const member of crowd.members) member.onNotification = () => {};
  return { count, seconds: (performance.now() - startMs) / 1000, times: times.toJSON() };
}

/** Members that connect, join and leave at once. At any time, as many of them are active as the crowd has members. */
export async function churn(options: CrowdOptions, durationMs: number): Promise<LoadOutcome> {
  const times = new Histogram();
  const startMs = performance.now();
  let count = 0;
  const coming = async () => {
    while (true) {
      const beginMs = performance.now();
      if (beginMs - startMs >= durationMs) return;
      const member = await join(options, count++);
      times.add(performance.now() - beginMs);
      await member[Symbol.asyncDispose]();
    }
  };
  await Promise.all(Array.from({ length: options.size }, coming));
  return { count, seconds: (performance.now() - startMs) / 1000, times: times.toJSON() };
}

function join({ port, version, office, id }: CrowdOptions, number: number): Promise<RawPeer> {
  const name = `m${id}-${number}`;
  const officeId = office === "own" ? `office-${name}` : `office-${id}`;
  return RawPeer.join({ port, version, role: "computer", name, office: officeId });
}
