import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { checkPrivateKey, sshKey, type SshKeyEvent } from './ssh-key.js';

const { given } = specify(sshKey);

const created: SshKeyEvent = { type: 'SshKeyCreated', data: { name: 'deploy' } };
const deleted: SshKeyEvent = { type: 'SshKeyDeleted', data: { name: 'deploy' } };
const create = (name: string) => ({ type: 'CreateSshKey', data: { name } }) as const;
const update = (name: string | undefined, replaced = false) =>
  ({ type: 'UpdateSshKey', data: { name, replaced } }) as const;
const remove = { type: 'DeleteSshKey', data: {} } as const;

describe('an SSH key', () => {
  it('is created once', () => {
    given().when(create('deploy')).yields(created);
    given(created).when(create('deploy')).refuses('conflict', 'exists already');
  });

  it.each([
    ['', "Name can't be blank"],
    [' ', "Name can't be blank"],
    ['x'.repeat(256), /^Name is too long/],
  ])('refuses the name %j', (name, detail) => {
    given().when(create(name)).refuses('unprocessable', detail);
    given(created).when(update(name)).refuses('unprocessable', detail);
  });

  it('can get another name, another private key, or both', () => {
    const renamed: SshKeyEvent = { type: 'SshKeyRenamed', data: { name: 'release' } };
    const replaced: SshKeyEvent = { type: 'SshKeyReplaced', data: {} };
    given(created).when(update('release')).yields(renamed);
    given(created).when(update(undefined, true)).yields(replaced);
    given(created).when(update('release', true)).yields(renamed, replaced);
    given(created).when(update('deploy')).yields();
  });

  it('is deleted under its last name, and refuses every command afterwards', () => {
    const renamed: SshKeyEvent = { type: 'SshKeyRenamed', data: { name: 'release' } };
    given(created, renamed)
      .when(remove)
      .yields({ type: 'SshKeyDeleted', data: { name: 'release' } });
    given(created, deleted).when(remove).refuses('not-found', 'Not found');
    given(created, deleted).when(update('again')).refuses('not-found', 'Not found');
  });
});

describe('the text of a private key', () => {
  it.each([
    '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n',
    '\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA',
    '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA',
    'PuTTY-User-Key-File-3: ssh-ed25519\n',
    'SSH-KEY-CONTENT',
  ])('may be %j', (text) => {
    expect(() => checkPrivateKey(text)).not.toThrow();
  });

  it.each([
    ['', "Value can't be blank"],
    [' \n', "Value can't be blank"],
    ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI ada@host', 'Value is a public key; it must be the private one'],
    ['ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY=', 'Value is a public key; it must be the private one'],
    ['sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5', 'Value is a public key; it must be the private one'],
    ['---- BEGIN SSH2 PUBLIC KEY ----\nAAAA', 'Value is a public key; it must be the private one'],
    ['-----BEGIN PUBLIC KEY-----\nMFkw', 'Value is a public key; it must be the private one'],
    ['-----BEGIN CERTIFICATE-----\nMIID', 'Value must be a private key'],
  ])('may not be %j', (text, detail) => {
    expect(() => checkPrivateKey(text)).toThrow(detail);
  });
});
