import { sql } from '#platform/kernel';
import { preventRotation, type BackupArchive } from '#operations/backup';
import { StartupError } from '#platform/host';
import { findSimilarOrganization } from '#organizations/organizations';
import { computeLockKey, type DatabaseSession } from '#platform/postgres';
import type { OrganizationManifest } from '../format/organization-export.manifest.js';

const IMPORT_LOCK = computeLockKey('cadastre organization import');

export type OrganizationArchive = { readonly archive: BackupArchive; readonly manifest: OrganizationManifest };

/** Prevents other imports and rotations of keys until the session ends. */
export const acquireLocks = async (session: DatabaseSession): Promise<void> => {
  const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${IMPORT_LOCK}) as ok`);
  if (!attempt?.ok) throw new StartupError('another import into this site is running; wait until it has ended');
  await preventRotation(session);
};

/** Throws StartupError if the site has the organization or its name. */
export const requireFreeName = async (
  session: DatabaseSession,
  { archive, manifest }: OrganizationArchive,
): Promise<void> => {
  const { organization } = manifest.snapshot;
  const [same] = await session.run<{ id: string }>(sql`
    select id from event_store.events
     where stream = ${organization.id} and type = 'OrganizationImported' and data ->> 'archive' = ${archive.header.id}`);
  if (same) throw new StartupError('this export was imported into this site already. Nothing was changed');
  const similar = await findSimilarOrganization(session, organization);
  if (!similar) return;
  throw new StartupError(
    similar.id === organization.id
      ? `this site already contains the organization ${similar.name} (${similar.id}). Nothing was changed`
      : `this site already has an organization named ${similar.name} (${similar.id}); rename one of the two, and if you ` +
          'rename the exported one, export it again. Nothing was changed',
  );
};
