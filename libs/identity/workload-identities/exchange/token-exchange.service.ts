import { Refusal, type Clock, type EventContext, type Ids, type Timestamp } from '#platform/kernel';
import { isAddressAllowed } from '#api/access';
import { expectVersion, type EventStore, type StreamWrite } from '#storage/event-store';
import { prepareWorkloadToken, WORKLOAD_IDENTITIES } from '#identity/people';
import { findMismatches } from '../identities/claim-rules.js';
import type { WorkloadTokenIssued } from '../identities/workload-identity.js';
import { ACCESS_TOKEN, parseExchangeRequest } from './exchange-request.js';
import { countExchange } from './exchange.metrics.js';
import type { FailedExchanges } from './failed-exchanges.limiter.js';
import { OauthRefusal } from '#api/json-api';
import { invalidRequest } from './exchange-refusals.js';
import { readUnverifiedIssuer, type SubjectTokenVerifier, type VerifiedToken } from './subject-token.verifier.js';
import { acceptsIssuer, loadIssuingIdentity, type IssuingIdentity } from './token-exchange.queries.js';

const MINUTE_MS = 60_000;
const RETRY_SECONDS = 60;
const MAX_DESCRIPTION = 255;
const MAX_SHOWN_VALUE = 100;

/** The response of RFC 8693 §2.2.1. */
export type ExchangedToken = {
  readonly access_token: string;
  readonly issued_token_type: typeof ACCESS_TOKEN;
  readonly token_type: 'Bearer';
  /** Seconds. */
  readonly expires_in: number;
};

type TokenExchangeDependencies = {
  readonly store: EventStore;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly verifier: SubjectTokenVerifier;
  readonly failures: FailedExchanges;
  /** The audience of identities that name none. */
  readonly publicUrl: string;
  /** The most unexpired tokens that the identities of a team can have issued. */
  readonly tokensPerTeam: number;
};

type RequestDetails = EventContext['request'];

/** Exchanges tokens of CI systems for short-lived tokens of teams (RFC 8693). */
export class TokenExchange {
  constructor(private readonly dependencies: TokenExchangeDependencies) {}

  /**
   * Returns a token of the team whose workload identity the form names. `form` has the fields of the request as
   * strings. Throws an `OauthRefusal`, and `too-many` if the address of the request has had too many failures.
   */
  async exchange(form: unknown, request: RequestDetails): Promise<ExchangedToken> {
    const { failures } = this.dependencies;
    const address = request.address ?? '';
    failures.admit(address);
    try {
      const token = await this.issue(form, request);
      countExchange('issued');
      return token;
    } catch (error) {
      if (error instanceof Refusal) failures.record(error, address);
      throw error;
    }
  }

  private async issue(form: unknown, request: RequestDetails): Promise<ExchangedToken> {
    const { store, verifier } = this.dependencies;
    const { identity, subjectToken } = parseExchangeRequest(form);
    const issuer = readUnverifiedIssuer(subjectToken);
    if (!(await acceptsIssuer(store.database, identity, issuer))) throw createUnknownIdentityRefusal(identity, issuer);
    const verified = await verifier.verify(subjectToken, issuer);
    return store.retryOnConflict(() => this.issueFor(identity, verified, request));
  }

  private async issueFor(id: string, verified: VerifiedToken, request: RequestDetails): Promise<ExchangedToken> {
    const { store, ids, clock, publicUrl, tokensPerTeam } = this.dependencies;
    const now = clock.now();
    const identity = await loadIssuingIdentity(store.database, { id, issuer: verified.issuer, now });
    if (!identity) throw createUnknownIdentityRefusal(id, verified.issuer);
    checkMatch(identity, identity.audience ?? publicUrl, verified);
    checkAddress(identity, request);
    checkTokensOfTeam(identity.issued, tokensPerTeam);
    const lifetimeMs = Math.min(identity.tokenMinutes * MINUTE_MS, identity.maxTtlMs ?? Number.POSITIVE_INFINITY);
    const expiredAt = new Date(now.getTime() + lifetimeMs).toISOString();
    const { organization, team } = identity;
    const description = describeToken(identity.name, verified.subject);
    const token = prepareWorkloadToken(ids, { organization, team, identity: id, description, expiredAt });
    const { rows } = await store.append(
      [
        ...identity.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
        token.write,
        recordIssue(identity, verified, token.write.stream, expiredAt),
      ],
      createWorkloadContext(identity, request),
      token.statements,
      [],
      now,
    );
    return {
      access_token: token.issued(rows).secret,
      issued_token_type: ACCESS_TOKEN,
      token_type: 'Bearer',
      expires_in: Math.floor(lifetimeMs / 1_000),
    };
  }
}

/**
 * Returns the same refusal for an unknown identity, a disabled one and one of another issuer: the caller has proved
 * nothing yet.
 */
const createUnknownIdentityRefusal = (identity: string, issuer: string): OauthRefusal =>
  new OauthRefusal(
    'invalid_target',
    `audience: no enabled workload identity with the id ${identity} accepts tokens of the issuer ${issuer}`,
  );

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > MAX_SHOWN_VALUE ? `${text.slice(0, MAX_SHOWN_VALUE)}...` : text;
};

/**
 * Throws a refusal that names the claims that do not match, and their values in the token. It does not contain the
 * accepted values.
 */
const checkMatch = (identity: IssuingIdentity, audience: string, { audiences, claims }: VerifiedToken): void => {
  if (!audiences.includes(audience)) {
    throw invalidRequest(
      `subject_token: the workload identity does not accept the audience (aud) ${show(claims['aud'])}`,
    );
  }
  const mismatches = findMismatches(identity.claims, claims);
  if (mismatches.length === 0) return;
  const values = mismatches.map((name) => `${name} ${show(Object.hasOwn(claims, name) ? claims[name] : undefined)}`);
  throw invalidRequest(`subject_token: the workload identity does not accept ${values.join(', ')}`);
};

/** The token would be refused at this address. The pipeline has proved which identity it has, so it learns the reason. */
const checkAddress = ({ allowedRanges }: IssuingIdentity, { address }: RequestDetails): void => {
  if (isAddressAllowed(allowedRanges, address)) return;
  throw new OauthRefusal(
    'access_denied',
    `The IP allowlist of the organization does not contain the address of the pipeline, ${address ?? 'which is unknown'}`,
  );
};

const checkTokensOfTeam = (issued: number, most: number): void => {
  if (issued < most) return;
  throw new OauthRefusal(
    'temporarily_unavailable',
    `The pipelines of the team have ${issued} tokens that have not expired. At most ${most} are possible ` +
      '(CADASTRE_MAX_WORKLOAD_TOKENS_PER_TEAM). Wait, or set a smaller token-minutes',
    { kind: 'too-many', retryAfter: RETRY_SECONDS },
  );
};

/** Returns the description of a token, which lists of tokens show. */
const describeToken = (name: string, subject: string): string => {
  const description = `workload identity ${name}: ${subject}`;
  if (description.length <= MAX_DESCRIPTION) return description;
  // The cut can leave half of a surrogate pair, which Postgres does not store.
  return `${description.slice(0, MAX_DESCRIPTION - 1).toWellFormed()}…`;
};

/** The stream accepts events at any version: a hundred jobs of a pipeline can start at the same time. */
const recordIssue = (
  { id, organization }: IssuingIdentity,
  { issuer, subject }: VerifiedToken,
  token: string,
  expiredAt: Timestamp,
): StreamWrite => {
  const data = { identity: id, token, issuer, subject, expiredAt };
  const event = { type: 'WorkloadTokenIssued', data } satisfies WorkloadTokenIssued;
  return { stream: `workload-tokens/${id}`, organization, expected: 'any', events: [event] };
};

const createWorkloadContext = ({ id, name }: IssuingIdentity, request: RequestDetails): EventContext => ({
  accessor: { id, type: WORKLOAD_IDENTITIES, name },
  auth: 'Client',
  impersonator: null,
  request,
  correlation: request.id ?? '',
  causation: null,
});
