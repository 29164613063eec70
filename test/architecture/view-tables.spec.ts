import { expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from '../support/database.js';

// The exchange of a rebuild copies no foreign key, and it cannot drop a table that another object depends on (ADR 38).
it('no foreign key and no SQL view depends on a table of a view', async () => {
  const fresh = await freshDatabase();
  const client = new pg.Client({ connectionString: fresh.url });
  await client.connect();
  try {
    const { rows } = await client.query(`
      select k.conname as name from pg_constraint k join pg_class t on t.oid in (k.conrelid, k.confrelid)
       where k.contype = 'f' and t.relnamespace = 'views'::regnamespace
      union all
      select v.relname from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class
        join pg_class t on t.oid = d.refobjid
       where d.classid = 'pg_rewrite'::regclass and t.relnamespace = 'views'::regnamespace and t.relkind in ('r', 'p')`);
    expect(rows).toEqual([]);
  } finally {
    await client.end();
    await fresh.drop();
  }
});
