import { Counter } from 'prom-client';
import type { SignInRefusal } from './refusals/refused-sign-ins.js';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
const refused = new Counter({
  name: 'cadastre_refused_sign_ins_total',
  help: 'Refused sign-ins by reason, except wrong secrets of existing accounts',
  labelNames: ['reason'],
});

export const countRefusedSignIn = (reason: SignInRefusal['reason']): void => refused.inc({ reason });
