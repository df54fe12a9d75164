import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { SignInFile } from "../../../../src/mcp/auth/token_file.ts";
import {
  memoryTokenStore,
  type StoredSignIn,
  type TokenStore,
} from "../../../../src/mcp/auth/token_store.ts";
import { within } from "../../../fixtures/within.ts";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

const KEY = { server: "shop", resource: "https://mcp.example/mcp", issuer: "https://auth.example" };
const SIGN_IN: StoredSignIn = {
  ...KEY,
  client: { clientId: "a2c", source: "registered" },
  tokens: { accessToken: "one", refreshToken: "two", expiresAtMs: 3, renewAtMs: 2, scope: "read" },
  audience: "https://mcp.example/mcp",
  signedInAtMs: 1,
};

async function withFile(use: (path: string) => Promise<void>): Promise<void> {
  using folder = new TempFolder();
  await use(join(folder.path, "state", "tokens.json"));
}

async function withStores(use: (store: TokenStore) => Promise<void>): Promise<void> {
  await use(memoryTokenStore());
  await withFile((path) => use(new SignInFile(path)));
}

function put(store: TokenStore, signIn: StoredSignIn) {
  return store.update(signIn, () => Promise.resolve(signIn));
}

Deno.test("a store keeps sign-ins by server, resource and issuer", async () => {
  await withStores(async (store) => {
    const others = [{ ...SIGN_IN, issuer: "https://other.example" }, {
      ...SIGN_IN,
      resource: "https://x.example/",
    }];
    for (const each of [SIGN_IN, ...others, { ...SIGN_IN, server: "wiki" }]) await put(store, each);
    assertEquals(await store.read("shop"), [SIGN_IN, ...others]);
    assertEquals(await store.update(KEY, () => Promise.resolve(undefined)), undefined);
    assertEquals(await store.read("shop"), others);
    assertEquals(await store.read("unknown"), []);
  });
});

Deno.test("a store tells nothing to a listener whose signal is aborted", async () => {
  await withStores(async (store) => {
    let heard = 0;
    store.watch(() => heard++, AbortSignal.abort());
    await put(store, SIGN_IN);
    assertEquals(heard, 0);
  });
});

Deno.test("changes of one sign-in wait for each other, and a change that throws stores nothing", async () => {
  await withStores(async (store) => {
    await put(store, { ...SIGN_IN, signedInAtMs: 0 });
    const counts = Array.from(
      { length: 20 },
      () =>
        store.update(
          KEY,
          (before) => Promise.resolve(before && { ...before, signedInAtMs: (before.signedInAtMs ?? 0) + 1 }),
        ),
    );
    const failing = store.update(KEY, () => Promise.reject(new TypeError("no")));
    await assertRejects(() => failing, TypeError, "no");
    await Promise.all(counts);
    assertEquals((await store.read("shop"))[0]?.signedInAtMs, 20);
  });
});

Deno.test("watch() tells of each change until its signal ends it", async () => {
  await withStores(async (store) => {
    const over = new AbortController();
    let changed = Promise.withResolvers<void>();
    store.watch(() => changed.resolve(), over.signal);
    await put(store, SIGN_IN);
    await within(changed.promise, "the first change");
    over.abort();
    changed = Promise.withResolvers();
    changed.promise.then(() => Promise.reject(new TypeError("told after the end")));
    await put(store, { ...SIGN_IN, server: "wiki" });
  });
});

Deno.test("two stores share one file: each hears of the other's changes, and changes wait for each other", async () => {
  await withFile(async (path) => {
    const [one, other] = [new SignInFile(path), new SignInFile(path)];
    const over = new AbortController();
    const changed = Promise.withResolvers<void>();
    other.watch(() => changed.resolve(), over.signal);
    await put(one, { ...SIGN_IN, signedInAtMs: 0 });
    await within(changed.promise, "the change of the other store");
    over.abort();
    const add = (store: TokenStore) =>
      store.update(
        KEY,
        (before) => Promise.resolve(before && { ...before, signedInAtMs: (before.signedInAtMs ?? 0) + 1 }),
      );
    await Promise.all(Array.from({ length: 10 }, () => [add(one), add(other)]).flat());
    assertEquals((await one.read("shop"))[0]?.signedInAtMs, 20);
  });
});

Deno.test({
  name: "the file and its folder are private",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withFile(async (path) => {
      await put(new SignInFile(path), SIGN_IN);
      const modes = [path, join(path, "..")].map((each) => (Deno.statSync(each).mode ?? 0) & 0o777);
      assertEquals(modes, [0o600, 0o700]);
    });
  },
});

Deno.test("a file with other content is refused without a word of it", async () => {
  await withFile(async (path) => {
    const store = new SignInFile(path);
    await put(store, SIGN_IN);
    await Deno.writeTextFile(path, '{ "version": 1, "signIns": [{ "accessToken": "s3cret" }] }');
    const error = await assertRejects(() => store.read("shop"), TypeError, "remove the file");
    assertEquals(Deno.inspect(error).includes("s3cret"), false);
    await assertRejects(() => put(store, SIGN_IN), TypeError);
  });
});
