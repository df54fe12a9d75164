/** What an operator sees of the events of members while they are looked at. */
import { approximateSizeBytes } from "../../json/json.ts";
import { RawAnswer, RawRequest } from "../engine/raw.ts";
import type { Member } from "../offices/office.ts";
import type { Outcome } from "./meter.ts";

/** An event of a member that has ended: never its content. */
export interface SeenEvent {
  readonly at: string;
  readonly event: string;
  readonly office: string;
  readonly from: string;
  /** The Computer that it is for. */
  readonly to: string | undefined;
  readonly ms: number;
  /** Of its body and of its answer, approximately. */
  readonly bytes: number;
  readonly answerBytes: number | undefined;
  readonly outcome: Outcome | "error";
  readonly code: number | undefined;
}

/** What is known of an event when it arrives. */
export type BegunEvent = Pick<SeenEvent, "office" | "from" | "bytes"> & { readonly startMs: number };

export interface EventEnd extends Pick<SeenEvent, "outcome" | "code"> {
  readonly answer?: readonly unknown[] | undefined;
}

export function beginSeen(member: Member | undefined, body: unknown): BegunEvent | undefined {
  if (member === undefined) return undefined;
  return { office: member.officeId, from: member.name, bytes: bytesOf(body), startMs: performance.now() };
}

export function endSeen(
  { startMs, ...begun }: BegunEvent & Pick<SeenEvent, "event" | "to">,
  { answer, ...end }: EventEnd,
): SeenEvent {
  const answerBytes = answer && bytesOf(answer[0]);
  return { ...begun, ...end, at: new Date().toISOString(), ms: performance.now() - startMs, answerBytes };
}

function bytesOf(content: unknown): number {
  return content instanceof RawRequest || content instanceof RawAnswer
    ? content.size
    : approximateSizeBytes(content);
}
