import { config, enums, type AlgorithmInfo, type Config } from 'openpgp';
import { unprocessable } from '#kernel';

/**
 * OpenPGP.js, told to judge as the clients do: by go-crypto in terraform and tofu, seen with its versions of 2021, 1.0 and
 * 1.5, which agree. DSA keys verify, so do keys without flags, and signatures over SHA-1; those over MD5 and RIPEMD-160
 * do not. What is stricter than theirs is said at each place.
 */
export const OPENPGP_CONFIG: Config = {
  ...config,
  rejectPublicKeyAlgorithms: new Set([enums.publicKey.elgamal]),
  rejectMessageHashAlgorithms: config.rejectHashAlgorithms,
  allowMissingKeyFlags: true,
};

/** Clocks of signers may be a little ahead of ours. */
const SKEW = 5 * 60 * 1000;

export const allowClockSkew = (now: Date): Date => new Date(now.getTime() + SKEW);

export type KeyKind = 'RSA' | 'DSA';

/** What of a key or subkey is looked at. `publicParams` are the numbers, with their names in RFC 9580 §5.5.5. */
export type KeyPacket = {
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
export const getKeyKind = ({ algorithm }: Pick<KeyPacket, 'algorithm'>): KeyKind | undefined => KINDS.get(algorithm);

/** Ours: the clients take 1024 bits as well, which whoever can pay for it can break. */
const MIN_KEY_BITS = 2048;
/** Verifying takes ever longer with the numbers: these are the most that gpg makes, or more. */
const MAX_KEY_BITS: Readonly<Record<KeyKind, number>> = { RSA: 16_384, DSA: 3072 };
/** What go-crypto reads of RSA's exponent, and the longest subgroup that FIPS 186-4 has for DSA. */
const MAX_PARAMETER_BYTES: Readonly<Partial<Record<string, number>>> = { e: 3, q: 32 };

const REMEDY = 'Make one with gpg --full-generate-key (RSA and RSA, 4096 bits)';

/** What of a release is spoken of, and where in a request it stands. */
export type KeySubject = { readonly name: string; readonly attribute?: string };

const refusal = ({ name, attribute }: KeySubject, problem: string) =>
  unprocessable(`${name} ${problem}. ${REMEDY}`, attribute);

/** Refuses numbers that would keep us busy. For every part of a key, before anything is verified with it. */
export const checkKeySize = (part: KeyPacket, subject: KeySubject): void => {
  const kind = getKeyKind(part);
  if (!kind) return;
  const { bits = 0 } = part.getAlgorithmInfo();
  const numbers = Object.entries(part.publicParams as Readonly<Record<string, Uint8Array>>);
  if (
    bits > MAX_KEY_BITS[kind] ||
    numbers.some(([name, { length }]) => length > (MAX_PARAMETER_BYTES[name] ?? Infinity))
  ) {
    throw refusal(subject, `has ${kind} parameters that are larger than clients expect`);
  }
};

/** Refuses a key, or a subkey, whose signatures would not be taken. */
export const checkUsable = (
  part: KeyPacket,
  subject: KeySubject,
): { readonly kind: KeyKind; readonly bits: number } => {
  if (part.version !== 4) throw refusal(subject, `is of version ${part.version}; clients know version 4`);
  const { algorithm, bits = 0, curve = algorithm } = part.getAlgorithmInfo();
  const kind = getKeyKind(part);
  if (!kind) {
    // OpenPGP.js calls the forms that are older than RFC 9580 so.
    const type = curve.replace('Legacy', '');
    throw refusal(subject, `is of the type ${type}; clients verify signatures of RSA and DSA keys only`);
  }
  // 2047: a modulus may fall short of its name by a bit.
  if (bits < MIN_KEY_BITS - 1) {
    throw refusal(subject, `is too short: ${kind} of ${bits} bits, where ${MIN_KEY_BITS} are the least`);
  }
  checkKeySize(part, subject);
  return { kind, bits };
};
