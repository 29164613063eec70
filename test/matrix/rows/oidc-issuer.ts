import type { MatrixRow } from '../matrix.js';
import { site } from '../targets.js';

const actions: readonly MatrixRow[] = (['rotate', 'trim'] as const).map((action) => ({
  route: `POST /admin/oidc-settings/actions/${action}-key`,
  about: site,
  demands: ['manage-site'],
  status: 204,
  trail: [`oidc_key ${action}`],
  fresh: true,
  // There is an earlier key to delete.
  before: async ({ world }) =>
    action === 'trim' && [
      await world.server.post('/api/v2/admin/oidc-settings/actions/rotate-key'),
      await world.server.post('/api/v2/admin/oidc-settings/actions/rotate-key'),
    ],
}));

const documents: readonly MatrixRow[] = ['openid-configuration', 'jwks'].map((name) => ({
  route: `GET /.well-known/${name}`,
  about: site,
  demands: 'anybody',
  status: 200,
}));

export const oidcIssuerRows: readonly MatrixRow[] = [...actions, ...documents];
