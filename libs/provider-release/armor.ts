import { unprocessable } from '#kernel';

const BEGIN = '-----BEGIN PGP PUBLIC KEY BLOCK-----';
const END = '-----END PGP PUBLIC KEY BLOCK-----';
const MOST = 64 * 1024;
/** Longer lines are damage to the clients; gpg writes 64 characters. */
const LINE_MOST = 96;

const refuse = (what: string) => unprocessable(`Ascii armor ${what}`, 'ascii-armor');
const damaged = (how: string) => refuse(`is damaged: ${how}. Send it as gpg --armor --export prints it`);

/** The CRC-24 of RFC 9580 §6.1.1, as the last line of an armored text has it. */
const checksumOf = (bytes: Uint8Array): string => {
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

/** The lines between first and last of the one block that the text must be. */
const blockIn = (armor: string): string[] => {
  if (Buffer.byteLength(armor) > MOST) {
    throw refuse(`is larger than ${MOST / 1024} KiB: export the key with --export-options export-minimal`);
  }
  // Nothing of it is told back.
  if (/BEGIN PGP PRIVATE KEY/.test(armor)) {
    throw refuse(
      'has a private key in it: nobody should have that. Send the public one, which gpg --armor --export prints',
    );
  }
  const lines = armor.split(/\r?\n/);
  const [begin, end] = [lines.indexOf(BEGIN), lines.lastIndexOf(END)];
  if (begin === -1 || end < begin) {
    throw refuse('is not an ASCII-armored public key block, as gpg --armor --export prints it');
  }
  if (armor.split('-----BEGIN PGP ').length > 2) throw refuse('has several blocks: send one key at a time');
  return lines.slice(begin + 1, end);
};

/**
 * The key that an armored text holds, in binary. It is read as strictly as the strictest of the clients in use does
 * (go-crypto up to 1.0: headers, an empty line, short lines, the right checksum if there is one): they are given the text
 * as it is, and OpenPGP.js would take more than they do.
 */
export const dearmored = (armor: string): Uint8Array => {
  const block = blockIn(armor);
  const headers = block.indexOf('');
  if (headers === -1 || !block.slice(0, headers).every((line) => line.includes(': '))) {
    throw damaged('there is no empty line before the key');
  }
  const lines = block.slice(headers + 1).filter((line) => line !== '');
  const checksum = lines.at(-1)?.startsWith('=') ? lines.pop()?.slice(1) : undefined;
  const text = lines.join('');
  if (lines.some(({ length }) => length > LINE_MOST))
    throw damaged(`it has lines of more than ${LINE_MOST} characters`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) throw damaged('it is not Base64');
  const bytes = Buffer.from(text, 'base64');
  if (checksum !== undefined && checksum !== checksumOf(bytes)) throw damaged('its checksum does not match');
  return bytes;
};
