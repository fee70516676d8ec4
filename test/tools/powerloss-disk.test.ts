/** The model of a disk that `npm run powerloss` draws its states from (test/powerloss/disk.ts). */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { randomOf } from '../chaos/random.ts';
import { type Call, callsIn, type Disk, openDisk, SECTOR } from '../powerloss/disk.ts';
import { tempFolder } from '../support/temp.ts';

const FOLDER = 1n;

/** An empty recorded folder with a folder `state` in it, and calls below that. */
function emptyDisk(): { disk: Disk; at: (name: string) => string; call: (call: Partial<Call>) => void } {
  const root = tempFolder();
  mkdirSync(join(root, 'state'));
  const disk = openDisk(root);
  const folder = statSync(join(root, 'state'), { bigint: true }).ino;
  const at = (name: string): string => join(root, 'state', name);
  return {
    disk,
    at,
    call: ({ path, path2, file, ...more }) =>
      disk.apply({
        kind: 'write',
        pid: process.pid,
        file: file === FOLDER ? folder : (file ?? 9n),
        offset: 0,
        path: path === undefined ? '' : path === '' ? join(root, 'state') : at(path),
        path2: path2 === undefined ? '' : at(path2),
        data: Buffer.alloc(0),
        at: 0,
        ...more,
      }),
  };
}

/** Every content that was drawn of a file; null: it was not there. */
function drawn(disk: Disk, path: string): Set<string | null> {
  const random = randomOf(7, 'drawn');
  const found = new Set<string | null>();
  for (let turn = 0; turn < 400; turn += 1)
    found.add(disk.draw(random, turn).files.get(path)?.toString() ?? null);
  return found;
}

test('a file is certainly on disk once it and its name are flushed, and not before', () => {
  const { disk, at, call } = emptyDisk();
  call({ kind: 'create', path: 'a' });
  call({ kind: 'write', data: Buffer.from('text') });
  expect(drawn(disk, at('a'))).toEqual(new Set([null, '', '\0\0\0\0', 'text']));
  call({ kind: 'sync', path: 'a' });
  expect(drawn(disk, at('a')), 'strictly, its name is not on disk').toEqual(new Set([null, 'text']));
  call({ kind: 'sync', path: '', file: FOLDER });
  expect(drawn(disk, at('a'))).toEqual(new Set(['text']));
});

test('a file that replaces another is one of the two, and torn unless it was flushed before', () => {
  const { disk, at, call } = emptyDisk();
  for (const [path, file, text] of [
    ['a', 9n, 'old'],
    ['a.new', 10n, 'new'],
  ] as const) {
    call({ kind: 'create', path, file });
    call({ kind: 'write', file, data: Buffer.from(text) });
    if (path === 'a') call({ kind: 'sync', path, file });
    if (path === 'a') call({ kind: 'sync', path: '', file: FOLDER });
  }
  call({ kind: 'rename', path: 'a.new', path2: 'a', file: 10n });
  expect(drawn(disk, at('a'))).toEqual(new Set(['old', '', '\0\0\0', 'new']));
  call({ kind: 'sync', path: 'a', file: 10n });
  expect(drawn(disk, at('a'))).toEqual(new Set(['old', 'new']));
  call({ kind: 'sync', path: '', file: FOLDER });
  expect(drawn(disk, at('a'))).toEqual(new Set(['new']));
  expect(drawn(disk, at('a.new')), 'its old name').toEqual(new Set([null]));
});

test('what is not flushed may be there sector by sector', () => {
  const { disk, at, call } = emptyDisk();
  const of = (text: string): Buffer => Buffer.from(text.repeat(SECTOR));
  call({ kind: 'create', path: 'a' });
  call({ kind: 'write', data: Buffer.concat([of('a'), of('b')]) });
  call({ kind: 'sync', path: 'a' });
  call({ kind: 'sync', path: '', file: FOLDER });
  call({ kind: 'write', data: Buffer.concat([of('c'), of('d')]) });
  const first = [...drawn(disk, at('a'))].map((text) => `${text?.[0]}${text?.[SECTOR]}`);
  expect(new Set(first)).toEqual(new Set(['ab', 'cb', 'ad', 'cd']));
});

test('a removed file may come back until its folder is flushed', () => {
  const { disk, at, call } = emptyDisk();
  call({ kind: 'create', path: 'a' });
  call({ kind: 'sync', path: 'a' });
  call({ kind: 'sync', path: '', file: FOLDER });
  call({ kind: 'unlink', path: 'a' });
  expect(drawn(disk, at('a'))).toEqual(new Set([null, '']));
  call({ kind: 'sync', path: '', file: FOLDER });
  expect(drawn(disk, at('a'))).toEqual(new Set([null]));
});

test('what was on the disk before stays, and nothing is in a folder that has lost its name', () => {
  const root = tempFolder();
  writeFileSync(join(root, 'there'), 'before');
  const disk = openDisk(root);
  const call = (kind: Call['kind'], path: string, file: bigint): void =>
    disk.apply({
      kind,
      pid: process.pid,
      file,
      offset: 0,
      path: join(root, path),
      path2: '',
      data: Buffer.alloc(0),
      at: 0,
    });
  call('mkdir', 'new', 10n);
  call('create', 'new/a', 11n);
  call('sync', 'new/a', 11n);
  call('sync', 'new', 10n);
  expect(drawn(disk, join(root, 'there'))).toEqual(new Set(['before']));
  expect(drawn(disk, join(root, 'new/a')), 'the name of the folder is not on disk').toEqual(
    new Set([null, '']),
  );
});

test('a record that a kill has cut off is left out', () => {
  const record = Buffer.alloc(34);
  record.writeUInt32LE(34, 0);
  record[4] = 4;
  record.writeUInt16LE(2, 6);
  record.write('/a', 32);
  expect(callsIn(Buffer.concat([record, record.subarray(0, 20)]))).toMatchObject([
    { kind: 'sync', path: '/a', at: 34 },
  ]);
});
