import { z } from "zod";
import type { GetDeskTopReq, GetDeskTopRet } from "../desktop.ts";
import { computerCall } from "./office.ts";

export const getDeskTopReq: z.ZodType<GetDeskTopReq> = z.looseObject({
  ...computerCall,
  desktop_size: z.int().nullish().transform((size) => size ?? undefined),
  window: z.string().nullish().transform((uri) => uri ?? undefined),
});

/** The reference Server passes an error that it does not know on as an object with nothing in it. */
export const getDeskTopRet: z.ZodType<GetDeskTopRet> = z.looseObject({
  desktops: z.array(z.string()).optional(),
  req_id: z.string().optional(),
}).refine(({ desktops, req_id }) => desktops !== undefined || req_id !== undefined, {
  path: ["desktops"],
  error: "neither desktops nor req_id",
});
