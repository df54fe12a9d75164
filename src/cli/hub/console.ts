/** `/console` of a hub: the page of the operator on the port of the Server, for operators of all offices. */
import type { IncomingMessage } from "node:http";
import { rateOf, TokenBucket } from "../../async/token_bucket.ts";
import { BoundedLog } from "../../bounded_log.ts";
import { answerByFetch } from "../../http/fetch_adapter.ts";
import { originOf } from "../../http/proxies.ts";
import type { SenderRules } from "../../http/senders.ts";
import { readBearer } from "../../http/tokens.ts";
import type { Operator } from "../../hub/consents.ts";
import type { StrangerQuotas } from "../../http/quotas.ts";
import type { Logger } from "../../log.ts";
import type { OtherPaths, OtherRequest } from "../../server/engine/port.ts";
import type { ProgramConsole } from "../console.ts";

const BASE = "/console";
const PATH = /^\/console(?:[/?]|$)/;
/** The log lines about those who are refused. */
const REFUSAL_LINES = rateOf(20, 60_000);

/** Each request shows a token that no page has, so the name of the host does not matter. */
const SENDERS: SenderRules = {
  isFixed: true,
  isHostAllowed: () => true,
  isOriginAllowed: (origin, { host }) => URL.parse(origin)?.host === host,
};

const NO_OPERATOR = { status: 401, message: "Sign in with the token of an operator" } as const;
const LIMITED_OPERATOR = {
  status: 403,
  message: "This console is for operators of all offices; your token is limited to some",
} as const;

export function createHubConsole(
  console: ProgramConsole,
  { operator, quotas, logger }: {
    readonly operator: (token: string) => Promise<Operator | undefined>;
    readonly quotas: StrangerQuotas;
    readonly logger: Logger;
  },
): OtherPaths {
  const buckets = [new TokenBucket(REFUSAL_LINES)];
  const log = new BoundedLog(logger, { buckets, about: "refused operators" });
  const others = new WeakMap<IncomingMessage, OtherRequest>();
  const admit = async (incoming: IncomingMessage) => {
    const token = readBearer(incoming.headers.authorization);
    const found = token === undefined ? undefined : await operator(token);
    const { adopt, forwarded } = others.get(incoming) ?? {};
    const address = forwarded?.address ?? incoming.socket.remoteAddress;
    if (found?.offices === "all") {
      adopt?.();
      return { by: found.name, address };
    }
    // Good tokens are never counted, so that nobody can lock an operator out.
    const wait = token !== undefined && found === undefined ? quotas.take("guess", address) : undefined;
    if (wait !== undefined) {
      return { status: 429, message: `Too many wrong tokens: wait ${wait} seconds` } as const;
    }
    const refusal = found === undefined ? NO_OPERATOR : LIMITED_OPERATOR;
    if (token !== undefined) {
      log.write("warn", "refused an operator at the console", {
        module: "audit",
        action: "connect",
        reason: refusal.message,
        operator: found?.name,
        address,
      });
    }
    return refusal;
  };
  // Loaded with the first request: most hubs are not looked at.
  let site: ReturnType<ProgramConsole["serve"]> | undefined;
  return (request, response, other) => {
    if (!PATH.test(request.url ?? "")) return false;
    others.set(request, other);
    const { forwarded } = other;
    void answerByFetch(request, response, {
      origin: originOf(request, forwarded),
      async fetch(asked) {
        site ??= console.serve({ base: BASE, senders: SENDERS, admit });
        return (await site).fetch(asked, request, forwarded);
      },
    });
    return true;
  };
}
