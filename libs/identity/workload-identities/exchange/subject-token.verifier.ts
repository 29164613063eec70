import { decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '#platform/kernel';
import type { TokenClaims } from '../identities/claim-rules.js';
import type { IssuerKeys, IssuerKeySet } from './issuer-keys.service.js';
import { type OauthRefusal } from '#api/json-api';
import { invalidRequest } from './exchange-refusals.js';

/** Signatures with a public key. With others, everybody who can verify a token could make one (RFC 8725 §3.1). */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Seconds by which the clocks of issuer and server may differ. */
const CLOCK_TOLERANCE_S = 60;
/** Seconds from `iat` to `exp`. Tokens of CI systems live some minutes, or as long as their job. */
const MAX_LIFETIME_S = 86_400;
const MAX_SUBJECT_CHARACTERS = 1_000;

/** A token whose signature and times were verified. */
export type VerifiedToken = {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly unknown[];
  readonly claims: TokenClaims;
};

const MAX_ISSUER = 2_000;

/** Returns the claim `iss` of a token whose signature nobody has verified yet. */
export const readUnverifiedIssuer = (token: string): string => {
  const { iss } = decodeClaims(token);
  if (typeof iss !== 'string' || iss === '') throw invalidRequest('subject_token: the token has no issuer (iss)');
  // Postgres does not store NUL, nor half of a surrogate pair.
  if (iss.length > MAX_ISSUER || iss.includes('\0') || !iss.isWellFormed()) {
    throw invalidRequest(`subject_token: the issuer (iss) must have at most ${MAX_ISSUER} characters`);
  }
  return iss;
};

const decodeClaims = (token: string): JWTPayload => {
  try {
    return decodeJwt(token);
  } catch (error) {
    if (!(error instanceof errors.JWTInvalid)) throw error;
    throw invalidRequest('subject_token: is not a JSON Web Token');
  }
};

/** Verifies tokens of CI systems with the keys of their issuers. */
export class SubjectTokenVerifier {
  constructor(
    private readonly issuers: IssuerKeys,
    private readonly clock: Clock,
  ) {}

  /** Returns the verified claims. Throws an `OauthRefusal` if the issuer has not signed them, or if they are not valid now. */
  async verify(token: string, issuer: string): Promise<VerifiedToken> {
    const now = this.clock.now();
    const claims = await this.verifySignature(token, issuer, now);
    checkLifetime(claims, now);
    return { issuer, subject: readSubject(claims), audiences: [claims.aud].flat(), claims };
  }

  /** Verifies with newer keys if the known ones do not include the key of the token. */
  private async verifySignature(token: string, issuer: string, now: Date): Promise<JWTPayload> {
    const keySet = await this.issuers.read(issuer);
    try {
      return await verifyWith(keySet, token, issuer, now);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw toTokenRefusal(error);
    }
    const newer = await this.issuers.readAgain(issuer, keySet);
    return verifyWith(newer, token, issuer, now).catch((error: unknown) => {
      throw toTokenRefusal(error);
    });
  }
}

const verifyWith = async ({ keys }: IssuerKeySet, token: string, issuer: string, now: Date): Promise<JWTPayload> => {
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ALGORITHMS,
    issuer,
    currentDate: now,
    clockTolerance: CLOCK_TOLERANCE_S,
    requiredClaims: ['aud', 'exp', 'iat', 'sub'],
  });
  return payload;
};

/** Checks what jose does not check: a token from the future, and one that lives for a long time. */
const checkLifetime = ({ iat = 0, exp = 0 }: JWTPayload, now: Date): void => {
  if (iat > now.getTime() / 1_000 + CLOCK_TOLERANCE_S) {
    throw invalidRequest('subject_token: the token was issued in the future (iat). Compare the clocks of the servers');
  }
  if (exp - iat > MAX_LIFETIME_S) {
    throw invalidRequest(
      `subject_token: the token lives for ${exp - iat} s (exp, iat). At most ${MAX_LIFETIME_S} s are accepted`,
    );
  }
};

/** Returns the subject, which becomes part of an event. */
const readSubject = ({ sub }: JWTPayload): string => {
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_CHARACTERS) {
    throw invalidRequest(
      `subject_token: the subject (sub) must be a text of at most ${MAX_SUBJECT_CHARACTERS} characters`,
    );
  }
  // Postgres stores no NUL and no half of a surrogate pair.
  if (sub.includes('\0') || !sub.isWellFormed()) {
    throw invalidRequest('subject_token: the subject (sub) contains a character that cannot be stored');
  }
  return sub;
};

const CLAIM_DESCRIPTIONS: Readonly<Record<string, string>> = {
  nbf: 'the token is not valid yet (nbf). Compare the clocks of the servers',
  iss: 'the issuer (iss) is not that of the workload identity',
};

const describeTokenFault = (error: unknown): string => {
  if (error instanceof errors.JWTExpired) return 'the token has expired (exp). Request a new one';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return (
      (error.reason === 'check_failed' ? CLAIM_DESCRIPTIONS[error.claim] : undefined) ??
      `the claim ${error.claim} is missing or not valid`
    );
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is not that of the issuer';
  if (error instanceof errors.JWKSNoMatchingKey) return 'the issuer publishes no key that can verify its signature';
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'it names no key (kid), and the issuer has several';
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return `its algorithm (alg) is not accepted. Accepted are ${ALGORITHMS.join(', ')}`;
  }
  if (error instanceof errors.JOSEError) return 'it is not a valid signed JSON Web Token';
  // Errors of the Web Cryptography API: a key of the issuer is too short or malformed.
  return 'the key of the issuer cannot be used';
};

const toTokenRefusal = (error: unknown): OauthRefusal => invalidRequest(`subject_token: ${describeTokenFault(error)}`);
