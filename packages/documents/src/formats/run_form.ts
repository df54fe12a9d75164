/** How the runs of Word and Excel are written. */
import type { TextForm } from "./raised_text.ts";
import { childrenOf, type XmlNode } from "./xml.ts";

/** The form of a run; what its properties do not say is missing. */
export interface RunForm extends TextForm {
  readonly isHidden?: boolean;
  readonly font?: string;
  /** Whether the run is deleted by a tracked change. */
  readonly isDeleted?: boolean;
}

const POSITIONS: Readonly<Record<string, TextForm["position"]>> = {
  superscript: "raised",
  subscript: "lowered",
};

/** What the properties of a run, or of a style or a font, say of its form. */
export function formOf(properties: XmlNode | undefined): RunForm {
  let form: RunForm = {};
  for (const property of childrenOf(properties)) {
    const { val = "", ascii, hAnsi = ascii } = property.attributes;
    if (property.name === "vertAlign") form = { ...form, position: POSITIONS[val] };
    else if (property.name === "strike") {
      form = { ...form, isStruck: isOn(property) || form.isStruck === true };
    } else if (property.name === "dstrike" && isOn(property)) form = { ...form, isStruck: true };
    else if (property.name === "vanish") form = { ...form, isHidden: isOn(property) };
    else if (property.name === "rFont" || property.name === "name") form = { ...form, font: val };
    else if (property.name === "rFonts" && hAnsi !== undefined) form = { ...form, font: ascii ?? hAnsi };
  }
  return form;
}

/** Whether a property is there, and not turned off. */
export function isOn(toggle: XmlNode | undefined): boolean {
  return toggle !== undefined && !["0", "false", "off"].includes(toggle.attributes["val"] ?? "");
}
