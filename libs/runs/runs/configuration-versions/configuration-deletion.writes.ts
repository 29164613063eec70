import { sql, type Sql } from '#platform/kernel';
import { decideWrite, type EventStore, type StreamSnapshot, type StreamWrite } from '#storage/event-store';
import { configurationVersion, type ConfigurationVersionCommand } from './configuration-version.js';
import { isArchiveInUse } from './configuration-versions.queries.js';

/**
 * Whether the version in the row `v` must be kept: it is the current one of its workspace, or the newest upload, which
 * the next run uses, or an unfinished run uses it.
 */
export const IS_CONFIGURATION_NEEDED: Sql = sql`(
  v.current_since is not null
    and not exists (select 1 from configuration_versions newer
                     where newer.workspace = v.workspace and newer.status = 'uploaded'
                       and (newer.current_since, newer.id) > (v.current_since, v.id))
  or ${isArchiveInUse('v')})`;

/** An uploaded or soft-deleted version with its snapshot, as the caller's own statement read it. */
export type DispensableConfiguration = {
  readonly id: string;
  readonly organization: string;
  readonly snapshot: StreamSnapshot | null;
};

const prepareDeletion = async (
  store: EventStore,
  { id, organization, snapshot }: DispensableConfiguration,
  command: ConfigurationVersionCommand,
): Promise<StreamWrite> =>
  decideWrite(configurationVersion, await store.restore(id, configurationVersion, snapshot), organization, command);

/** Prepares the soft deletion of the archive of a version that is not needed. */
export const prepareSoftConfigurationDeletion = (
  store: EventStore,
  version: DispensableConfiguration,
): Promise<StreamWrite> =>
  prepareDeletion(store, version, { type: 'SoftDeleteConfiguration', data: { isInUse: false, isCurrent: false } });

/** Prepares the permanent deletion of an archive that is soft-deleted. */
export const preparePermanentConfigurationDeletion = (
  store: EventStore,
  version: DispensableConfiguration,
): Promise<StreamWrite> => prepareDeletion(store, version, { type: 'DeleteConfigurationPermanently', data: {} });
