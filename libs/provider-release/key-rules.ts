import { config, enums, type AlgorithmInfo, type Config } from 'openpgp';
import { unprocessable } from '#kernel';

/**
 * OpenPGP.js, told to judge as the clients do: by go-crypto in terraform and tofu, seen with its versions of 2021, 1.0 and
 * 1.5, which agree. DSA keys verify, so do keys without flags, and signatures over SHA-1; those over MD5 and RIPEMD-160
 * do not. What is stricter than theirs is said at each place.
 */
export const CONFIG: Config = {
  ...config,
  rejectPublicKeyAlgorithms: new Set([enums.publicKey.elgamal]),
  rejectMessageHashAlgorithms: config.rejectHashAlgorithms,
  allowMissingKeyFlags: true,
};

/** Clocks of signers may be a little ahead of ours. */
const SKEW = 5 * 60 * 1000;

export const ahead = (now: Date): Date => new Date(now.getTime() + SKEW);

export type KeyKind = 'RSA' | 'DSA';

/** What of a key or subkey is looked at. `publicParams` are the numbers, with their names in RFC 9580 §5.5.5. */
export type KeyPart = {
  readonly version: number;
  readonly algorithm: enums.publicKey;
  readonly publicParams: object;
  getAlgorithmInfo(): AlgorithmInfo;
};

const KINDS: ReadonlyMap<enums.publicKey, KeyKind> = new Map([
  [enums.publicKey.rsaEncryptSign, 'RSA'],
  [enums.publicKey.rsaSign, 'RSA'],
  [enums.publicKey.dsa, 'DSA'],
]);

/** Undefined where the clients do not verify what it signs. */
export const kindOf = ({ algorithm }: Pick<KeyPart, 'algorithm'>): KeyKind | undefined => KINDS.get(algorithm);

/** Ours: the clients take 1024 bits as well, which whoever can pay for it can break. */
const BITS_LEAST = 2048;
/** Verifying takes ever longer with the numbers: these are the most that gpg makes, or more. */
const BITS_MOST: Readonly<Record<KeyKind, number>> = { RSA: 16_384, DSA: 3072 };
/** What go-crypto reads of RSA's exponent, and the longest subgroup that FIPS 186-4 has for DSA. */
const BYTES_MOST: Readonly<Partial<Record<string, number>>> = { e: 3, q: 32 };

const REMEDY = 'Make one with gpg --full-generate-key (RSA and RSA, 4096 bits)';

/** What of a release is spoken of, and where in a request it stands. */
export type Subject = { readonly name: string; readonly attribute?: string };

const refusal = ({ name, attribute }: Subject, problem: string) =>
  unprocessable(`${name} ${problem}. ${REMEDY}`, attribute);

/** Refuses numbers that would keep us busy. For every part of a key, before anything is verified with it. */
export const checkSize = (part: KeyPart, subject: Subject): void => {
  const kind = kindOf(part);
  if (!kind) return;
  const { bits = 0 } = part.getAlgorithmInfo();
  const numbers = Object.entries(part.publicParams as Readonly<Record<string, Uint8Array>>);
  if (bits > BITS_MOST[kind] || numbers.some(([name, { length }]) => length > (BYTES_MOST[name] ?? Infinity))) {
    throw refusal(subject, `has ${kind} parameters that are larger than clients expect`);
  }
};

/** Refuses a key, or a subkey, whose signatures would not be taken. */
export const checkUsable = (part: KeyPart, subject: Subject): { readonly kind: KeyKind; readonly bits: number } => {
  if (part.version !== 4) throw refusal(subject, `is of version ${part.version}; clients know version 4`);
  const { algorithm, bits = 0, curve = algorithm } = part.getAlgorithmInfo();
  const kind = kindOf(part);
  if (!kind) {
    // OpenPGP.js calls the forms that are older than RFC 9580 so.
    const type = curve.replace('Legacy', '');
    throw refusal(subject, `is of the type ${type}; clients verify signatures of RSA and DSA keys only`);
  }
  // 2047: a modulus may fall short of its name by a bit.
  if (bits < BITS_LEAST - 1) {
    throw refusal(subject, `is too short: ${kind} of ${bits} bits, where ${BITS_LEAST} are the least`);
  }
  checkSize(part, subject);
  return { kind, bits };
};
