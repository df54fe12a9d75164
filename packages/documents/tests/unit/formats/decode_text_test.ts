import { assertEquals, assertRejects } from "@std/assert";
import { decodeText } from "../../../src/formats/decode_text.ts";
import { DocumentError } from "../../../src/formats/format.ts";
import { openFile, pagesOf } from "./_open.ts";

const bytesByEncoding = new Map<string, ReadonlyMap<string, readonly number[]>>();

/** The bytes of a text, which `TextEncoder` makes of UTF-8 alone. */
function encode(text: string, encoding: string): Uint8Array<ArrayBuffer> {
  if (encoding === "utf-8") return new TextEncoder().encode(text);
  if (encoding.startsWith("utf-")) {
    const bytes = Array.from(text).flatMap((letter) => {
      const code = letter.codePointAt(0) ?? 0;
      const ordered = Array.from({ length: 2 }, (_, at) => (code >> (8 * at)) & 255);
      return encoding.endsWith("be") ? ordered.reverse() : ordered;
    });
    return new Uint8Array(bytes);
  }
  let known = bytesByEncoding.get(encoding);
  if (known === undefined) {
    const made = new Map<string, readonly number[]>();
    const decoder = new TextDecoder(encoding);
    const add = (bytes: readonly number[]) => {
      const letter = decoder.decode(new Uint8Array(bytes));
      if (letter.length === 1 && letter !== "\ufffd" && !made.has(letter)) made.set(letter, bytes);
    };
    for (let byte = 0; byte < 256; byte++) add([byte]);
    if (/gb|big5|euc|shift/.test(encoding)) {
      for (let lead = 0x81; lead < 0xff; lead++) {
        for (let trail = 0x40; trail < 0xff; trail++) add([lead, trail]);
      }
    }
    bytesByEncoding.set(encoding, known = made);
  }
  return new Uint8Array(Array.from(text).flatMap((letter) => known.get(letter) ?? [0x3f]));
}

const TEXTS: readonly (readonly [encodings: string, text: string])[] = [
  [
    "windows-1252 iso-8859-15 macintosh",
    "Café à la carte, señor. L'été à Nîmes, où êtes-vous allés ? Ça va.",
  ],
  ["windows-1252 macintosh", "Müller, Bäckerweg 3, Größe: schön und groß, Übung"],
  ["windows-1250 iso-8859-2", "Zażółć gęślą jaźń. Poszedłem do sklepu, żeby kupić chleb; Łódź, Kraków"],
  ["windows-1250 iso-8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy"],
  ["windows-1251 koi8-r ibm866 iso-8859-5 x-mac-cyrillic", "Аренда квартир в Москве. Цены указаны в рублях"],
  ["windows-1251 koi8-u", "Сьогодні гарна погода, і ми йдемо гуляти до парку"],
  ["windows-1253 iso-8859-7", "Η Ελλάδα είναι μια όμορφη χώρα. Καλημέρα σας"],
  ["windows-1254", "Bugün hava çok güzel. İstanbul'dan İzmir'e gittik, çünkü ışık vardı"],
  ["windows-1255", "שלום לכולם, היום יום יפה מאוד. אנחנו הולכים לטייל"],
  ["windows-1256 iso-8859-6", "السلام عليكم ورحمة الله. اليوم الطقس جميل"],
  ["windows-874", "สวัสดีครับ วันนี้อากาศดีมาก"],
  ["shift_jis euc-jp", "今日はとても良い天気です。公園へ散歩に行きましょう。"],
  ["gb18030", "今天天气很好,我们去公园散步。中华人民共和国的首都是北京"],
  ["big5", "今天天氣很好,我們去公園散步。臺灣的首都是臺北"],
  ["euc-kr", "오늘은 날씨가 아주 좋습니다. 서울 안녕하세요."],
];

Deno.test("a text that does not say its encoding is read in the likeliest one", () => {
  for (const [encodings, text] of TEXTS) {
    for (const encoding of encodings.split(" ")) {
      assertEquals(decodeText(encode(text, encoding)).text, text, encoding);
    }
  }
});

Deno.test("a text in UTF-16 is read by its byte order mark", () => {
  for (const text of ["Grüße aus Köln\n", "Цены указаны в рублях, 100 %\n", "姓名,城市\n张伟,北京\n"]) {
    for (const encoding of ["utf-16le", "utf-16be"]) {
      assertEquals(decodeText(encode(`\ufeff${text}`, encoding)).text, text, encoding);
    }
  }
});

Deno.test("short texts are read in the most frequent encoding that fits", () => {
  const texts: readonly (readonly [string, string])[] = [
    ["shift_jis", "名前,年齢,住所\n田中,34,東京\n"],
    ["shift_jis", "東京都"],
    ["gb18030", "合同编号 123"],
    ["euc-kr", "서울시"],
    ["windows-1251", "Отчёт за год"],
    ["koi8-r", "Отчёт за год"],
    ["ibm866", "Привет, мир!"],
    ..."שלום עולם, מה שלומך היום|שלום לכולם|פגישה ביום שני בשעה 10|ילדים משחקים בגן|שם; כתובת; טלפון|חשבונית מס קבלה"
      .split("|")
      .map((text) => ["windows-1255", text] as const),
    ..."привет мир, как дела сегодня|их нет дома|сын и дочь|сон|добър ден|дякую|хвала".split("|")
      .map((text) => ["windows-1251", text] as const),
    ["windows-1250", "Imię,Miasto\nŁukasz,Łódź\n"],
    ..."It’s time|He said “Hello”|Price: £50|© 2020|Temp 25°C|see § 5 – it|5 € pro Stück|½ cup|20 m² net|naïve|«Oui» dit|ÉCOLE DE LA FORÊT|25 ± 3 kg|São|Ærø"
      .split("|").map((text) => ["windows-1252", text] as const),
  ];
  for (const [encoding, text] of texts) assertEquals(decodeText(encode(text, encoding)).text, text, text);
  assertEquals(decodeText(encode("naïve", "windows-1252")).losses.length, 1);
});

/** Every encoding of the web, with letters that it has. */
const DECLARED: Readonly<Record<string, string>> = {
  "ibm866": "Цены",
  "iso-8859-2": "źdźbło",
  "iso-8859-3": "ĉevalo",
  "iso-8859-4": "ķēde",
  "iso-8859-5": "Цены",
  "iso-8859-6": "سلام",
  "iso-8859-7": "Ελλάδα",
  "iso-8859-8": "שלום",
  "iso-8859-10": "ķēde",
  "iso-8859-13": "žąsis",
  "iso-8859-14": "ŵy",
  "iso-8859-15": "œuf €",
  "iso-8859-16": "știință",
  "koi8-r": "Цены",
  "koi8-u": "їжа",
  "macintosh": "señor",
  "windows-874": "สวัสดี",
  "windows-1250": "źdźbło",
  "windows-1251": "да",
  "windows-1252": "señor",
  "windows-1253": "Ελλάδα",
  "windows-1254": "ışık",
  "windows-1255": "שלום",
  "windows-1256": "سلام",
  "windows-1257": "žąsis",
  "windows-1258": "đi",
  "x-mac-cyrillic": "Цены",
  "gb18030": "你好",
  "gbk": "世界",
  "big5": "臺北",
  "euc-jp": "東京",
  "shift_jis": "東京",
  "euc-kr": "서울",
};

Deno.test("HTML is read in the encoding that it declares, wherever in its head and in either form", async () => {
  for (const [encoding, text] of Object.entries(DECLARED)) {
    const metas = [
      `<meta charset="${encoding}">`,
      `<META content='text/html; charset=${encoding.toUpperCase()}' http-equiv=Content-Type>`,
      `<title>T</title><!-- <meta charset="utf-8"> --><script>'<meta charset="big5">'</script>
      <style>${" ".repeat(3_000)}</style><meta charset = ${encoding} />`,
    ].map((meta) => `<html><head>${meta}</head><p>${text}</p></html>`);
    for (
      const html of [...metas, `<?xml version="1.0" encoding='${encoding}'?><html><p>${text}</p></html>`]
    ) {
      const document = await openFile("a.html", encode(html, encoding));
      const [[, ...elements]] = await pagesOf(document) as [[string, ...unknown[]]];
      assertEquals(elements, [["p0-text-1", { text }]], html.slice(0, 60));
      assertEquals(document.facts.losses, []);
    }
  }
});

Deno.test("a declaration counts for nothing against a byte order mark, and where the text is none of its encoding", async () => {
  const htmlOf = (declared: string, text: string) => `<meta charset="${declared}"><p>${text}</p>`;
  const files: readonly (readonly [Uint8Array<ArrayBuffer>, string])[] = [
    [encode(`\ufeff${htmlOf("iso-8859-1", "señor")}`, "utf-8"), "señor"],
    [encode(`\ufeff${htmlOf("shift_jis", "señor")}`, "utf-16le"), "señor"],
    [encode(htmlOf("utf-16", "señor"), "utf-8"), "señor"],
    [encode(htmlOf("utf-8", "señor, mañana"), "windows-1252"), "señor, mañana"],
    [encode(htmlOf("euc-jp", "señor, mañana"), "windows-1252"), "señor, mañana"],
    [encode(htmlOf("iso-8859-1", "señor"), "utf-8"), "señor"],
    [encode(htmlOf("gb2312", "你好，世界，你好"), "utf-8"), "你好，世界，你好"],
    [encode(htmlOf("no-such", "señor"), "utf-8"), "señor"],
  ];
  for (const [bytes, text] of files) {
    const [[, ...elements]] = await pagesOf(await openFile("a.html", bytes)) as [[string, ...unknown[]]];
    assertEquals(elements, [["p0-text-1", { text }]]);
  }
});

Deno.test("source code and other texts are read in the encoding that their first lines name", () => {
  const heads: readonly (readonly [string, string, string])[] = [
    ["#!/usr/bin/python\n# -*- coding: latin-1 -*-\n", "iso-8859-1", "señor"],
    ["# encoding: cp1251\n", "windows-1251", "да"],
    ["# vim: set fileencoding=koi8-r :\n", "koi8-r", "да"],
    [";; -*- mode: lisp; coding: euc-jp-unix -*-\n", "euc-jp", "東京"],
    ['@charset "shift_jis";\n', "shift_jis", "東京"],
    ["# -*- coding: cp932 -*-\n", "shift_jis", "名前"],
    ["# coding=iso_8859_2\n", "iso-8859-2", "źle"],
  ];
  for (const [head, encoding, text] of heads) {
    const { text: read, losses } = decodeText(encode(head + text, encoding));
    assertEquals([read, losses], [head + text, []]);
  }
});

Deno.test("ISO-2022-JP is known by its escape sequences, and those of terminals are none of it", () => {
  assertEquals(decodeText(encode("\x1b$B:#F|\x1b(B ok", "utf-8")).text, "今日 ok");
  assertEquals(decodeText(encode("\x1b[31mred\x1b(B", "utf-8")).text, "\x1b[31mred\x1b(B");
});

Deno.test("damaged bytes in a long text do not change its encoding", () => {
  const text = "Größe und Übung. ".repeat(100);
  const bytes = encode(text, "utf-8");
  bytes[bytes.indexOf(0xc3)] = 0xff;
  const { text: read, losses } = decodeText(bytes);
  assertEquals([losses, read.slice(4)], [[], text.slice(3)]);
});

Deno.test("a zero byte in a text is one replacement character, and binary data is no text", async () => {
  const table = await openFile("a.csv", "name,age\nA\0da,3\n");
  const [[, [, content]]] = await pagesOf(table) as [[string, [string, { rows: unknown }]]];
  assertEquals(content.rows, [["A\ufffdda", 3]]);
  const gif = Uint8Array.from(
    atob("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    (c) => c.charCodeAt(0),
  );
  for (const bytes of [gif, new Uint8Array(100), new Uint8Array([65, 0, 66])]) {
    await assertRejects(() => openFile("a.txt", bytes), DocumentError, "binary");
  }
});
