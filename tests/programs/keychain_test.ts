/** Sign-ins whose key is in a real keychain: that of `pass`, and the Secret Service with `secret-tool`. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runDoor } from "../fixtures/door.ts";
import { ProtectedServer } from "../fixtures/protected_server.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { within } from "../fixtures/within.ts";
import { Desk } from "../integration/_sign_in_desk.ts";

type Variables = Readonly<Record<string, string>>;

/** The first of these programs that is missing here. */
async function missing(...programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs) {
    const args = ["-c", `command -v ${program}`];
    const isThere = Deno.build.os !== "windows" &&
      (await new Deno.Command("sh", { args, stdout: "null" }).output()).success;
    if (!isThere) return program;
  }
  return undefined;
}

async function run(line: string, env: Variables): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("sh", { args: ["-c", line], env, stdin: "null" })
    .output();
  if (!success) throw new Error(`Cannot run "${line}": ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

/** Signs in with the key of the sign-ins in a keychain, and looks at what the file and the programs tell. */
async function signInWith(
  place: string,
  { env, lookup }: { readonly env: Variables; readonly lookup: string },
) {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config());
  await using login = desk.login(env, "guarded", "--sign-ins", place);
  await fetch(await login.fill()).then((page) => page.body?.cancel());
  const signedIn = await login.door.end();
  assertEquals(signedIn.code, 0, signedIn.stderr);
  const text = Deno.readTextFileSync(desk.tokenFile);
  assertEquals(Object.keys(JSON.parse(text)), ["version", "sealed"]);
  assertMatch(await run(lookup, env), /^[\w+/]{43}=$/);
  const status = async (...words: string[]) => {
    const variables = { env: { ...desk.place.env, ...env } };
    const { stdout } = await runDoor("computer.ts", ["auth", "status", ...words, ...desk.config], variables);
    return stdout;
  };
  assertMatch(await status("--sign-ins", place), /guarded +signed in/);
  // Not as if nobody had signed in, and not past the seal.
  assertMatch(await status(), /guarded +unknown.*--sign-ins/);
}

const noPass = await missing("pass", "gpg");
const noService = await missing("secret-tool", "gnome-keyring-daemon", "dbus-daemon");
for (const program of [noPass, noService]) {
  if (program !== undefined) console.log(`keychain: skipped, no ${program}`);
}

Deno.test(
  { name: "sign-ins are sealed with a key that pass keeps", ignore: noPass !== undefined },
  async () => {
    using folder = new TempFolder();
    const env = { GNUPGHOME: `${folder.path}/gnupg`, PASSWORD_STORE_DIR: `${folder.path}/store` };
    await Deno.mkdir(env.GNUPGHOME, { mode: 0o700 });
    await run(
      "gpg --batch --quiet --passphrase '' --quick-gen-key ada@example.com default default never",
      env,
    );
    await run("pass init ada@example.com", env);
    await signInWith("pass", { env, lookup: "pass show a2c-smcp/sign-ins" });
    await run("gpgconf --kill all", env);
  },
);

Deno.test(
  { name: "sign-ins are sealed with a key in the keychain", ignore: noService !== undefined },
  async () => {
    using folder = new TempFolder();
    const words = ["--session", "--nofork", "--print-address"];
    const bus = new Deno.Command("dbus-daemon", { args: words, stdout: "piped", stderr: "null" }).spawn();
    const reader = bus.stdout.getReader();
    const { value } = await within(reader.read(), "the address of the bus");
    await reader.cancel();
    const env = {
      DBUS_SESSION_BUS_ADDRESS: new TextDecoder().decode(value).trim(),
      HOME: folder.path,
      XDG_DATA_HOME: folder.path,
    };
    const args = ["--unlock", "--foreground", "--components=secrets"];
    const keyring = new Deno.Command("gnome-keyring-daemon", {
      args,
      env: { ...env, XDG_RUNTIME_DIR: folder.path },
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await new Blob(["password"]).stream().pipeTo(keyring.stdin);
    try {
      await signInWith("keychain", { env, lookup: "secret-tool lookup service a2c-smcp account sign-ins" });
    } finally {
      for (const program of [keyring, bus]) program.kill();
      await within(Promise.all([keyring.status, bus.status]), "the end of the keychain");
    }
  },
);

Deno.test("a keychain that is missing is told, and no sign-in is written without it", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config());
  const env = { PATH: "/nowhere" };
  await using login = desk.login(env, "guarded", "--sign-ins", "pass");
  await fetch(await login.fill()).then((page) => page.body?.cancel());
  const { code, stderr } = await login.door.end();
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'no program "pass"');
  assertEquals(await Deno.stat(desk.tokenFile).catch(() => "missing"), "missing");
});
