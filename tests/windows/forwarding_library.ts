/** Builds a library of Windows (PE32+, x86_64) that has one function, which is one of another library. */

const SECTION_ADDRESS = 0x1000;
const FILE_ALIGNMENT = 0x200;
const EXPORT_DIRECTORY_BYTES = 40;

export interface ForwardedFunction {
  readonly name: string;
  /** `LIBRARY.FUNCTION`, where it is. */
  readonly target: string;
}

/** The file of the library `library`, such as `bcryptprimitives.dll`. */
export function forwardingLibrary(library: string, { name, target }: ForwardedFunction): Uint8Array {
  const file = new Uint8Array(2 * FILE_ALIGNMENT);
  const section = exportSection(library, { name, target });
  file.set(headers(section.length));
  file.set(section, FILE_ALIGNMENT);
  return file;
}

/** The export directory, its three tables of one entry each, and the names: all at `SECTION_ADDRESS`. */
function exportSection(library: string, { name, target }: ForwardedFunction): Uint8Array {
  const tables = SECTION_ADDRESS + EXPORT_DIRECTORY_BYTES;
  const [addresses, names, ordinals, texts] = [tables, tables + 4, tables + 8, tables + 12];
  const [libraryAt, nameAt] = [texts, texts + library.length + 1];
  const targetAt = nameAt + name.length + 1;
  const directory = [0, 0, 0, libraryAt, 1, 1, 1, addresses, names, ordinals];
  const words = Uint32Array.from([...directory, targetAt, nameAt, 0]);
  const strings = new TextEncoder().encode([library, name, target, ""].join("\0"));
  const section = new Uint8Array(words.byteLength + strings.length);
  section.set(new Uint8Array(words.buffer));
  section.set(strings, words.byteLength);
  return section;
}

/** The least headers that a loader reads: an address inside the export section makes the function a forwarded one. */
function headers(sectionBytes: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(FILE_ALIGNMENT));
  const write16 = (at: number, value: number) => view.setUint16(at, value, true);
  const write32 = (at: number, value: number) => view.setUint32(at, value, true);
  const [pe, optional, table] = [0x40, 0x58, 0x148];
  write16(0, 0x5a4d); // "MZ"
  write32(0x3c, pe);
  write32(pe, 0x4550); // "PE"
  write16(pe + 4, 0x8664); // x86_64
  write16(pe + 6, 1); // sections
  write16(pe + 20, table - optional);
  write16(pe + 22, 0x2022); // a library that may lie at any address
  write16(optional, 0x20b); // PE32+
  view.setBigUint64(optional + 24, 0x1_8000_0000n, true); // preferred address
  write32(optional + 32, SECTION_ADDRESS); // alignment in memory
  write32(optional + 36, FILE_ALIGNMENT);
  write16(optional + 40, 6); // least version of Windows
  write16(optional + 48, 6);
  write32(optional + 56, 2 * SECTION_ADDRESS); // bytes in memory
  write32(optional + 60, FILE_ALIGNMENT); // bytes of the headers
  write16(optional + 68, 3); // subsystem
  write16(optional + 70, 0x160);
  for (const at of [72, 80, 88, 96]) write32(optional + at, 0x10_0000); // stack and heap
  write32(optional + 108, 16); // directories
  write32(optional + 112, SECTION_ADDRESS);
  write32(optional + 116, sectionBytes);
  new Uint8Array(view.buffer).set(new TextEncoder().encode(".edata"), table);
  write32(table + 8, sectionBytes);
  write32(table + 12, SECTION_ADDRESS);
  write32(table + 16, FILE_ALIGNMENT);
  write32(table + 20, FILE_ALIGNMENT);
  write32(table + 36, 0x4000_0040); // initialized, readable
  return new Uint8Array(view.buffer);
}
