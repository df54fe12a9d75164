import { assertEquals, assertThrows, fail } from "@std/assert";
import {
  checkHandshake,
  type HandshakePolicy,
  parseAcceptedVersions,
  parseTransports,
  readQuery,
} from "../../../../src/server/admission/handshake.ts";

const policy: HandshakePolicy = {
  acceptedVersions: ["0.2", "0.3"],
  allowUnversioned: false,
  transports: ["polling", "websocket"],
  isOriginAllowed: (origin) => origin === "https://app.example",
  isHostAllowed: (host) => host !== "evil.example",
};
const check = (url: string, changes: Partial<HandshakePolicy> = {}, origin?: string) =>
  checkHandshake({ request: { method: "GET", headers: { origin } }, query: readQuery(url) }, {
    ...policy,
    ...changes,
  });

Deno.test("checkHandshake() names the transports that are served when it refuses another, after the version", () => {
  const url = "/socket.io/?transport=polling&a2c_version=";
  const transports = ["websocket"] as const;
  const { status, body } = check(`${url}0.2.0`, { transports }) ?? fail("not refused");
  assertEquals([status, body["code"], body["transports"]], [400, 400, ["websocket"]]);
  assertEquals(check(`${url}9.0.0`, { transports })?.body["code"], 4008);
  assertEquals(check("/socket.io/?transport=websocket&a2c_version=0.2.0", { transports }), undefined);
  // Engine.IO answers for a transport that nobody knows.
  assertEquals(check("/socket.io/?transport=pigeon&a2c_version=0.2.0", { transports }), undefined);
});

Deno.test("parseTransports() refuses an unknown name, and none at all", () => {
  assertEquals(parseTransports(["websocket"]), ["websocket"]);
  for (const names of [[], ["websockets"]]) {
    assertThrows(() => parseTransports(names), TypeError, "transport");
  }
});

Deno.test("checkHandshake() lets the accepted versions pass, whatever their PATCH", () => {
  for (const version of ["0.2.0", "0.2.99", "0.3.1"]) {
    assertEquals(check(`/socket.io/?a2c_version=${version}`), undefined);
  }
});

Deno.test("checkHandshake() says what it would accept", () => {
  assertEquals(check("/socket.io/?a2c_version=0.4.0"), {
    kind: "version",
    status: 400,
    headers: { "content-type": "application/json", "X-A2C-Error-Code": "4008" },
    body: {
      code: 4008,
      message: "Protocol version mismatch",
      server_version: "0.3.1",
      client_version: "0.4.0",
      min_supported: "0.2.0",
      max_supported: "0.3.999",
    },
  });
});

Deno.test("checkHandshake() takes malformed versions for malformed and not for missing", () => {
  for (const raw of ["", "0.2", "v0.2.0", "0.2.0 ", "0.02.0", "0.2.0-rc", "1e9.0.0"]) {
    const refusal = check(`/socket.io/?a2c_version=${encodeURIComponent(raw)}`, { allowUnversioned: true });
    assertEquals(
      refusal?.body["message"],
      `Invalid a2c_version: ${JSON.stringify(raw)} is not MAJOR.MINOR.PATCH`,
    );
  }
  const long = check(`/socket.io/?a2c_version=${"9".repeat(5_000)}`);
  assertEquals(String(long?.body["message"]).length < 250, true);
});

Deno.test("checkHandshake() lets peers without a version pass only when that is allowed", () => {
  assertEquals(check("/socket.io/")?.body["message"], "Missing a2c_version query parameter");
  assertEquals(check("/socket.io/", { allowUnversioned: true }), undefined);
});

Deno.test("checkHandshake() asks for the version in handshakes only, and for the sender in every request", () => {
  assertEquals(check("/socket.io/?sid=abc"), undefined);
  assertEquals(check("/socket.io/?sid=abc", {}, "https://evil.example")?.status, 403);
  for (const method of ["OPTIONS", "POST", "GET"]) {
    for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
      assertEquals(
        checkHandshake({ request: { method, headers }, query: { sid: "abc" } }, policy)?.status,
        403,
      );
    }
  }
  assertEquals(checkHandshake({ request: { method: "OPTIONS", headers: {} }, query: {} }, policy), undefined);
});

Deno.test("checkHandshake() refuses JSONP, whatever its number", () => {
  for (const query of ["j=0", "sid=abc&j=0", "j", "sid=abc&j=&x=1"]) {
    assertEquals(check(`/socket.io/?a2c_version=0.2.0&${query}`)?.body["message"], "JSONP is not supported");
  }
});

Deno.test("checkHandshake() reads a repeated parameter as Engine.IO does: the last one counts", () => {
  assertEquals(check("/socket.io/?sid=abc&sid=")?.status, 400);
  assertEquals(check("/socket.io/?a2c_version=9.9.9&a2c_version=0.2.0"), undefined);
});

Deno.test("checkHandshake() asks for the origin before the version", () => {
  assertEquals(check("/socket.io/", {}, "https://evil.example")?.status, 403);
  assertEquals(check("/socket.io/?a2c_version=0.2.0", {}, "https://app.example"), undefined);
});

Deno.test("parseAcceptedVersions() sorts by number and refuses anything but MAJOR.MINOR", () => {
  assertEquals(parseAcceptedVersions(["0.10", "1.0", "0.9"]), ["0.9", "0.10", "1.0"]);
  for (const wrong of [["0.2.0"], ["two"], [""], []]) {
    assertThrows(() => parseAcceptedVersions(wrong), TypeError, "Cannot accept");
  }
});
