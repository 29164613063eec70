import { Logger } from '@nestjs/common';
import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Clock } from '#platform/kernel';
import { OutboundError, type OutboundFetch, type OutboundFailure } from '#platform/outbound';
import { getDiscoveryUrl, isKeysUrl } from '../identities/issuer-urls.js';
import { countKeyRequest } from './exchange.metrics.js';
import { OauthRefusal } from '#api/json-api';
import { invalidRequest, temporarilyUnavailable } from './exchange-refusals.js';

/** Bytes of the largest configuration or key set, and milliseconds for both together. */
export const KEY_LIMITS = { maxBytes: 262_144, timeoutMs: 5_000 } as const;

const MINUTE_MS = 60_000;
/** Older keys are read again while exchanges still use them. */
const REFRESH_AGE_MS = 5 * MINUTE_MS;
/** Older keys are not used, so that a key that the issuer has withdrawn is accepted no longer. */
const MAX_AGE_MS = 10 * MINUTE_MS;
/** A token with an unknown key makes the server read the keys again, at most this often. */
const COOLDOWN_MS = 30_000;
/** The time for which a failure is remembered, so that an issuer that is away delays nobody else. */
const FAILURE_MS = 10_000;
const MAX_ISSUERS = 500;
const MAX_KEYS = 100;
/**
 * Exchanges that wait for the keys of one issuer, of an issuer whose last request has failed, and of all issuers. Others
 * are refused at once. A pipeline can start 256 jobs at the same time.
 */
const MAX_WAITING = { perIssuer: 200, afterFailure: 1, total: 300 } as const;

const configuration = z.object({ issuer: z.string(), jwks_uri: z.string().max(2_000) });

/** The public members of a key (RFC 7517, RFC 7518 §6). Others, such as certificates, are dropped. */
const publicKey = z.object({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  kid: z.string().optional(),
  use: z.string().optional(),
  alg: z.string().optional(),
  key_ops: z.array(z.string()).optional(),
  n: z.string().optional(),
  e: z.string().optional(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
});

const keySet = z.object({ keys: z.array(z.unknown()).max(MAX_KEYS) });

/** The keys of an issuer at a time, in milliseconds. */
export type IssuerKeySet = { readonly readAt: number; readonly keys: LocalJWKSet };

type IssuerState = {
  keySet: IssuerKeySet | null;
  /** The result of the last request if it has failed, and its time in milliseconds. */
  failure: { readonly at: number; readonly refusal: OauthRefusal } | null;
  request: Promise<IssuerKeySet> | null;
  waiting: number;
};

const TEMPORARY: ReadonlySet<OutboundFailure> = new Set(['timeout', 'unreachable']);

/** The keys of issuers, which their OpenID configurations name. Only issuers of enabled identities are contacted. */
export class IssuerKeys {
  private readonly logger = new Logger('IssuerKeys');
  private readonly states = new LRUCache<string, IssuerState>({
    max: MAX_ISSUERS,
    memoMethod: () => ({ keySet: null, failure: null, request: null, waiting: 0 }),
  });
  private waiting = 0;

  constructor(
    private readonly fetch: OutboundFetch,
    private readonly clock: Clock,
  ) {}

  /** Returns the keys of the issuer. Throws an `OauthRefusal` if they cannot be read. */
  async read(issuer: string): Promise<IssuerKeySet> {
    const state = this.states.memo(issuer);
    const { keySet, failure } = state;
    const now = this.clock.now().getTime();
    const hasFailed = failure !== null && now - failure.at < FAILURE_MS;
    if (keySet && now - keySet.readAt < MAX_AGE_MS) {
      if (now - keySet.readAt >= REFRESH_AGE_MS && !hasFailed) this.refresh(issuer, state);
      return keySet;
    }
    if (hasFailed) throw failure.refusal;
    return this.waitFor(issuer, state);
  }

  /** Returns newer keys than these; the same ones if they were read a short time ago. */
  readAgain(issuer: string, keys: IssuerKeySet): Promise<IssuerKeySet> {
    const isRecent = this.clock.now().getTime() - keys.readAt < COOLDOWN_MS;
    return isRecent ? Promise.resolve(keys) : this.waitFor(issuer, this.states.memo(issuer));
  }

  /** Reads the keys without making anybody wait. */
  private refresh(issuer: string, state: IssuerState): void {
    this.request(issuer, state).catch((error: unknown) => {
      // Refusals are stored in the state, and counted.
      if (!(error instanceof OauthRefusal)) this.logger.error(error);
    });
  }

  private async waitFor(issuer: string, state: IssuerState): Promise<IssuerKeySet> {
    const most = state.failure ? MAX_WAITING.afterFailure : MAX_WAITING.perIssuer;
    if (state.waiting >= most || this.waiting >= MAX_WAITING.total) {
      throw temporarilyUnavailable(`Too many requests wait for the keys of the issuer ${issuer}`);
    }
    state.waiting += 1;
    this.waiting += 1;
    try {
      return await this.request(issuer, state);
    } finally {
      state.waiting -= 1;
      this.waiting -= 1;
    }
  }

  /** Reads the keys. Exchanges of one issuer share the request. */
  private request(issuer: string, state: IssuerState): Promise<IssuerKeySet> {
    state.request ??= this.requestKeys(issuer, state).finally(() => {
      state.request = null;
    });
    return state.request;
  }

  private async requestKeys(issuer: string, state: IssuerState): Promise<IssuerKeySet> {
    try {
      const keys = createLocalJWKSet(await this.fetchKeySet(issuer));
      state.keySet = { readAt: this.clock.now().getTime(), keys };
      state.failure = null;
      countKeyRequest('succeeded');
      return state.keySet;
    } catch (error) {
      countKeyRequest('failed');
      const refusal = toIssuerRefusal(issuer, error);
      state.failure = { at: this.clock.now().getTime(), refusal };
      throw refusal;
    }
  }

  private async fetchKeySet(issuer: string): Promise<JSONWebKeySet> {
    const signal = AbortSignal.timeout(KEY_LIMITS.timeoutMs);
    const discovery = configuration.safeParse(await this.fetchJson(getDiscoveryUrl(issuer), signal));
    if (!discovery.success) throw new IssuerFault('its OpenID configuration has no issuer or no jwks_uri');
    const { issuer: namedIssuer, jwks_uri: address } = discovery.data;
    if (namedIssuer !== issuer) throw new IssuerFault('its OpenID configuration names another issuer');
    if (!isKeysUrl(address, issuer)) throw new IssuerFault('the jwks_uri of its OpenID configuration has no https');
    const keys = keySet.safeParse(await this.fetchJson(address, signal));
    if (!keys.success) throw new IssuerFault(`its jwks_uri returns no key set of at most ${MAX_KEYS} keys`);
    // Keys of kinds that this server does not know are no reason to refuse the others (RFC 7517 §5).
    return { keys: keys.data.keys.flatMap((key) => publicKey.safeParse(key).data ?? []) } as JSONWebKeySet;
  }

  private async fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
    const response = await this.fetch(url, { headers: { accept: 'application/json' }, signal });
    const isTemporary = response.status >= 500 || response.status === 429;
    if (response.status !== 200) throw new IssuerFault(`it responds with status ${response.status}`, isTemporary);
    try {
      return await response.json();
    } catch {
      throw new IssuerFault('it responds with text that is not JSON');
    }
  }
}

/** A response of an issuer that cannot be used. The message contains nothing that the issuer has sent. */
class IssuerFault extends Error {
  constructor(
    message: string,
    readonly isTemporary = false,
  ) {
    super(message);
  }
}

/** Returns the refusal of an exchange. Throws any error that is a fault of this server. */
const toIssuerRefusal = (issuer: string, error: unknown): OauthRefusal => {
  if (!(error instanceof IssuerFault) && !(error instanceof OutboundError)) throw error;
  const isTemporary = error instanceof IssuerFault ? error.isTemporary : TEMPORARY.has(error.failure);
  const description = `The keys of the issuer ${issuer} cannot be read: ${error.message}`;
  return isTemporary ? temporarilyUnavailable(description) : invalidRequest(description);
};
