/** What a step can do with a Computer or an Agent, whoever plays it. */
import type { PeerCommand, PeerEvent, WaitOptions } from "../peer_process.ts";

/**
 * A Computer or an Agent. The drivers of all languages take the same commands (`agent.py` and `computer.py` list them)
 * and report the notifications that arrive as events, `notify:update_desktop` for example, with their body as data.
 */
export interface Role extends AsyncDisposable {
  /** Runs one command; rejects with a `PeerError` that names the code when the answer is an error of the protocol. */
  command(command: PeerCommand, options?: WaitOptions): Promise<unknown>;
  /** The next event of that name, and of that content when given, that no earlier wait has taken. */
  nextEvent(
    event: string,
    options?: WaitOptions & { readonly where?: (data: unknown) => boolean },
  ): Promise<PeerEvent>;
  /** Takes all events that no wait has taken so far. */
  takeEvents(): readonly PeerEvent[];
}

/** Where the files of a cell lie. */
export interface Folders {
  /** Skills, each in a folder of its own. */
  readonly skills: string;
  /** Where uploads go. */
  readonly uploads: string;
}

/** The files of the skill that each Computer of the matrix has. */
export const SKILL_FILES: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> = {
  "SKILL.md": "---\nname: meet\ndescription: How to meet\nlicense: MIT\ntags: [interop]\n---\n\n# Meet\n",
  "notes.txt": "Two peers, one wire\n",
  "large.md": "x".repeat(100_000),
  "logo.png": Uint8Array.from({ length: 300_000 }, (_, index) => index % 251),
};

/** Makes the folders of a cell below `root`, with the skill `meet`. */
export async function makeFolders(root: string): Promise<Folders> {
  const [skills, uploads] = [`${root}/skills/user`, `${root}/uploads`];
  await Deno.mkdir(`${skills}/meet`, { recursive: true });
  await Deno.mkdir(uploads);
  for (const [name, content] of Object.entries(SKILL_FILES)) {
    const path = `${skills}/meet/${name}`;
    await (typeof content === "string" ? Deno.writeTextFile(path, content) : Deno.writeFile(path, content));
  }
  return { skills, uploads };
}
