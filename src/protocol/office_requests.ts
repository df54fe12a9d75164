/** Parses what concerns an office: requests to the Server, notifications, and the members of every call. Unknown keys are kept. */
import * as z from "zod";
import { type AgentCallData, type ComputerCallData, MAX_TIMEOUT_SECONDS } from "./call.ts";
import { MAX_REQUEST_ID_LENGTH } from "./errors.ts";
import { MAX_MEMBER_NAME_LENGTH, nameProblem } from "./names.ts";
import type {
  EnterOfficeNotification,
  EnterOfficeReq,
  LeaveOfficeReq,
  ListRoomReq,
  UpdateComputerConfigReq,
} from "./office.ts";
import type { ListPresenceReq } from "./presence.ts";
import type { UpdateProgressReq } from "./progress.ts";
import { optional, type Parser, parserOf } from "./schemas/schema.ts";

const name = z.string().superRefine((value, context) => {
  const message = nameProblem(value);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});
/** An id that a peer chooses: any text of limited length. */
export const requestId = z.string().min(1).max(MAX_REQUEST_ID_LENGTH);
/** The name that the caller states has no effect, so it is optional. */
const call = { agent: z.string().max(MAX_MEMBER_NAME_LENGTH).default(""), req_id: requestId };
/** A request to a Computer. */
export const computerCall = { ...call, computer: z.string().max(MAX_MEMBER_NAME_LENGTH) };
/** In seconds. */
export const timeout = optional(z.number().gt(0).max(MAX_TIMEOUT_SECONDS));
/** The same with the time that it may take. */
export const timed = { ...computerCall, timeout };
const role = z.enum(["computer", "agent"]);

export const parseAgentCallData: Parser<AgentCallData> = parserOf("AgentCallData", z.looseObject(call));
export const parseComputerCallData: Parser<ComputerCallData> = parserOf("request", z.looseObject(timed));
export const parseEnterOfficeReq: Parser<EnterOfficeReq> = parserOf(
  "EnterOfficeReq",
  z.looseObject({ role, name, office_id: name }),
);
export const parseLeaveOfficeReq: Parser<LeaveOfficeReq> = parserOf(
  "LeaveOfficeReq",
  z.looseObject({ office_id: name }),
);
export const parseListRoomReq: Parser<ListRoomReq> = parserOf(
  "ListRoomReq",
  z.looseObject({ ...call, office_id: name }),
);
export const parseListPresenceReq: Parser<ListPresenceReq> = parserOf(
  "ListPresenceReq",
  z.looseObject({ ...call, office_id: name, probe: optional(z.boolean()) }),
);
export const parseOfficeNotification: Parser<EnterOfficeNotification> = parserOf(
  "EnterOfficeNotification",
  z.looseObject({ office_id: z.string(), computer: z.string().nullish(), agent: z.string().nullish() }),
);
export const parseUpdateComputerConfigReq: Parser<UpdateComputerConfigReq> = parserOf(
  "UpdateComputerConfigReq",
  z.looseObject({ computer: z.string() }),
);
export const parseUpdateProgressReq: Parser<UpdateProgressReq> = parserOf(
  "UpdateProgressReq",
  z.looseObject({
    computer: z.string(),
    req_id: requestId,
    progress: z.number(),
    total: z.number().optional(),
    has_message: z.boolean().optional(),
  }),
);
