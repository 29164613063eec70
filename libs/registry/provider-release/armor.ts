import { unprocessable } from '#platform/kernel';

const BEGIN = '-----BEGIN PGP PUBLIC KEY BLOCK-----';
const END = '-----END PGP PUBLIC KEY BLOCK-----';
const MAX_ARMOR_BYTES = 64 * 1024;
/** Clients reject longer lines as damaged. gpg writes 64 characters. */
const MAX_LINE_LENGTH = 96;

const refuse = (what: string) => unprocessable(`Ascii armor ${what}`, 'ascii-armor');
const refuseDamaged = (how: string) => refuse(`is damaged: ${how}. Send it as gpg --armor --export prints it`);

/** Computes the CRC-24 of RFC 9580 §6.1.1, which is the last line of an armored text. */
const computeChecksum = (bytes: Uint8Array): string => {
  let crc = 0xb704ce;
  for (const byte of bytes) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if (crc & 0x1000000) crc ^= 0x1864cfb;
    }
  }
  return Buffer.of(crc >> 16, crc >> 8, crc).toString('base64');
};

/**
 * Returns the lines between the first and the last line of the block. Rejects a text with more or less than one block.
 */
const parseBlock = (armor: string): string[] => {
  if (Buffer.byteLength(armor) > MAX_ARMOR_BYTES) {
    throw refuse(`is larger than ${MAX_ARMOR_BYTES / 1024} KiB: export the key with --export-options export-minimal`);
  }
  // The message must not repeat any of the key.
  if (/BEGIN PGP PRIVATE KEY/.test(armor)) {
    throw refuse('contains a private key. Send the public key, which gpg --armor --export prints');
  }
  const lines = armor.split(/\r?\n/);
  const [begin, end] = [lines.indexOf(BEGIN), lines.lastIndexOf(END)];
  if (begin === -1 || end < begin) {
    throw refuse('is not an ASCII-armored public key block, as gpg --armor --export prints it');
  }
  if (armor.split('-----BEGIN PGP ').length > 2) throw refuse('contains several blocks: send one key at a time');
  return lines.slice(begin + 1, end);
};

/**
 * Decodes the key of an armored text. It is as strict as the strictest client in use (go-crypto up to 1.0: headers, an
 * empty line, short lines, a correct checksum if there is one), because clients get this text unchanged. OpenPGP.js
 * accepts more than they do.
 */
export const decodeArmor = (armor: string): Uint8Array => {
  const block = parseBlock(armor);
  const headers = block.indexOf('');
  if (headers === -1 || !block.slice(0, headers).every((line) => line.includes(': '))) {
    throw refuseDamaged('there is no empty line before the key');
  }
  const lines = block.slice(headers + 1).filter((line) => line !== '');
  const checksum = lines.at(-1)?.startsWith('=') ? lines.pop()?.slice(1) : undefined;
  const text = lines.join('');
  if (lines.some(({ length }) => length > MAX_LINE_LENGTH))
    throw refuseDamaged(`it has lines of more than ${MAX_LINE_LENGTH} characters`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) throw refuseDamaged('it is not Base64');
  const bytes = Buffer.from(text, 'base64');
  if (checksum !== undefined && checksum !== computeChecksum(bytes)) throw refuseDamaged('its checksum does not match');
  return bytes;
};
