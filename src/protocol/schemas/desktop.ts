import { z } from "zod";
import type { GetDeskTopReq } from "../desktop.ts";
import { computerCall, timeoutSeconds } from "./office.ts";

export const getDeskTopReq: z.ZodType<GetDeskTopReq> = z.looseObject({
  ...computerCall,
  desktop_size: z.int().nullish().transform((size) => size ?? undefined),
  window: z.string().nullish().transform((uri) => uri ?? undefined),
  timeout: timeoutSeconds.optional(),
});
