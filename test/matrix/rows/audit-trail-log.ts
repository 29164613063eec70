import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { organization, site } from '../targets.js';

const actions: readonly MatrixRow[] = (['rotate', 'trim'] as const).map((action) => ({
  route: `POST /admin/audit-trail-log-settings/actions/${action}-key`,
  about: site,
  demands: ['manage-site'],
  status: 204,
  trail: [`audit_trail_log_key ${action}`],
  fresh: true,
  // There is an earlier key to delete.
  before: async ({ world }) =>
    action === 'trim' && [
      await world.server.post('/api/v2/admin/audit-trail-log-settings/actions/rotate-key'),
      await world.server.post('/api/v2/admin/audit-trail-log-settings/actions/rotate-key'),
    ],
}));

const tile: MatrixTarget = {
  ...organization,
  params: (_, { acme, resources }) => ({ organization: acme.name, '*': resources.trailTile }),
};

const entry: MatrixTarget = {
  ...organization,
  params: (_, { acme, resources }) => ({ organization: acme.name, entry: resources.auditEntry }),
};

const P = 'GET /organizations/:organization/audit-trail-log';

const siteTile: MatrixTarget = {
  ...site,
  params: (_, { resources }) => ({ '*': resources.siteTrailTile }),
};

const siteProof: MatrixTarget = {
  ...site,
  params: (_, { resources }) => ({ digest: resources.checkpointDigest }),
};

const S = 'GET /audit-trail-log';

const timeStamp: MatrixTarget = { ...site, params: (_, { resources }) => ({ id: resources.timeStamp }) };

export const auditTrailLogRows: readonly MatrixRow[] = [
  ...actions,
  { route: P, about: organization, demands: ['read-audit-trail'], status: 200 },
  { route: `${P}/checkpoint`, about: organization, demands: ['read-audit-trail'], status: 200 },
  { route: `${P}/keys`, about: organization, demands: ['read-audit-trail'], status: 200 },
  { route: `${P}/tile/*`, about: tile, demands: ['read-audit-trail'], status: 200 },
  { route: `${P}/entries/:entry/proof`, about: entry, demands: ['read-audit-trail'], status: 200 },
  { route: `${S}/checkpoint`, about: site, demands: 'anybody', status: 200 },
  { route: `${S}/keys`, about: site, demands: 'anybody', status: 200 },
  { route: `${S}/checkpoints/:digest/proof`, about: siteProof, demands: 'anybody', status: 200 },
  { route: `${S}/tile/*`, about: siteTile, demands: 'anybody', status: 200 },
  { route: `${S}/time-stamps`, about: site, demands: 'anybody', status: 200 },
  { route: `${S}/time-stamps/:id/checkpoint`, about: timeStamp, demands: 'anybody', status: 200 },
  { route: `${S}/time-stamps/:id/checkpoint.tsr`, about: timeStamp, demands: 'anybody', status: 200 },
];
