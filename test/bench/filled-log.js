import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';

const EVENTS_A_WORKSPACE = 20;

/**
 * Inserts events directly into the log, much faster than they could happen. Workspaces are created, then locked and
 * unlocked. Each transaction has a thousand events, because a real log does not get all its positions in one
 * transaction.
 */
const FILL = `
  insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context)
  select gen_random_uuid(), 'ws-bench' || lpad(w::text, 11, '0'), v,
         case when v = 1 then 'WorkspaceCreated' when v % 2 = 0 then 'WorkspaceLocked' else 'WorkspaceUnlocked' end,
         1, made.organization, clock_timestamp(),
         case when v = 1 then made.data || jsonb_build_object('name', 'filled-' || w)
              when v % 2 = 0 then $1::jsonb else $2::jsonb end,
         made.context
    from (select organization, data, context from event_store.events where type = 'WorkspaceCreated' limit 1) made,
         generate_series($3::int, $4::int) w, generate_series(1, ${EVENTS_A_WORKSPACE}) v`;

const HOLDER = { id: 'user-bench', type: 'users', name: 'bench' };
const A_TIME = 50;

/** Adds events. The database must contain a workspace. Resolves to the number of events in the log. */
export const fillLog = async (databaseUrl, events) => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const workspaces = Math.ceil(events / EVENTS_A_WORKSPACE);
    const locked = JSON.stringify({ holder: HOLDER, reason: 'bench' });
    const unlocked = JSON.stringify({ holder: HOLDER, forced: false });
    for (let first = 1; first <= workspaces; first += A_TIME) {
      await client.query(FILL, [locked, unlocked, first, Math.min(first + A_TIME - 1, workspaces)]);
    }
    await client.query('analyze event_store.events');
    const { rows } = await client.query('select count(*)::int as n from event_store.events');
    return rows[0].n;
  } finally {
    await client.end();
  }
};

/** Creates an organization with one workspace through the API. FILL copies their events. */
export const seedModel = async (product) => {
  const organization = { data: { type: 'organizations', attributes: { name: 'bench', email: 'a@bench.test' } } };
  await product.request('POST', '/api/v2/organizations', organization);
  const workspace = { data: { type: 'workspaces', attributes: { name: 'model' } } };
  await product.request('POST', '/api/v2/organizations/bench/workspaces', workspace);
  // Lets the followers become idle before the log is filled.
  await delay(200);
};
