/** The codes with which a WebSocket is closed (RFC 6455, section 7.4). */

/** A WebSocket without a code in its close frame. */
export const NO_STATUS = 1005;
/** A WebSocket that ended without a close frame. */
export const ABNORMAL = 1006;
/** The peer broke the protocol. */
export const PROTOCOL_ERROR = 1002;
/** The peer sent text that is not UTF-8. */
export const INVALID_DATA = 1007;
/** The Server has no room for the message now. */
export const TRY_AGAIN = 1013;
/** The peer breaks a rule of the Server. */
export const POLICY_VIOLATION = 1008;
/** The peer sent a message that is far too large. */
export const TOO_BIG = 1009;

/** Returns whether a peer may send this code. */
export function isSendable(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== NO_STATUS && code !== ABNORMAL;
}
