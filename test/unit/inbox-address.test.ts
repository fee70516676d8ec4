/** Where the inbox is: the addresses that its human may write, and what the QR code shows. */
import { describe, expect, test } from 'vitest';
import { inboxAddress } from '../../src/adapters/inbox.ts';
import { pairingAddress, whyOutOfReach } from '../../src/extensions/inbox/device.ts';

test('a pairing code is in the part of the address that no server gets', () => {
  const url = new URL(pairingAddress('https://hive.example.org/inbox', '7k3m9q2x'));
  expect([url.hash, url.search, url.pathname]).toEqual(['#code=7K3M-9Q2X', '', '/inbox']);
});

describe('the address of an inbox', () => {
  test.each([
    ['https://hive.example.org', 'https://hive.example.org/inbox'],
    ['https://hive.example.org:8443/', 'https://hive.example.org:8443/inbox'],
    ['http://127.0.0.1:7373/inbox', 'http://127.0.0.1:7373/inbox'],
  ])('%s is %s', (given, address) => expect(inboxAddress(given)).toBe(address));

  test.each([
    'hive.example.org',
    'ftp://hive.example.org',
    'https://hive.example.org/other',
    'https://ada:secret@hive.example.org',
    'https://hive.example.org/inbox?x=1',
    'https://hive.example.org/inbox#code=1',
    'javascript:alert(1)',
  ])('%s is none', (given) => expect(() => inboxAddress(given)).toThrow(/is not the address of an inbox/));

  test.each([
    ['https://hive.example.org/inbox', null],
    ['http://localhost:7373/inbox', /on this machine only/],
    ['https://127.0.0.1:7373/inbox', /on this machine only/],
    ['http://192.168.0.7:7373/inbox', /plain HTTP/],
  ])('%s: a phone can use it, or the reason why not', (address, why) => {
    const said = whyOutOfReach(address);
    if (why === null) expect(said).toBeNull();
    else expect(said).toMatch(why);
  });
});
