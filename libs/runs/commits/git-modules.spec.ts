import { describe, expect, it } from '@jest/globals';
import { parseGitModules, resolveSubmodule, toSubmodulePath } from './git-modules.js';

describe('the file .gitmodules', () => {
  it('declares submodules by their names', () => {
    const text = [
      '# comment',
      '[core]',
      '  path = none',
      '[submodule "vpc"]',
      '\tpath = modules/vpc # the network',
      '\tURL = "../vpc.git"',
      '\tupdate = !touch /tmp/owned',
      '[submodule "without URL"]',
      'path = a',
      '[submodule "vpc"]',
      'path = modules/network',
      '[submodule "with \\"quotes\\""]',
      'path = "b c"',
      'url = https://git.example.com/acme/b.git\r',
    ].join('\n');
    expect(parseGitModules(text)).toEqual([
      { path: 'modules/network', url: '../vpc.git' },
      { path: 'b c', url: 'https://git.example.com/acme/b.git' },
    ]);
  });

  it('can be any text', () => {
    for (const text of ['', '[', '[submodule', '[submodule "a"', 'path = a', '[submodule ""]\npath=\nurl='])
      expect(parseGitModules(text)).toEqual([]);
  });
});

describe('the path of a submodule', () => {
  it.each([
    ['modules/vpc', 'modules/vpc'],
    ['./modules//vpc/', 'modules/vpc'],
    ['../vpc', null],
    ['modules/../../vpc', null],
    ['/etc', null],
    ['.git/hooks', null],
    ['a/.GIT', null],
    ['a\nb', null],
    ['.', null],
  ])('%j is %j', (path, expected) => {
    expect(toSubmodulePath(path)).toBe(expected);
  });
});

describe('the URL of a submodule', () => {
  it.each([
    ['../vpc.git', 'acme/vpc'],
    ['../../shared/vpc', 'shared/vpc'],
    ['./nested', 'acme/network/nested'],
    ['https://git.example.com/acme/vpc.git', 'acme/vpc'],
    ['https://bot:secret@git.example.com/acme/vpc.git', 'acme/vpc'],
    ['git@git.example.com:acme/vpc.git', 'acme/vpc'],
    ['git@Git.Example.com:acme/vpc.git', 'acme/vpc'],
    ['ssh://git@git.example.com:2222/acme/vpc.git', 'acme/vpc'],
    ['https://git.example.com/', null],
    ['https://git.example.com:8443/acme/vpc.git', null],
    ['https://git.example.com.evil.example/acme/vpc.git', null],
    ['https://git.example.com@evil.example/acme/vpc.git', null],
    ['git@evil.example:acme/vpc.git', null],
    ['file:///etc', null],
    ['/etc/passwd', null],
    ['ext::sh -c touch% /tmp/owned', null],
    ['git://git.example.com/acme/vpc.git', null],
    ['-oProxyCommand=sh', null],
  ])('%s names %j', (url, expected) => {
    expect(resolveSubmodule(url, 'https://git.example.com', 'acme/network')).toBe(expected);
  });

  it('is below the path of a host that has one', () => {
    const host = 'https://example.com/git/';
    expect(resolveSubmodule('../vpc.git', host, 'acme/network')).toBe('acme/vpc');
    expect(resolveSubmodule('https://example.com/git/acme/vpc', host, 'acme/network')).toBe('acme/vpc');
    expect(resolveSubmodule('https://example.com/acme/vpc', host, 'acme/network')).toBeNull();
    expect(resolveSubmodule('../../../acme/vpc', host, 'acme/network')).toBeNull();
    expect(resolveSubmodule('git@example.com:acme/vpc.git', host, 'acme/network')).toBe('acme/vpc');
  });
});
