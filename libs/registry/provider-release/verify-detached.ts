import { createMessage, enums, readSignature, SignaturePacket, type Key } from 'openpgp';
import { getErrorMessage, unprocessable } from '#platform/kernel';
import { allowClockSkew, checkUsable, OPENPGP_CONFIG } from './key-rules.js';
import { getKeyId, parsePublicKey } from './signing-key.js';

export type DetachedSignature = {
  /** Armored public key that must have signed the content. */
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
  // The library also lists packets that it cannot read, whatever its types say.
  const packets = await readSignature({ binarySignature: signature, config: OPENPGP_CONFIG }).then(
    (read) => read.packets.filter((packet) => packet instanceof SignaturePacket),
    () => [],
  );
  if (packets.length === 0) throw unprocessable('The signature is not an OpenPGP signature, or it is damaged');
  return packets;
};

/** Returns the first signature by the key. Clients also use only the first of several. */
const findPacket = (key: Key, packets: readonly SignaturePacket[]): SignaturePacket => {
  const packet = packets.find(({ issuerKeyID }) => key.getKeys(issuerKeyID).length > 0);
  if (packet) return packet;
  const makers = packets.map(({ issuerKeyID }) => issuerKeyID.toHex().toUpperCase());
  throw unprocessable(`The signature was made by the key ${makers.join(' and ')}, not by ${getKeyId(key)}`);
};

/** Errors of the library and the messages of this module. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/digest did not match|verification failed/, 'The signature does not match this content'],
  [/Signature creation time is in the future/, 'The signature was made in the future: a clock is wrong'],
  [/Signature is expired/, 'The signature has expired: make one that does not expire'],
  [/Insecure (?:message )?hash/, 'The signature is made with a hash that clients refuse: use SHA-256 or better'],
  [/revoked/, 'The signature was made by a revoked key'],
];

const toRefusal = (error: unknown) => {
  const message = getErrorMessage(error);
  const [, reason = `The signature cannot be used: ${message}`] = REASONS.find(([words]) => words.test(message)) ?? [];
  return unprocessable(reason);
};

/**
 * Verifies that a binary detached signature is of the content and by the key, or by a subkey that may sign. Returns the
 * id of the key or subkey that signed. The result is the same as in the clients, because nobody could install what
 * clients refuse. It is stricter only where the signer can fix the problem: short keys, rare kinds of keys,
 * and bytes after the signature.
 *
 * A key may have expired since. Its self-signature may also be newer than the signature, as after gpg has extended the
 * key; therefore the library gets no time for this check. A revoked key is rejected, whatever the reason and time.
 */
export const verifyDetached = async ({ armor, content, signature, now }: DetachedSignature): Promise<string> => {
  const key = await parsePublicKey(armor);
  const packet = findPacket(key, await readPackets(signature));
  for (const part of key.getKeys(packet.issuerKeyID)) {
    checkUsable(part.keyPacket, { name: 'The key that made the signature' });
  }
  const { signatureType } = packet;
  if (signatureType !== enums.signature.binary && signatureType !== enums.signature.text) {
    throw unprocessable('The signature is not a signature of a file');
  }
  const [literal] = (await createMessage({ binary: content })).packets;
  if (!literal) throw new Error('createMessage returned no packet for the content');
  try {
    const part = await key.getSigningKey(packet.issuerKeyID, null, undefined, OPENPGP_CONFIG);
    await packet.verify(part.keyPacket, signatureType, literal, allowClockSkew(now), true, OPENPGP_CONFIG);
    return getKeyId(part);
  } catch (error) {
    throw toRefusal(error);
  }
};
