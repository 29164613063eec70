import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';

export const DAY_MS = 86_400_000;
/** The inserted entries are spread evenly over this number of past days. */
export const DAYS = 13;
export const WORKSPACES = 5_000;
export const ACTORS = 40;
const A_TIME = 100_000;

/** One entry in ten is about a run, one in fifty thousand about a provider, all others about workspaces. */
const FILL = `
  insert into views.audit_trail_entries
         (organization, timestamp, id, ordinal, resource_type, action, accessor, resource_id, entry)
  select $1, timestamp, id, n, kind, action, accessor, resource,
         $6::jsonb || jsonb_build_object(
           'id', id, 'timestamp', to_char(timestamp, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'auth', $6::jsonb -> 'auth' || jsonb_build_object('accessor_id', accessor),
           'resource', jsonb_build_object('id', resource, 'type', kind, 'action', action,
                                          'meta', jsonb_build_object('reason', 'bench ' || n)))
    from generate_series($2::bigint, $3::bigint) n,
         lateral (select $4::timestamptz + (n * ${DAYS * DAY_MS} / $5::bigint) * interval '1 millisecond' as timestamp,
                         gen_random_uuid() as id, 'user-' || n % ${ACTORS} as accessor,
                         'ws-bench' || lpad((n % ${WORKSPACES})::text, 11, '0') as resource,
                         case when n % 50000 = 7 then 'registry_provider' when n % 10 = 3 then 'run'
                              else 'workspace' end as kind,
                         case when n % 50000 = 7 then 'create' when n % 2 = 0 then 'lock' else 'unlock' end as action) entries`;

export const connect = async (product) => {
  const client = new pg.Client({ connectionString: await product.databaseUrl(), options: '-c timezone=UTC' });
  await client.connect();
  return client;
};

const post = async (product, path, type, attributes = {}) =>
  JSON.parse(await product.request('POST', path, { data: { type, attributes } })).data;

/** Creates an organization with a workspace, and the token that reads its trail. */
export const seedTrail = async (product) => {
  await post(product, '/api/v2/organizations', 'organizations', { name: 'bench', email: 'a@bench.test' });
  const workspace = await post(product, '/api/v2/organizations/bench/workspaces', 'workspaces', { name: 'model' });
  const created = await post(product, '/api/v2/organizations/bench/authentication-token', 'authentication-tokens');
  // Lets the follower become idle before its view is filled.
  await delay(500);
  return { token: created.attributes.token, workspace: workspace.id };
};

/**
 * Replaces the content of the view directly: to append this number of events to the log would take a quarter of an
 * hour.
 */
export const fillTrail = async (product, entries) => {
  const client = await connect(product);
  try {
    const { rows } = await client.query('select organization, entry from views.audit_trail_entries limit 1');
    const [{ organization, entry }] = rows;
    await client.query('truncate views.audit_trail_entries');
    const from = new Date(Date.now() - DAYS * DAY_MS).toISOString();
    for (let first = 1; first <= entries; first += A_TIME) {
      const last = Math.min(first + A_TIME - 1, entries);
      await client.query(FILL, [organization, first, last, from, entries, JSON.stringify(entry)]);
      process.stderr.write(`\r${last} of ${entries} entries`);
    }
    process.stderr.write('\n');
    const last = '(select max(timestamp) from views.audit_trail_entries)';
    await client.query(`update views.audit_trails set length = $1, last = ${last}`, [entries]);
    await client.query('vacuum analyze views.audit_trail_entries');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
};

/** Returns ids of entries from all parts of the trail. */
export const someIds = async (product, entries) => {
  const client = await connect(product);
  try {
    const ordinals = Array.from({ length: 200 }, (_, n) => 1 + Math.floor((n * entries) / 200));
    const { rows } = await client.query('select id from views.audit_trail_entries where ordinal = any ($1)', [
      ordinals,
    ]);
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
};

/** Returns the size in MB of the entries and of each index. */
export const sizesOf = async (product) => {
  const client = await connect(product);
  try {
    const { rows } = await client.query(`
      select relname as name, (pg_relation_size(oid) / 1048576)::int as mb from pg_class
       where relname ~ '^audit_trail_entries' and relkind in ('r', 'i') order by relkind desc, relname`);
    return rows;
  } finally {
    await client.end();
  }
};
