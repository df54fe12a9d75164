/** Elements of HTML that are units: pictures, sounds, films, fields of forms; and the forms of letters. */
import { oneLine } from "../../basics.ts";
import type { FormField } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { formatOrdinal } from "../number_formats.ts";
import type { TextForm } from "../raised_text.ts";
import { attribute, type Element, elementsBelow, link, type Node } from "./dom.ts";

/** The longest `data:` URL of a picture that is kept. */
const MAX_DATA_URL_LENGTH = 350_000;

/** Pictures, sounds, films and embedded pages; `undefined` for others. */
export function mediaOf(element: Element, textOf: (node: Element) => string): DocumentElement[] | undefined {
  const { tagName } = element;
  const source = elementsBelow(element).find((child) => child.tagName === "source");
  const url = attribute(element, "src") ?? (source && attribute(source, "src"));
  switch (tagName) {
    case "img": {
      const isKept = url !== undefined && url !== "" &&
        (!url.startsWith("data:") || url.length <= MAX_DATA_URL_LENGTH);
      const description = attribute(element, "alt") ?? "";
      return [{ category: "image", content: { description, ...(isKept ? { url } : {}) } }];
    }
    case "audio":
    case "video": {
      const description = oneLine(textOf(element));
      const content = {
        ...(url === undefined ? {} : { url }),
        ...(description === "" ? {} : { description }),
      };
      return [{ category: tagName, content }];
    }
    case "area":
      return [link(element, "href", attribute(element, "alt") ?? "")];
    case "iframe":
    case "frame":
      return url === undefined ? [] : [link(element, "src", attribute(element, "title") ?? "")];
    default:
      return undefined;
  }
}

/** A field of a form with its value; `undefined` for one that is hidden or a button. */
export function fieldOf(element: Element, textOf: (node: Element) => string): FormField | undefined {
  const type = element.tagName === "input" ? attribute(element, "type") ?? "text" : element.tagName;
  if (["hidden", "submit", "button", "reset", "image", "password"].includes(type)) return undefined;
  const choices = elementsBelow(element).flatMap((child) =>
    child.tagName === "optgroup" ? elementsBelow(child) : [child]
  ).filter(({ tagName }) => tagName === "option");
  const wordsOf = (node: Element) => oneLine(textOf(node));
  const chosen = choices.filter((choice) => attribute(choice, "selected") !== undefined).map(wordsOf);
  const value = type === "checkbox" || type === "radio"
    ? attribute(element, "checked") !== undefined && (attribute(element, "value") ?? true)
    : type === "textarea"
    ? textOf(element)
    : chosen.length > 0
    ? chosen.join(", ")
    : attribute(element, "value");
  return {
    name: attribute(element, "name") ?? "",
    type,
    ...(value === undefined ? {} : { value }),
    ...(choices.length === 0 ? {} : { options: choices.map(wordsOf) }),
  };
}

/** What gives each item of a list, in their order, the number that a browser shows; none in a list of bullets. */
export function numberingOf(list: Element): (item: Node) => string | undefined {
  if (list.tagName !== "ol") return () => undefined;
  const integerOf = (element: Element, name: string) =>
    /^\s*[-+]?\d{1,9}(?!\d)/.exec(attribute(element, name) ?? "")?.map(Number)[0];
  const isReversed = attribute(list, "reversed") !== undefined;
  const css = attribute(list, "style") ?? "";
  const style = /list-style(?:-type)?\s*:[^;]{0,99}\b((?:low|upp)er-(?:alpha|latin|roman))/.exec(css);
  const type = style?.[1] ?? attribute(list, "type") ?? "";
  const letters = /roman$|^i$/i.test(type) ? "Roman" : /-|^a$/i.test(type) ? "Letter" : undefined;
  const format = `${/^(?:u|[AI]$)/.test(type) ? "upper" : "lower"}${letters}`;
  const items = elementsBelow(list).filter(({ tagName }) => tagName === "li");
  let next = integerOf(list, "start") ?? (isReversed ? items.length : 1);
  return (item) => {
    const number = ("tagName" in item ? integerOf(item, "value") : undefined) ?? next;
    next = number + (isReversed ? -1 : 1);
    return `${letters !== undefined && number > 0 ? formatOrdinal(number, format) : number}.`;
  };
}

/** The form that an element gives to its text. */
export function formOf(element: Element, outer: TextForm): TextForm {
  const { tagName } = element;
  const style = attribute(element, "style") ?? "";
  const position = /vertical-align\s*:\s*(super|sub)\b/i.exec(style)?.[1]?.toLowerCase() ?? tagName;
  const isStruck = /^(?:del|s|strike)$/.test(tagName) ||
    /(?:^|;)\s*text-decoration[^;:]*:[^;]*line-through/i.test(style);
  if (!isStruck && !/^su(?:b|p|per)$/.test(position)) return outer;
  return {
    position: position === "sub" ? "lowered" : position.startsWith("sup") ? "raised" : outer.position,
    isStruck: isStruck || outer.isStruck,
  };
}

/** What a field of a form shows. */
export function valueText({ type, value, options = [] }: FormField = { name: "" }): string {
  if (type === "checkbox" || type === "radio") return value === false ? "[ ]" : "[x]";
  return String(value ?? (type === "select" ? options[0] : undefined) ?? "");
}
