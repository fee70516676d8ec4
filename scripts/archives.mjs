// Archives whose bytes depend only on their files: not on the time, the owner or the order of a directory.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

/** Every file below a folder, by its path there, sorted. */
export function filesBelow(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
}

/** A tar archive (ustar) of files `{name, bytes}` and of the folders above them. Names have at most 100 characters. */
export function tarOf(files) {
  const folders = new Set(
    files.flatMap(({ name }) => name.split('/').map((_, n, parts) => parts.slice(0, n).join('/'))),
  );
  folders.delete('');
  const entries = [
    ...[...folders].map((name) => ({ name: `${name}/`, bytes: Buffer.alloc(0), mode: '755', type: '5' })),
    ...files.map((file) => ({ ...file, mode: '644', type: '0' })),
  ].sort((one, other) => (one.name < other.name ? -1 : 1));
  const blocks = entries.flatMap(({ name, bytes, mode, type }) => [
    headerOf({ name, size: bytes.length, mode, type }),
    bytes,
    Buffer.alloc((512 - (bytes.length % 512)) % 512),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function headerOf({ name, size, mode, type }) {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a name for a tar archive.`);
  const header = Buffer.alloc(512);
  const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0);
  header.write(mode.padStart(7, '0'), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136);
  header.fill(' ', 148, 156);
  header.write(type, 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

// 1980-01-01, the first day of the format.
const NO_TIME = 0x0021_0000;

/** A zip archive of files `{name, bytes}`. */
export function zipOf(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, bytes } of files) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const title = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(NO_TIME, 6);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(title.length, 22);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), common, title, packed]);
    const place = Buffer.alloc(14);
    // A regular file of Unix that everybody may read.
    place.writeUInt32LE(0o100644 * 0x1_0000, 6);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), common, place, title]));
    parts.push(entry);
    offset += entry.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, Buffer.from('PK\x05\x06'), end]);
}
