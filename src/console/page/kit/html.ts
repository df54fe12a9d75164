/** Templates of the pages: `html\`<p>${text}</p>\`` makes text a text node, whoever wrote it. */
import htm from "htm";
import { h, type VNode } from "preact";

// The types of htm describe its module for CommonJS.
const { bind } = htm as unknown as { bind(create: typeof h): (...template: Template) => VNode };

type Template = [strings: TemplateStringsArray, ...values: unknown[]];

export const html = bind(h);
