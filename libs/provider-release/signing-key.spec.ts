import { beforeAll, describe, expect, it } from '@jest/globals';
import { enums, readKey, revokeKey, readPrivateKey } from 'openpgp';
import { readKeyExpiry, readPublicKey } from './index.js';
import { DSA, expectRefusal, keyPair, NOW, secondsOf, yearsAgo, type KeyPair } from './spec.js';

const POINTER = '/data/attributes/ascii-armor';

let rsa: KeyPair;
const lines = (): string[] => rsa.publicKey.trimEnd().split(/\r?\n/);
const read = (armor: string) => readPublicKey(armor, NOW);
const expectRefused = (armor: string, detail: string | RegExp): Promise<void> =>
  expectRefusal(read(armor), detail, POINTER);

beforeAll(async () => {
  rsa = await keyPair({ keyExpirationTime: secondsOf(3) });
});

describe('reading the end of a key that was accepted before', () => {
  it('returns the same time as reading the whole key', async () => {
    expect(await readKeyExpiry(rsa.publicKey)).toBe(yearsAgo(-2).toISOString());
    const expired = await keyPair({ date: yearsAgo(3), keyExpirationTime: secondsOf(2) });
    expect(await readKeyExpiry(expired.publicKey)).toBe(yearsAgo(1).toISOString());
  });

  it('returns null for a key without an end', async () => {
    expect(await readKeyExpiry(DSA.publicKey)).toBeNull();
    expect(await readKeyExpiry((await keyPair()).publicKey)).toBeNull();
  });
});

describe('reading a public key', () => {
  it('returns the last 16 digits of the fingerprint as its id', async () => {
    const fingerprint = (await readKey({ armoredKey: rsa.publicKey })).getFingerprint().toUpperCase();
    expect(await read(rsa.publicKey)).toEqual({
      keyId: fingerprint.slice(-16),
      fingerprint,
      algorithm: 'RSA',
      bits: 2048,
      createdAt: yearsAgo(1).toISOString(),
      expiresAt: yearsAgo(-2).toISOString(),
      userIds: ['Release <release@example.com>'],
    });
  });

  it('accepts a DSA key from gpg', async () => {
    expect(await read(DSA.publicKey)).toMatchObject({
      keyId: DSA.keyId,
      algorithm: 'DSA',
      bits: 2048,
      expiresAt: null,
    });
  });

  it('accepts a key that signs with a subkey', async () => {
    const { publicKey } = await keyPair({ subkeys: [{ sign: true }] });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA', bits: 2048 });
  });

  it('accepts a subkey that clients cannot check, provided that another part of the key can sign', async () => {
    const { publicKey } = await keyPair({ subkeys: [{ sign: true, type: 'ecc' }] });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA' });
  });

  it('accepts a key from a clock that is one minute ahead', async () => {
    const { publicKey } = await keyPair({ date: new Date(NOW.getTime() + 60_000) });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA' });
  });

  it('accepts an expired key, because clients install what it signed', async () => {
    const { publicKey } = await keyPair({ date: yearsAgo(3), keyExpirationTime: secondsOf(2) });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA', expiresAt: yearsAgo(1).toISOString() });
  });

  it.each([
    [
      'elliptic curves',
      { type: 'curve25519' },
      'has the type ed25519; clients verify signatures of RSA and DSA keys only',
    ],
    ['elliptic curves of NIST', { type: 'ecc', curve: 'nistP256' }, 'has the type nistP256; clients verify'],
    [
      'few bits',
      { rsaBits: 1024, config: { minRSABits: 1024 } },
      'is too short: RSA of 1024 bits, at least 2048 are needed',
    ],
    ['a later version', { config: { v6Keys: true } }, 'has version 6; clients support version 4 only'],
    ['a creation time in the future', { date: yearsAgo(-1) }, 'cannot sign: '],
  ] as const)('rejects a key with %s', async (_, options, detail) => {
    const { publicKey } = await keyPair(options);
    await expectRefused(publicKey, new RegExp(`^The key ${detail}`));
  });

  it('names a command that makes an accepted key', async () => {
    const { publicKey } = await keyPair({ type: 'curve25519' });
    await expectRefused(publicKey, /Make one with gpg --full-generate-key \(RSA and RSA, 4096 bits\)$/);
  });

  it.each([enums.reasonForRevocation.keyCompromised, enums.reasonForRevocation.keyRetired])(
    'rejects a revoked key, whatever the reason (%s)',
    async (flag) => {
      const { publicKey } = await revokeKey({
        key: await readPrivateKey({ armoredKey: rsa.privateKey }),
        reasonForRevocation: { flag },
        date: yearsAgo(0.5),
        format: 'armored',
      });
      await expectRefused(publicKey, 'The key is revoked');
    },
  );

  it('rejects a key with more than 64 signatures of its own', async () => {
    const key = await readKey({ armoredKey: rsa.publicKey });
    const [user] = key.users;
    const [own] = user?.selfCertifications ?? [];
    for (let more = 0; own && more < 64; more++) user?.selfCertifications.push(own);
    await expectRefused(key.armor(), /^The key has more than 64 signatures of its own/);
  });

  it.each(['e', 'n'] as const)(
    'rejects a key with a number so large that verification takes long (%s)',
    async (number) => {
      const key = await readKey({ armoredKey: rsa.publicKey });
      Object.assign(key.keyPacket.publicParams, { [number]: Buffer.alloc(2049, 0xff) });
      await expectRefused(key.armor(), /^The key has RSA parameters that are larger than clients expect/);
    },
  );
});

describe('reading an armored text', () => {
  it.each([
    ['lines that end in CRLF', () => lines().join('\r\n')],
    ['text around it', () => `My key:\n${rsa.publicKey}\nThat was it.\n`],
    ['headers', () => lines().toSpliced(1, 0, 'Comment: for releases', 'Version: GnuPG v2').join('\n')],
    [
      'no checksum',
      () =>
        lines()
          .filter((line) => !line.startsWith('='))
          .join('\n'),
    ],
  ])('accepts %s', async (_, armor) => {
    expect(await read(armor())).toMatchObject({ algorithm: 'RSA' });
  });

  const damaged = (how: string) => `Ascii armor is damaged: ${how}. Send it as gpg --armor --export prints it`;
  it.each([
    [
      'another checksum',
      () =>
        lines()
          .map((line) => (line.startsWith('=') ? '=AAAA' : line))
          .join('\n'),
      'its checksum does not match',
    ],
    [
      'a short checksum',
      () =>
        lines()
          .map((line) => (line.startsWith('=') ? '=AA' : line))
          .join('\n'),
      'its checksum does not match',
    ],
    [
      'long lines',
      () =>
        lines()
          .join('\n')
          .replaceAll(/(?<=[\w+/]{60})\n(?=[\w+/]{60})/g, ''),
      'it has lines of more than 96 characters',
    ],
    [
      'no empty line',
      () =>
        lines()
          .filter((line) => line !== '')
          .join('\n'),
      'there is no empty line before the key',
    ],
    [
      'a line that is no header',
      () => lines().toSpliced(1, 0, 'for releases').join('\n'),
      'there is no empty line before the key',
    ],
    [
      'spaces after its lines',
      () =>
        lines()
          .map((line) => (/^[\w+/]{60,}$/.test(line) ? `${line} ` : line))
          .join('\n'),
      'it is not Base64',
    ],
    ['no content', () => [...lines().slice(0, 2), ...lines().slice(-1)].join('\n'), 'it is not Base64'],
  ])('rejects %s, which clients could not read', async (_, armor, how) => {
    await expectRefused(armor(), damaged(how));
  });

  it.each([
    ['not armored', () => 'hello'],
    ['empty', () => ''],
    ['cut off', () => lines().slice(0, -1).join('\n')],
    ['an armored signature', () => rsa.publicKey.replaceAll('PUBLIC KEY BLOCK', 'SIGNATURE')],
  ])('rejects a text that is %s', async (_, armor) => {
    await expectRefused(
      armor(),
      'Ascii armor is not an ASCII-armored public key block, as gpg --armor --export prints it',
    );
  });

  it('rejects a block that contains no key', async () => {
    const armor = [...lines().slice(0, 2), Buffer.from('no packets').toString('base64'), ...lines().slice(-1)].join(
      '\n',
    );
    await expectRefused(armor, 'Ascii armor contains no OpenPGP public key');
  });

  it('rejects more than one key', async () => {
    await expectRefused(rsa.publicKey + DSA.publicKey, 'Ascii armor contains several blocks: send one key at a time');
    const [one, second] = [await readKey({ armoredKey: rsa.publicKey }), await readKey({ armoredKey: DSA.publicKey })];
    const both =
      Buffer.concat([one.write(), second.write()])
        .toString('base64')
        .match(/.{1,64}/g) ?? [];
    await expectRefused(
      [...lines().slice(0, 1), '', ...both, ...lines().slice(-1)].join('\n'),
      'Ascii armor contains several keys: send one key at a time',
    );
  });

  it('rejects a private key without repeating any of it', async () => {
    const detail = 'Ascii armor contains a private key. Send the public key, which gpg --armor --export prints';
    await expectRefused(rsa.privateKey, detail);
    await expectRefused(rsa.publicKey + rsa.privateKey, detail);
    const disguised = rsa.privateKey.replaceAll('PRIVATE', 'PUBLIC');
    await expectRefused(disguised, 'Ascii armor contains no OpenPGP public key');
  });

  it('rejects more than 64 KiB', async () => {
    await expectRefused(`${'x'.repeat(64 * 1024)}\n${rsa.publicKey}`, /^Ascii armor is larger than 64 KiB/);
  });
});
