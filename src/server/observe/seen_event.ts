/** What an operator sees of the events of members while they are looked at: never their content. */
import { approximateSizeBytes } from "../../json/json.ts";
import { RawAnswer, RawRequest } from "../engine/raw.ts";
import type { Member } from "../offices/office.ts";
import type { Outcome } from "./meter.ts";

interface EventBegin {
  readonly event: string;
  readonly body: unknown;
}

interface EventEnd {
  /** The Computer that it is for. */
  readonly to: string | undefined;
  readonly outcome: Outcome;
  readonly code: number | undefined;
  readonly answer?: readonly unknown[] | undefined;
}

export type EndSeen = ReturnType<typeof beginSeen>;
export type SeenEvent = ReturnType<EndSeen>;

/** An event arrives: what is returned tells of it when it has ended. Its sizes are approximate. */
export function beginSeen({ officeId: office, name: from }: Member, { body, ...begin }: EventBegin) {
  const bytes = bytesOf(body);
  const startMs = performance.now();
  return ({ answer, ...end }: EventEnd) => {
    const answerBytes = answer && bytesOf(answer[0]);
    const ms = performance.now() - startMs;
    return { ...begin, ...end, office, from, at: new Date().toISOString(), ms, bytes, answerBytes };
  };
}

function bytesOf(content: unknown): number {
  return content instanceof RawRequest || content instanceof RawAnswer
    ? content.size
    : approximateSizeBytes(content);
}
