/** XML as a tree. No entity is resolved but the five of XML. A DTD that the file only names is not fetched, and means nothing. */
import { SaxesParser } from "saxes";
import { type ParseLimits, unreadable } from "./format.ts";

/** An element. Its name has no namespace prefix; attributes have both names, since two may differ in nothing else. */
export interface XmlNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (XmlNode | string)[];
}

/** Parses a part of a file. Throws a DocumentError when it is no XML, or nested too deeply. */
export function parseXml(text: string, { maxDepth }: Pick<ParseLimits, "maxDepth">): XmlNode {
  const root: XmlNode = { name: "", attributes: {}, children: [] };
  const open = [root];
  const parser = new SaxesParser({ position: false });
  parser.on("error", (cause) => {
    throw unreadable("damaged", "a part of the file is no XML", { cause });
  });
  parser.on("doctype", (dtd) => {
    if (dtd.includes("[")) {
      throw unreadable("damaged", "a part of the file has a DTD in it, which is not read");
    }
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (open.length > maxDepth) throw unreadable("too_large", `it is nested deeper than ${maxDepth} levels`);
    const node: XmlNode = { name: localName(name), attributes: localAttributes(attributes), children: [] };
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  parser.on("closetag", () => {
    const node = open.pop();
    if (node?.name === "AlternateContent") open.at(-1)?.children.splice(-1, 1, ...alternativeOf(node));
  });
  const addText = (text: string) => void open.at(-1)?.children.push(text);
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.write(text).close();
  return root;
}

/** The namespaces that the readers of office files know, by the prefixes that all programs give them. */
const KNOWN = /^(?:wp[sgc]|wp14|w14|w15|w16\w*|a14|a16|cx\d*|c14|c16\w*|x14\w*|x15\w*|tsle|sle15|ma|mv|m|v)$/;

/** What stands for an `AlternateContent`: what newer programs show if it is known, else what older ones do. */
function alternativeOf(node: XmlNode): readonly (XmlNode | string)[] {
  const choices = childrenOf(node, "Choice");
  const known = choices.find(({ attributes }) =>
    (attributes["Requires"] ?? "").split(/\s+/).every((prefix) => KNOWN.test(prefix))
  );
  return (known ?? at(node, "Fallback") ?? choices[0])?.children ?? [];
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function localAttributes(attributes: object): Record<string, string> {
  const local: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    local[name] = local[localName(name)] = String(value);
  }
  return local;
}

/** The elements right below, of one name if that is given. */
export function childrenOf(node: XmlNode | undefined, name?: string): XmlNode[] {
  return (node?.children ?? []).filter((child): child is XmlNode =>
    typeof child !== "string" && (name === undefined || child.name === name)
  );
}

/** The first element at a path of names. */
export function at(node: XmlNode | undefined, ...names: readonly string[]): XmlNode | undefined {
  let current = node;
  for (const name of names) current = childrenOf(current, name)[0];
  return current;
}

/** The elements of a name at any depth, in order; those within another one of this name are part of it. */
export function* descendantsOf(node: XmlNode | undefined, name: string): Generator<XmlNode, void> {
  for (const child of childrenOf(node)) {
    if (child.name === name) yield child;
    else yield* descendantsOf(child, name);
  }
}

export function textOf(node: XmlNode | undefined): string {
  return (node?.children ?? []).map((child) => typeof child === "string" ? child : textOf(child)).join("");
}
