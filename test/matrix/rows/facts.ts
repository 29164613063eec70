import { createFact } from '../../../libs/activity/facts/spec.js';
import { newFactSource } from '../shared-world.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { inAcme, organization, site, createTarget } from '../targets.js';

const SOURCES = '/organizations/:organization/audit-fact-sources';

const factSource: MatrixTarget = {
  ...createTarget(inAcme, 'factSource'),
  fresh: async (_, { server, acme, unique }) => {
    const response = await server.post(
      `/api/v2/organizations/${acme.name}/audit-fact-sources`,
      newFactSource(unique('source')),
    );
    return { params: { id: response.body.data.id as string } };
  },
};

const sources: readonly MatrixRow[] = [
  {
    route: `GET ${SOURCES}`,
    about: organization,
    demands: ['manage-audit-trail'],
    status: 200,
    shows: () => ['urn:source'],
    nameOf: ({ attributes }) => attributes.source as string,
  },
  {
    route: `POST ${SOURCES}`,
    about: organization,
    demands: ['manage-audit-trail'],
    status: 201,
    trail: ['organization update'],
    bodyFor: ({ world }) => newFactSource(world.unique('made')),
  },
  { route: 'GET /audit-fact-sources/:id', about: factSource, demands: ['manage-audit-trail'], status: 200 },
  {
    route: 'DELETE /audit-fact-sources/:id',
    about: factSource,
    demands: ['manage-audit-trail'],
    status: 204,
    trail: ['organization update'],
    fresh: true,
  },
];

export const facts: readonly MatrixRow[] = [
  ...sources,
  {
    route: 'POST /organizations/:organization/audit-facts',
    about: organization,
    demands: ['report-facts'],
    status: 201,
    trail: ['stack create'],
    bodyFor: ({ world }) => createFact(world.unique('fact')),
  },
  { route: 'GET /audit-facts/schemas', about: site, demands: 'any token', status: 200 },
  {
    route: 'GET /audit-facts/schemas/:name',
    about: { ...site, params: () => ({ name: 'stack.create' }) },
    demands: 'any token',
    status: 200,
  },
];
