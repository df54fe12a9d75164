import { assertEquals } from "@std/assert";
import type { Server } from "@modelcontextprotocol/server";
import { type ResourceHandlerParts, tellUpdates } from "../../../../src/gateway/resources/handlers.ts";

interface Scene {
  readonly request: (method: string) => Promise<unknown>;
  /** Ends the session. */
  readonly end: () => void;
  /** Lets the Computer answer. */
  readonly answer: () => void;
  /** How many subscriptions are held. */
  readonly holders: () => number;
}

const URI = "window://notes/a";

/** A session of a client of 2025, whose Computer takes its time. */
function openScene(): Scene {
  const handlers = new Map<string, (request: unknown) => unknown>();
  const server = { setRequestHandler: (method: string, run: () => unknown) => handlers.set(method, run) };
  const answered = Promise.withResolvers<void>();
  let holders = 0;
  const parts = {
    isLegacy: true,
    ready: () => Promise.resolve(),
    resources: { find: () => Promise.resolve({ computer: "laptop", mcpServer: undefined, uri: URI }) },
    subscriptions: {
      follow: async () => {
        await answered.promise;
        holders++;
        return () => holders--;
      },
    },
    onResourceUpdated: () => () => undefined,
  };
  const end = tellUpdates(server as unknown as Server, parts as unknown as ResourceHandlerParts);
  return {
    request: async (method) => await handlers.get(method)?.({ params: { uri: URI } }),
    end,
    answer: () => answered.resolve(),
    holders: () => holders,
  };
}

Deno.test("a session that ends while it subscribes holds no subscription", async () => {
  const { request, end, answer, holders } = openScene();
  const subscribed = request("resources/subscribe");
  end();
  answer();
  await subscribed;
  assertEquals(holders(), 0);
});

Deno.test("resources/unsubscribe ends a subscription that is still being made", async () => {
  const { request, answer, holders } = openScene();
  const subscribed = request("resources/subscribe");
  const unsubscribed = request("resources/unsubscribe");
  answer();
  await Promise.all([subscribed, unsubscribed]);
  assertEquals(holders(), 0);
});

Deno.test("a client that subscribes twice holds one subscription", async () => {
  const { request, answer, holders } = openScene();
  answer();
  await Promise.all([request("resources/subscribe"), request("resources/subscribe")]);
  assertEquals(holders(), 1);
  await request("resources/unsubscribe");
  assertEquals(holders(), 0);
});
