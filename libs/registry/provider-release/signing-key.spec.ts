import { beforeAll, describe, expect, it } from '@jest/globals';
import { enums, readKey, reformatKey, revokeKey, readPrivateKey } from 'openpgp';
import { checkRenewal, findVendorKey, readAcceptedKey, readPublicKey, VENDOR_KEY_IDS } from './index.js';
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

/** Kinds of elliptic-curve keys with the name of the kind, and the first terraform version that reads them. */
const CURVES = [
  ['ed25519', { type: 'ecc', curve: 'ed25519Legacy' }, '1.6'],
  ['ed25519', { type: 'curve25519' }, '1.12'],
  ['NIST P-256', { type: 'ecc', curve: 'nistP256' }, '1.6'],
  ['NIST P-384', { type: 'ecc', curve: 'nistP384' }, '1.6'],
  ['NIST P-521', { type: 'ecc', curve: 'nistP521' }, '1.6'],
] as const;

describe('reading a key that was accepted before', () => {
  it('returns the same end as reading the whole key', async () => {
    expect(await readAcceptedKey(rsa.publicKey)).toEqual({
      algorithm: 'RSA',
      expiresAt: yearsAgo(-2).toISOString(),
      firstTerraform: null,
    });
    const expired = await keyPair({ date: yearsAgo(3), keyExpirationTime: secondsOf(2) });
    expect(await readAcceptedKey(expired.publicKey)).toMatchObject({ expiresAt: yearsAgo(1).toISOString() });
  });

  it('returns null as the end of a key without an end', async () => {
    expect(await readAcceptedKey(DSA.publicKey)).toEqual({ algorithm: 'DSA', expiresAt: null, firstTerraform: null });
  });

  it.each(CURVES)(
    'returns which clients are too old for the kind %s %j',
    async (algorithm, options, firstTerraform) => {
      const { publicKey } = await keyPair(options);
      expect(await readAcceptedKey(publicKey)).toEqual({ algorithm, expiresAt: null, firstTerraform });
    },
  );

  it('returns which clients are too old for a subkey, because they reject the whole key', async () => {
    const { publicKey } = await keyPair({ subkeys: [{ sign: true, type: 'ecc', curve: 'ed25519Legacy' }] });
    expect(await readAcceptedKey(publicKey)).toMatchObject({ algorithm: 'RSA', firstTerraform: '1.6' });
  });
});

describe('the keys that every organization has', () => {
  it('are the key of HashiCorp with the published fingerprint', async () => {
    expect(VENDOR_KEY_IDS).toEqual(['34365D9472D7468F']);
    const key = await read(findVendorKey('34365d9472d7468f') ?? '');
    expect(key).toMatchObject({
      keyId: '34365D9472D7468F',
      fingerprint: 'C874011F0AB405110D02105534365D9472D7468F',
      algorithm: 'RSA',
      bits: 4096,
      userIds: ['HashiCorp Security (hashicorp.com/security) <security@hashicorp.com>'],
    });
    expect(findVendorKey('C12770D1DD3C3217')).toBeNull();
  });
});

describe('renewing a key', () => {
  const POINTER_OF_ID = '/data/attributes/key-id';
  const extend = async ({ privateKey }: KeyPair): Promise<KeyPair> =>
    reformatKey({
      privateKey: await readPrivateKey({ armoredKey: privateKey }),
      userIDs: [{ name: 'Release', email: 'release@example.com' }],
      date: yearsAgo(0.5),
      keyExpirationTime: secondsOf(5),
      format: 'armored',
    });
  let withSubkey: KeyPair;
  beforeAll(async () => {
    withSubkey = await keyPair({ subkeys: [{ sign: true }] });
  });

  it('accepts the same key with a later end', async () => {
    await expect(checkRenewal(rsa.publicKey, (await extend(rsa)).publicKey)).resolves.toBeUndefined();
    await expect(checkRenewal(withSubkey.publicKey, (await extend(withSubkey)).publicKey)).resolves.toBeUndefined();
  });

  it('rejects an older copy', async () => {
    const extended = await extend(rsa);
    await expectRefusal(
      checkRenewal(extended.publicKey, rsa.publicKey),
      'The key is an older copy of the key that the registry has',
      POINTER,
    );
  });

  it('rejects another key', async () => {
    await expectRefusal(
      checkRenewal(rsa.publicKey, DSA.publicKey),
      /^Key id is taken by the key [0-9A-F]{40}\. The sent key 34F4B25C465\w+ has the same id, but is another key$/,
      POINTER_OF_ID,
    );
  });

  it('rejects a copy without a subkey that has signed', async () => {
    const key = await readKey({ armoredKey: withSubkey.publicKey });
    const [subkey] = key.subkeys.splice(0);
    const id = subkey?.getKeyID().toHex().toUpperCase();
    await expectRefusal(
      checkRenewal(withSubkey.publicKey, key.armor()),
      `The key does not verify the signatures of its part ${id}, as the present copy does. Export the whole key`,
      POINTER,
    );
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

  it.each(CURVES)('accepts a key of the kind %s %j', async (algorithm, options, _firstTerraform) => {
    const { publicKey } = await keyPair(options);
    expect(await read(publicKey)).toMatchObject({ algorithm, bits: null });
  });

  it('accepts a key that signs with a subkey', async () => {
    const { publicKey } = await keyPair({ subkeys: [{ sign: true }] });
    expect(await read(publicKey)).toMatchObject({ algorithm: 'RSA', bits: 2048 });
  });

  it('accepts a subkey that clients cannot check, provided that another part of the key can sign', async () => {
    const { publicKey } = await keyPair({ subkeys: [{ sign: true, type: 'curve448' }] });
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
      'the curve 448',
      { type: 'curve448' },
      'has the type ed448; clients verify signatures of RSA, DSA, ed25519 and NIST keys only',
    ],
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
    const { publicKey } = await keyPair({ type: 'curve448' });
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
