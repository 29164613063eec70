import { findParameterProblem } from '../protocol/parameters.js';

/** The client that may ask for tokens, and the ports on which it listens. */
export type LoginClient = { readonly client: string; readonly ports: readonly [first: number, last: number] };

/** A valid request of a program for a code. */
export type AuthorizationRequest = {
  readonly clientId: string;
  /** An address of a program on the computer of the person. */
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly state: string | null;
};

type AuthorizationError = 'access_denied' | 'invalid_request' | 'invalid_scope' | 'unsupported_response_type';

export type ParsedAuthorization =
  | ({ readonly kind: 'valid' } & AuthorizationRequest)
  /** The server cannot trust the address, so nothing is sent to it. */
  | { readonly kind: 'untrusted'; readonly problem: string }
  | {
      readonly kind: 'refused';
      readonly redirectUri: string;
      readonly state: string | null;
      readonly error: AuthorizationError;
      readonly problem: string;
    };

type Parameters = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string | undefined>>;

/** With this length, the address of the request fits into the return path of the sign-in page. */
const STATE_MAX = 256;
/** Printable ASCII (RFC 6749 appendix A.5). */
const STATE = new RegExp(`^[\\x20-\\x7e]{1,${STATE_MAX}}$`);
/** RFC 7636 §4.2. */
const CHALLENGE = /^[A-Za-z0-9._~-]{43,128}$/;
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1):([1-9]\d{0,4})\/login$/;

const show = (value: unknown): string => (value === undefined ? 'none' : (JSON.stringify(value) ?? '').slice(0, 200));

const isLoopback = (text: unknown, [first, last]: LoginClient['ports']): text is string => {
  const port = typeof text === 'string' ? Number(LOOPBACK.exec(text)?.[1] ?? 0) : 0;
  return port >= first && port <= last;
};

type ParameterProblem = { readonly error: AuthorizationError; readonly problem: string };

const invalid = (problem: string): ParameterProblem => ({ error: 'invalid_request', problem });

const findProblem = (parameters: Parameters): ParameterProblem | null => {
  const problem = findParameterProblem(parameters);
  // Without a problem, each parameter is a text.
  return problem === null ? findValueProblem(parameters as Texts) : invalid(problem);
};

const findValueProblem = (texts: Texts): ParameterProblem | null => {
  const { response_type: type, scope, code_challenge: challenge, code_challenge_method: method, state } = texts;
  if (type === undefined) return invalid('response_type: must be code, got none');
  if (type !== 'code') {
    return { error: 'unsupported_response_type', problem: `response_type: must be code, got ${show(type)}` };
  }
  if (scope !== undefined && scope !== '') {
    return {
      error: 'invalid_scope',
      problem: `scope: must be absent, because there are no scopes, got ${show(scope)}`,
    };
  }
  if (challenge === undefined) return invalid('code_challenge: is required (PKCE)');
  if (!CHALLENGE.test(challenge)) {
    return invalid('code_challenge: must have 43 to 128 letters, digits, dots, dashes, underscores or tildes');
  }
  if (method !== 'S256') return invalid(`code_challenge_method: must be S256, got ${show(method)}`);
  return state === undefined || STATE.test(state)
    ? null
    : invalid(`state: must have 1 to ${STATE_MAX} printable characters of ASCII`);
};

const toState = ({ state }: Parameters): string | null =>
  typeof state === 'string' && STATE.test(state) ? state : null;

/**
 * Checks the parameters of a request for a code: RFC 6749 §4.1.1, PKCE with S256 only (RFC 7636), and an address of the
 * computer of the person (RFC 8252 §7.3).
 */
export const parseAuthorization = (parameters: Parameters, { client, ports }: LoginClient): ParsedAuthorization => {
  const { client_id: clientId, redirect_uri: redirectUri } = parameters;
  if (clientId !== client) {
    return { kind: 'untrusted', problem: `client_id: must be ${client}, got ${show(clientId)}` };
  }
  if (!isLoopback(redirectUri, ports)) {
    const accepted = `http://localhost:PORT/login with a PORT from ${ports.join(' to ')}`;
    return { kind: 'untrusted', problem: `redirect_uri: must be ${accepted}, got ${show(redirectUri)}` };
  }
  const state = toState(parameters);
  const problem = findProblem(parameters);
  if (problem !== null) return { kind: 'refused', redirectUri, state, ...problem };
  const { code_challenge: codeChallenge = '' } = parameters as Texts;
  return { kind: 'valid', clientId: client, redirectUri, codeChallenge, state };
};
