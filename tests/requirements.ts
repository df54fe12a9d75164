/**
 * Every requirement of the specification, by id. A test says which of them it proves in a comment right above
 * it or inside it (`// proves: desktop-size-zero, desktop-size-none`), and `requirements_test.ts` fails for an id
 * that no test cites, unless it is marked `missing` with the reason.
 *
 * @module
 */

import { data } from "./requirements/data.ts";
import { desktop } from "./requirements/desktop.ts";
import { extensions } from "./requirements/extensions.ts";
import { finder } from "./requirements/finder.ts";
import { guide } from "./requirements/guide.ts";
import { mcp } from "./requirements/mcp.ts";
import { offers } from "./requirements/offers.ts";
import { questions } from "./requirements/questions.ts";
import type { Requirement } from "./requirements/requirement.ts";

export type { Requirement } from "./requirements/requirement.ts";

/** The requirements of all pages. */
export const requirements: readonly Requirement[] = [
  ...desktop,
  ...finder,
  ...guide,
  ...data,
  ...mcp,
  ...extensions,
  ...offers,
  ...questions,
];
