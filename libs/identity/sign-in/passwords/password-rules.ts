import { unprocessable } from '#platform/kernel';
import { COMMON_PASSWORDS } from './common-passwords.js';

const LEAST = 12;
const MOST = 1_000;
/** Shorter names are part of too many good passwords. */
const SHORTEST_NAME = 4;

const SEQUENCES = ['01234567890123456789', 'abcdefghijklmnopqrstuvwxyz', '09876543210987654321'];

/** Returns the form of a password that is hashed: keyboards encode the same letters differently (NIST SP 800-63B). */
export const normalizePassword = (password: string): string => password.normalize('NFKC');

/** Whether one text of up to four characters fills the password, as in `abcabcabcabc`. */
const isRepetition = (password: string): boolean => /^(.{1,4})\1+.{0,3}$/su.test(password);

/** Digits, spaces and signs of ASCII at the beginning or at the end. */
const DIGITS_AND_SIGNS = /^[ -@[-`{-~]+|[ -@[-`{-~]+$/g;

const isCommon = (password: string): boolean => {
  const lower = password.toLowerCase();
  const letters = lower.replaceAll(DIGITS_AND_SIGNS, '');
  return (
    letters === '' ||
    COMMON_PASSWORDS.some((common) => [lower, letters].includes(common)) ||
    SEQUENCES.some((sequence) => sequence.includes(lower)) ||
    isRepetition(lower)
  );
};

/** Returns the name and the parts of the address that a password must not contain. */
const listNames = ({ username, email }: PasswordOwner): readonly string[] =>
  [username, email ?? '', (email ?? '').split('@')[0] ?? '']
    .map((name) => name.toLowerCase())
    .filter((name) => name.length >= SHORTEST_NAME);

/** Counts code points. */
const countCharacters = (text: string): number => Array.from(text).length;

type PasswordOwner = { readonly username: string; readonly email: string | null };

/** Refuses passwords that are too short, too long, common, or contain the name or the address of the person. */
export const checkPassword = (text: string, owner: PasswordOwner): void => {
  const password = normalizePassword(text);
  const length = countCharacters(password);
  if (length < LEAST) throw unprocessable(`The password must have at least ${LEAST} characters, got ${length}`);
  if (length > MOST) throw unprocessable(`The password can have at most ${MOST} characters, got ${length}`);
  if (isCommon(password)) throw unprocessable('This password is among the most common ones. Choose another one');
  const lower = password.toLowerCase();
  if (listNames(owner).some((name) => lower.includes(name))) {
    throw unprocessable('The password must not contain your user name or e-mail address');
  }
};
