import { config, enums, type AlgorithmInfo, type Config } from 'openpgp';
import { unprocessable } from '#platform/kernel';

/**
 * Configuration of OpenPGP.js that gives the same results as the clients: go-crypto in terraform and tofu, observed
 * with its versions of 2021, 1.0 and 1.5, which agree. DSA keys, keys without flags and signatures over SHA-1 verify;
 * signatures over MD5 and RIPEMD-160 do not. Comments mark the rules that are stricter than the clients.
 */
export const OPENPGP_CONFIG: Config = {
  ...config,
  rejectPublicKeyAlgorithms: new Set([enums.publicKey.elgamal]),
  rejectMessageHashAlgorithms: config.rejectHashAlgorithms,
  allowMissingKeyFlags: true,
};

/** Tolerance for clocks of signers that are ahead of the server's clock. */
const SKEW = 5 * 60 * 1000;

export const allowClockSkew = (now: Date): Date => new Date(now.getTime() + SKEW);

export type KeyKind = 'RSA' | 'DSA' | 'ed25519' | 'NIST P-256' | 'NIST P-384' | 'NIST P-521';

/**
 * Properties of a key or subkey that the rules check. `publicParams` has the numbers under their names in RFC 9580
 * §5.5.5.
 */
type KeyPacket = {
  readonly version: number;
  readonly algorithm: enums.publicKey;
  readonly publicParams: object;
  getAlgorithmInfo(): AlgorithmInfo;
};

const KINDS: ReadonlyMap<enums.publicKey, KeyKind> = new Map([
  [enums.publicKey.rsaEncryptSign, 'RSA'],
  [enums.publicKey.rsaSign, 'RSA'],
  [enums.publicKey.dsa, 'DSA'],
  [enums.publicKey.ed25519, 'ed25519'],
]);

const KINDS_OF_CURVES: ReadonlyMap<string | undefined, KeyKind> = new Map([
  [enums.curve.ed25519Legacy, 'ed25519'],
  [enums.curve.nistP256, 'NIST P-256'],
  [enums.curve.nistP384, 'NIST P-384'],
  [enums.curve.nistP521, 'NIST P-521'],
]);

const CURVE_SIGNATURES: ReadonlySet<enums.publicKey> = new Set([enums.publicKey.eddsaLegacy, enums.publicKey.ecdsa]);

/** Returns undefined if clients do not verify signatures of this kind of key. */
export const getKeyKind = (part: Pick<KeyPacket, 'algorithm' | 'getAlgorithmInfo'>): KeyKind | undefined =>
  CURVE_SIGNATURES.has(part.algorithm) ? KINDS_OF_CURVES.get(part.getAlgorithmInfo().curve) : KINDS.get(part.algorithm);

/**
 * The first Terraform versions that read keys with these algorithms, oldest first. Earlier versions reject the whole key.
 * Observed with the OpenPGP libraries of the versions: go-crypto of 2023 and 1.0 (terraform 1.6 to 1.11) reads the
 * curves, and go-crypto 1.1 (terraform 1.12) also the formats of RFC 9580. gpg writes the older formats.
 */
const FIRST_READERS: readonly (readonly [version: string, algorithms: ReadonlySet<enums.publicKey>])[] = [
  ['1.6', CURVE_SIGNATURES],
  ['1.12', new Set([enums.publicKey.ed25519, enums.publicKey.x25519])],
];

/** Returns the first terraform version that reads a key with these parts; null if all versions do. */
export const findFirstReader = (parts: readonly Pick<KeyPacket, 'algorithm'>[]): string | null =>
  FIRST_READERS.findLast(([, algorithms]) => parts.some(({ algorithm }) => algorithms.has(algorithm)))?.[0] ?? null;

/** Stricter than the clients, which also accept 1024 bits: an attacker with enough money can break those. */
const MIN_KEY_BITS = 2048;
/** Verification time grows with the length. gpg makes no longer keys than these. */
const MAX_KEY_BITS: Readonly<Partial<Record<KeyKind, number>>> = { RSA: 16_384, DSA: 3072 };
/**
 * Maximum size of the RSA exponent that go-crypto reads, of the longest DSA subgroup of FIPS 186-4, and of a point on
 * the curve P-521.
 */
const MAX_PARAMETER_BYTES: Readonly<Partial<Record<string, number>>> = { e: 3, q: 32, Q: 133 };

const REMEDY = 'Make one with gpg --full-generate-key (RSA and RSA, 4096 bits)';

/** Name of the key in error messages, and the attribute of the request that contains it. */
export type KeySubject = { readonly name: string; readonly attribute?: string };

const refusal = ({ name, attribute }: KeySubject, problem: string) =>
  unprocessable(`${name} ${problem}. ${REMEDY}`, attribute);

/**
 * Rejects numbers so large that verification would take long. Must run on every part of a key before anything is
 * verified with it.
 */
export const checkKeySize = (part: KeyPacket, subject: KeySubject): void => {
  const kind = getKeyKind(part);
  if (!kind) return;
  const { bits = 0 } = part.getAlgorithmInfo();
  const numbers = Object.entries(part.publicParams as Readonly<Record<string, Uint8Array>>);
  if (
    bits > (MAX_KEY_BITS[kind] ?? 0) ||
    numbers.some(([name, { length }]) => length > (MAX_PARAMETER_BYTES[name] ?? Infinity))
  ) {
    throw refusal(subject, `has ${kind} parameters that are larger than clients expect`);
  }
};

/** Rejects a key or subkey whose signatures clients would not accept. */
export const checkUsable = (
  part: KeyPacket,
  subject: KeySubject,
): { readonly kind: KeyKind; readonly bits: number | null } => {
  if (part.version !== 4) throw refusal(subject, `has version ${part.version}; clients support version 4 only`);
  const { algorithm, bits = null, curve = algorithm } = part.getAlgorithmInfo();
  const kind = getKeyKind(part);
  if (!kind) {
    // OpenPGP.js appends this word to the forms that are older than RFC 9580.
    const type = curve.replace('Legacy', '');
    throw refusal(subject, `has the type ${type}; clients verify signatures of RSA, DSA, ed25519 and NIST keys only`);
  }
  // Accepts 2047, because a modulus can be one bit shorter than its nominal length.
  if (bits !== null && bits < MIN_KEY_BITS - 1) {
    throw refusal(subject, `is too short: ${kind} of ${bits} bits, at least ${MIN_KEY_BITS} are needed`);
  }
  checkKeySize(part, subject);
  return { kind, bits };
};
