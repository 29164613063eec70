import { sql } from '#kernel';
import type { ModuleDefinition } from '#event-store';
import type { DatabaseSession } from '#postgres';

/** Returns the migrations that ran in a migrated database, as `module/name`. */
export const readMigrationNames = async (
  session: DatabaseSession,
  definitions: readonly ModuleDefinition[],
): Promise<readonly string[]> => {
  const modules = ['event_store', ...definitions.filter(({ migrations }) => migrations).map(({ name }) => name)];
  const names: string[] = [];
  for (const module of modules.map((name) => name.replaceAll('-', '_'))) {
    const rows = await session.run<{ name: string }>(sql.raw(`select name from migrations.${module} order by name`));
    names.push(...rows.map(({ name }) => `${module}/${name}`));
  }
  return names;
};
