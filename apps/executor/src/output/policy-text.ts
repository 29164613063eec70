import type { SecretMasker } from './secret-masker.js';

/** Characters that the server does not store. */
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTER = /[\0-\x08\x0b-\x1f\x7f]/g;

const shorten = (text: string, most: number, isCut: boolean): string =>
  text.length <= most && !isCut ? text : `${text.slice(0, most - 1)}…`;

/**
 * Returns the beginning of a text without secrets, in at most `most` characters that the server can store. Texts can have a
 * megabyte, so that only a beginning is masked.
 */
export const maskBeginning = (text: string, most: number, maskers: readonly SecretMasker[]): string => {
  const longest = Math.max(0, ...maskers.map((masker) => masker.longest));
  const beginning = text.slice(0, most + longest);
  const isCut = beginning.length < text.length;
  let masked = beginning;
  for (const masker of maskers) masked = masker.maskText(masked);
  // The end can be a part of a secret, which no form matches.
  const whole = isCut ? masked.slice(0, Math.max(0, masked.length - longest)) : masked;
  return shorten(whole, most, isCut).replaceAll(CONTROL_CHARACTER, '\u{fffd}').toWellFormed();
};
