import { resource } from '../../support/seeds.js';
import type { MatrixRow } from '../matrix.js';
import { site } from '../targets.js';

const ROUTE = '/admin/general-settings';

let limit = 0;

export const generalSettingsRows: readonly MatrixRow[] = [
  { route: `GET ${ROUTE}`, about: site, demands: ['manage-site'], status: 200 },
  {
    route: `PATCH ${ROUTE}`,
    about: site,
    demands: ['manage-site'],
    status: 200,
    trail: ['general_settings update'],
    fresh: true,
    // A limit that nobody reaches, and that differs from the one before.
    bodyFor: () => resource('general-settings', { 'api-rate-limit': 50_000 + (limit += 1) }),
  },
];
