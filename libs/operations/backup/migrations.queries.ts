import { sql } from '#platform/kernel';
import type { ModuleDefinition } from '#storage/event-store';
import { StartupError } from '#platform/host';
import type { DatabaseSession } from '#platform/postgres';

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

/** Throws StartupError if the archive has rows or events of a later version, which this version may not understand. */
export const requireMigrations = async (
  session: DatabaseSession,
  definitions: readonly ModuleDefinition[],
  origin: { readonly madeBy: string; readonly migrations: readonly string[] },
  { noun, verb }: { readonly noun: string; readonly verb: string },
): Promise<void> => {
  const own = new Set(await readMigrationNames(session, definitions));
  const surplus = origin.migrations.find((name) => !own.has(name));
  if (surplus === undefined) return;
  throw new StartupError(
    `Cadastre ${origin.madeBy} made this ${noun}, and this version lacks its migration ${surplus}; ` +
      `${verb} with that version or a later one`,
  );
};
