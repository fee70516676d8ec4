/** Which namespaces may hide the ancestors of a process. @module-tag no-self-approval */
import { expect, test } from 'vitest';
import { examineTrust } from '../../src/application/trust.ts';
import { readTrust } from '../../src/domain/trust.ts';
import { mayHideAncestors } from '../../src/infrastructure/platform/person.ts';

const FIRST = { user: 'user:[4026531837]', pid: 'pid:[4026531836]', cgroup: 'cgroup:[4026531835]' };
const WHOLE = '0 0 4294967295';

test.each<[string, Partial<typeof FIRST>, string, boolean, string?]>([
  ['the machine itself', FIRST, WHOLE, false],
  ['the machine itself, with a kernel that names no namespaces', {}, WHOLE, false],
  [
    'a container of a system service',
    { pid: 'pid:[2]', cgroup: 'cgroup:[3]', user: FIRST.user },
    WHOLE,
    false,
  ],
  ['a container of another kernel', { user: 'user:[1]', pid: 'pid:[2]' }, WHOLE, false],
  ['a user namespace', { ...FIRST, user: 'user:[1]' }, '0 1000 1', true],
  ['a rootless container', { user: 'user:[1]', pid: 'pid:[2]', cgroup: 'cgroup:[3]' }, '0 1000 1', true],
  ['processes of their own and nothing else, as in firejail', { ...FIRST, pid: 'pid:[2]' }, WHOLE, true],
  ['the same in WSL', { ...FIRST, pid: 'pid:[2]' }, WHOLE, false, '6.6.87.2-microsoft-standard-WSL2'],
  [
    'a user namespace in WSL',
    { ...FIRST, user: 'user:[1]' },
    '0 1000 1',
    true,
    '6.6.87.2-microsoft-standard-WSL2',
  ],
])('%s', (_, namespaces, id_map, hides, kernel = '6.12.0') => {
  expect(mayHideAncestors({ user: null, pid: null, cgroup: null, ...namespaces }, id_map, kernel)).toBe(
    hides,
  );
});

test.each<[unknown, string | null, RegExp]>([
  [
    '0 1000 1, 1 100000 65536',
    '0 1000 1, 1 100000 65536',
    /whoever works in a container with the ID map 0 1000 1, 1 100000/,
  ],
  ['0 1000', null, /container_id_map in trust.json is not like/],
  [true, null, /container_id_map in trust.json is not like/],
])('the doctor says of a container_id_map %j what it does', (value, map, said) => {
  const text = JSON.stringify({ container_id_map: value });
  const trust = readTrust({ path: 'trust.json', text, problems: [], digest: 'd' });
  expect(trust.container_id_map).toBe(map);
  expect(examineTrust(trust)[0]?.text).toMatch(said);
});
