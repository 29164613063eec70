import { Counter } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
const rateLimitedRequests = new Counter({
  name: 'cadastre_rate_limited_requests_total',
  help: 'Requests that a rate limit refused with 429',
  labelNames: ['limit'],
});

export const authenticationFailures = new Counter({
  name: 'cadastre_refused_authentications_total',
  help: 'Requests that were refused with 401',
  labelNames: ['reason'],
});

export type RateLimit = 'token' | 'address' | 'wrong_token' | 'access_change';

export const countRateLimited = (limit: RateLimit): void => rateLimitedRequests.inc({ limit });
