/** What an HTML file says of itself: its title, its `meta` elements, and its language. */
import { oneLine } from "../../basics.ts";
import type { AboutFile } from "../format.ts";
import { attribute, type Element, elementsBelow } from "./dom.ts";

/** What the names of `meta` elements stand for, those that are asked first at first. */
const SAID: Readonly<Record<string, keyof AboutFile>> = {
  description: "description",
  author: "author",
  "dc.creator": "author",
  "article:author": "author",
  date: "created",
  "dcterms.created": "created",
  "article:published_time": "created",
  "last-modified": "changed",
  "dcterms.modified": "changed",
  "article:modified_time": "changed",
};

export class HtmlHead {
  title: string | undefined;
  readonly keywords: string[] = [];
  readonly said: { -readonly [Member in keyof AboutFile]?: string } = {};

  read(head: Element): void {
    for (const node of elementsBelow(head)) {
      if (node.tagName === "title") {
        this.title = oneLine(node.childNodes.map((each) => "value" in each ? each.value : "").join("")) ||
          undefined;
      }
      if (node.tagName !== "meta") continue;
      const content = oneLine(attribute(node, "content") ?? "");
      const name = (attribute(node, "name") ?? attribute(node, "property"))?.toLowerCase() ?? "";
      const member = SAID[name];
      if (member !== undefined && content !== "") this.said[member] ??= content;
      if (name === "keywords") {
        this.keywords.push(...content.split(",").map((word) => word.trim()).filter(Boolean));
      }
    }
  }
}
