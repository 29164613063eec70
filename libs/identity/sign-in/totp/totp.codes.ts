import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const PERIOD_SECONDS = 30;
/** Clocks of phones are up to this many steps early or late. */
const TOLERANCE = 1;
const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;

const createGenerator = (secret: string, label = ''): TOTP =>
  new TOTP({
    issuer: 'Cadastre',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  });

/** Returns a secret of 160 random bits in base32 (RFC 4226 §4). */
export const createTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** Returns the address that apps for one-time codes read from a QR code. */
export const formatTotpAddress = (secret: string, label: string): string => createGenerator(secret, label).toString();

/** Returns the time step of a right code; null for a wrong one. */
export const findTotpStep = (secret: string, code: string, now: Date): number | null => {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const timestamp = now.getTime();
  const delta = createGenerator(secret).validate({ token, timestamp, window: TOLERANCE });
  return delta === null ? null : Math.floor(timestamp / 1_000 / PERIOD_SECONDS) + delta;
};

/** Returns the code of a time, for tests. */
export const computeTotpCode = (secret: string, now: Date): string =>
  createGenerator(secret).generate({ timestamp: now.getTime() });

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

const createRecoveryCode = (): string => {
  const bits = [...randomBytes(RECOVERY_CODE_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join('');
  return (letters.match(/.{4}/g) ?? []).join('-');
};

/** Returns new recovery codes, such as `abcd-efgh-ijkl-mnop`, of 80 random bits each. */
export const createRecoveryCodes = (): readonly string[] => Array.from({ length: RECOVERY_CODES }, createRecoveryCode);
