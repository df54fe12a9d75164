/** `notify:connection_closing`: why a Server ends a connection (`docs/protocol/extensions.md#farewell`). */
import { isRecord } from "../json/json.ts";
import { shorten } from "../text/text.ts";

const MAX_MESSAGE_LENGTH = 200;
const MAX_CODE_LENGTH = 64;
const MAX_RETRY_AFTER_MS = 300_000;

/** The reasons for which our Server ends a connection. Others may be added: `reconnect` says what to do. */
export const FarewellCode = {
  /** The credentials have expired. */
  CREDENTIALS_EXPIRED: "credentials_expired",
  /** The credentials are no longer accepted. */
  CREDENTIALS_REVOKED: "credentials_revoked",
  /** The permissions of the credentials have changed; the new ones count from the next connection on. */
  CREDENTIALS_CHANGED: "credentials_changed",
  /** A newer connection of the same member has taken its place. */
  SESSION_REPLACED: "session_replaced",
  /** The Server shuts down. */
  SERVER_CLOSING: "server_closing",
  /** The Server can no longer vouch for the membership. */
  LEASE_LOST: "lease_lost",
  /** The operator of the Server has ended the connection; the message is the operator's reason. */
  ENDED_BY_OPERATOR: "ended_by_operator",
} as const;

/** Why a Server ends a connection, and whether the client may come back. */
export interface Farewell {
  /** The reason for programs, such as `credentials_expired`. */
  readonly code: string;
  /** The reason for people. */
  readonly message: string;
  /** Whether the client may reconnect with the same credentials. */
  readonly reconnect: boolean;
  /** How long to wait before that, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** The body of `notify:connection_closing`. */
export interface ConnectionClosingNotification {
  /** The reason for programs, such as `credentials_expired`. */
  code: string;
  /** The reason for people. */
  message: string;
  /** Whether the client may reconnect with the same credentials. */
  reconnect: boolean;
  /** How long to wait before that, in milliseconds. */
  retry_after_ms?: number;
}

export function toClosingNotification(farewell: Farewell): ConnectionClosingNotification {
  const { code, message, reconnect, retryAfterMs } = farewell;
  return {
    code,
    message,
    reconnect,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.round(retryAfterMs) }),
  };
}

/** Reads the body of the notification; `undefined` when it is malformed. Long texts are cut, long waits shortened. */
export function readClosingNotification(body: unknown): Farewell | undefined {
  if (!isRecord(body)) return undefined;
  const { code, message, reconnect, retry_after_ms: retryAfterMs } = body;
  if (typeof code !== "string" || typeof message !== "string" || typeof reconnect !== "boolean") {
    return undefined;
  }
  const hasWait = typeof retryAfterMs === "number" && retryAfterMs >= 0;
  return {
    code: shorten(code, MAX_CODE_LENGTH),
    message: shorten(message, MAX_MESSAGE_LENGTH),
    reconnect,
    ...(hasWait ? { retryAfterMs: Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) } : {}),
  };
}

/** Whether the farewell says that the credentials have ended: with new ones, the client may come back. */
export function hasEndedCredentials({ code }: Farewell): boolean {
  return code === FarewellCode.CREDENTIALS_EXPIRED || code === FarewellCode.CREDENTIALS_REVOKED;
}
