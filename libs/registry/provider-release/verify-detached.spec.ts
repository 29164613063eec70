import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  createMessage,
  enums,
  readPrivateKey,
  readSignature,
  reformatKey,
  revokeKey,
  sign,
  type SignOptions,
} from 'openpgp';
import { HASHICORP_RELEASE } from '../../../test/support/hashicorp-release.js';
import { findVendorKey, readPublicKey, verifyDetached } from './index.js';
import { DSA, expectRefusal, keyPair, NOW, secondsOf, yearsAgo, type KeyPair } from './spec.js';

const CONTENT = Buffer.from('checksums\nand names\n');

let rsa: KeyPair;
let otherKey: KeyPair;

beforeAll(async () => {
  [rsa, otherKey] = [await keyPair(), await keyPair()];
});

type Options = Partial<Pick<SignOptions, 'date' | 'config' | 'signatureNotations'>> & {
  readonly content?: Uint8Array;
  readonly text?: boolean;
};

const signed = async (
  by: readonly KeyPair[],
  { content = CONTENT, text = false, ...options }: Options = {},
): Promise<Uint8Array> => {
  const signingKeys = await Promise.all(by.map(({ privateKey }) => readPrivateKey({ armoredKey: privateKey })));
  const binary = await createMessage({ binary: content });
  const message = text ? await createMessage({ text: Buffer.from(content).toString() }) : binary;
  const signature: unknown = await sign({
    date: NOW,
    ...options,
    message,
    signingKeys,
    detached: true,
    format: 'binary',
  });
  return signature as Uint8Array;
};

const verify = (
  signature: Uint8Array,
  { publicKey }: Pick<KeyPair, 'publicKey'> = rsa,
  content: Uint8Array = CONTENT,
) => verifyDetached({ armor: publicKey, content, signature, now: NOW });

const idOf = async ({ publicKey }: KeyPair): Promise<string> => (await readPublicKey(publicKey, NOW)).keyId;

describe('verifying a detached signature', () => {
  it('returns the id of the key if it signed this content', async () => {
    expect(await verify(await signed([rsa]))).toBe(await idOf(rsa));
  });

  it('accepts a DSA signature from gpg', async () => {
    expect(await verify(DSA.signature, DSA, DSA.content)).toBe(DSA.keyId);
  });

  it.each([
    { type: 'ecc', curve: 'ed25519Legacy' },
    { type: 'curve25519' },
    { type: 'ecc', curve: 'nistP256' },
    { type: 'ecc', curve: 'nistP384' },
    { type: 'ecc', curve: 'nistP521' },
  ] as const)('accepts a signature by a key of %j, and rejects it for other content', async (options) => {
    const key = await keyPair(options);
    const signature = await signed([key]);
    expect(await verify(signature, key)).toBe(await idOf(key));
    await expectRefusal(verify(signature, key, Buffer.from('other')), 'The signature does not match this content');
  });

  it('accepts a signature of HashiCorp by its key that every organization has', async () => {
    const { shasums, signature, subkeyId } = HASHICORP_RELEASE;
    const publicKey = findVendorKey('34365D9472D7468F') ?? '';
    expect(await verify(signature, { publicKey }, shasums)).toBe(subkeyId);
  });

  it('accepts a signature by a subkey and returns the id of the subkey', async () => {
    const withSubkey = await keyPair({ subkeys: [{ sign: true }] });
    const id = await verify(await signed([withSubkey]), withSubkey);
    expect(id).toMatch(/^[0-9A-F]{16}$/);
    expect(id).not.toBe(await idOf(withSubkey));
  });

  it('accepts a text signature, with either line ending', async () => {
    const signature = await signed([rsa], { text: true });
    expect(await verify(signature)).toBe(await idOf(rsa));
  });

  it('accepts a signature over SHA-1, as clients do', async () => {
    const config = { preferredHashAlgorithm: enums.hash.sha1, nonDeterministicSignaturesViaNotation: false };
    const key = await keyPair({ config });
    const signature = await signed([key], { config });
    const { packets } = await readSignature({ binarySignature: signature });
    expect(packets.map(({ hashAlgorithm }) => hashAlgorithm)).toEqual([enums.hash.sha1]);
    expect(await verify(signature, key)).toBe(await idOf(key));
  });

  it('uses the first of several signatures that is by the key', async () => {
    expect(await verify(await signed([otherKey, rsa]))).toBe(await idOf(rsa));
  });

  it('accepts a signature by a key that has expired since', async () => {
    const expired = await keyPair({ date: yearsAgo(3), keyExpirationTime: secondsOf(2) });
    const signature = await signed([expired], { date: yearsAgo(2) });
    expect(await verify(signature, expired)).toMatch(/^[0-9A-F]{16}$/);
  });

  it('accepts a signature that is older than the self-signature of its key, which gpg renews when the key is extended', async () => {
    const key = await keyPair({ date: yearsAgo(3) });
    const signature = await signed([key], { date: yearsAgo(2) });
    const extended = await reformatKey({
      privateKey: await readPrivateKey({ armoredKey: key.privateKey }),
      userIDs: [{ name: 'Release' }],
      date: yearsAgo(1),
      format: 'armored',
    });
    expect(await verify(signature, extended)).toBe(await idOf(key));
  });

  it('accepts a signature from a clock that is one minute ahead', async () => {
    expect(await verify(await signed([rsa], { date: new Date(NOW.getTime() + 60_000) }))).toBe(await idOf(rsa));
  });

  it('rejects a signature from the future', async () => {
    const signature = await signed([rsa], { date: new Date(NOW.getTime() + 10 * 60_000) });
    await expectRefusal(verify(signature), 'The signature was made in the future: a clock is wrong');
  });

  it('rejects a signature of other content', async () => {
    const refusal = 'The signature does not match this content';
    await expectRefusal(verify(await signed([rsa], { content: Buffer.from('other') })), refusal);
    await expectRefusal(verify(await signed([rsa]), rsa, Buffer.concat([CONTENT, Buffer.from('\n')])), refusal);
    await expectRefusal(verify(DSA.signature, DSA, CONTENT), refusal);
  });

  it('rejects a signature by another key', async () => {
    const [signature, maker, key] = [await signed([otherKey]), await idOf(otherKey), await idOf(rsa)];
    await expectRefusal(verify(signature), `The signature was made by the key ${maker}, not by ${key}`);
  });

  it('rejects a signature by a revoked key, even if it is older than the revocation', async () => {
    const signature = await signed([rsa], { date: yearsAgo(0.5) });
    const { publicKey } = await revokeKey({
      key: await readPrivateKey({ armoredKey: rsa.privateKey }),
      reasonForRevocation: { flag: enums.reasonForRevocation.keyRetired },
      date: yearsAgo(0.25),
      format: 'armored',
    });
    await expectRefusal(verify(signature, { publicKey }), 'The signature was made by a revoked key');
  });

  it('rejects a signature by a subkey that clients cannot verify', async () => {
    const mixed = await keyPair({ subkeys: [{ sign: true, type: 'curve448' }] });
    await expectRefusal(
      verify(await signed([mixed]), mixed),
      /^The key that made the signature has the type ed448; clients verify signatures of RSA, DSA, ed25519 and NIST keys only/,
    );
  });

  it('rejects a signature with an unknown critical notation', async () => {
    const notation = { name: 'must@example.com', value: Buffer.from('1'), humanReadable: true, critical: true };
    const signature = await signed([rsa], { signatureNotations: [notation] });
    await expectRefusal(verify(signature), 'The signature cannot be used: Unknown critical notation: must@example.com');
  });

  it('rejects an armored signature', async () => {
    const signingKeys = await readPrivateKey({ armoredKey: rsa.privateKey });
    const message = await createMessage({ binary: CONTENT });
    const armored = await sign({ message, signingKeys, detached: true, date: NOW });
    await expectRefusal(
      verify(Buffer.from(String(armored))),
      'The signature is ASCII-armored; clients need a binary one: gpg --detach-sign without --armor',
    );
  });

  it.each([
    ['empty', () => Buffer.alloc(0)],
    ['a text', () => Buffer.from('hello')],
    ['a key', async () => Buffer.from((await readPrivateKey({ armoredKey: rsa.privateKey })).toPublic().write())],
    ['cut off', async () => (await signed([rsa])).subarray(0, -10)],
    ['followed by other bytes', async () => Buffer.concat([await signed([rsa]), Buffer.from('xxxx')])],
  ])('rejects a signature that is %s', async (_, signature) => {
    await expectRefusal(verify(await signature()), 'The signature is not an OpenPGP signature, or it is damaged');
  });

  it('rejects more than 64 KiB', async () => {
    await expectRefusal(verify(Buffer.alloc(64 * 1024 + 1)), 'The signature is larger than 64 KiB');
  });
});
