import { assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { toConnectError } from "../../../src/link/connect_failure.ts";
import { AuthenticationError, ServerUnreachableError } from "../../../src/link/errors.ts";

Deno.test("toConnectError() names no --ca-file as the remedy where one was given", () => {
  const failure = Object.assign(new Error("xhr poll error"), {
    context: { status: 0, statusText: new Error("self-signed certificate") },
  });
  const target = { url: "https://a.example", requested: "https://a.example/socket.io/" };
  assertStringIncludes(
    toConnectError(failure, target).message,
    "--ca-file FILE (the option ca of the library), or NODE_EXTRA_CA_CERTS",
  );
  assertStringIncludes(
    toConnectError(failure, { ...target, hasCa: true }).message,
    "(self-signed certificate); the given certificate authorities (--ca-file, ca) do not have the one that signed it",
  );
});

Deno.test("toConnectError() says what the Server said when it refuses for now, and not that it cannot be reached", () => {
  const target = { url: "http://a.example", requested: "http://a.example/socket.io/" };
  const message = "Cannot connect: too many connections of this principal";
  const ofNamespace = Object.assign(new Error(message), { data: { code: 429, message } });
  const ofGate = Object.assign(new Error("xhr poll error"), {
    context: { status: 429, responseText: JSON.stringify({ code: 429, message }) },
  });
  for (const failure of [ofNamespace, ofGate]) {
    const error = toConnectError(failure, target);
    assertInstanceOf(error, ServerUnreachableError);
    assertEquals(
      [error.message, error.isPermanent, error.serverCode],
      [`Cannot connect to "http://a.example": too many connections of this principal (429)`, false, 429],
    );
  }
  const ofProxy = Object.assign(new Error("xhr poll error"), {
    context: { status: 503, responseText: "busy" },
  });
  assertStringIncludes(toConnectError(ofProxy, target).message, "Cannot reach the Server");
});

Deno.test("toConnectError() does not retry a redirect whose target the browser hides", () => {
  const target = { url: "http://a.example", requested: "http://a.example/socket.io/" };
  const context = { status: 0, responseText: "", isHiddenRedirect: true };
  const error = toConnectError(Object.assign(new Error("poll error"), { context }), target);
  assertInstanceOf(error, ServerUnreachableError);
  assertEquals(error.isPermanent, true);
  assertStringIncludes(error.message, "redirects");
});

Deno.test("toConnectError() tells a sender that the Server does not allow from wrong credentials", () => {
  const target = { url: "http://a.example", requested: "http://a.example/socket.io/" };
  const refusal = (status: number, responseText: string) =>
    toConnectError(Object.assign(new Error("xhr poll error"), { context: { status, responseText } }), target);
  const codes = [
    refusal(403, '{"code":403,"message":"Origin not allowed"}'),
    refusal(401, '{"code":401,"message":"Unauthorized"}'),
    refusal(403, "<html>Forbidden</html>"),
  ].map((error) => {
    assertInstanceOf(error, AuthenticationError);
    return error.serverCode;
  });
  assertEquals(codes, [403, 401, undefined]);
});

Deno.test("toConnectError() tells the address for MCP clients from that for members", () => {
  const url = "http://a.example:3000/mcp/o/lab";
  for (const status of [401, 404]) {
    const failure = Object.assign(new Error("xhr poll error"), { context: { status, responseText: "" } });
    const error = toConnectError(failure, { url, requested: `${url}/socket.io/` });
    assertInstanceOf(error, ServerUnreachableError);
    assertEquals(error.isPermanent, true);
    assertStringIncludes(error.message, "for MCP clients");
    assertStringIncludes(error.message, '"http://a.example:3000"');
  }
});

Deno.test("toConnectError() blames no proxy when a WebSocket is answered 503", () => {
  const target = { url: "http://a.example", requested: "http://a.example/socket.io/", hasPolling: false };
  const textOf = (message: string) => toConnectError(new Error(message), target).message;
  assertStringIncludes(textOf("HTTP 503"), "(HTTP 503); the Server shuts down or is not ready");
  for (const message of ["HTTP 400", "connection closed"]) {
    assertStringIncludes(textOf(message), `(${message}); the Server serves WebSocket alone`);
  }
});
