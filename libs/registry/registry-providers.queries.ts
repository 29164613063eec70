import { forbidden, notFound, sql, type Sql, type Timestamp } from '#kernel';
import { snapshotOf, type Database, type Snapshot } from '#event-store';
import { confirm, demand, fresh, organizationFor, placeInOrganization, type Actor } from '#access';
import { limitOf, listedIn, type Listed, type Page } from '#json-api';

export type RegistryProviderRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Ids of its versions, the newest first. */
  readonly versions: readonly string[];
};

/** Where a provider is found: `/organizations/:organization/registry-providers/:registryName/:namespace/:name`. */
export type ProviderPath = {
  readonly organization: string;
  readonly registryName: string;
  readonly namespace: string;
  readonly name: string;
};

/** What the contract names 403 for (§4.4): reading and deleting, and creating, what is public. */
export const NO_CURATION = 'Public provider curation is disabled';
export const NOT_FOR_PUBLIC = 'Not available for public providers';

/** There are private providers only, in the namespace of their organization; who sees the organization is told why not. */
export const demandPrivate = async (
  database: Database,
  actor: Actor,
  { organization, registryName, namespace }: Omit<ProviderPath, 'name'>,
  refusal: typeof NO_CURATION | typeof NOT_FOR_PUBLIC,
): Promise<void> => {
  if (registryName === 'public') {
    await placeInOrganization(database, actor, 'read-providers', organization);
    throw forbidden(refusal);
  }
  if (registryName === 'private' && namespace === organization) return;
  await confirm(database, actor);
  throw notFound();
};

const columns = sql.raw(`
  p.id, p.organization, o.name as "organizationName", p.name, p.created_at as "createdAt", p.updated_at as "updatedAt",
  array(select v.id from registry_provider_versions v where v.provider = p.id order by v.created_at desc, v.id) as versions`);

const FROM = sql.raw('from registry_providers p join organizations o on o.id = p.organization');

export const registryProviderById = (id: string): Sql => sql`select ${columns} ${FROM} where p.id = ${id}`;

/** The condition that a row of `p` and `o` is the provider at this path. */
export const isAt = ({ organization, name }: ProviderPath): Sql => sql`o.name = ${organization} and p.name = ${name}`;

export const registryProviderAt = async (
  database: Database,
  actor: Actor,
  path: ProviderPath,
): Promise<RegistryProviderRow> => {
  await demandPrivate(database, actor, path, NO_CURATION);
  return seen(database, actor, isAt(path));
};

export const registryProviderFor = (database: Database, actor: Actor, id: string): Promise<RegistryProviderRow> =>
  seen(database, actor, sql`p.id = ${id}`);

const seen = async (database: Database, actor: Actor, condition: Sql): Promise<RegistryProviderRow> => {
  const row = await database.row<RegistryProviderRow>(
    sql`select ${columns} ${FROM} where ${condition} and ${fresh(actor)}`,
  );
  if (!row) throw notFound();
  demand(actor, 'read-providers', row);
  return row;
};

export type RegistryProviderForCommand = {
  readonly id: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly name: string;
  readonly snapshot: Snapshot;
  /** All of its versions, which go with it. */
  readonly versions: readonly { readonly id: string; readonly snapshot: Snapshot }[];
};

export const registryProviderForCommand = async (
  database: Database,
  actor: Actor,
  path: ProviderPath,
): Promise<RegistryProviderForCommand> => {
  const row = await database.row<RegistryProviderForCommand>(sql`
    select p.id, p.organization, so.version as "organizationVersion", p.name, ${snapshotOf('s')} as snapshot,
           coalesce((select jsonb_agg(jsonb_build_object('id', v.id, 'snapshot', ${snapshotOf('sv')})
                                      order by v.created_at, v.id)
                       from registry_provider_versions v join event_store.streams sv on sv.stream = v.id
                      where v.provider = p.id), '[]') as versions
      ${FROM} join event_store.streams s on s.stream = p.id join event_store.streams so on so.stream = o.id
     where ${isAt(path)} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'manage-providers', row);
  return row;
};

export type RegistryProviderFilter = {
  readonly search: string | undefined;
  readonly registryName: string | undefined;
  readonly organizationName: string | undefined;
};

/** One page and the count of all, in one statement. */
export const listRegistryProviders = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  { search, registryName, organizationName: ofOrganization }: RegistryProviderFilter,
): Promise<Listed<RegistryProviderRow>> => {
  const where = sql.and([
    sql`p.organization = o.id`,
    // There are no others.
    ...(registryName && registryName !== 'private' ? [sql`false`] : []),
    ...(ofOrganization ? [sql`o.name = ${ofOrganization}`] : []),
    ...(search ? [sql`position(lower(${search}) in lower(p.name)) > 0`] : []),
  ]);
  const found = await database.slowRows<RegistryProviderRow & { owner: string; total: number }>(
    actor,
    sql`
    select o.id as owner, (select count(*) from registry_providers p where ${where}) as total, page.*
      from (select id, name from ${organizationFor(actor, 'read-providers', organizationName)}) o
      left join lateral (select ${columns} from registry_providers p where ${where}
                          order by p.name, p.id ${limitOf(page)}) page on true
     order by page.name, page.id`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-providers', { organization: first.owner });
  return listedIn(found);
};
