/** The member `agent` of a request that an Agent makes for a client (`docs/protocol/extensions.md#clients`). */

/** The longest name of a client, in characters. */
const MAX_CLIENT_LENGTH = 64;

/** Characters that cannot be seen, and those that change the direction of text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** `NAME/CLIENT`; the Agent's name alone when nothing of the client's name can be seen. */
export function toRequester(agent: string, client: string | undefined): string {
  const seen = [...(client ?? "").slice(0, 4 * MAX_CLIENT_LENGTH).replace(UNSEEN, " ").trim()];
  return seen.length === 0 ? agent : `${agent}/${seen.slice(0, MAX_CLIENT_LENGTH).join("").trimEnd()}`;
}

/** The client that a request says it is for; `undefined` when it is not of the form `NAME/CLIENT` for this Agent. */
export function clientNamedIn(claimed: string, agent: string | undefined): string | undefined {
  if (agent === undefined || !claimed.startsWith(`${agent}/`)) return undefined;
  return claimed.slice(agent.length + 1) || undefined;
}
