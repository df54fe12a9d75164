/**
 * ZIP archives, read as folders: a page that lists the files, and then the pages of each file that can be read. Nothing is
 * unpacked to a disk, so that a name leads nowhere.
 */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { describeSize, isLeftBehind } from "../file_name.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "./format.ts";
import { guessEncoding } from "./guess_encoding.ts";
import { type InnerFile, InnerFiles, type PackedFile, pagesText } from "./inner_files.ts";
import { tableOf } from "./sections.ts";
import { hasPassword, resolvePart, ZipParts } from "./zip.ts";

/** The most files that are named. */
const MAX_NAMED = 5_000;
/** An archive in an archive is named: what it unpacks to has no end. */
const ARCHIVE = /\.zip$/i;

export async function open(input: ParseInput): Promise<ParsedDocument> {
  if (hasPassword(input.bytes)) {
    throw unreadable("encrypted", "the archive has a password; unpack it");
  }
  const zip = new ZipParts(input.bytes, input.limits, { keepsCase: true });
  const packed = filesOf(zip);
  const inner = new InnerFiles(input);
  const files = await inner.read(packed.slice(0, MAX_NAMED), 1);
  const { fileName } = input;
  const pageTitles = [`Files of ${fileName}`, ...files.flatMap(({ pageTitles }) => pageTitles)];
  const read = files.filter(({ reason }) => reason === undefined);
  const unread = files.length - read.length;
  const unnamed = packed.length - files.length;
  const paths = files.map(({ path }) => path);
  const losses = [
    ...(unread === 0 ? [] : [`Files that are named, and not read: ${unread}`]),
    ...(unnamed === 0 ? [] : [`Files that are not named, because there are too many: ${unnamed}`]),
  ];
  return {
    facts: {
      title: fileName,
      pageCount: pageTitles.length,
      pageTitles,
      headings: paths.slice(0, 200),
      outline: [{ title: "Files", level: 1, page: 0 }, ...read.flatMap(({ outline }) => outline)],
      opening: [
        `Archive of ${files.length} files: ${paths.slice(0, 20).join(", ")}.`,
        ...read.map(({ opening }) => opening),
      ]
        .join("\n").slice(0, 4_000).toWellFormed(),
      losses,
    },
    page: (index, options) =>
      index === 0
        ? { title: pageTitles[0] ?? fileName, elements: [contentsOf(files)] }
        : inner.page(index, options),
    close: () => inner.close(),
  };
}

/** The files of an archive by their paths, without those that programs leave behind. */
function filesOf(zip: ZipParts): PackedFile[] {
  const pathOf = pathsOf(zip.names);
  return zip.names.filter((name) => !name.endsWith("/"))
    .map((name): PackedFile => {
      const path = pathOf(name);
      const reason = ARCHIVE.test(path) ? "an archive in an archive" : undefined;
      return { path, sizeBytes: zip.sizeOf(name), reason, bytes: () => zip.bytes(name) };
    })
    .filter(({ path }) => !path.split("/").some((part) => part.startsWith(".") || isLeftBehind(part)))
    .sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}

/** The table of the files, with the pages that each has, as they are numbered in URIs. */
function contentsOf(files: readonly InnerFile[]): DocumentElement {
  const rows = files.map((file) => [file.path, describeSize(file.sizeBytes), pagesText(file)]);
  return tableOf([["file", "size", "page indices"], ...rows], 1);
}

/** The paths for names, which say nothing of their encoding where it is not UTF-8. They have no signs that lead out. */
function pathsOf(names: readonly string[]): (name: string) => string {
  // A character for each byte.
  const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const foreign = names.filter((name) => /^[\0-\xff]*$/.test(name) && /[\x80-\xff]/.test(name));
  const encoding = guessEncoding(bytesOf(foreign.join("\n")));
  const decoded = new Map(foreign.map((name) => {
    const bytes = bytesOf(name);
    const isUtf8 = !new TextDecoder().decode(bytes).includes("\ufffd");
    return [name, new TextDecoder(isUtf8 ? "utf-8" : encoding).decode(bytes)];
  }));
  return (name) =>
    resolvePart("", (decoded.get(name) ?? name).replaceAll("\\", "/")).replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      "\ufffd",
    )
      .replace(/^\/+/, "");
}
