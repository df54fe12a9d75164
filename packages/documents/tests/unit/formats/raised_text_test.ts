import { assertEquals } from "@std/assert";
import { joinText, raiseText, strikeText } from "../../../src/formats/raised_text.ts";

Deno.test("signs and at most two letters are raised in Unicode where it has them; others are in brackets", () => {
  const raised = [
    "6",
    "-3",
    "−3",
    "n+1",
    "th",
    "TM",
    "3,4",
    "q",
    "²",
    " 6 ",
    " ",
    "",
    "a b",
    ".",
    "ᵃᵇᶜ",
    "2nd",
    "max",
    "x2y2z2",
  ];
  assertEquals(raised.map((text) => raiseText(text, "raised")), [
    ...[
      "⁶",
      "⁻³",
      "⁻³",
      "ⁿ⁺¹",
      "ᵗʰ",
      "ᵀᴹ",
      "^(3,4)",
      "^(q)",
      "²",
      " ⁶ ",
      " ",
      "",
      "^(a b)",
      ".",
      "ᵃᵇᶜ",
      "²ⁿᵈ",
      "^(max)",
      "^(x2y2z2)",
    ],
  ]);
  const lowered = ["2", "max", "i", "b", "min", "(aq)", "1,2"];
  assertEquals(lowered.map((text) => raiseText(text, "lowered")), [
    ...["₂", "_(max)", "ᵢ", "_(b)", "_(min)", "_(aq)", "_(1,2)"],
  ]);
});

Deno.test("struck text is between tildes, and pieces of one form are joined", () => {
  assertEquals(["100", " 100 ", " "].map(strikeText), ["~~100~~", " ~~100~~ ", " "]);
  assertEquals(
    joinText([
      ...[{ text: "10" }, { text: "1", position: "raised" as const }, {
        text: ",2",
        position: "raised" as const,
      }],
      ...[{ text: " " }, { text: "a", isStruck: true }, { text: "b", isStruck: true }, {
        text: "c",
        isStruck: false,
      }],
      { text: "2", position: "lowered", isStruck: true },
    ]),
    "10^(1,2) ~~ab~~c~~₂~~",
  );
});
