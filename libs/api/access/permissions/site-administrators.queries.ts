import type { Database } from '#platform/postgres';
import type { Actor } from '../callers/actor.js';
import { verifyCurrentAccess } from './access-epochs.queries.js';
import { can, requirePermission, SITE_SCOPE } from './permissions.js';

/** Refuses callers that are not administrators of the site. The statement that follows checks the access of administrators. */
export const requireSiteAdmin = async (database: Database, actor: Actor): Promise<void> => {
  if (!can(actor, 'manage-site', SITE_SCOPE)) await verifyCurrentAccess(database, actor);
  requirePermission(actor, 'manage-site', SITE_SCOPE);
};
