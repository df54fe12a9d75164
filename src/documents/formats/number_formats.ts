/** The numbers of lists and headings, in the formats of office files (ECMA-376, 17.18.59). */

const ROMAN: readonly (readonly [number, string])[] = [
  ...[[1000, "m"], [900, "cm"], [500, "d"], [400, "cd"], [100, "c"], [90, "xc"], [50, "l"]] as const,
  ...[[40, "xl"], [10, "x"], [9, "ix"], [5, "v"], [4, "iv"], [1, "i"]] as const,
];
const ONES =
  ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " +
    "sixteen seventeen eighteen nineteen").split(" ");
const TENS = "  twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ORDINALS: Readonly<Record<string, string>> = {
  ...{ one: "first", two: "second", three: "third", five: "fifth", eight: "eighth", nine: "ninth" },
  twelve: "twelfth",
};
/** Signs that are counted with; each again, twice, where there are no more. */
const SIGNS: Readonly<Record<string, string>> = {
  lowerLetter: "abcdefghijklmnopqrstuvwxyz",
  russianLower: "абвгдежзиклмнопрстуфхцчшщыэюя",
  chicago: "*†‡§",
  decimalEnclosedCircle: "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
  decimalEnclosedFullstop: "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛",
  decimalEnclosedParen: "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
  ideographTraditional: "甲乙丙丁戊己庚辛壬癸",
  ideographZodiac: "子丑寅卯辰巳午未申酉戌亥",
  ganada: "가나다라마바사아자차카타파하",
  chosung: "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
  aiueoFullWidth:
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
  irohaFullWidth:
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス",
  hebrew2: "אבגדהוזחטיכלמנסעפצקרשת",
  arabicAlpha: "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
  thaiLetters: "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ",
};
/** Other names of formats, or of ones that differ in nothing that is shown here. */
const SAME: Readonly<Record<string, string>> = {
  ...{
    aiueo: "aiueoFullWidth",
    iroha: "irohaFullWidth",
    decimalEnclosedCircleChinese: "decimalEnclosedCircle",
  },
  ...{ hebrew1: "hebrew2", numberInDash: "dash" },
  ...Object.fromEntries(
    ("chineseCountingThousand japaneseCounting taiwaneseCounting taiwaneseCountingThousand koreanCounting " +
      "japaneseDigitalTenThousand").split(" ").map((name) => [name, "chineseCounting"]),
  ),
  ...Object.fromEntries(
    "taiwaneseDigital koreanDigital2".split(" ").map((name) => [name, "ideographDigital"]),
  ),
};

/** A number in a format, by its name such as `lowerRoman`; in digits when the format is not known. */
export function formatOrdinal(number: number, name: string): string {
  const format = SAME[name] ?? name;
  const signs = SIGNS[format];
  if (number > 0 && signs !== undefined) return repeated(number, [...signs]);
  switch (format) {
    case "none":
      return "";
    case "decimalZero":
      return String(number).padStart(2, "0");
    case "upperRoman":
    case "upperLetter":
    case "russianUpper":
      return formatOrdinal(number, format.replace("upper", "lower").replace("Upper", "Lower")).toUpperCase();
    case "lowerRoman":
      return roman(number);
    case "ordinal":
      return `${number}${ordinalEnd(number)}`;
    case "cardinalText":
      return capitalized(inWords(number));
    case "ordinalText":
      return capitalized(
        inWords(number).replace(/\w+$/, (word) => ORDINALS[word] ?? `${word.replace(/y$/, "ie")}th`),
      );
    case "hex":
      return number.toString(16).toUpperCase();
    case "dash":
      return `- ${number} -`;
    case "decimalFullWidth":
      return String(number).replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
    case "ideographDigital":
      return String(number).replace(/\d/g, (digit) => "〇一二三四五六七八九"[Number(digit)] ?? digit);
    case "chineseCounting":
      return chinese(number);
    default:
      return String(number);
  }
}

/** `a` to `z`, then `aa`, `bb` and so on. */
function repeated(number: number, signs: readonly string[]): string {
  const times = Math.ceil(number / signs.length);
  return times > 9 ? String(number) : (signs[(number - 1) % signs.length] ?? "").repeat(times);
}

function roman(number: number): string {
  if (number < 1 || number > 9_999) return String(number);
  let text = "";
  let rest = number;
  for (const [value, letters] of ROMAN) {
    for (; rest >= value; rest -= value) text += letters;
  }
  return text;
}

function ordinalEnd(number: number): string {
  if (number % 100 > 10 && number % 100 < 14) return "th";
  return ["th", "st", "nd", "rd"][number % 10] ?? "th";
}

function inWords(number: number): string {
  if (number < 20) return ONES[number] ?? String(number);
  if (number > 999) return String(number);
  const [hundreds, rest] = [Math.floor(number / 100), number % 100];
  if (hundreds > 0) return `${ONES[hundreds]} hundred${rest === 0 ? "" : ` ${inWords(rest)}`}`;
  return `${TENS[Math.floor(number / 10)]}${number % 10 === 0 ? "" : `-${ONES[number % 10]}`}`;
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function chinese(number: number): string {
  if (number < 1 || number > 9_999) return formatOrdinal(number, "ideographDigital");
  const text = [...String(number)].map((digit, index, all) =>
    digit === "0"
      ? "〇"
      : ("〇一二三四五六七八九"[Number(digit)] ?? "") + ("千百十"[index + 4 - all.length] ?? "")
  ).join("");
  return text.replace(/〇+$/, "").replace(/〇+/g, "〇").replace(/^一十/, "十");
}
