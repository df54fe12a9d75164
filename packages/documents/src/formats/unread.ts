/** Files that are listed and not read: what they are, and what a person can do. */
import { extensionOf } from "../file_name.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "./format.ts";

/** The ends of their names, and the end of the sentence `Cannot read "x.mp3": …`. */
const UNREAD: readonly (readonly [extensions: string, reason: string])[] = [
  ["ppt pps pot", "presentations of before 2007 are not read; save it as .pptx"],
  ["wpd wps wri hwp hwpx", "files of this word processor are not read; save it as .docx or PDF"],
  ["pages", "files of Apple Pages are not read; export it as Word or PDF"],
  ["numbers", "files of Apple Numbers are not read; export it as Excel or CSV"],
  ["key", "presentations of Apple Keynote are not read; export it as PowerPoint or PDF"],
  ["mbox pst ost", "mailboxes are not read; export its messages as .eml"],
  ["mobi azw azw3 kfx lit chm", "books of this format are not read; convert it to EPUB or PDF"],
  ["djvu djv xps oxps", "pages of this format are not read; convert it to PDF"],
  ["ps eps ai indd", "print files are not read; convert it to PDF"],
  ["vsd vsdx pub one mpp dwg psd xcf sketch", "drawings of this program are not read; export it as PDF"],
  [
    "mp3 wav m4a flac ogg oga opus aac wma aif aiff amr mid midi",
    "sounds are not transcribed; save what is said as text",
  ],
  [
    "mp4 m4v mov avi mkv webm wmv mpg mpeg 3gp flv",
    "films are not transcribed; save what is said as text or subtitles",
  ],
  ["parquet feather arrow avro orc", "tables of this format are not read; export it as CSV"],
  ["sqlite sqlite3 db mdb accdb", "databases are not read; export its tables as CSV"],
  ["h5 hdf5 mat npy npz rds rda rdata sav dta sas7bdat", "data of this format is not read; export it as CSV"],
  ["rar 7z tar gz tgz bz2 xz zst lzma cab", "archives of this format are not opened; unpack it"],
];

const reasons: ReadonlyMap<string, string> = new Map(
  UNREAD.flatMap(([extensions, reason]) =>
    extensions.split(" ").map((extension): [string, string] => [extension, reason])
  ),
);

/** Ends of names that texts have as well, such as keys. */
const AMBIGUOUS = new Set(["key", "pub", "one", "mat", "mid", "pot"]);

/** The ends of names that tell such a file without a look at it. */
export const unreadExtensions: readonly string[] = [...reasons.keys()].filter((each) => !AMBIGUOUS.has(each));

/** Whether a file that is no text is one of these. */
export function isUnread(fileName: string): boolean {
  return reasons.has(extensionOf(fileName));
}

/** Refuses a file, with what to do. */
export function open({ fileName }: ParseInput): ParsedDocument {
  throw unreadable("unsupported", reasons.get(extensionOf(fileName)) ?? "files of this kind are not read");
}
