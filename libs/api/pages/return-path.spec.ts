import { describe, expect, it } from '@jest/globals';
import { parseReturnPath } from './return-path.js';

describe('parseReturnPath', () => {
  it.each([
    ['/', '/'],
    ['/account', '/account'],
    ['/oauth/authorize?client_id=cli&state=a%2Fb#top', '/oauth/authorize?client_id=cli&state=a%2Fb#top'],
    ['/a/../account', '/account'],
    ['/sign-in?return_to=https://attacker.example', '/sign-in?return_to=https://attacker.example'],
  ])('returns the path of a page of this server: %s', (text, path) => {
    expect(parseReturnPath(text)).toBe(path);
  });

  it.each([
    [undefined],
    [7],
    [['/account', '/other']],
    [''],
    ['account'],
    ['https://attacker.example/'],
    ['//attacker.example'],
    ['///attacker.example'],
    ['/\\attacker.example'],
    ['\\/attacker.example'],
    ['/.//attacker.example'],
    ['/a/..//attacker.example'],
    ['/%2e//attacker.example'],
    ['/\t/attacker.example'],
    ['/\n/attacker.example'],
    ['\t//attacker.example'],
    [' /account'],
    ['/account\r\nSet-Cookie: a=b'],
    ['/ä'],
    ['javascript:alert(1)'],
    ['data:text/html,hello'],
    [`/${'a'.repeat(2_000)}`],
  ])('returns null for any other value: %j', (text) => {
    expect(parseReturnPath(text)).toBeNull();
  });
});
