/** `read_document`: a document, some of its pages, or one element. */
import { DPE_FORMATS, type DPEDocument } from "../../../protocol/dpe.ts";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { isValidDpeUri, parseDpeUri } from "../../../uri/dpe_uri.ts";
import { toSeenLine, toSeenName, toSeenUri, toSeenWord } from "../../../text/safe_text.ts";
import { ArgumentError } from "../../../local_tools/arguments.ts";
import {
  pagesOf,
  type ReadableDocument,
  READING_PROPERTIES,
  readingOf,
  showDocument,
} from "../../../local_tools/document_answers.ts";
import { SHOWN_APART } from "../../../local_tools/pictures.ts";
import { hasCode } from "../../requests.ts";
import type { RemoteComputer } from "../../remote_computer.ts";
import type { LocalTool } from "../tool_context.ts";
import {
  askEach,
  chosenComputers,
  type ClientUri,
  COMPUTER_PROPERTY,
  makeBuiltin,
  problemLines,
  quoted,
  type Reach,
  readClientUri,
} from "./builtin.ts";

/** The errors of Computers that do not have a document. */
const NOT_THERE = [ErrorCode.NOT_FOUND, ErrorCode.DOCUMENT_NOT_FOUND];

/** Where a document is. */
export interface Place {
  readonly remote: RemoteComputer;
  readonly uri: string;
  readonly signal: AbortSignal;
}

export function readDocument(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "read_document",
    title: "Read a document",
    description:
      "Reads a document of a Computer by its dpe:// URI, as Markdown with its pictures: all of a short one, of one with more " +
      "than 20 pages the outline; or some pages, or one element, such as the p3-image-1 of [picture p3-image-1: …]. A long " +
      "answer ends with how to go on.",
    properties: {
      uri: {
        type: "string",
        description: "The dpe:// URI of the document, or of one of its pages or elements.",
      },
      computer: COMPUTER_PROPERTY,
      ...READING_PROPERTIES,
      format: { type: "string", enum: [...DPE_FORMATS], description: "markdown by default." },
    },
    required: ["uri"],
    async run(args, { signal, clientName: client }) {
      const { uri, computer = args.text("computer") } = readDocumentUri(
        args.text("uri") ?? args.missing("uri"),
      );
      const format = args.choice("format", DPE_FORMATS) ?? "markdown";
      const { pageIndex: page, elementId: element } = parseDpeUri(uri);
      const reading = readingOf(args, { page, element });
      const place = await findPlace({ ...reach, client }, { uri, computer, signal });
      const head = (document: DPEDocument) => headOf(document, place.remote.name);
      return await showDocument(readableAt(place), reading, { format, headOf: head });
    },
  });
}

function readDocumentUri(named: string): ClientUri {
  const read = readClientUri(named);
  if (isValidDpeUri(read.uri) && parseDpeUri(read.uri).docRef !== undefined) return read;
  throw new ArgumentError(
    `Cannot read ${toSeenLine(named)}: not the URI of a document. A document has a URI such as ` +
      "dpe://HOST/DOCUMENT, as find_documents lists it",
  );
}

/**
 * The Computer that has a document: the one that is named, or the only one of all.
 *
 * @throws {ArgumentError} none has it, or several have.
 */
export async function findPlace(
  reach: Reach,
  { uri, computer, signal }: {
    readonly uri: string;
    readonly computer: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Place> {
  const remotes = chosenComputers(reach, computer);
  const [only, ...others] = remotes;
  if (only !== undefined && others.length === 0) return { remote: only, uri, signal };
  const answers = await askEach(remotes, (remote) => hasDocument({ remote, uri, signal }));
  const having = answers.flatMap((answer) => "value" in answer && answer.value ? [answer.computer] : []);
  const [first, ...more] = having;
  if (more.length > 0) {
    throw new ArgumentError(
      `Several Computers have ${toSeenLine(uri)}: ${quoted(having)}. Choose one with the argument "computer"`,
    );
  }
  const remote = remotes.find(({ name }) => name === first);
  if (remote !== undefined) return { remote, uri, signal };
  const problems = problemLines(answers);
  const who = problems.length === 0 ? "No Computer" : "No other Computer";
  const none = `${who} has ${toSeenLine(uri)}. Call find_documents to see which there are.`;
  throw new ArgumentError([...problems, ...(problems.length === answers.length ? [] : [none])].join("\n"));
}

async function hasDocument({ remote, uri, signal }: Place): Promise<boolean> {
  try {
    await remote.readDocumentMetadata(uri, { signal, expectedCodes: NOT_THERE });
    return true;
  } catch (error) {
    // One that is asleep, or has left, was not asked.
    if (!hasCode(error, NOT_THERE) || error.details?.["computer_name"] !== undefined) throw error;
    return false;
  }
}

/** A document of a Computer. What its Markdown tells does not come as elements a second time. */
export function readableAt({ remote, uri, signal }: Place): ReadableDocument {
  const options = { elements: SHOWN_APART, signal };
  return {
    metadata: (outline) => remote.readDocumentMetadata(uri, { outline, signal }),
    page: (index, format) => remote.readPage(uri, index, { format, ...options }),
    element: (id, format) => remote.readElement(uri, id, { format, ...options }),
  };
}

function headOf({ title, file_type, page_count, uri }: DPEDocument, computer: string): string {
  const about = [pagesOf(page_count), toSeenWord(file_type), toSeenUri(uri)].join(", ");
  return `# ${toSeenWord(title)}\n\n${about}, on Computer ${toSeenName(computer)}`;
}
