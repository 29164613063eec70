import { factOf } from '../../../libs/facts/spec.js';
import type { Row } from '../matrix.js';
import { organization, site } from '../targets.js';

export const facts: readonly Row[] = [
  {
    route: 'POST /organizations/:organization/audit-facts',
    about: organization,
    demands: ['report-facts'],
    status: 201,
    trail: ['policy update'],
    bodyFor: ({ world }) => factOf(world.unique('fact')),
  },
  { route: 'GET /audit-facts/schemas', about: site, demands: 'any token', status: 200 },
  {
    route: 'GET /audit-facts/schemas/:name',
    about: { ...site, standing: () => ({ name: 'policy.update' }) },
    demands: 'any token',
    status: 200,
  },
];
