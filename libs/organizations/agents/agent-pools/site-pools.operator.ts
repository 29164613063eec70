import { notFound, sql, type Ids, type Timestamp } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import { createSystemContext, UNRESTRICTED } from '#api/access';
import {
  buildSnapshotJson,
  decideWrite,
  expectVersion,
  newStream,
  type EventStore,
  type StreamSnapshot,
} from '#storage/event-store';
import { prepareTokenCreation, prepareTokenDestruction, selectOwnedTokens, type OwnedToken } from '#identity/people';
import { agentPool } from './agent-pool.js';

type SitePool = {
  readonly id: string;
  readonly version: number;
  readonly snapshot: StreamSnapshot;
  readonly tokens: readonly OwnedToken[];
};

type OperatorDependencies = { readonly store: EventStore; readonly ids: Ids };

/** Finds a pool of the site by its name, regardless of case. */
const findSitePool = ({ store }: OperatorDependencies, name: string): Promise<SitePool | undefined> =>
  store.database.row<SitePool>(sql`
    select ap.id, s.version, ${buildSnapshotJson('s')} as snapshot, ${selectOwnedTokens(sql.raw('ap.id'))} as tokens
      from agent_pools ap join event_store.streams s on s.stream = ap.id
     where ap.organization is null and lower(ap.name collate "C") = lower(${name} collate "C")`);

const NO_USE = { workspaces: 0, projects: 0, organization: false };

type NewPoolToken = { readonly description: string; readonly expiredAt: Timestamp | null };

/**
 * Creates a pool of the site with a token, for an operator or a process of the server. Returns the secret of the token, which is
 * not stored. If a pool has the name: `existing` says whether it gets another token, or the call fails with `unprocessable`.
 * `by` is the name of the program in the audit trail.
 */
export const createSitePool = async (
  dependencies: OperatorDependencies,
  name: string,
  { description, expiredAt }: NewPoolToken,
  { existing, by }: { readonly existing: 'refuse' | 'use'; readonly by: string },
): Promise<string> => {
  const { store, ids } = dependencies;
  const present = existing === 'use' ? await findSitePool(dependencies, name) : undefined;
  const id = present?.id ?? ids.next('apool');
  const creation = { type: 'CreateAgentPool', data: { settings: { name }, ofSite: true } } as const;
  const token = prepareTokenCreation(ids, null, {
    kind: 'agent',
    owner: id,
    description,
    createdBy: null,
    expiredAt,
    assurance: null,
    organizations: [],
    restriction: UNRESTRICTED,
  });
  const pool = present
    ? expectVersion(id, present.version)
    : decideWrite(agentPool, newStream(id, agentPool), null, creation);
  const { rows } = await store
    .append([pool, token.write], createSystemContext(by, ids.uuid()), token.statements)
    .catch(refuseTakenName('agent_pools_site_name_key'));
  return token.issued(rows).secret;
};

/** Deletes a pool of the site with its tokens. Throws `not-present` if no pool has the name. */
export const deleteSitePool = (dependencies: OperatorDependencies, name: string): Promise<void> =>
  dependencies.store.retryOnConflict(async () => {
    const { store, ids } = dependencies;
    const present = await findSitePool(dependencies, name);
    if (!present) throw notFound(`No pool of the site has the name ${name}`);
    const { writes, statements } = await prepareTokenDestruction(store, present.id, present.tokens);
    const loaded = await store.restore(present.id, agentPool, present.snapshot);
    const deletion = { type: 'DeleteAgentPool', data: { use: NO_USE } } as const;
    const context = createSystemContext('command line', ids.uuid());
    await store.append([decideWrite(agentPool, loaded, null, deletion), ...writes], context, statements);
  });

export type SitePoolOverview = {
  readonly id: string;
  readonly name: string;
  readonly agents: number;
  readonly tokens: number;
  readonly createdAt: Timestamp;
};

/** Lists the pools of the site by name. `agents` are those with a ping after this time that have not exited. */
export const listSitePoolsForOperator = (store: EventStore, since: Date): Promise<readonly SitePoolOverview[]> =>
  store.database.rows<SitePoolOverview>(sql`
    select ap.id, ap.name, ap.created_at as "createdAt",
           (select count(*)::integer from agents.pings g
             where g.pool = ap.id and g.status not in ('exited', 'errored') and g.at >= ${since.toISOString()}::timestamptz) as agents,
           jsonb_array_length(${selectOwnedTokens(sql.raw('ap.id'))}) as tokens
      from agent_pools ap where ap.organization is null order by ap.name`);
