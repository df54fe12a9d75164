/** Watches a folder of skills, and tells that something in it has changed. */
import { FolderEvents } from "../../folder_events.ts";
import type { Logger } from "../../log.ts";
import { mayRead } from "./folder.ts";

/** The most folders that are watched: skills have few of them. */
const MAX_FOLDERS = 1_000;

export interface SkillWatchOptions {
  /** Called for each change, and when the watch begins, because changes before that are not seen. */
  readonly onChange: () => void;
  readonly log: Logger;
}

/** Watches a folder of skills where that is possible; every list looks at the files anyway. */
export class SkillFolderWatch {
  readonly #events: FolderEvents | undefined;

  constructor(path: string, { onChange, log }: SkillWatchOptions) {
    // Without the permission, a terminal would be asked for it.
    if (!mayRead(path)) return;
    this.#events = new FolderEvents([path], {
      maxFolders: MAX_FOLDERS,
      onPaths: onChange,
      onUnknown: onChange,
      onProblem: (error) =>
        log.info("cannot watch all of a folder of skills; it is read again at each request", {
          folder: path,
          error,
        }),
    });
  }

  async close(): Promise<void> {
    await this.#events?.close();
  }
}
