import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { SignInFile } from "../../../../src/mcp/auth/token_file.ts";
import {
  memoryTokenStore,
  type StoredSignIn,
  type TokenKeychain,
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

/** A keychain in memory. */
function keychain(key?: string): TokenKeychain & { readonly keys: string[] } {
  const keys = key === undefined ? [] : [key];
  return {
    title: "the keychain",
    keys,
    read: () => Promise.resolve(keys.at(-1)),
    write: (made) => Promise.resolve(void keys.push(made)),
  };
}

Deno.test("a file with a keychain is sealed, also one that was written before, and stores share its one key", async () => {
  await withFile(async (path) => {
    await put(new SignInFile(path), SIGN_IN);
    const chain = keychain();
    assertEquals(await new SignInFile(path, chain).read("shop"), [SIGN_IN]);
    assertEquals((await Deno.readTextFile(path)).includes('"two"'), false);
    const others = await Promise.all([1, 2, 3].map(async (each) => {
      const signIn = { ...SIGN_IN, resource: `https://mcp.example/${each}` };
      await put(new SignInFile(path, chain), signIn);
      return signIn;
    }));
    assertEquals(new Set(await new SignInFile(path, chain).read("shop")), new Set([SIGN_IN, ...others]));
    assertEquals(chain.keys.length, 1);
  });
});

Deno.test("a sealed file is neither read nor replaced without its key", async () => {
  await withFile(async (path) => {
    await put(new SignInFile(path, keychain()), SIGN_IN);
    const sealed = await Deno.readTextFile(path);
    const locked = { ...keychain(), read: () => Promise.reject(new TypeError("the keychain is locked")) };
    const other = keychain(new Uint8Array(32).toBase64());
    for (const chain of [undefined, keychain(), other, keychain("no key"), locked]) {
      const store = new SignInFile(path, chain);
      await assertRejects(() => store.read("shop"), TypeError, "key");
      await assertRejects(() => put(store, SIGN_IN), TypeError, "key");
    }
    const altered = sealed.replace(
      /"sealed": "../,
      (text) => text.slice(0, -2) + (text.endsWith("AA") ? "BB" : "AA"),
    );
    await Deno.writeTextFile(path, altered);
    await assertRejects(() => new SignInFile(path, keychain()).read("shop"), TypeError, "key");
    assertEquals(await Deno.readTextFile(path), altered);
  });
});
