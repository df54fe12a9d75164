import * as z from "zod";
import {
  type AnswerInputReq,
  type InputRequired,
  type OpenInputReq,
  type OpenInputRet,
  QUESTION_MODES,
} from "../questions.ts";
import { computerCall, timeoutSeconds } from "./office.ts";

const MAX_MODES = 32;
const MAX_STATE_LENGTH = 1_024;

const record = z.record(z.string(), z.unknown());

export const openInputReq: z.ZodType<OpenInputReq> = z.looseObject({
  ...computerCall,
  modes: z.array(z.string()).max(MAX_MODES),
});

export const openInputRet: z.ZodType<OpenInputRet> = z.looseObject({
  modes: z.array(z.string()).transform((modes) => QUESTION_MODES.filter((mode) => modes.includes(mode))),
  req_id: z.string().optional(),
});

export const answerInputReq: z.ZodType<AnswerInputReq> = z.looseObject({
  ...computerCall,
  state: z.string().min(1).max(MAX_STATE_LENGTH),
  action: z.enum(["accept", "decline", "cancel"]),
  content: record.optional(),
  timeout: timeoutSeconds,
});

const question = { state: z.string().min(1), message: z.string(), expires_in_ms: z.number().positive() };

export const inputRequired: z.ZodType<InputRequired> = z.discriminatedUnion("mode", [
  z.looseObject({ ...question, mode: z.literal("form"), schema: record }),
  z.looseObject({ ...question, mode: z.literal("url"), url: z.string() }),
  z.looseObject({ ...question, mode: z.literal("approval") }),
  z.looseObject({ ...question, mode: z.literal("wait") }),
]);
