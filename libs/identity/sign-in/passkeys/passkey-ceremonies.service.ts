import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import type { Database } from '#platform/postgres';
import type { SignInTokens } from '../sign-in-tokens.service.js';
import { findPasskey, listPasskeys, useChallenge, type NewPasskey, type PasskeyRow } from './passkeys.queries.js';

const LIFETIME_MS = 5 * 60_000;
/** EdDSA, ES256 and RS256 (COSE). */
const ALGORITHMS = [-8, -7, -257];
const RESPONSE_MAX = 64 * 1024;

/** Loaded at the first use: with its packages it has 250 modules, a twelfth of all that a start would load. */
const loadLibrary = () => import('@simplewebauthn/server');

/** What the page needs: options for the browser, and a token that comes back with its answer. */
export type PasskeyCeremony = { readonly options: string; readonly token: string };

export type PasskeyAnswer = { readonly token: string; readonly response: string };

/** `user` is null for a sign-in, because the passkey itself names its person. */
const challengeContent = z.object({ challenge: z.string(), user: z.string().nullable() });
type Challenge = z.infer<typeof challengeContent>;

const authenticatorResponse = z.looseObject({ id: z.string().max(2_000), response: z.looseObject({}) });

/**
 * Creates challenges for passkeys and checks their answers. A challenge is not stored: the page carries it in a signed
 * token, so that requests for the sign-in page cost nothing. Answers are stored until the challenge ends, so that each
 * challenge is answered once.
 */
export class PasskeyCeremonies {
  private readonly origin: string;
  private readonly domain: string;

  constructor(
    private readonly database: Database,
    private readonly tokens: SignInTokens,
    publicUrl: string,
  ) {
    const { origin, hostname } = new URL(publicUrl);
    this.origin = origin;
    this.domain = hostname;
  }

  async createSignIn(): Promise<PasskeyCeremony> {
    const { generateAuthenticationOptions } = await loadLibrary();
    const options = await generateAuthenticationOptions({
      rpID: this.domain,
      userVerification: 'required',
      timeout: LIFETIME_MS,
    });
    return { options: JSON.stringify(options), token: this.sign({ challenge: options.challenge, user: null }) };
  }

  async createRegistration(user: string, username: string): Promise<PasskeyCeremony> {
    const existing = await listPasskeys(this.database, user);
    const { generateRegistrationOptions } = await loadLibrary();
    const options = await generateRegistrationOptions({
      rpName: 'Cadastre',
      rpID: this.domain,
      userName: username,
      userID: new Uint8Array(Buffer.from(user)),
      timeout: LIFETIME_MS,
      attestationType: 'none',
      supportedAlgorithmIDs: ALGORITHMS,
      excludeCredentials: existing.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: [...transports],
      })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    return { options: JSON.stringify(options), token: this.sign({ challenge: options.challenge, user }) };
  }

  /** Returns the passkey that answered, with its new counter; null if the answer is not valid. */
  async verifySignIn(answer: PasskeyAnswer): Promise<(PasskeyRow & { readonly newCounter: number }) | null> {
    const challenge = this.readToken(answer.token);
    const response = parseResponse(answer.response) as AuthenticationResponseJSON | null;
    if (!challenge || challenge.user !== null || !response) return null;
    const passkey = await findPasskey(this.database, response.id);
    if (!passkey) return null;
    const { credentialId: id, publicKey, counter, transports } = passkey;
    const { verifyAuthenticationResponse } = await loadLibrary();
    const result = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge.challenge,
      expectedOrigin: this.origin,
      expectedRPID: this.domain,
      requireUserVerification: true,
      credential: { id, publicKey: new Uint8Array(publicKey), counter, transports: [...transports] },
    }).catch(() => null);
    if (!result?.verified || !(await this.use(challenge))) return null;
    return { ...passkey, newCounter: result.authenticationInfo.newCounter };
  }

  /** Returns the new passkey without its id and name; null if the answer is not valid. */
  async verifyRegistration(user: string, answer: PasskeyAnswer): Promise<Omit<NewPasskey, 'id' | 'name'> | null> {
    const challenge = this.readToken(answer.token);
    const response = parseResponse(answer.response) as RegistrationResponseJSON | null;
    if (!challenge || challenge.user !== user || !response) return null;
    const { verifyRegistrationResponse } = await loadLibrary();
    const result = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge.challenge,
      expectedOrigin: this.origin,
      expectedRPID: this.domain,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch(() => null);
    if (!result?.verified || !(await this.use(challenge))) return null;
    const { id, publicKey, counter, transports = [] } = result.registrationInfo.credential;
    return { user, credentialId: id, publicKey: Buffer.from(publicKey), counter, transports };
  }

  private sign(challenge: Challenge): string {
    return this.tokens.sign('passkey', challenge, LIFETIME_MS);
  }

  private readToken(token: string): Challenge | null {
    return this.tokens.read('passkey', token, challengeContent);
  }

  private use({ challenge }: Challenge): Promise<boolean> {
    const now = this.tokens.clock.now();
    return useChallenge(this.database, challenge, { now, expiredAt: new Date(now.getTime() + LIFETIME_MS) });
  }
}

const parseResponse = (text: string): object | null => {
  if (text.length > RESPONSE_MAX) return null;
  const json = ((): unknown => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return null;
    }
  })();
  const parsed = authenticatorResponse.safeParse(json);
  return parsed.success ? parsed.data : null;
};
