/** Templates of the pages: `html\`<p>${text}</p>\`` makes text a text node, whoever wrote it. */
import htm from "htm";
import { h, type VNode } from "preact";

type Template = [strings: TemplateStringsArray, ...values: unknown[]];

// The types of htm describe its module for CommonJS.
const templates = htm as unknown as { bind(create: typeof h): (...template: Template) => VNode };

export const html = templates.bind(h);
