/** Which names look alike (UTS 39, for the characters that may stand in names). Pure. */

/**
 * Characters that look alike; the first of each group stands for the others. From the confusables of Unicode: what looks
 * like a character of ASCII, what looks alike within Latin, Greek, Cyrillic and Armenian, and between Kana and Han,
 * decomposed.
 */
const LOOK_ALIKES = `
aɑΑαАаᎪᗅꓮ𐊠𖽀 bƄΒВЬᏏᏴᑲᖯᗷꓐꞴ𐊂𐊡𐌁ʙвßβꞵƅь cСсᏟᴄⲤⲥꓚꮯ𐊢𐌂𐐕𐐽𐔜𑣩𑣲 dԁᎠᏧᑯᗞᗪꓒꓓ eΕЕеҽᎬⴹꓰꬲ𐊆𑢦𑢮ɛεєԑꞓ fϜքᖴẝꓝꞘꞙꬵ𐊇𐊥𐔥𑢢𑣂
gƍɡԌցᏀᏳᶃꓖɢԍ hΗНһհᎻᏂᕼⲎꓧ𐋏ʜн i1l|اו١ıƖǀɩɪΙιІіӀӏ۱ᎥᛁⲒⵏꓲꙇꭵ𐊊𐌉𐌠𑣃𖼨LᏞᒪⳐꓡ𐐛𐔦𑢣𑢲𖼖 jͿϳЈјᎫᒍꓙꞲ kΚКᏦᛕⲔꓗ𐔘ĸκкᴋ mΜϺМᎷᗰᛖⲘꓟ𐊰𐌑ʍмᴍ
nΝոռⲚꓠ𐔓 o0סه٥ΟοσОоՕօ۵०০੦૦ଠ୦௦౦೦ഠ൦๐໐ဝ၀ჿዐᴏᴑⲞⲟⵔ〇ꓳꬽ𐊒𐊫𐐄𐐬𐓂𐓪𐔖𑓐𑢵𑣈𑣗𑣠 pΡρРрᏢᑭⲢⲣꓑ𐊕 qԛգզⵕ rƦгᎡᏒᖇᴦⲅꓣꭇꭈꮁ𐒴𖼵 sƽЅѕՏᏕᏚꓢꜱꮪ𐊖𐐠𐑈𑣁𖼺
tΤТᎢⲦꓔ𐊗𐊱𐌕𑢼𖼊τтᴛ uʋυՍսሀᑌᴜꓴꞟꭎꭒ𐓎𐓶𑢸𑣘𖽂 vνѴѵ۷Ꮩᐯᴠⴸꓦꛟꮩ𐔝𑜆𑢠𑣀𖼈 wɯѡԜԝաᎳᏔᴡꓪꮃ𑜊𑜎𑜏𑣦𑣯 xΧХхᕁᕽᚷⲬⵝꓫꞳ𐊐𐊴𐌗𐌢𐔧𑣬χꭓꭕ
yɣʏΥγУуҮүყᎩᎽᶌỿⲨꓬꭚ𐊲𑢤𑣜𖽃 zΖᏃᴢꓜꮓ𐋵𑢩𑣄𑣥 2ƧϨᒿꙄꛯꝚƨᴤꙅ 3ƷȜЗӠⳌꝪꞫ𑣊𖼻ɜзᴈȝʒӡꝫ 4Ꮞ𑢯 5Ƽ𑢻 6бᏮⳒ𑣕 7𐓒𑣆 8Ȣȣ৪੪𐌚 9৭੧୨൭ⳊꝮ𑢬𑣌𑣖 !ǃⵑ &ꝸ
'ʹʻʼʽʾˈˊˋ˴՚՝ᑊᛌ‘’‛′‵ꞌ (❨❲〔﴾ )❩❳〕﴿ *⁎∗𐌟 +᛭➕𐊛 ,‚ꓹ -˗⁃➖Ⲻ .۰ꓸ꘎ /᜵⁁⁄∕╱⟋⧸Ⳇ〳ノ㇓丿𝈺 :ː˸։᛬᠃᠉⁚∶ꓽ꞉ <˂ᐸᚲ‹❮𝈶 =꓿ >˃ᐳ›❯𖼿𝈷
?ɁʔॽᎮꛫ \\∖⟍⧵⧹㇔丶𝈏𝈻 ^˄ˆ {❴𝄔 }❵ ~⁓∼ \u0306\u030c \u0307\u030a \u0308\u030b \u0326\u0327 "ʺ˝ˮ״“”‟″‶ ЄꞒ ͽꜿϿꜾ
ꝺꝹ δծẟ ǝəәƏӘ ƐԐ ʚꞝ ǶԊ ͰⱵ ꜧꞕ ȷյ ͷиᴎͶИ ɔͻᴐↄƆϽ ᴘᴩ ɸφфΦФՓ ɋᶐ яᴙ ʃꭍƩΣ ɰպ ʌᴧɅΛЛлᴫ þƿϸÞϷ ʘꙨ ΓГ πпᴨΠП ςϛ ψѱΨѰ
ωꙍꞷꙌꞶ љꭠ ҷӌҶӋ カ力 ニ二 ハ八 ト卜 タ夕 エ工 ロ口 ー一 へヘ オ才
`;

let standsFor: ReadonlyMap<string, string> | undefined;

/** Made at the first use: a bundle that compares no names leaves out the table. */
function standsForOf(letter: string): string | undefined {
  standsFor ??= new Map(
    LOOK_ALIKES.trim().split(/\s+/).flatMap((group) => {
      const [first = "", ...others] = group;
      return others.map((other) => [other, first] as const);
    }),
  );
  return standsFor.get(letter);
}

/** Marks that are overlooked below a letter or through it. */
const BELOW_OR_THROUGH = /[\u0323\u0331-\u0333\u0335-\u0338]/g;

/**
 * A text that is the same for names that look alike, whatever their case and script, such as `pc1` and `PCI`. It is
 * compared, and never shown.
 */
export function skeletonOf(name: string): string {
  const letters = Array.from(name.normalize("NFD").replaceAll(BELOW_OR_THROUGH, ""), standIn).join("")
    .toLowerCase();
  return letters.replaceAll("m", "rn").replaceAll("w", "vv").replaceAll(/ +/g, " ");
}

/** What a letter looks like, such as `a` for U+0430; one that is in no group may be the small form of one that is. */
export function standIn(letter: string): string {
  return standsForOf(letter) ?? standsForOf(letter.toUpperCase()) ?? letter;
}
