import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { ProtocolVersionError } from "../../mod.ts";
import { runDoor, startDoor } from "../fixtures/door.ts";
import { interop } from "./_office.ts";
import { PeerError, PythonPeer } from "./peer.ts";

const office = "lab";

Deno.test("our peers end at once on a Python Server of another version, and say which", interop, async () => {
  await using server = await PythonPeer.start("server", ["--protocol-version", "0.4.0"]);
  const url = String(server.ready.url);
  const error = await assertRejects(
    () => Agent.connect({ url, office, name: "ada", protocolVersion: "0.2", timeoutMs: Infinity }),
    ProtocolVersionError,
  );
  assertEquals(error.refusal, {
    code: 4008,
    message: "Protocol version mismatch",
    server_version: "0.4.0",
    client_version: "0.2.0",
    min_supported: "0.4.0",
    max_supported: "0.4.999",
  });
  await using computer = Computer.open({ name: "laptop", config: { servers: {} } });
  await assertRejects(() => computer.join({ url, office }), ProtocolVersionError);

  const { code, stderr } = await runDoor("agent.ts", [
    ...["--url", url, "--office", office, "--name", "ada", "--protocol", "0.2"],
    "office",
  ]);
  assertEquals(code, 4);
  assertStringIncludes(stderr, "the Server speaks 0.4.0");
});

Deno.test("our Agent follows a Python Server of another version", interop, async () => {
  await using server = await PythonPeer.start("server", ["--protocol-version", "0.4.0"]);
  await using agent = await Agent.connect({ url: String(server.ready.url), office, name: "ada" });
  assertEquals(agent.protocolVersion, "0.4");
});

Deno.test("a Python client understands that our Server wants another version", interop, async () => {
  await using server = startDoor("server.ts", ["--port", "0", "--accept", "0.4"]);
  const url = await server.listening();
  for (const driver of ["agent", "computer"] as const) {
    const error = await PythonPeer.start(driver, ["--url", url, "--office", office]).catch((error) => error);
    assertInstanceOf(error, PeerError);
    assertStringIncludes(error.message, "ProtocolVersionError");
    assertStringIncludes(JSON.stringify(error.payload), `"0.4.999"`);
  }
});
