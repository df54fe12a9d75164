import { z } from "zod";
import type {
  GetBlobReq,
  GetBlobRet,
  GetDpeReq,
  GetDpeRet,
  GetResourcesReq,
  ReadResourceReq,
} from "../resources.ts";
import { computerCall, timeoutSeconds } from "./office.ts";

const timed = { ...computerCall, timeout: timeoutSeconds.optional() };

/** How long a handle may be. */
const MAX_HANDLE_LENGTH = 1_024;

const optionalInteger = z.int().nullish().transform((value) => value ?? undefined);

/** Peers in Python write `null` for what they leave out. */
const optionalText = z.string().nullish().transform((text) => text ?? undefined);

export const readResourceReq: z.ZodType<ReadResourceReq> = z.looseObject({
  ...timed,
  uri: z.string().min(1),
  mcp_server: optionalText,
});

export const getResourcesReq: z.ZodType<GetResourcesReq> = z.looseObject({
  ...timed,
  mcp_server: z.string().min(1),
  cursor: optionalText,
});

export const getDpeReq: z.ZodType<GetDpeReq> = z.looseObject({ ...timed, uri: z.string() });

export const getDpeRet: z.ZodType<GetDpeRet> = z.looseObject({
  resource: z.looseObject({
    uri: z.string(),
    mime_type: optionalText,
    size: z.number().nullish().transform((size) => size ?? undefined),
    etag: optionalText,
  }),
  req_id: z.string().catch(""),
});

export const getBlobReq: z.ZodType<GetBlobReq> = z.looseObject({
  ...timed,
  blob_handle: z.string().min(1).max(MAX_HANDLE_LENGTH),
  chunk_offset: optionalInteger,
  max_chunk_bytes: optionalInteger,
});

export const getBlobRet: z.ZodType<GetBlobRet> = z.looseObject({
  blob_handle: z.string(),
  mime_type: optionalText,
  total_size: z.int().nonnegative(),
  sha256: z.string(),
  chunk_offset: z.int().nonnegative(),
  eof: z.boolean(),
  blob: z.string(),
  req_id: z.string().optional(),
});
