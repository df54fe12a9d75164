import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { credentialsRemedy, readCredentials } from "../../../src/cli/credentials.ts";
import { UsageError } from "../../../src/cli/outcome.ts";
import type { CredentialsSource } from "../../../src/link/credentials.ts";
import { isWindows } from "../../fixtures/system.ts";

const { signal } = new AbortController();

/** What the source of these options gives now. */
async function ask(source: CredentialsSource | undefined): Promise<unknown> {
  assert(source !== undefined);
  return await source({ signal });
}

Deno.test("--auth token=… overrides --token, and there is no source without a file or a command", async () => {
  const read = await readCredentials({
    token: "a",
    auth: { token: "b", user: "ada" },
    header: { "x-a": "1" },
  });
  assertEquals(read, {
    auth: { token: "b", user: "ada" },
    headers: { "x-a": "1" },
    credentials: undefined,
    ca: undefined,
  });
});

Deno.test("--token-file is read each time, and may be replaced meanwhile", async () => {
  const file = await Deno.makeTempFile();
  const { credentials } = await readCredentials({ tokenFile: file, auth: { user: "ada" } });
  for (const token of ["first", "second"]) {
    await Deno.writeTextFile(file, `${token}\n`);
    assertEquals(await ask(credentials), { token, auth: { user: "ada" }, headers: {} });
  }
  for (const text of ["", " \n", "two words", "a\nb"]) {
    await Deno.writeTextFile(file, text);
    await assertRejects(() => ask(credentials), TypeError, file);
  }
  await Deno.remove(file);
  await assertRejects(() => ask(credentials), TypeError, "no such file");
});

Deno.test("--token-command runs each time, and fails with its exit code", { ignore: isWindows }, async () => {
  const file = await Deno.makeTempFile();
  const { credentials } = await readCredentials({
    tokenCommand: `echo x >> ${file}; wc -l < ${file} | tr -d ' '`,
  });
  for (const token of ["1", "2"]) assertEquals(Object(await ask(credentials)).token, token);
  await Deno.remove(file);
  const failing = await readCredentials({ tokenCommand: "echo secret; exit 3" });
  const error = await assertRejects(() => ask(failing.credentials), TypeError, "exit code 3");
  assert(!error.message.includes("secret"));
});

Deno.test("two sources of the token are refused, and so is a CA file without certificates", async () => {
  for (const options of [{ token: "a", tokenFile: "f" }, { tokenFile: "f", tokenCommand: "c" }]) {
    await assertRejects(() => readCredentials(options), UsageError, "together");
  }
  const file = await Deno.makeTempFile();
  await assertRejects(() => readCredentials({ caFile: file }), UsageError, "PEM");
  await Deno.remove(file);
  await assertRejects(() => readCredentials({ caFile: file }), UsageError, "no such file");
});

Deno.test("credentialsRemedy() names the option and the file of the token, and no secret", () => {
  const given = { token: "s3cret" };
  assertStringIncludes(credentialsRemedy({ tokenFile: "/tokens/ada" }), '"/tokens/ada" (--token-file)');
  assertStringIncludes(credentialsRemedy({ tokenCommand: "echo s3cret" }), "--token-command");
  assertStringIncludes(credentialsRemedy(given), "A2C_TOKEN");
  assertStringIncludes(credentialsRemedy({ auth: given, header: {} }), "--auth");
  assertStringIncludes(credentialsRemedy({ auth: {}, header: {} }), "computer join");
  const all = [{ tokenCommand: "echo s3cret" }, given, { auth: given }].map(credentialsRemedy);
  assert(!all.join().includes("s3cret"));
});
