import { LRUCache } from 'lru-cache';
import type { CustomFetch } from 'openid-client';
import type { Clock } from '#platform/kernel';
import { discoverProvider, type ProviderMetadata } from './provider-discovery.http.js';
import { ProviderFault, toProviderFault } from './provider-fault.js';
import { createProviderFetch, PROVIDER_TIMEOUT_MS, toCustomFetch } from './provider-fetch.http.js';
import { ProviderKeys } from './provider-keys.service.js';

/** What a provider publishes is read again after this time. */
const MAX_AGE_MS = 600_000;
/** After a provider could not be reached, no request waits for it for this long. */
const RETRY_AFTER_MS = 5_000;
/** Requests that wait for one provider at the same time. */
const MAX_WAITING = 32;
const MAX_CACHED = 50;

/** A provider whose metadata was read. `fetchFromProvider` ends at the deadline of the request that has it. */
export type ProviderConnection = {
  readonly metadata: ProviderMetadata;
  readonly keys: ProviderKeys;
  readonly fetchFromProvider: CustomFetch;
};

type DiscoveredProvider = { readonly metadata: ProviderMetadata; readonly keys: ProviderKeys; readonly readAt: number };

type CachedProvider = {
  latest: DiscoveredProvider | null;
  pending: Promise<DiscoveredProvider> | null;
  fault: { readonly error: ProviderFault; readonly at: number } | null;
  waiting: number;
};

/**
 * Remembers what providers publish. A provider that is away or slow costs each request at most the timeout, and only a few
 * requests at a time.
 */
export class ProviderConnections {
  private readonly cached = new LRUCache<string, CachedProvider>({
    max: MAX_CACHED,
    memoMethod: () => ({ latest: null, pending: null, fault: null, waiting: 0 }),
  });
  private readonly providerFetch: ReturnType<typeof createProviderFetch>;

  constructor(
    private readonly clock: Clock,
    private readonly timeoutMs: number = PROVIDER_TIMEOUT_MS,
  ) {
    this.providerFetch = createProviderFetch(timeoutMs);
  }

  /** Checks a provider without remembering anything. Throws `ProviderFault`. */
  async check(issuer: string): Promise<void> {
    await discoverProvider(issuer, toCustomFetch(this.providerFetch, AbortSignal.timeout(this.timeoutMs)));
  }

  /** Runs work with a provider. Throws `ProviderFault` for every failure of the provider, and other errors unchanged. */
  async use<T>(issuer: string, work: (connection: ProviderConnection) => Promise<T>): Promise<T> {
    const provider = this.cached.memo(issuer);
    if (provider.waiting >= MAX_WAITING)
      throw new ProviderFault('unreachable', 'too many requests wait for the provider');
    provider.waiting += 1;
    try {
      const deadline = AbortSignal.timeout(this.timeoutMs);
      const { metadata, keys } = await this.findDiscovered(issuer, provider);
      return await work({ metadata, keys, fetchFromProvider: toCustomFetch(this.providerFetch, deadline) });
    } finally {
      provider.waiting -= 1;
    }
  }

  private now(): number {
    return this.clock.now().getTime();
  }

  private async findDiscovered(issuer: string, provider: CachedProvider): Promise<DiscoveredProvider> {
    const { latest, fault } = provider;
    if (latest && this.now() - latest.readAt < MAX_AGE_MS) return latest;
    if (fault && this.now() - fault.at < RETRY_AFTER_MS) throw fault.error;
    provider.pending ??= this.discover(issuer, provider).finally(() => (provider.pending = null));
    return provider.pending;
  }

  private async discover(issuer: string, provider: CachedProvider): Promise<DiscoveredProvider> {
    try {
      const deadline = AbortSignal.timeout(this.timeoutMs);
      const metadata = await discoverProvider(issuer, toCustomFetch(this.providerFetch, deadline));
      const isSameKeys = provider.latest?.metadata.jwks_uri === metadata.jwks_uri;
      const keys =
        isSameKeys && provider.latest ? provider.latest.keys : new ProviderKeys(metadata.jwks_uri, this.clock);
      provider.latest = { metadata, keys, readAt: this.now() };
      provider.fault = null;
      return provider.latest;
    } catch (error) {
      const fault = toProviderFault(error);
      provider.fault = { error: fault, at: this.now() };
      throw fault;
    }
  }
}
