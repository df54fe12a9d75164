/** Reads the answers of any Server about an office: an invalid entry is left out, unknown keys are kept. */
import * as z from "zod";
import { type AnswerReader, ignoreFlaws, listOf, readWith, reqIdOf, toBody } from "./flaws.ts";
import type { ListRoomRet, SessionInfo } from "./office.ts";
import type { ComputerPresence, ListPresenceRet } from "./presence.ts";
import { optional } from "./schemas/schema.ts";

const computerPresence: z.ZodType<ComputerPresence> = z.looseObject({
  computer: z.string(),
  machine: optional(z.string()),
  last_read: optional(z.iso.datetime()),
  asleep_since: optional(z.iso.datetime()),
});

const sessionInfo: z.ZodType<SessionInfo> = z.looseObject({
  sid: z.string(),
  name: z.string(),
  role: z.enum(["computer", "agent"]),
  office_id: z.string(),
  a2c_version: z.string().nullish(),
}).transform(({ a2c_version, ...session }) =>
  typeof a2c_version === "string" ? { ...session, a2c_version } : session
);

export const parseListRoomRet: AnswerReader<ListRoomRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "ListRoomRet";
  const body = toBody(what, answer);
  const read = readWith(sessionInfo);
  return {
    ...body,
    sessions: listOf(body, { what, field: "sessions", read, onFlaw }),
    req_id: reqIdOf(body),
  };
};

export const parseListPresenceRet: AnswerReader<ListPresenceRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "ListPresenceRet";
  const body = toBody(what, answer);
  const read = readWith(computerPresence);
  return { computers: listOf(body, { what, field: "computers", read, onFlaw }), req_id: reqIdOf(body) };
};
