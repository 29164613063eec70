import rateLimit, {
  normalizeIP,
  type FastifyRateLimitStore,
  type FastifyRateLimitStoreCtor,
} from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  admitToPage,
  getClientAddress,
  getCredential,
  countRateLimited,
  identifyCaller,
  type AuthenticatedRequest,
  type Authenticator,
  type RateLimit,
  type RouteOptions,
  TokenBuckets,
  type TokenRateLimit,
} from '#api/access';
import { RateLimitRefusal, type Clock } from '#platform/kernel';

/** Requests per second; null for no limit. A burst may be twice as large. */
export type RateLimits = {
  readonly perAddress: number | null;
  readonly accessChanges: number | null;
};

const BURST_SECONDS = 2;
const SECOND_MS = 1_000;

/**
 * The plugin's own store counts in fixed windows of the system clock, which allow two bursts around the end of a
 * window.
 */
const createBucketStore = (clock: Clock): FastifyRateLimitStoreCtor =>
  class BucketStore implements FastifyRateLimitStore {
    private readonly buckets: TokenBuckets;

    constructor(options: object) {
      const { max, timeWindow } = options as { readonly max: number; readonly timeWindow: number };
      this.buckets = new TokenBuckets({ capacity: max, refillMs: timeWindow }, clock);
    }

    incr(key: string, done: Parameters<FastifyRateLimitStore['incr']>[1], _window: number, max: number): void {
      const { isAllowed, remaining, retryInMs } = this.buckets.take(key);
      done(null, { current: isAllowed ? max - remaining : max + 1, ttl: retryInMs });
    }

    child(options: object): BucketStore {
      return new BucketStore(options);
    }
  };

type Limiter = (request: FastifyRequest) => Promise<void>;

type LimiterOptions = {
  readonly limit: RateLimit;
  readonly perSecond: number | null;
  readonly keyOf: (request: FastifyRequest) => string;
  readonly describe: (perSecond: number) => string;
};

const createLimiter = (fastify: FastifyInstance, { limit, perSecond, keyOf, describe }: LimiterOptions): Limiter => {
  if (perSecond === null) return () => Promise.resolve();
  const check = fastify.createRateLimit({
    max: perSecond * BURST_SECONDS,
    timeWindow: BURST_SECONDS * SECOND_MS,
    keyGenerator: keyOf,
  });
  return async (request) => {
    const result = await check(request);
    if (result.isAllowed || !result.isExceeded) return;
    countRateLimited(limit);
    throw new RateLimitRefusal(describe(perSecond), { perSecond, retryInMs: result.ttl });
  };
};

/** Limits requests at a rate that can change. A new rate starts with full buckets. */
const createChangingLimiter = (
  fastify: FastifyInstance,
  getPerSecond: () => number | null,
  options: Omit<LimiterOptions, 'perSecond'>,
): Limiter => {
  let perSecond: number | null = null;
  let limiter = createLimiter(fastify, { ...options, perSecond });
  return (request) => {
    const current = getPerSecond();
    if (current !== perSecond) {
      perSecond = current;
      limiter = createLimiter(fastify, { ...options, perSecond });
    }
    return limiter(request);
  };
};

const getAddressKey = (request: FastifyRequest): string => normalizeIP(getClientAddress(request) ?? '');

const createLimiters = (
  fastify: FastifyInstance,
  { limits, tokenRateLimit }: Pick<RateLimitOptions, 'limits' | 'tokenRateLimit'>,
  tokenIdOf: (request: FastifyRequest) => string | undefined,
) => {
  const limitToken = createChangingLimiter(fastify, () => tokenRateLimit().getPerSecond(), {
    limit: 'token',
    keyOf: (request) => tokenIdOf(request) ?? '',
    describe: (perSecond) =>
      `At most ${perSecond} requests per second are accepted from one token, ${perSecond * BURST_SECONDS} at once ` +
      '(CADASTRE_RATE_LIMIT, or the general settings of the site).',
  });
  const limitAddress = createLimiter(fastify, {
    limit: 'address',
    perSecond: limits.perAddress,
    keyOf: getAddressKey,
    describe: (perSecond) =>
      `At most ${perSecond} requests per second without a valid token are accepted from one address, ` +
      `${perSecond * BURST_SECONDS} at once (CADASTRE_ADDRESS_RATE_LIMIT).`,
  });
  const limitAccessChanges = createLimiter(fastify, {
    limit: 'access_change',
    perSecond: limits.accessChanges,
    keyOf: (request) => (request as AuthenticatedRequest).actor?.id ?? '',
    describe: (perSecond) =>
      `At most ${perSecond} tokens or changes of an account per second are accepted from one caller, ` +
      `${perSecond * BURST_SECONDS} at once (CADASTRE_ACCESS_CHANGE_LIMIT).`,
  });
  return { limitToken, limitAddress, limitAccessChanges };
};

type RateLimitOptions = {
  readonly limits: RateLimits;
  readonly clock: Clock;
  readonly authenticator: () => Authenticator;
  readonly tokenRateLimit: () => TokenRateLimit;
};

/**
 * Limits requests before their bodies are read and before any database lookup: per token if this process has cached the
 * token as valid, else per address. Routes that change access are limited per caller too.
 *
 * Each gateway counts separately.
 */
export const limitRequests = async (
  fastify: FastifyInstance,
  { limits, clock, authenticator, tokenRateLimit }: RateLimitOptions,
): Promise<void> => {
  await fastify.register(rateLimit, { global: false, store: createBucketStore(clock) });
  const tokenIdOf = (request: FastifyRequest): string | undefined => {
    const credential = getCredential(request);
    return credential === undefined ? undefined : authenticator().getCachedTokenId(credential);
  };
  const { limitToken, limitAddress, limitAccessChanges } = createLimiters(
    fastify,
    { limits, tokenRateLimit },
    tokenIdOf,
  );
  fastify.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { changesAccess, isUnlimited, announcesRateLimit, page } = request.routeOptions.config as RouteOptions;
    if (isUnlimited) return;
    const perToken = announcesRateLimit ? tokenRateLimit().getPerSecond() : null;
    if (perToken !== null) void reply.header('x-ratelimit-limit', String(perToken));
    await (tokenIdOf(request) === undefined ? limitAddress : limitToken)(request);
    if (!changesAccess || limits.accessChanges === null) return;
    await (page ? admitToPage(request, authenticator(), page) : identifyCaller(request, authenticator()));
    await limitAccessChanges(request);
  });
};
