import { assertEquals, assertThrows } from "@std/assert";
import { textEncodingOf } from "../../../../src/mcp/stdio/text_encoding.ts";

// proves: data-config-encoding
Deno.test("textEncodingOf() knows an encoding by its Python names", () => {
  const names = {
    "utf-8": ["utf_8", "UTF8", "utf-8-sig", "utf_8_sig"],
    "windows-1252": ["latin-1", "latin_1", "L1", "iso8859-1", "iso_8859_1", "cp1252", "ascii", "us-ascii"],
    "euc-jp": ["euc_jp"],
    "shift_jis": ["shift_jis", "shift-jis", "sjis", "cp932", "ms_kanji"],
    gbk: ["cp936", "gbk", "gb2312"],
    gb18030: ["gb18030", "GB18030"],
    big5: ["big5", "cp950", "big5_hkscs"],
    "euc-kr": ["euc_kr", "cp949"],
    "koi8-r": ["koi8_r"],
    "iso-8859-15": ["iso8859_15", "iso8859-15"],
    "windows-1251": ["cp1251", "windows_1251"],
    ibm866: ["cp866"],
  };
  for (const [encoding, all] of Object.entries(names)) {
    for (const name of all) assertEquals(textEncodingOf(name), encoding, name);
  }
});

Deno.test("textEncodingOf() rejects UTF-16 and unknown names", () => {
  for (const name of ["utf-16", "utf_16_le", "utf_32", "mac_roman", "cp037", "rot13", "", "constructor"]) {
    assertThrows(() => textEncodingOf(name), RangeError, name);
  }
});
