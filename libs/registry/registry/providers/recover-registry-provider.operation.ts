import { notFound, sql, type Sql } from '#platform/kernel';
import { refuseTakenName, type Database } from '#platform/postgres';
import {
  changeResource,
  recoverResource,
  requireCurrentAccess,
  requirePermission,
  type Actor,
  type PermissionScope,
  type RecoveredResource,
} from '#api/access';
import {
  buildSnapshotJson,
  selectStreamVersions,
  type EventStore,
  type StreamSnapshot,
  type StreamVersion,
} from '#storage/event-store';
import { HAS_VERSION_KEY } from '../versions/registry-provider-versions.queries.js';
import { registryProvider } from './registry-provider.js';

type DeletedProviderForCommand = PermissionScope & {
  readonly id: string;
  readonly organization: string;
  /** Ids of the keys that its versions name and that the registry has no longer. */
  readonly missingKeys: readonly string[];
  readonly preconditions: readonly StreamVersion[];
  readonly snapshot: StreamSnapshot;
};

const MISSING_KEYS: Sql = sql`array(
  select distinct v.key_id from registry_provider_versions v where v.provider = d.id and not ${HAS_VERSION_KEY} order by 1)`;

/** Returns the deleted provider, or an existing one, whose recovery is refused with a reason. */
const loadDeletedProvider = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<DeletedProviderForCommand> => {
  const row = await database.row<DeletedProviderForCommand>(sql`
    select d.id, d.organization, ${MISSING_KEYS} as "missingKeys",
           ${selectStreamVersions(sql.raw('array[d.organization]'))} as preconditions, ${buildSnapshotJson('s')} as snapshot
      from (select id, organization from deleted_registry_providers
             union all select id, organization from registry_providers) d
      join event_store.streams s on s.stream = d.id
     where d.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-providers', row);
  requirePermission(actor, 'manage-providers', row);
  return row;
};

const refuseTaken = refuseTakenName(
  'registry_providers_names_key',
  'name',
  'delete the other provider, or send another name for a private one',
);

const listChanges = (name: string | undefined, before: string, missingKeys: readonly string[]) => [
  ...(name === undefined || name === before
    ? []
    : [
        {
          field: 'name',
          detail: `The name was ${before}, and files of its versions still have it: clients cannot install these versions`,
        },
      ]),
  ...missingKeys.map((key) => ({
    field: 'key-id',
    detail: `The registry has no GPG key ${key}: add it, so that clients can install the versions that it signed`,
  })),
];

/** Brings a deleted provider back under its id, with its tags, versions, platforms and files. */
export const recoverRegistryProvider = (
  store: EventStore,
  { id, name, actor }: { readonly id: string; readonly name: string | undefined; readonly actor: Actor },
): Promise<RecoveredResource> =>
  recoverResource(store, registryProvider, {
    actor,
    load: () => loadDeletedProvider(store.database, actor, id),
    command: () => ({ type: 'RecoverRegistryProvider', data: { name } }),
    describe: ({ missingKeys }, last) => ({
      name: name ?? last.name,
      project: null,
      changes: listChanges(name, last.name, missingKeys),
    }),
  }).catch(refuseTaken);

/** Ends a deleted provider before its time. deleted-providers.job.ts deletes its versions. */
export const purgeRegistryProvider = async (
  store: EventStore,
  { id, actor }: { readonly id: string; readonly actor: Actor },
): Promise<void> => {
  await changeResource(store, registryProvider, {
    actor,
    load: () => loadDeletedProvider(store.database, actor, id),
    command: { type: 'PurgeRegistryProvider', data: { expired: false } },
  });
};
