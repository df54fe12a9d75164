/** `server:renew_credentials`: puts newer credentials in the place of those with which the connection was admitted. */
import { isRecord } from "../../json.ts";
import { badRequest } from "../../protocol/errors.ts";
import { fitsApproximately } from "../../protocol/size.ts";
import type { Credentials } from "../admission/provider.ts";
import type { Route } from "./hub.ts";
import { MAX_PENDING_BYTES } from "../limits.ts";
import { toTextAnswer } from "./caller.ts";

/** Acks `(true, null)` or `(false, "reason")`, as a join does. */
export const renewCredentials: Route = {
  async handle({ connection, body }) {
    const sent = parseSent(body);
    await connection.credentials?.renew(sent);
    return [true, null];
  },
  // The provider may take seconds.
  isUnordered: true,
  refuse: toTextAnswer,
};

function parseSent(body: unknown): Pick<Credentials, "auth" | "headers"> {
  const refuse = (field: string, why: string) =>
    badRequest(field, `Cannot read the credentials field "${field}": ${why}`);
  if (!isRecord(body)) throw refuse("body", "expected an object");
  // As much as a client may send before it is admitted.
  if (!fitsApproximately(body, MAX_PENDING_BYTES)) throw refuse("body", "too large");
  const { auth = {}, headers = {} } = body;
  if (!isRecord(auth)) throw refuse("auth", "expected an object");
  if (!isRecord(headers)) throw refuse("headers", "expected an object");
  const named: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") throw refuse("headers", "expected texts");
    Object.defineProperty(named, name.toLowerCase(), { value, enumerable: true });
  }
  return { auth, headers: named };
}
