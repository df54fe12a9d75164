/**
 * Brings what a release has built to those who install it; what it needs besides is in the variables of the workflow. Each
 * part first asks what is there already: after a failure, the same command goes on where it ended.
 *
 * - `deno run -A tools/deliver.ts npm FOLDER`: the packages of the folder, to npm's registry.
 * - `… images FOLDER`: container images from the archives of the folder, as `ghcr.io/REPOSITORY`.
 * - `… servers FOLDER`: the `server-NAME.json` of the folder, to the MCP registry.
 * - `… release FOLDER`: the files of the folder, as the release of the tag on GitHub.
 * - `… taps FOLDER`: the formula to `homebrew-tap`, and the manifest of Scoop to `scoop-bucket`.
 *
 * @module
 */

import { basename, join, resolve } from "node:path";
import manifest from "../deno.json" with { type: "json" };
import { root, run, succeed } from "./deno.ts";

/** Publishes the packages that npm's registry does not have yet: the libraries first, since the program needs them. */
async function deliverPackages(folder: string): Promise<void> {
  const { stdout: registry } = await succeed("npm", run("npm", ["config", "get", "registry"], folder));
  // In no argument and in no file.
  const key = `npm_config_${registry.trim().replace(/^https?:|\/?$/g, "")}/:_authToken`;
  const env = { [key]: variable("NODE_AUTH_TOKEN") };
  for (const tarball of ["a2c-smcp-sdk", "a2c-smcp-documents", "a2c-smcp"]) {
    const path = resolve(folder, `${tarball}-${manifest.version}.tgz`);
    const { stdout } = await succeed("tar", run("tar", ["-xzOf", path, "package/package.json"], folder));
    const { name, version } = JSON.parse(stdout);
    const id = `${name}@${version}`;
    await deliver(id, await isOnNpm(id, folder), async () => {
      await succeed("npm publish", run("npm", ["publish", "--access", "public", path], folder, env));
    });
  }
}

async function isOnNpm(id: string, folder: string): Promise<boolean> {
  const { code, stdout, stderr } = await run("npm", ["view", id, "version"], folder);
  if (code !== 0 && !stderr.includes("E404")) throw new Error(`Cannot ask npm for ${id}: ${stderr}`);
  return code === 0 && stdout.trim() !== "";
}

/** Builds the images of the archives for both kinds of machines, and pushes those that are not there yet. */
async function deliverImages(folder: string): Promise<void> {
  for (const [target, name] of [["hub", ""], ["documents", "/documents"]] as const) {
    const image = `ghcr.io/${variable("GITHUB_REPOSITORY")}${name}`;
    const id = `${image}:${manifest.version}`;
    const { code } = await run("docker", ["buildx", "imagetools", "inspect", id], folder);
    await deliver(id, code === 0, async () => {
      // The list of what is in an image (SBOM) is made of the packages of npm and Debian that are found there.
      const proofs = ["--platform", "linux/amd64,linux/arm64", "--sbom=true", "--provenance=mode=max"];
      const source = [
        "--build-arg",
        `BASE=${variable("BASE")}`,
        "--file",
        join(root, "deploy", "Dockerfile"),
      ];
      const tags = ["--target", target, "--tag", id, "--tag", `${image}:latest`];
      const words = ["buildx", "build", "--push", ...proofs, ...source, ...tags, resolve(folder)];
      await succeed("docker", run("docker", words, folder));
    });
  }
}

/** Publishes each `server-NAME.json` that the MCP registry does not have yet. */
async function deliverServers(folder: string): Promise<void> {
  const registry = variable("MCP_REGISTRY_URL");
  await succeed("publisher", run("publisher", ["login", "github-oidc"], folder));
  for (const { name: file } of Deno.readDirSync(folder)) {
    if (!/^server-\w+\.json$/.test(file)) continue;
    const { name, version } = JSON.parse(await Deno.readTextFile(join(folder, file)));
    const url = `${registry}/v0/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
    const known = await ask(url);
    await deliver(`${name} ${version}`, known !== undefined, async () => {
      await succeed("publisher", run("publisher", ["publish", file], folder));
    });
  }
}

/** Makes the release on GitHub, with the files of a folder. */
async function deliverRelease(folder: string): Promise<void> {
  const tag = `v${manifest.version}`;
  const place = ["--repo", variable("GITHUB_REPOSITORY")];
  // A run that was stopped leaves a draft, which nobody else sees.
  const view = ["release", "view", tag, ...place, "--json", "isDraft", "--jq", ".isDraft"];
  const { code, stdout } = await run("gh", view, folder);
  const isDraft = code === 0 && stdout.trim() === "true";
  await deliver(tag, code === 0 && !isDraft, async () => {
    if (isDraft) await succeed("gh", run("gh", ["release", "delete", tag, ...place, "--yes"], folder));
    const files = Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
    const words = ["release", "create", tag, ...place, "--verify-tag", "--generate-notes", ...files];
    await succeed("gh", run("gh", words, folder));
  });
}

/** The repositories of package managers, with the file in each. */
const TAPS = { "homebrew-tap": "Formula/a2c-smcp.rb", "scoop-bucket": "bucket/a2c-smcp.json" };

/** Writes the formula and the manifest of Scoop into the repositories of the account, where they are not the same. */
async function deliverTaps(folder: string): Promise<void> {
  const account = `${variable("GITHUB_API_URL")}/repos/${variable("GITHUB_REPOSITORY_OWNER")}`;
  const headers = { authorization: `Bearer ${variable("TAP_TOKEN")}`, accept: "application/vnd.github+json" };
  for (const [repository, path] of Object.entries(TAPS)) {
    const url = `${account}/${repository}/contents/${path}`;
    const content = (await Deno.readFile(join(folder, basename(path)))).toBase64();
    const there = await ask(url, { headers });
    await deliver(url, there?.["content"]?.replaceAll("\n", "") === content, async () => {
      const message = `a2c-smcp ${manifest.version}`;
      const body = JSON.stringify({
        message,
        content,
        ...(there === undefined ? {} : { sha: there["sha"] }),
      });
      await ask(url, { method: "PUT", headers, body });
    });
  }
}

/** The JSON of an address; `undefined` where nothing is there. */
async function ask(url: string, init: RequestInit = {}): Promise<Record<string, string> | undefined> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (response.status === 404 && init.method === undefined) return undefined;
  if (!response.ok) throw new Error(`Cannot ask ${url}: HTTP ${response.status} ${text}`);
  return JSON.parse(text);
}

async function deliver(name: string, isThere: boolean, send: () => Promise<void>): Promise<void> {
  if (!isThere) await send();
  console.log(`${name}: ${isThere ? "is there already" : "published"}`);
}

/** The value of a variable that the workflow gives. */
function variable(name: string): string {
  const value = Deno.env.get(name);
  if (value === undefined || value === "") {
    throw new TypeError(`Cannot publish: the variable ${name} is not set`);
  }
  return value;
}

const PARTS: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  npm: deliverPackages,
  images: deliverImages,
  servers: deliverServers,
  release: deliverRelease,
  taps: deliverTaps,
};

if (import.meta.main) {
  const [part = "", folder] = Deno.args;
  const send = Object.hasOwn(PARTS, part) ? PARTS[part] : undefined;
  if (send === undefined || folder === undefined) {
    console.error(`Usage: deno run -A tools/deliver.ts ${Object.keys(PARTS).join("|")} FOLDER`);
    Deno.exit(2);
  }
  await send(folder);
}
