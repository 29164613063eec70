import pg from 'pg';
import { ORGANIZATION } from './subjects.js';

export const DAY_MS = 86_400_000;
/** The entries are spread evenly over this number of past days. */
export const DAYS = 13;
const WORKSPACES = 5_000;
const ACTORS = 40;
const POLL_MS = 100;

const connect = async (product) => {
  const client = new pg.Client({ connectionString: await product.databaseUrl(), options: '-c timezone=UTC' });
  await client.connect();
  return client;
};

/** Runs a statement in the database of the product, which may be stopped. Returns its rows. */
export const query = async (product, text, values) => {
  const client = await connect(product);
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
};

/** Reads a page, which waits until the trail has all entries. */
const waitForTrail = async (product, token) => {
  const path = '/api/v2/organization/audit-trail?page%5Bsize%5D=1';
  for (;;) {
    const answer = await product.request('GET', path, undefined, token).catch(() => null);
    if (answer !== null) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

/**
 * Seeds an organization with this number of entries, and starts the product. Returns the token that reads the trail, a
 * workspace, and the exact number of entries.
 */
export const seedTrail = async (product, entries) => {
  await product.start();
  await product.stop();
  const workspaces = Math.min(WORKSPACES, Math.ceil(entries / 4));
  await product.seed({ prefix: 'bench', workspaces, users: ACTORS, days: DAYS, 'trail-entries': entries });
  await product.start();
  const path = `/api/v2/organizations/${ORGANIZATION}/authentication-token`;
  const created = JSON.parse(
    await product.request('POST', path, { data: { type: 'authentication-tokens', attributes: {} } }),
  );
  const { token } = created.data.attributes;
  await waitForTrail(product, token);
  const [workspace] = await query(product, 'select id from views.workspaces limit 1');
  const [{ length }] = await query(product, 'select max(length)::int as length from views.audit_trails');
  return { token, workspace: workspace.id, entries: length };
};

/** Returns entries from all parts of the trail. */
export const someEntries = (product) =>
  query(
    product,
    `select e.id, e.resource_id as resource, e.accessor from views.audit_trails t,
            generate_series(0, 199) n, lateral (
              select * from views.audit_trail_entries e
               where e.organization = t.organization and e.resource_type = 'workspace'
                 and e.ordinal >= 1 + n * t.length / 200
               order by e.ordinal limit 1) e`,
  );

/** Returns the size in MB of the entries, of their blocks, and of each index, without empty ones. */
export const sizesOf = (product) =>
  query(
    product,
    `select relname as name, (pg_relation_size(oid) / 1048576)::int as mb from pg_class
      where relname ~ '^audit_trail_(entries|blocks)' and relkind in ('r', 'i') and pg_relation_size(oid) > 0
      order by relkind desc, relname`,
  );
