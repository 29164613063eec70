import type { Row } from '../matrix.js';
import { inAcme, site } from '../targets.js';

/** Open to everybody: what tells clients where the service is, and orchestrators how it fares. */
const open: readonly Row[] = (
  [
    ['/.well-known/terraform.json', 200],
    ['/healthz', 200],
    ['/readyz', 200],
    ['/metrics', 200],
    ['/ping', 204],
  ] as const
).map(([path, status]) => ({ route: `GET ${path}`, about: site, demands: 'anybody', status }));

export const edge: readonly Row[] = [
  ...open,
  {
    route: 'GET /organization/audit-trail',
    about: { ...site, place: inAcme },
    demands: ['read-audit-trail'],
    status: 200,
  },
];
