import { Counter } from 'prom-client';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
const tokenExchanges = new Counter({
  name: 'cadastre_token_exchanges_total',
  help: 'Requests of pipelines for a token',
  labelNames: ['result'],
});

const issuerRequests = new Counter({
  name: 'cadastre_issuer_key_requests_total',
  help: 'Requests for the keys of issuers of tokens',
  labelNames: ['result'],
});

type ExchangeResult = 'issued' | 'refused' | 'unavailable' | 'limited';

export const countExchange = (result: ExchangeResult): void => tokenExchanges.inc({ result });

export const countKeyRequest = (result: 'succeeded' | 'failed'): void => issuerRequests.inc({ result });
