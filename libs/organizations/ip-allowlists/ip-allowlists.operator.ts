import { notFound, sql, type Ids } from '#platform/kernel';
import { buildSnapshotJson, type EventStore, type StreamSnapshot } from '#storage/event-store';
import { createSystemContext, hasOrganizationName } from '#api/access';
import { ipAllowlist } from './ip-allowlist.js';

type ListOfOrganization = {
  readonly organization: string;
  /** Null, like the members below, if no list restricts the organization. */
  readonly id: string | null;
  readonly name: string | null;
  readonly snapshot: StreamSnapshot | null;
};

const findListOfOrganization = async (store: EventStore, name: string): Promise<ListOfOrganization> => {
  const row = await store.database.row<ListOfOrganization>(sql`
    select o.id as organization, l.id, l.name, case when l.id is not null then ${buildSnapshotJson('s')} end as snapshot
      from organizations o left join ip_allowlists l on l.organization = o.id and l.enforcement_scope = 'organization'
      left join event_store.streams s on s.stream = l.id
     where ${hasOrganizationName('o', name)}`);
  if (!row) throw notFound(`There is no organization with the name ${name}`);
  return row;
};

/**
 * Deletes the list with the scope `organization`, for an operator whose owners have locked themselves out. Keeps lists for
 * agents. Resolves to the name of the list, or to null if there is none. Throws `not-found` for an unknown
 * organization.
 */
export const removeIpAllowlist = (store: EventStore, ids: Ids, organization: string): Promise<string | null> =>
  store.retryOnConflict(async () => {
    const { id, name, snapshot, organization: owner } = await findListOfOrganization(store, organization);
    if (id === null || snapshot === null) return null;
    await store.handle({
      decider: ipAllowlist,
      load: () => store.restore(id, ipAllowlist, snapshot),
      command: () => ({ type: 'DeleteIpAllowlist', data: {} }) as const,
      organization: () => owner,
      context: createSystemContext('command line', ids.uuid()),
    });
    return name;
  });
