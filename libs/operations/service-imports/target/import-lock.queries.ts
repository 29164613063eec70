import { sql } from '#platform/kernel';
import { StartupError } from '#platform/host';
import type { Database } from '#platform/postgres';

/** Runs the work while no other import into this organization can run. */
export const withImportLock = async <T>(database: Database, into: string, work: () => Promise<T>): Promise<T> => {
  const session = await database.session();
  try {
    const key = sql`hashtextextended(${`import into ${into.toLowerCase()}`}, 0)`;
    const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${key}) as ok`);
    if (!attempt?.ok) throw new StartupError(`another import into ${into} is running; wait until it has ended`);
    return await work();
  } finally {
    await session.close();
  }
};
