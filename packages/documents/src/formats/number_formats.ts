/** The numbers of lists and headings, in the formats of office files (ECMA-376, 17.18.59). */

/** Signs that are counted with; each twice, and so on, where there are no more. */
const SIGNS: Readonly<Record<string, string>> = {
  lowerLetter: "abcdefghijklmnopqrstuvwxyz",
  russianLower: "абвгдежзиклмнопрстуфхцчшщыэюя",
  chicago: "*†‡§",
  decimalEnclosedCircle: "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
  ideographTraditional: "甲乙丙丁戊己庚辛壬癸",
  ganada: "가나다라마바사아자차카타파하",
  aiueoFullWidth:
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
  hebrew2: "אבגדהוזחטיכלמנסעפצקרשת",
  arabicAlpha: "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
};
const ONES =
  ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " +
    "sixteen seventeen eighteen nineteen").split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ORDINALS: Readonly<Record<string, string>> = {
  ...{ one: "first", two: "second", three: "third", five: "fifth", eight: "eighth", nine: "ninth" },
  twelve: "twelfth",
};
/** The digits of Roman numbers, in the letters of their place: one, five and ten. */
const ROMAN = " a aa aaa ab b ba baa baaa ac".split(" ");

const FORMATS: Readonly<Record<string, (number: number) => string>> = {
  none: () => "",
  decimalZero: (number) => String(number).padStart(2, "0"),
  lowerRoman: (number) =>
    number > 3_999
      ? String(number)
      : eachDigit(number, (digit, place) =>
        (ROMAN[digit] ?? "").replace(/[abc]/g, (sign) =>
          "ivxlcdm"["abc".indexOf(sign) + 2 * place] ?? "")),
  ordinal: (number) =>
    `${number}${
      (number % 100 - 10 - number % 10 === 0 ? undefined : ["th", "st", "nd", "rd"][number % 10]) ?? "th"
    }`,
  cardinalText: (number) => capitalized(inWords(number)),
  ordinalText: (number) =>
    capitalized(inWords(number).replace(/\w+$/, (word) => ORDINALS[word] ?? `${word.replace(/y$/, "ie")}th`)),
  numberInDash: (number) => `- ${number} -`,
  decimalFullWidth: (number) => eachDigit(number, (digit) => String.fromCharCode(0xff10 + digit)),
  ideographDigital: (number) => eachDigit(number, (digit) => HAN[digit] ?? ""),
  koreanDigital: (number) => eachDigit(number, (digit) => HANGUL[digit] ?? ""),
  chineseCounting: (number) => counted(number, HAN, " 十百千").replace(/^一十/, "十"),
  koreanCounting: (number) => counted(number, HANGUL, " 십백천").replace(/^일십/, "십"),
  chineseLegalSimplified: (number) => counted(number, "零壹贰叁肆伍陆柒捌玖", " 拾佰仟"),
  ideographLegalTraditional: (number) => counted(number, "零壹貳參肆伍陸柒捌玖", " 拾佰仟"),
};
const HAN = "〇一二三四五六七八九";
const HANGUL = "영일이삼사오육칠팔구";

/** A number in a format, by its name such as `lowerRoman`; in digits when the format is not known. */
export function formatOrdinal(number: number, name: string): string {
  const upper = /^(.*)upper(.*)$/i.exec(name);
  if (upper !== null) {
    return formatOrdinal(number, `${upper[1]}${upper[1] === "" ? "lower" : "Lower"}${upper[2]}`)
      .toUpperCase();
  }
  // The many ways to count in Chinese, Japanese and Korean differ only in large numbers.
  const isCounting = /(?:Counting|Thousand)$/.test(name) && !(name in FORMATS);
  const format = isCounting ? "chineseCounting" : name.replace(/Chinese$/, "");
  const signs = [...SIGNS[format] ?? SIGNS[`${format}FullWidth`] ?? ""];
  const times = Math.ceil(number / signs.length);
  if (number > 0 && times < 10) return (signs[(number - 1) % signs.length] ?? "").repeat(times);
  return FORMATS[format]?.(number) ?? String(number);
}

/** A number by its digits and their units; several zeros are one, and those at the end none. */
function counted(number: number, digits: string, units: string): string {
  const [zero = ""] = digits;
  const text = eachDigit(
    number,
    (digit, place) => digit === 0 ? zero : `${digits[digit]}${units[place] ?? ""}`.trim(),
  );
  return text.replace(new RegExp(`${zero}+$`), "").replace(new RegExp(`${zero}+`, "g"), zero);
}

function eachDigit(number: number, write: (digit: number, place: number) => string): string {
  const digits = [...String(number)].map(Number);
  return digits.map((digit, index) => write(digit, digits.length - 1 - index)).join("");
}

function inWords(number: number): string {
  if (number < 20 || number > 99) return ONES[number] ?? String(number);
  const tens = TENS[Math.floor(number / 10) - 2] ?? "";
  return number % 10 === 0 ? tens : `${tens}-${ONES[number % 10]}`;
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
