/** What the site shows, in its order: each page of the documentation stands in one group. */

/** Pages that belong together; a page is the path of its Markdown in the repository. */
export interface Group {
  readonly title: string;
  /** How much its words count in the search; 1 by default. */
  readonly weight?: number;
  readonly pages: readonly string[];
}

export const groups: readonly Group[] = [
  {
    title: "Start",
    weight: 3,
    pages: [
      "README.md",
      "docs/start.md",
      "docs/clients.md",
      "docs/install.md",
      "docs/troubleshooting.md",
      "docs/faq.md",
      "docs/upgrade.md",
      "docs/comparison.md",
    ],
  },
  {
    title: "Your machines",
    pages: [
      "docs/machines.md",
      "docs/computer.md",
      "docs/console.md",
      "docs/configuration.md",
      "docs/mcp-servers.md",
      "docs/documents.md",
      "docs/skills.md",
      "docs/sign-in.md",
    ],
  },
  {
    title: "Clients and agents",
    pages: [
      "docs/gateway.md",
      "docs/hub.md",
      "docs/mcp-access.md",
      "docs/agent.md",
      "docs/toolkits.md",
      "docs/commands.md",
    ],
  },
  {
    title: "Run a Server",
    pages: [
      "docs/server.md",
      "docs/credentials.md",
      "docs/deploy.md",
      "docs/operations.md",
      "docs/cluster.md",
      "docs/benchmarks.md",
    ],
  },
  {
    title: "Protocol",
    pages: [
      "docs/protocol/README.md",
      "docs/protocol/calls-and-offices.md",
      "docs/protocol/data-structures.md",
      "docs/protocol/desktop.md",
      "docs/protocol/finder.md",
      "docs/protocol/resources.md",
      "docs/protocol/progress.md",
      "docs/protocol/questions.md",
      "docs/protocol/extensions.md",
      "docs/protocol/errors.md",
      "docs/protocol/versions.md",
      "docs/interop.md",
      "docs/glossary.md",
    ],
  },
  {
    title: "Project",
    weight: 0.2,
    pages: [
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "SECURITY.md",
      "docs/decisions/arguments.md",
      "docs/decisions/engine.md",
      "docs/decisions/mcp_requests.md",
      "docs/decisions/pdf.md",
      "docs/decisions/private_members.md",
      "docs/decisions/session_transport.md",
      "docs/decisions/shared_seat.md",
      "docs/decisions/text_scan.md",
    ],
  },
];

/** What the search finds by its title: a heading, or a message of Troubleshooting. */
export interface Section {
  readonly title: string;
  readonly anchor: string;
  /** Of the heading, 1 to 6; 0 for a message. */
  readonly level: number;
  /** How the text below begins, or what to do about the message. */
  readonly text: string;
}

/** The address of a page below the site's root: `docs/protocol/README.md` is `protocol/`. */
export function addressOf(page: string): string {
  return page.replace(/^docs\//, "").replace(/README\.md$/, "").replace(/\.md$/, "/").toLowerCase();
}

/** The page of one error code, below the site's root. */
export function addressOfCode(code: string): string {
  return `protocol/errors/${code}/`;
}

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
}

/** A site of a release takes 70 MB, and hosts have room for a gigabyte. */
const MOST_RELEASES = 5;

/** The newest release of each minor version among the tags of the repository, the newest first. */
export function newestReleases(
  tags: readonly string[],
): readonly { readonly tag: string; readonly folder: string }[] {
  const newest = new Map<string, string>();
  const releases = tags.filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
  for (const tag of releases.toSorted(new Intl.Collator("en", { numeric: true }).compare)) {
    newest.set(tag.replace(/\.\d+$/, ""), tag);
  }
  return [...newest].map(([folder, tag]) => ({ folder, tag })).reverse().slice(0, MOST_RELEASES);
}
