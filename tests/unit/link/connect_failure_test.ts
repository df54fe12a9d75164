import { assertStringIncludes } from "@std/assert";
import { toConnectError } from "../../../src/link/connect_failure.ts";

Deno.test("toConnectError() names no --ca-file as the remedy where one was given", () => {
  const failure = Object.assign(new Error("xhr poll error"), {
    context: { status: 0, statusText: new Error("self-signed certificate") },
  });
  const target = { url: "https://a.example", requested: "https://a.example/socket.io/" };
  assertStringIncludes(toConnectError(failure, target).message, "--ca-file FILE, or NODE_EXTRA_CA_CERTS");
  assertStringIncludes(
    toConnectError(failure, { ...target, hasCa: true }).message,
    "(self-signed certificate); the given certificate authorities (--ca-file) do not have the one that signed it",
  );
});
