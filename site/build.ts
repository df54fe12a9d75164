/**
 * Makes the site from the Markdown of the repository: `deno task site [FOLDER]` writes it into the folder, `.site` by
 * default. The site needs no server of its own and works below any address, since all its links are relative. The newest
 * release of each minor version gets its own copy, made from the files of its tag, in a folder such as `v0.1/`.
 *
 * It runs without the configuration of the repository, whose lock file would make everybody fetch what makes the site.
 *
 * @module
 */

import Eleventy from "npm:@11ty/eleventy@3.1.8";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pagefind from "npm:pagefind@1.6.0";
import manifest from "../deno.json" with { type: "json" };
import project from "../project.json" with { type: "json" };
import { addressOf, groups, newestReleases } from "./pages.ts";
import { readPages, type SitePage, toMarkdown, toPage } from "./read.ts";
import { buildReference, readModules, type SymbolHit } from "./reference.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const site = fileURLToPath(new URL("./", import.meta.url));

/** A site to choose: its name, and where it is from the root of this one. */
interface Version {
  readonly title: string;
  readonly address: string;
}

async function buildPages(folder: string, versions: readonly Version[]): Promise<SitePage[]> {
  // Of the state that the pages are made from; an archive of the sources has no commits.
  const date = await run("git", ["log", "-1", "--format=%cs"], root).catch(() => "");
  const pages = [...await readPages(root), await readModules(root)];
  const eleventy = new Eleventy(site, folder, {
    quietMode: true,
    // deno-lint-ignore no-explicit-any -- Eleventy has no types
    config: (config: any) => {
      config.setLayoutsDirectory("layouts");
      config.addGlobalData("layout", "page.njk");
      config.addGlobalData("project", project);
      config.addGlobalData("version", manifest.version);
      config.addGlobalData("date", date.trim());
      config.addGlobalData("versions", versions);
      config.addGlobalData("groups", toNavigation(pages));
      for (const name of ["style.css", "site.js", "favicon.svg"]) {
        config.addPassthroughCopy({ [`site/${name}`]: name });
      }
      config.addPassthroughCopy({ "docs/pictures": "pictures", "docs/benchmarks.svg": "benchmarks.svg" });
      for (const page of pages) {
        const data = {
          ...page,
          permalink: `${page.address}index.html`,
          // Braces are text: without this, Eleventy runs them.
          templateEngineOverride: "html",
          weight: weightOf(page),
          parts: page.sections.filter(({ level }) => level === 2 || level === 3),
          root: "../".repeat(page.address.split("/").length - 1) || "./",
        };
        config.addTemplate(`${page.address.replace(/\/$/, "") || "home"}.html`, page.html, data);
      }
      config.addTemplate("missing.html", missing.html, missing);
    },
  });
  await eleventy.write();
  await Deno.writeTextFile(join(folder, "llms.txt"), toIndex(pages));
  await Deno.writeTextFile(
    join(folder, "llms-full.txt"),
    pages.filter(({ source }) => source !== undefined).map(toMarkdown).join("\n\n---\n\n"),
  );
  return pages;
}

function weightOf({ source }: SitePage): number {
  return groups.find(({ pages }) => pages.includes(source ?? ""))?.weight ?? 1;
}

/** The headings and messages, with what the search shows below them. */
function toSections(pages: readonly SitePage[]) {
  return pages.flatMap((page) =>
    page.sections.map(({ title, anchor, level, text }) => ({
      url: level === 1 ? page.address : `${page.address}#${anchor}`,
      page: level === 1 ? "" : page.title,
      title,
      text,
      isMessage: level === 0,
      weight: weightOf(page),
    }))
  );
}

/** What a host shows at an address that does not exist; its links work at each of these. */
const missing = {
  ...toPage(
    `# No page has this address\n\nUse the search, or [begin at the first page](${project.homepage}).\n`,
    { source: "404.md", address: "" },
  ),
  address: "404.html",
  permalink: "404.html",
  root: new URL(project.homepage).pathname,
  isHidden: true,
};

interface Navigation {
  readonly title: string;
  readonly pages: readonly { readonly title: string; readonly address: string; readonly isMinor: boolean }[];
}

function toNavigation(pages: readonly SitePage[]): Navigation[] {
  const titles = new Map(pages.map(({ address, title }) => [address, title]));
  return groups.map((group) => ({
    title: group.title,
    pages: group.pages.map(addressOf).map((address) => ({
      address,
      title: titles.get(address) ?? address,
      isMinor: address.startsWith("decisions/"), // not in the menu of a phone
    })),
  }));
}

/** The pages for language models, by the form of llms.txt. */
function toIndex(pages: readonly SitePage[]): string {
  const line = (source: string) => {
    const page = pages.find((each) => each.source === source);
    return page === undefined ? "" : `- [${page.title}](${project.homepage}${page.address}): ${page.summary}`;
  };
  const sections = groups.map(({ title, pages }) => `## ${title}\n\n${pages.map(line).join("\n")}`);
  const [home] = pages;
  const whole = `The text of all pages: [llms-full.txt](${project.homepage}llms-full.txt)`;
  return `# A2C-SMCP\n\n> ${home?.summary}\n\n${whole}\n\n${sections.join("\n\n")}\n`;
}

/** Writes the index of the texts, and what the search looks at before it. */
async function buildSearch(
  folder: string,
  { pages, symbols }: { readonly pages: readonly SitePage[]; readonly symbols: readonly SymbolHit[] },
): Promise<void> {
  const titles = { sections: toSections(pages), symbols };
  await Deno.writeTextFile(join(folder, "titles.json"), JSON.stringify(titles));
  const { index } = await pagefind.createIndex({});
  if (index === undefined) throw new TypeError("Cannot index the site: Pagefind made no index");
  await index.addDirectory({ path: folder });
  await index.writeFiles({ outputPath: join(folder, "pagefind") });
  await pagefind.close();
}

/** Makes the site of a release by the files of its tag. */
async function buildRelease(tag: string, folder: string): Promise<void> {
  const checkout = await Deno.makeTempDir({ prefix: "site-" });
  try {
    await run("git", ["worktree", "add", "--detach", checkout, tag], root);
    await run("deno", ["task", "site", folder, "--release"], checkout);
  } finally {
    await run("git", ["worktree", "remove", "--force", checkout], root);
  }
}

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd }).output();
  const decoder = new TextDecoder();
  if (!success) throw new TypeError(`Cannot run ${command} ${args[0]}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

if (import.meta.main) {
  const [folder = join(root, ".site"), option] = Deno.args;
  const isRelease = option === "--release";
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  const tags = isRelease ? "" : await run("git", ["tag", "--list"], root).catch(() => "");
  const releases = newestReleases(tags.split("\n"));
  const others = isRelease
    ? [{ title: "newest", address: "../" }]
    : releases.map(({ tag, folder }) => ({ title: tag, address: `${folder}/` }));
  const own = isRelease ? `v${manifest.version}` : `${manifest.version} (main)`;
  const pages = await buildPages(folder, [{ title: own, address: "" }, ...others]);
  await buildSearch(folder, { pages, symbols: await buildReference(root, folder) });
  for (const release of releases) await buildRelease(release.tag, join(folder, release.folder));
  console.log(folder);
}
