import { Counter } from 'prom-client';
import type { ProviderFaultKind } from './protocol/provider-fault.js';

/**
 * Results of sign-ins and of links. `needs-second-factor`: the person must type a one-time code. `not-allowed`: the person
 * does not satisfy a rule of the provider.
 */
type OidcResult = 'signed-in' | 'needs-second-factor' | 'linked' | 'not-allowed' | 'expired' | ProviderFaultKind;

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
const signIns = new Counter({
  name: 'cadastre_identity_provider_sign_ins_total',
  help: 'Sign-ins with identity providers, by result',
  labelNames: ['provider', 'result'],
});

/** `provider`: the id of an existing provider; null if a request belongs to none. */
export const countOidcResult = (provider: string | null, result: OidcResult): void =>
  signIns.inc({ provider: provider ?? 'unknown', result });

const logouts = new Counter({
  name: 'cadastre_identity_provider_logouts_total',
  help: 'Logout tokens of identity providers, by result',
  labelNames: ['provider', 'result'],
});

/** Counts a logout token. `provider`: the id of an enabled provider; null if the request names no such provider. */
export const countLogout = (provider: string | null, result: 'accepted' | 'invalid' | 'unreachable'): void =>
  logouts.inc({ provider: provider ?? 'unknown', result });
