import { createMessage, enums, readSignature, SignaturePacket, type Key } from 'openpgp';
import { unprocessable } from '#kernel';
import { allowClockSkew, checkUsable, OPENPGP_CONFIG } from './key-rules.js';
import { getKeyId, parsePublicKey } from './signing-key.js';

export type DetachedSignature = {
  /** Of the public key that must have signed. */
  readonly armor: string;
  readonly content: Uint8Array;
  readonly signature: Uint8Array;
  readonly now: Date;
};

const MAX_SIGNATURE_BYTES = 64 * 1024;
const ARMOR = '-----BEGIN PGP';

const readPackets = async (signature: Uint8Array): Promise<readonly SignaturePacket[]> => {
  if (signature.length > MAX_SIGNATURE_BYTES)
    throw unprocessable(`The signature is larger than ${MAX_SIGNATURE_BYTES / 1024} KiB`);
  if (Buffer.from(signature.subarray(0, 256)).toString('latin1').trimStart().startsWith(ARMOR)) {
    throw unprocessable('The signature is ASCII-armored; clients need a binary one: gpg --detach-sign without --armor');
  }
  // What the library cannot read is in the list as well, whatever its type says.
  const packets = await readSignature({ binarySignature: signature, config: OPENPGP_CONFIG }).then(
    (read) => read.packets.filter((packet) => packet instanceof SignaturePacket),
    () => [],
  );
  if (packets.length === 0) throw unprocessable('The signature is none of OpenPGP, or is damaged');
  return packets;
};

/** Of several signatures the clients look at the first that the key made. */
const findPacket = (key: Key, packets: readonly SignaturePacket[]): SignaturePacket => {
  const packet = packets.find(({ issuerKeyID }) => key.getKeys(issuerKeyID).length > 0);
  if (packet) return packet;
  const makers = packets.map(({ issuerKeyID }) => issuerKeyID.toHex().toUpperCase());
  throw unprocessable(`The signature was made by the key ${makers.join(' and ')}, not by ${getKeyId(key)}`);
};

/** The library's words for what is wrong, and ours. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/digest did not match|verification failed/, 'The signature is not one of this content'],
  [/Signature creation time is in the future/, 'The signature was made in the future: a clock is wrong'],
  [/Signature is expired/, 'The signature has expired: make one that does not expire'],
  [/Insecure (?:message )?hash/, 'The signature is made with a hash that clients refuse: use SHA-256 or better'],
  [/revoked/, 'The signature was made by a revoked key'],
];

const toRefusal = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const [, reason = `The signature cannot be used: ${message}`] = REASONS.find(([words]) => words.test(message)) ?? [];
  return unprocessable(reason);
};

/**
 * Proves that a binary detached signature is one of the content, made by the key or by a subkey of it that may sign;
 * answers with the id of the part that signed. The verdict is that of the clients, for whoever is refused by them could
 * not install; and we are stricter only where a signer can help it: keys that are short or not RSA or DSA, and bytes
 * after the signature.
 *
 * So a key that has expired since does no harm, nor does one whose self-signature is newer than the
 * signature, as it is once gpg has extended it: the library is asked without a time. One that was revoked, for
 * whatever reason and whenever, does.
 */
export const verifyDetached = async ({ armor, content, signature, now }: DetachedSignature): Promise<string> => {
  const key = await parsePublicKey(armor);
  const packet = findPacket(key, await readPackets(signature));
  for (const part of key.getKeys(packet.issuerKeyID)) {
    checkUsable(part.keyPacket, { name: 'The key that made the signature' });
  }
  const { signatureType } = packet;
  if (signatureType !== enums.signature.binary && signatureType !== enums.signature.text) {
    throw unprocessable('The signature is not one of a file');
  }
  const [literal] = (await createMessage({ binary: content })).packets;
  if (!literal) throw new Error('a message has its content');
  try {
    const part = await key.getSigningKey(packet.issuerKeyID, null, undefined, OPENPGP_CONFIG);
    await packet.verify(part.keyPacket, signatureType, literal, allowClockSkew(now), true, OPENPGP_CONFIG);
    return getKeyId(part);
  } catch (error) {
    throw toRefusal(error);
  }
};
