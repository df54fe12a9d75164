import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openMachines } from "../../src/cli/server/machines.ts";
import type { OptionValues } from "../../src/cli/server/options.ts";
import { existingStateFiles, stateFolder } from "../../src/files/state_folder.ts";
import { socketFolders } from "../../src/files/user_sockets.ts";
import { machineIdOf } from "../../src/jwt/proof.ts";
import { writeMachineList } from "../../src/server/admission/machine_list.ts";
import { staticTokens } from "../../src/server/admission/tokens.ts";
import { TestMachine } from "../fixtures/joining_server.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { isWindows } from "../fixtures/system.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const auth = staticTokens({ tokens: ["s3cret"] });

/** The variables of a service of systemd, which has no home. */
function inService(folder: string): Disposable {
  const names = ["STATE_DIRECTORY", "RUNTIME_DIRECTORY", "XDG_STATE_HOME", "HOME"];
  const before = names.map((name) => [name, Deno.env.get(name)] as const);
  for (const name of names) Deno.env.delete(name);
  if (folder !== "") Deno.env.set("STATE_DIRECTORY", folder);
  return {
    [Symbol.dispose]() {
      for (const [name, value] of before) {
        value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
      }
    },
  };
}

/** Why a Server with these options takes no machines, and its warnings. */
async function refusal(options: Partial<OptionValues>, given: typeof auth | undefined) {
  const logger = new LogBook();
  await using opened = await openMachines({ port: 3000, ...options } as OptionValues, {
    auth: given,
    logger,
  });
  return [typeof opened.operated === "string" ? opened.operated : "", logger.of("warn").length] as const;
}

Deno.test(
  "a service keeps its machines in the folder that systemd gives it",
  { ignore: isWindows },
  async () => {
    using folder = new TempFolder();
    const given = `${folder.path}/a2c-smcp-office`;
    await Deno.mkdir(given);
    using _ = inService(`${given}:/var/lib/other`);
    assertEquals(stateFolder(), given);
    assertEquals(await refusal({}, auth), ["", 0]);
    await Deno.writeTextFile(`${given}/hub.sqlite`, "");
    assertEquals(existingStateFiles("hub.sqlite")[0], `${given}/hub.sqlite`);
  },
);

Deno.test(
  "the folders of a service that started this program are none of ours",
  { ignore: isWindows },
  async () => {
    using folder = new TempFolder();
    const other = `${folder.path}/other`;
    await Deno.mkdir(other);
    using _ = inService(other);
    Deno.env.set("XDG_STATE_HOME", folder.path);
    Deno.env.set("RUNTIME_DIRECTORY", other);
    assertEquals(stateFolder(), `${folder.path}/a2c-smcp`);
    assert(!socketFolders().some((path) => path.startsWith(other)));
  },
);

Deno.test("a Server that shares its offices warns of the machines that have joined it before", {
  ignore: isWindows,
}, async () => {
  using folder = new TempFolder();
  const given = `${folder.path}/a2c-smcp`;
  await Deno.mkdir(given);
  using _ = inService(given);
  const redis = { redisUrl: "redis://127.0.0.1" };
  const file = `${given}/machines-3000.json`;
  await Deno.writeTextFile(file, writeMachineList([]));
  assertEquals((await refusal(redis, auth))[1], 0);
  const key = (await TestMachine.make()).publicKey;
  const limits = { name: "laptop", offices: ["lab"], roles: ["computer"] } as const;
  const known = { id: machineIdOf(key), key, audience: "", system: "", since: 0, lastSeen: 0 };
  await Deno.writeTextFile(file, writeMachineList([{ ...known, ...limits }]));
  const [reason, warnings] = await refusal(redis, auth);
  assertStringIncludes(reason, "1 machine that has joined");
  assertStringIncludes(reason, file);
  assertStringIncludes(reason, "--token-file");
  assertEquals(warnings, 1);
  assertEquals((await refusal({ ...redis, machines: "none" }, auth))[1], 0);
});

Deno.test("a Server knows why it takes no machines, and warns where it could and has no folder for them", {
  ignore: isWindows,
}, async () => {
  using folder = new TempFolder();
  using _ = inService("");
  const [none, warnings] = await refusal({}, auth);
  assertEquals([none, warnings], ["no state folder; give --machines FILE", 1]);
  const file = `${folder.path}/a2c-smcp`;
  await Deno.writeTextFile(file, "");
  Deno.env.set("STATE_DIRECTORY", file);
  const [unusable, more] = await refusal({}, auth);
  assertStringIncludes(unusable, file);
  assertEquals(more, 1);
  for (
    const [options, given] of [[{ machines: "none" }, auth], [{}, undefined], [{ port: 0 }, auth], [{
      redisUrl: "redis://127.0.0.1",
    }, auth]] as const
  ) {
    const [reason, count] = await refusal(options, given);
    assert(reason !== "");
    assertEquals(count, 0);
  }
});
