import * as z from "zod";
import { MAX_REQUEST_ID_LENGTH } from "../errors.ts";
import { MAX_NAME_LENGTH, nameProblem } from "../names.ts";
import type { AgentCallData, ComputerCallData } from "../call.ts";
import type {
  EnterOfficeNotification,
  EnterOfficeReq,
  LeaveOfficeReq,
  ListRoomReq,
  SessionInfo,
  UpdateComputerConfigReq,
} from "../office.ts";
import type { FollowCallReq, UpdateProgressReq } from "../progress.ts";
import { MAX_TIMEOUT_SECONDS } from "../timeouts.ts";
import type { GetDeskTopReq } from "../desktop.ts";

const name = z.string().superRefine((value, context) => {
  const message = nameProblem(value);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

/** The name that the caller states. It has no effect, so it is optional; empty by default. */
const caller = z.string().max(MAX_NAME_LENGTH).default("");

/** An id that a peer chooses: any text of limited length. */
const requestId = z.string().min(1).max(MAX_REQUEST_ID_LENGTH);

/** `null` means absent; peers send either. */
export const timeoutSeconds = z.number().gt(0).max(MAX_TIMEOUT_SECONDS).nullish().transform((seconds) =>
  seconds ?? undefined
);

export const agentCallData: z.ZodType<AgentCallData> = z.looseObject({
  agent: caller,
  req_id: requestId,
});

/** The members of every request to a Computer, for other schemas. */
export const computerCall = {
  agent: caller,
  req_id: requestId,
  computer: z.string().max(MAX_NAME_LENGTH),
};

export const computerCallData: z.ZodType<ComputerCallData> = z.looseObject({
  ...computerCall,
  timeout: timeoutSeconds,
});

const role = z.enum(["computer", "agent"]);

export const enterOfficeReq: z.ZodType<EnterOfficeReq> = z.looseObject({ role, name, office_id: name });

export const leaveOfficeReq: z.ZodType<LeaveOfficeReq> = z.looseObject({ office_id: name });

export const officeNotification: z.ZodType<EnterOfficeNotification> = z.looseObject({
  office_id: z.string(),
  computer: z.string().nullish(),
  agent: z.string().nullish(),
});

export const listRoomReq: z.ZodType<ListRoomReq> = z.looseObject({
  agent: caller,
  req_id: requestId,
  office_id: name,
});

export const sessionInfo: z.ZodType<SessionInfo> = z.looseObject({
  sid: z.string(),
  name: z.string(),
  role,
  office_id: z.string(),
  a2c_version: z.string().nullish().transform((version) => version ?? undefined),
}).transform(({ a2c_version, ...session }) =>
  a2c_version === undefined ? session : { ...session, a2c_version }
);

export const updateComputerConfigReq: z.ZodType<UpdateComputerConfigReq> = z.looseObject({
  computer: z.string(),
});

export const updateProgressReq: z.ZodType<UpdateProgressReq> = z.looseObject({
  computer: z.string(),
  req_id: requestId,
  progress: z.number(),
  total: z.number().optional(),
  has_message: z.boolean().optional(),
});

export const followCallReq: z.ZodType<FollowCallReq> = z.looseObject({
  ...computerCall,
  call: requestId,
  idle_timeout: timeoutSeconds,
  timeout: timeoutSeconds,
});

export const getDeskTopReq: z.ZodType<GetDeskTopReq> = z.looseObject({
  ...computerCall,
  desktop_size: z.int().nullish().transform((size) => size ?? undefined),
  window: z.string().nullish().transform((uri) => uri ?? undefined),
  timeout: timeoutSeconds,
});
