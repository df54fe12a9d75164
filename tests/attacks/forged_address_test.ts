/** Attacker: a stranger that forges the headers of a reverse proxy, to pass for many clients, or for a page of this machine. */
import { assertEquals } from "@std/assert";
import { type AuthProvider, type ListenOptions, SmcpServer } from "../../server.ts";
import { RawPeer, RecordingLogger } from "../integration/_socket.ts";
import { exchange, POLLING } from "./_raw_http.ts";

const MAX_OF_ONE = 2;

async function listen(options: ListenOptions): Promise<SmcpServer> {
  return await SmcpServer.listen({ port: 0, maxPendingConnectionsPerAddress: MAX_OF_ONE, ...options });
}

/** The statuses of one handshake each. */
async function statusesOf(server: SmcpServer, forwardedFor: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const addresses of forwardedFor) {
    const { status } = await exchange(server.port, {
      target: POLLING,
      headers: { "X-Forwarded-For": addresses, Forwarded: `for=${addresses.split(",")[0]}` },
    });
    statuses.push(status);
  }
  return statuses;
}

Deno.test("Forged X-Forwarded-For and Forwarded win no places where no proxy is trusted", async () => {
  await using server = await listen({});
  const forged = ["198.51.100.1", "198.51.100.2", "198.51.100.3"];
  assertEquals(await statusesOf(server, forged), [200, 200, 503]);
});

Deno.test("Forged X-Forwarded-For wins no places from an address that is no trusted proxy", async () => {
  await using server = await listen({ trustedProxies: ["10.0.0.0/8", "192.0.2.1"] });
  const forged = ["198.51.100.1", "198.51.100.2", "198.51.100.3"];
  assertEquals(await statusesOf(server, forged), [200, 200, 503]);
});

Deno.test("What a client writes into X-Forwarded-For before its proxy wins no places either", async () => {
  await using server = await listen({ trustedProxies: ["loopback"] });
  const forged = ["198.51.100.1", "10.0.0.1, 198.51.100.1", "127.0.0.1, 8.8.8.8, 198.51.100.1"];
  assertEquals(await statusesOf(server, forged), [200, 200, 503]);
});

Deno.test("Behind a trusted proxy a client takes its own places only, not those of others", async () => {
  const logger = new RecordingLogger();
  await using server = await listen({ trustedProxies: ["loopback"], logger });
  const clients = ["198.51.100.1", "198.51.100.1", "198.51.100.1", "198.51.100.2"];
  assertEquals(await statusesOf(server, clients), [200, 200, 503, 200]);
  const refused = logger.lines.filter(({ message }) => message === "refused a handshake");
  assertEquals(refused.map(({ fields }) => fields["address"]), ["198.51.100.1"]);
});

Deno.test("An AuthProvider sees the address of the TCP connection, past trusted proxies only", async () => {
  const seen: string[] = [];
  const auth: AuthProvider = {
    authenticate({ address }) {
      seen.push(address);
      return { principal: "ada" };
    },
  };
  const headers = { "X-Forwarded-For": "203.0.113.7, 198.51.100.1" };
  for (const trustedProxies of [[], ["10.0.0.0/8"], ["loopback"]]) {
    await using server = await listen({ auth, trustedProxies });
    await using _peer = await RawPeer.connect(server.url, { headers });
  }
  assertEquals(seen, ["127.0.0.1", "127.0.0.1", "198.51.100.1"]);
});

Deno.test("X-Forwarded-Host opens no Host that is not allowed, trusted proxy or not", async () => {
  for (const trustedProxies of [[], ["loopback"]]) {
    await using server = await listen({ trustedProxies });
    const rebound = { Host: "evil.example", "X-Forwarded-Host": "localhost" };
    for (const target of [POLLING, "/healthz"]) {
      assertEquals((await exchange(server.port, { target, headers: rebound })).status, 403);
    }
  }
  await using server = await listen({ trustedProxies: ["loopback"], allowedHosts: ["hub.example"] });
  const statuses: number[] = [];
  for (const host of ["hub.example", "evil.example"]) {
    statuses.push(
      (await exchange(server.port, { target: POLLING, headers: { "X-Forwarded-Host": host } })).status,
    );
  }
  assertEquals(statuses, [200, 403]);
});
