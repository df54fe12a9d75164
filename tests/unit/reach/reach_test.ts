import { assertEquals, assertRejects } from "@std/assert";
import { createOAuthFetch } from "../../../src/mcp/auth/oauth_fetch.ts";
import { assertInReach, fetchPublic, ForbiddenAddressError } from "../../../src/reach/reach.ts";
import { ServerNotRunningError } from "../../../src/mcp/errors.ts";

const EVIL = new URL("https://mcp.evil.example/mcp");
const { signal } = new AbortController();

/** Resolves names by a table; others are unknown. */
function resolver(table: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const resolve = (hostname: string) => {
    asked.push(hostname);
    const addresses = table[hostname];
    return addresses === undefined ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve(addresses);
  };
  return { asked, resolve };
}

/** A server on the loopback interface, and the hosts that it was asked as. */
async function withServer(
  use: (port: number, hosts: readonly (string | null)[]) => Promise<void>,
): Promise<void> {
  const hosts: (string | null)[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    hosts.push(request.headers.get("host"));
    return Response.json({ ok: true });
  });
  try {
    await use(server.addr.port, hosts);
  } finally {
    await server.shutdown();
  }
}

Deno.test("whoever has any address on the internet reaches no network of the Computer, however its address is spelled", async () => {
  const inside = [
    ["127.0.0.1"],
    ["203.0.113.9", "127.0.0.1"],
    ["2600::1", "10.0.0.1"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["::ffff:a00:1"],
    ["64:ff9b::7f00:1"],
    ["64:ff9b:1:7f00:0:100:808:808"],
    ["2002:7f00:1::"],
    ["fe80::1%eth0"],
    ["fd00::1"],
    ["169.254.169.254"],
    ["0.0.0.0"],
  ];
  const own = [["203.0.113.5"], ["203.0.113.5", "127.0.0.1"], ["127.0.0.1", "203.0.113.5"], [
    "::1",
    "2600::5",
  ]];
  for (const addresses of inside) {
    for (const ownAddresses of own) {
      const { resolve } = resolver({ "t.example": addresses, [EVIL.hostname]: ownAddresses });
      const options = { resource: EVIL, issuer: undefined, resolve };
      const check = () => assertInReach(new URL("https://t.example/"), options, { namers: [EVIL], signal });
      await assertRejects(check, ForbiddenAddressError, "private network", `${addresses} by ${ownAddresses}`);
    }
  }
});

Deno.test("a name of the internet that has private addresses now counts as private only with its certificate there", async () => {
  await withServer(async (port, hosts) => {
    // A moment ago, when the MCP server was reached, it was on the internet.
    const { resolve } = resolver({ [EVIL.hostname]: ["127.0.0.1"], "t.example": ["127.0.0.1"] });
    for (const scheme of ["https", "http"]) {
      const resource = new URL(`${scheme}://${EVIL.hostname}:${port}/mcp`);
      const options = { resource, issuer: undefined, resolve };
      for (const target of [`http://localhost:${port}/`, `https://${EVIL.hostname}:${port}/`]) {
        const check = () => assertInReach(new URL(target), options, { namers: [resource], signal });
        await assertRejects(check, ForbiddenAddressError, undefined, target);
      }
    }
    assertEquals(hosts, []);
  });
});

Deno.test("who names an address inside must be inside: the MCP server, its issuer, and each redirect", async () => {
  const { resolve } = resolver({ "t.example": ["10.0.0.2"], "auth.example": ["203.0.113.7"] });
  const home = new URL("http://10.0.0.1/mcp");
  const target = new URL("https://t.example/");
  const options = { resource: home, issuer: undefined, resolve };
  assertEquals(await assertInReach(target, options, { namers: [home], signal }), ["10.0.0.2"]);
  const namers = [home, new URL("https://auth.example/")];
  await assertRejects(() => assertInReach(target, options, { namers, signal }), ForbiddenAddressError);
  const fetch = createOAuthFetch(options);
  const namedBy = "https://auth.example/";
  await assertRejects(() => fetch(target.href, { namedBy }), ForbiddenAddressError, "auth.example");
});

Deno.test("a request goes to the address that was checked, with the name of the host, and resolves once", async () => {
  await withServer(async (port, hosts) => {
    for (const addresses of [["127.0.0.1"], ["::1", "127.0.0.1"]]) {
      const { asked, resolve } = resolver({ "auth.localhost": addresses });
      const fetch = createOAuthFetch({ resource: new URL("http://127.0.0.1/"), issuer: undefined, resolve });
      assertEquals((await fetch(`http://auth.localhost:${port}/`, {})).status, 200);
      assertEquals(asked, ["auth.localhost"]);
    }
    assertEquals(hosts, [`auth.localhost:${port}`, `auth.localhost:${port}`]);
  });
});

Deno.test("a name that nobody resolves is asked for nothing", async () => {
  const { resolve } = resolver({});
  const fetch = createOAuthFetch({ resource: EVIL, issuer: undefined, resolve });
  await assertRejects(() => fetch("https://localhost.example/", {}), ServerNotRunningError, "Host not found");
});

Deno.test("an address with a user name is refused, and the host of a configured issuer is not checked", async () => {
  const { resolve } = resolver({ "auth.example": ["10.0.0.2"] });
  const options = { resource: EVIL, issuer: "https://auth.example/", resolve };
  assertEquals(
    await assertInReach(new URL("https://auth.example/x"), options, { namers: [EVIL], signal }),
    ["10.0.0.2"],
  );
  const fetch = createOAuthFetch(options);
  for (const url of ["https://mcp.evil.example@8.8.8.8/", "https://:x@auth.example/"]) {
    await assertRejects(() => fetch(url, {}), ForbiddenAddressError, "user name");
  }
});

Deno.test("what a stranger names is read from the internet alone, however its address is spelled", async () => {
  const { resolve } = resolver({
    "inside.example": ["10.0.0.1"],
    "both.example": ["203.0.113.1", "127.0.0.1"],
  });
  const urls = [
    "https://127.0.0.1/c",
    "https://[::ffff:10.0.0.1]/c",
    "https://0x7f000001/c",
    "https://localhost/c",
    "https://169.254.169.254/latest",
    "https://inside.example/c",
    "https://both.example/c",
    "https://printer.local/c",
    "http://client.example/c",
  ];
  for (const url of urls) {
    await assertRejects(() => fetchPublic(new URL(url), { signal }, { resolve }), ForbiddenAddressError);
  }
});

Deno.test("what a stranger names is asked for at the address that was checked", async () => {
  const names: string[] = [];
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const resolve = (name: string) => {
    names.push(name);
    timer = setTimeout(() => ending.abort(), 50);
    return Promise.resolve(["192.0.2.1"]);
  };
  await assertRejects(() =>
    fetchPublic(new URL("https://client.example/c"), { signal: ending.signal }, { resolve })
  );
  clearTimeout(timer);
  assertEquals(names, ["client.example"]);
});
