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
import { readPublicKey, verifyDetached } from './index.js';
import { DSA, expectRefusal, keyPair, NOW, secondsOf, yearsAgo, type KeyPair } from './spec.js';

const CONTENT = Buffer.from('checksums\nand names\n');

let rsa: KeyPair;
let other: KeyPair;

beforeAll(async () => {
  [rsa, other] = [await keyPair(), await keyPair()];
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

describe('a detached signature', () => {
  it('is proved to be one of the content, by the key', async () => {
    expect(await verify(await signed([rsa]))).toBe(await idOf(rsa));
  });

  it('may be one of DSA, as gpg makes it', async () => {
    expect(await verify(DSA.signature, DSA, DSA.content)).toBe(DSA.keyId);
  });

  it('may be one by a subkey, and is known by that', async () => {
    const withSubkey = await keyPair({ subkeys: [{ sign: true }] });
    const id = await verify(await signed([withSubkey]), withSubkey);
    expect(id).toMatch(/^[0-9A-F]{16}$/);
    expect(id).not.toBe(await idOf(withSubkey));
  });

  it('may be one of a text, whose lines then may end in two ways', async () => {
    const signature = await signed([rsa], { text: true });
    expect(await verify(signature)).toBe(await idOf(rsa));
  });

  it('may be over SHA-1, as clients take it', async () => {
    const config = { preferredHashAlgorithm: enums.hash.sha1, nonDeterministicSignaturesViaNotation: false };
    const key = await keyPair({ config });
    const signature = await signed([key], { config });
    const { packets } = await readSignature({ binarySignature: signature });
    expect(packets.map(({ hashAlgorithm }) => hashAlgorithm)).toEqual([enums.hash.sha1]);
    expect(await verify(signature, key)).toBe(await idOf(key));
  });

  it('may come with others, of which the first by the key counts', async () => {
    expect(await verify(await signed([other, rsa]))).toBe(await idOf(rsa));
  });

  it('outlives its key', async () => {
    const expired = await keyPair({ date: yearsAgo(3), keyExpirationTime: secondsOf(2) });
    const signature = await signed([expired], { date: yearsAgo(2) });
    expect(await verify(signature, expired)).toMatch(/^[0-9A-F]{16}$/);
  });

  it('may be older than the self-signature of its key, which is made anew when the key is extended', async () => {
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

  it('may be a moment ahead of our clock', async () => {
    expect(await verify(await signed([rsa], { date: new Date(NOW.getTime() + 60_000) }))).toBe(await idOf(rsa));
  });

  it('must not come from the future', async () => {
    const signature = await signed([rsa], { date: new Date(NOW.getTime() + 10 * 60_000) });
    await expectRefusal(verify(signature), 'The signature was made in the future: a clock is wrong');
  });

  it('must be one of this content', async () => {
    const refusal = 'The signature is not one of this content';
    await expectRefusal(verify(await signed([rsa], { content: Buffer.from('other') })), refusal);
    await expectRefusal(verify(await signed([rsa]), rsa, Buffer.concat([CONTENT, Buffer.from('\n')])), refusal);
    await expectRefusal(verify(DSA.signature, DSA, CONTENT), refusal);
  });

  it('must be made by the key', async () => {
    const [signature, maker, key] = [await signed([other]), await idOf(other), await idOf(rsa)];
    await expectRefusal(verify(signature), `The signature was made by the key ${maker}, not by ${key}`);
  });

  it('must not be made by a key that was revoked, not even later', async () => {
    const signature = await signed([rsa], { date: yearsAgo(0.5) });
    const { publicKey } = await revokeKey({
      key: await readPrivateKey({ armoredKey: rsa.privateKey }),
      reasonForRevocation: { flag: enums.reasonForRevocation.keyRetired },
      date: yearsAgo(0.25),
      format: 'armored',
    });
    await expectRefusal(verify(signature, { publicKey }), 'The signature was made by a revoked key');
  });

  it('must not be made by a subkey that clients cannot use', async () => {
    const mixed = await keyPair({ subkeys: [{ sign: true, type: 'ecc' }] });
    await expectRefusal(
      verify(await signed([mixed]), mixed),
      /^The key that made the signature is of the type ed25519; clients verify signatures of RSA and DSA keys only/,
    );
  });

  it('must not ask for what nobody here knows', async () => {
    const notation = { name: 'must@example.com', value: Buffer.from('1'), humanReadable: true, critical: true };
    const signature = await signed([rsa], { signatureNotations: [notation] });
    await expectRefusal(verify(signature), 'The signature cannot be used: Unknown critical notation: must@example.com');
  });

  it('must be binary', async () => {
    const signingKeys = await readPrivateKey({ armoredKey: rsa.privateKey });
    const message = await createMessage({ binary: CONTENT });
    const armored = await sign({ message, signingKeys, detached: true, date: NOW });
    await expectRefusal(
      verify(Buffer.from(String(armored))),
      'The signature is ASCII-armored; clients need a binary one: gpg --detach-sign without --armor',
    );
  });

  it.each([
    ['nothing', () => Buffer.alloc(0)],
    ['a text', () => Buffer.from('hello')],
    ['a key', async () => Buffer.from((await readPrivateKey({ armoredKey: rsa.privateKey })).toPublic().write())],
    ['cut off', async () => (await signed([rsa])).subarray(0, -10)],
    ['followed by anything', async () => Buffer.concat([await signed([rsa]), Buffer.from('xxxx')])],
  ])('must not be %s', async (_, signature) => {
    await expectRefusal(verify(await signature()), 'The signature is none of OpenPGP, or is damaged');
  });

  it('must not be larger than any signature', async () => {
    await expectRefusal(verify(Buffer.alloc(64 * 1024 + 1)), 'The signature is larger than 64 KiB');
  });
});
