import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '#platform/kernel';
import type { CustomFetch } from 'openid-client';
import { ProviderFault } from './provider-fault.js';

/** A key that the provider has removed is accepted for at most this long. */
const MAX_AGE_MS = 600_000;
/** After unknown keys made the server read the keys again, more unknown keys do not, for this long. */
const REREAD_AFTER_MS = 30_000;
const MAX_KEYS = 100;

type ReadKeys = { readonly find: JWTVerifyGetKey; readonly readAt: number };

/**
 * The public keys with which a provider signs. They are read again if they are old, and if a token has a key that is not
 * among them: providers replace their keys. Forged tokens have unknown keys too, so that happens at most twice a minute.
 */
export class ProviderKeys {
  private keys: ReadKeys | null = null;
  private pending: Promise<ReadKeys> | null = null;
  private rereadAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly address: string,
    private readonly clock: Clock,
  ) {}

  /** Returns a function that finds the key of a token. It throws `ProviderFault` if the keys cannot be read. */
  createFinder(fetchFromProvider: CustomFetch): JWTVerifyGetKey {
    return async (header, token) => {
      const isOld = !this.keys || this.now() - this.keys.readAt >= MAX_AGE_MS;
      const { find } = isOld ? await this.read(fetchFromProvider) : (this.keys as ReadKeys);
      try {
        return await find(header, token);
      } catch (error) {
        const mayReread = this.now() - this.rereadAt >= REREAD_AFTER_MS;
        if (!(error instanceof errors.JWKSNoMatchingKey) || isOld || !mayReread) throw error;
        this.rereadAt = this.now();
        return (await this.read(fetchFromProvider)).find(header, token);
      }
    };
  }

  private now(): number {
    return this.clock.now().getTime();
  }

  /** Requests at the same time share one reading. */
  private read(fetchFromProvider: CustomFetch): Promise<ReadKeys> {
    this.pending ??= this.fetchKeys(fetchFromProvider).finally(() => (this.pending = null));
    return this.pending;
  }

  private async fetchKeys(fetchFromProvider: CustomFetch): Promise<ReadKeys> {
    const headers = { accept: 'application/json, application/jwk-set+json' };
    const response = await fetchFromProvider(this.address, { method: 'GET', headers, body: null, redirect: 'manual' });
    if (response.status !== 200) throw new ProviderFault('invalid', 'the provider does not publish its keys');
    this.keys = { find: createLocalJWKSet(await parseKeys(response)), readAt: this.now() };
    return this.keys;
  }
}

const parseKeys = async (response: Response): Promise<JSONWebKeySet> => {
  const body = (await response.json().catch(() => null)) as Partial<JSONWebKeySet> | null;
  if (!Array.isArray(body?.keys) || body.keys.length > MAX_KEYS) {
    throw new ProviderFault('invalid', `the provider publishes no list of at most ${MAX_KEYS} keys`);
  }
  return { keys: body.keys };
};
