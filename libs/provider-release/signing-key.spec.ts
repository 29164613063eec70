import { beforeAll, describe, expect, it } from '@jest/globals';
import { enums, readKey, revokeKey, readPrivateKey } from 'openpgp';
import { readPublicKey } from './index.js';
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

describe('a public key', () => {
  it('is known by the end of its fingerprint', async () => {
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

  it('may be one of DSA, as gpg makes it', async () => {
    expect(await read(DSA.publicKey)).toMatchObject({
      keyId: DSA.keyId,
      algorithm: 'DSA',
      bits: 2048,
      expiresAt: null,
    });
  });

  it('may sign by a subkey', async () => {
    const { publicKey } = await keyPair({ subkeys: [{ sign: true }] });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA', bits: 2048 });
  });

  it('may have a subkey that clients cannot use, as long as it can sign without', async () => {
    const { publicKey } = await keyPair({ subkeys: [{ sign: true, type: 'ecc' }] });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA' });
  });

  it('may have been made a moment ago by a clock that is ahead', async () => {
    const { publicKey } = await keyPair({ date: new Date(NOW.getTime() + 60_000) });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA' });
  });

  it('may have expired: clients install what it signed', async () => {
    const { publicKey } = await keyPair({ date: yearsAgo(3), keyExpirationTime: secondsOf(2) });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA', expiresAt: yearsAgo(1).toISOString() });
  });

  it.each([
    [
      'elliptic curves',
      { type: 'curve25519' },
      'is of the type ed25519; clients verify signatures of RSA and DSA keys only',
    ],
    ['elliptic curves of NIST', { type: 'ecc', curve: 'nistP256' }, 'is of the type nistP256; clients verify'],
    [
      'few bits',
      { rsaBits: 1024, config: { minRSABits: 1024 } },
      'is too short: RSA of 1024 bits, where 2048 are the least',
    ],
    ['a later version', { config: { v6Keys: true } }, 'is of version 6; clients know version 4'],
    ['its time before it', { date: yearsAgo(-1) }, 'cannot sign: '],
  ] as const)('must not have %s', async (_, options, detail) => {
    const { publicKey } = await keyPair(options);
    await expectRefused(publicKey, new RegExp(`^The key ${detail}`));
  });

  it('says what to make instead', async () => {
    const { publicKey } = await keyPair({ type: 'curve25519' });
    await expectRefused(publicKey, /Make one with gpg --full-generate-key \(RSA and RSA, 4096 bits\)$/);
  });

  it.each([enums.reasonForRevocation.keyCompromised, enums.reasonForRevocation.keyRetired])(
    'must not be revoked, whatever for (%s)',
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

  it('must not have thousands of signatures to verify', async () => {
    const key = await readKey({ armoredKey: rsa.publicKey });
    const [user] = key.users;
    const [own] = user?.selfCertifications ?? [];
    for (let more = 0; own && more < 64; more++) user?.selfCertifications.push(own);
    await expectRefused(key.armor(), /^The key has more than 64 signatures of its own/);
  });

  it.each(['e', 'n'] as const)('must not have a number so large that verifying takes long (%s)', async (number) => {
    const key = await readKey({ armoredKey: rsa.publicKey });
    Object.assign(key.keyPacket.publicParams, { [number]: Buffer.alloc(2049, 0xff) });
    await expectRefused(key.armor(), /^The key has RSA parameters that are larger than clients expect/);
  });
});

describe('an armored text', () => {
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
  ])('may have %s', async (_, armor) => {
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
      'no header’s form',
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
    ['nothing in it', () => [...lines().slice(0, 2), ...lines().slice(-1)].join('\n'), 'it is not Base64'],
  ])('must not have %s: clients could not read it', async (_, armor, how) => {
    await expectRefused(armor(), damaged(how));
  });

  it.each([
    ['none', () => 'hello'],
    ['empty', () => ''],
    ['cut off', () => lines().slice(0, -1).join('\n')],
    ['of a signature', () => rsa.publicKey.replaceAll('PUBLIC KEY BLOCK', 'SIGNATURE')],
  ])('must not be %s', async (_, armor) => {
    await expectRefused(
      armor(),
      'Ascii armor is not an ASCII-armored public key block, as gpg --armor --export prints it',
    );
  });

  it('must hold a key', async () => {
    const armor = [...lines().slice(0, 2), Buffer.from('no packets').toString('base64'), ...lines().slice(-1)].join(
      '\n',
    );
    await expectRefused(armor, 'Ascii armor holds no public key of OpenPGP');
  });

  it('must hold one key', async () => {
    await expectRefused(rsa.publicKey + DSA.publicKey, 'Ascii armor has several blocks: send one key at a time');
    const [one, other] = [await readKey({ armoredKey: rsa.publicKey }), await readKey({ armoredKey: DSA.publicKey })];
    const both =
      Buffer.concat([one.write(), other.write()])
        .toString('base64')
        .match(/.{1,64}/g) ?? [];
    await expectRefused(
      [...lines().slice(0, 1), '', ...both, ...lines().slice(-1)].join('\n'),
      'Ascii armor has several keys: send one at a time',
    );
  });

  it('must not hold a private key, of which nothing is told back', async () => {
    const detail =
      'Ascii armor has a private key in it: nobody should have that. Send the public one, which gpg --armor --export prints';
    await expectRefused(rsa.privateKey, detail);
    await expectRefused(rsa.publicKey + rsa.privateKey, detail);
    const disguised = rsa.privateKey.replaceAll('PRIVATE', 'PUBLIC');
    await expectRefused(disguised, 'Ascii armor holds no public key of OpenPGP');
  });

  it('must not be larger than any key', async () => {
    await expectRefused(`${'x'.repeat(64 * 1024)}\n${rsa.publicKey}`, /^Ascii armor is larger than 64 KiB/);
  });
});
