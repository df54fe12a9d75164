import { z } from "zod";
import { isName } from "../names.ts";
import type { AgentCallData, ComputerCallData } from "../call.ts";
import type {
  EnterOfficeNotification,
  EnterOfficeReq,
  LeaveOfficeReq,
  ListRoomReq,
  ListRoomRet,
  SessionInfo,
  UpdateComputerConfigReq,
} from "../office.ts";
import { MAX_TIMEOUT_SECONDS } from "../timeouts.ts";

const name = z.string().refine(isName, "must have 1–128 characters and no control characters");

/** An id that a peer chose: any text, bounded. */
const requestId = z.string().min(1).max(1024);

export const timeoutSeconds = z.number().gt(0).max(MAX_TIMEOUT_SECONDS);

export const agentCallData: z.ZodType<AgentCallData> = z.looseObject({
  agent: z.string(),
  req_id: requestId,
});

/** What every request to a Computer carries, for other schemas to extend. */
export const computerCall = {
  agent: z.string(),
  req_id: requestId,
  computer: z.string(),
};

export const computerCallData: z.ZodType<ComputerCallData> = z.looseObject({
  ...computerCall,
  timeout: timeoutSeconds.optional(),
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
  agent: z.string(),
  req_id: requestId,
  office_id: name,
});

const sessionInfo: z.ZodType<SessionInfo> = z.looseObject({
  sid: z.string(),
  name: z.string(),
  role,
  office_id: z.string(),
  a2c_version: z.string().nullish().transform((version) => version ?? undefined),
}).transform(({ a2c_version, ...session }) =>
  a2c_version === undefined ? session : { ...session, a2c_version }
);

export const listRoomRet: z.ZodType<ListRoomRet> = z.looseObject({
  sessions: z.array(sessionInfo),
  req_id: z.string(),
});

export const updateComputerConfigReq: z.ZodType<UpdateComputerConfigReq> = z.looseObject({
  computer: z.string(),
});
