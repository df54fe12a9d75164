/** What the hub runs around its Server: the gateway to its offices, on the Server's port. */
import { settledWithin } from "../../async/abortable.ts";
import { createSeatsHandler } from "../../gateway/http/handler.ts";
import type { Activity } from "../../gateway/gateway_options.ts";
import { Seats } from "../../gateway/seats.ts";
import { StrangerQuotas } from "../../http/quotas.ts";
import { type Logger, withFields } from "../../log.ts";
import { anyOf, type AuthProvider } from "../../server/admission/provider.ts";
import { staticTokens } from "../../server/admission/tokens.ts";
import { defaultMaxSockets } from "../../server/engine/tcp_sockets.ts";
import { CONSTANTS } from "../../server/options/constants.ts";
import { openActivityLog } from "../agent/mcp/command.ts";
import { GatewayState } from "../agent/mcp/gateway_state.ts";
import { patienceMsOf } from "../gateway_options.ts";
import type { ClaimTokens } from "../server/credentials.ts";
import { isReachedElsewhere } from "../server/options.ts";
import type { Surroundings } from "../server/run.ts";
import { openHubAccess } from "./access.ts";
import { ClientConnections } from "./client_connections.ts";
import { createHubConsole } from "./console.ts";
import { addGrantCommands, runGrantCommand } from "./grants.ts";
import { McpPort } from "./mcp_port.ts";
import type { TokenOwners } from "./mcp_tokens.ts";
import { type HubOptions, hubStateFile, toolNamesFile } from "./options.ts";
import { type HubPlace, namesOf, seatsAt } from "./seats.ts";

/** The most sessions of MCP clients. */
const MAX_SESSIONS = 1_000;

export async function openHub(
  options: HubOptions,
  { auth, claim, owners, logger: serverLog }: {
    readonly auth: AuthProvider | undefined;
    readonly claim: ClaimTokens;
    readonly owners: Pick<TokenOwners, "optionOf">;
    readonly logger: Logger;
  },
): Promise<Surroundings> {
  const logger = withFields(serverLog, { module: "hub" });
  await using opening = new AsyncDisposableStack();
  const access = opening.use(await openHubAccess(options, { logger, claim, owners }));
  const logActivity = openActivityLog({ activityLog: options.activityLog }, logger);
  // The hub's own Agents. Where nobody needs credentials, they need none either.
  const token = auth && crypto.getRandomValues(new Uint8Array(32)).toHex();
  const place = Promise.withResolvers<HubPlace>();
  const onActivity = (entry: Activity) => {
    access.server?.countCall(entry.credential);
    logActivity?.(entry);
  };
  const { tools, onChange } = options;
  const gateway = { tools, onChange, patienceMs: patienceMsOf(options), logger, onActivity };
  const file = hubStateFile(options);
  const state = file === undefined ? undefined : await GatewayState.open(toolNamesFile(file), logger);
  opening.defer(() => state?.close());
  const memory = state && ((offices: readonly string[]) => state.of(offices));
  const seats = opening.use(new Seats({ ...seatsAt(place.promise), gateway, memory, logger }));
  const { maxSockets = defaultMaxSockets() } = options;
  const connections = new ClientConnections(Math.ceil(CONSTANTS.connectionsShare.value * maxSockets));
  const port = new McpPort(connections);
  const opened = opening.move();
  return {
    auth: auth && token !== undefined
      ? anyOf([staticTokens({ tokens: [{ token, name: "hub", roles: ["agent"] }] }), auth])
      : undefined,
    others: (request, response, context) => port.serve(request, response, context),
    async onListening(listening, inner) {
      const url = localUrl(listening);
      port.onRefused = inner.refused;
      place.resolve({
        ...inner,
        connection: { url, token, name: options.hubName, path: options.path, logger },
      });
      const publicUrl = options.publicUrl ?? url;
      const rule = await access.begin({
        publicUrl,
        computersOf: (office) => namesOf("computer", office, inner),
        // After the last one, its people may want the seat for an Agent of their own.
        onGrantEnd: (office, end) => seats.forget(office, end),
      });
      if (options.publicUrl === undefined && rule.metadata !== undefined) {
        const warn = () =>
          logger.warn(
            `clients that use another URL than ${publicUrl} cannot sign in: their tokens would be for that one; ` +
              "give --public-url with the URL that they use, such as https://hub.example.com",
          );
        if (isReachedElsewhere(options)) warn();
        else port.warnOfOtherOrigin(publicUrl, warn);
      }
      port.oauth = access.server?.handler;
      port.handler = opened.use(
        createSeatsHandler(seats, {
          access: port.keepAdmitted(rule),
          publicUrl,
          maxSessions: MAX_SESSIONS,
          // Each request needs a credential that no page has, so the name of the host does not matter.
          allowedHosts: ["*"],
          allowedOrigins: options.allowedOrigins?.filter((origin) => origin !== "*" && origin !== "null"),
          logger,
        }),
      );
      logger.info("serving MCP clients", { url: `${listening}/mcp`, public_url: options.publicUrl });
      return publicUrl;
    },
    addCommands: (program, { actor, show }) =>
      addGrantCommands(program, async ({ json = false }, use) => {
        show(await runGrantCommand(options, { actor, use }), { json });
      }),
    tokens: () => access.tokens,
    countSessions: () => port.handler?.sessions ?? 0,
    onOperated(console) {
      const { operator, server } = access;
      const quotas = server?.quotas ?? new StrangerQuotas();
      if (operator !== undefined) port.console = createHubConsole(console, { operator, quotas, logger });
    },
    work: {
      begin: () => port.refuseNew(),
      get isIdle() {
        return port.isIdle;
      },
      async end(timeoutMs) {
        const endMs = performance.now() + timeoutMs;
        const leftMs = () => endMs - performance.now();
        await settledWithin(port.untilIdle(), timeoutMs / 2);
        // Calls that wait for something else than a Computer end with the Agents. Their clients are told so.
        await settledWithin(Promise.all([seats.close(), port.untilIdle()]), leftMs());
        if (port.handler !== undefined) await settledWithin(port.handler.close(), leftMs());
      },
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The URL by which this machine reaches the port that the hub listens on. */
function localUrl(listening: string): string {
  const url = new URL(listening);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.origin;
}
