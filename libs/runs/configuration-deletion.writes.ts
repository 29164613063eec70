import { sql, type Sql } from '#kernel';
import { writeOf, type EventStore, type Snapshot, type Write } from '#event-store';
import { configurationVersion, type ConfigurationVersionCommand } from './configuration-version.js';
import { inUse, isInUse } from './configuration-versions.queries.js';

/**
 * Over the row `v` of configuration_versions: whether it is the current one of its workspace, the newest that is uploaded,
 * which the next run uses, or in use by a run.
 */
export const IS_CONFIGURATION_NEEDED: Sql = sql`(
  v.current_since is not null
    and not exists (select 1 from configuration_versions newer
                     where newer.workspace = v.workspace and newer.status = 'uploaded'
                       and (newer.current_since, newer.id) > (v.current_since, v.id))
  or ${inUse('v')})`;

/** In an append: refuses the deletion if a run has begun with the version meanwhile. */
export const isConfigurationInUse = isInUse;

/** An uploaded or soft-deleted version, with its snapshot, read with a statement of the caller's own. */
export type DispensableConfiguration = {
  readonly id: string;
  readonly organization: string;
  readonly snapshot: Snapshot;
};

const deletion = async (
  store: EventStore,
  { id, organization, snapshot }: DispensableConfiguration,
  command: ConfigurationVersionCommand,
): Promise<Write> =>
  writeOf(configurationVersion, await store.restore(id, configurationVersion, snapshot), organization, command);

/** The soft deletion of the archive of a version that is not needed. */
export const softConfigurationDeletion = (store: EventStore, version: DispensableConfiguration): Promise<Write> =>
  deletion(store, version, { type: 'SoftDeleteConfiguration', data: { isInUse: false, isCurrent: false } });

/** The permanent deletion of an archive that is soft-deleted. */
export const permanentConfigurationDeletion = (store: EventStore, version: DispensableConfiguration): Promise<Write> =>
  deletion(store, version, { type: 'DeleteConfigurationPermanently', data: {} });
