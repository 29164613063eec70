/**
 * The migrations of one module: names without `.sql` in the order of their numbers, and the names of those that ran, in
 * that order.
 */
export type ModuleMigrations = {
  readonly module: string;
  readonly files: readonly string[];
  readonly ran: readonly string[];
};

/** Thrown if the database ran other migrations than this version has, so that the content of its tables is unknown. */
export class ForeignMigrations extends Error {
  override readonly name = 'ForeignMigrations';
}

/**
 * Rises when the log or the tables change so that earlier versions cannot read them. The name of a row in the table of
 * migrations contains it, before all migrations. 0.2.0, which does not have it, refuses any such row.
 */
const GENERATION = 2;
const GENERATION_NAME = /^000_generation_(\d+)$/;

const describeForeign = (module: string, ran: string, file: string): string =>
  `another version of Cadastre made the database: in ${module} the migration ${ran} ran where this version has ${file}; ` +
  'nothing was changed. Start the version that made the data, or restore a backup that a release made';

const LATER_GENERATION =
  'a later version of Cadastre has upgraded the database, and this version cannot read it; nothing was changed. ' +
  'Start the later version, or restore the backup from before the upgrade';

/**
 * Returns an error if the order of the migrations that ran differs from that of the files, else null. A database of a
 * later version, with more migrations than files, is accepted, because both versions run during an upgrade, until the
 * later version has marked the end of the upgrade with its generation.
 */
export const findForeignMigrations = (modules: readonly ModuleMigrations[]): ForeignMigrations | null => {
  for (const { module, files, ran } of modules) {
    const generations = ran.flatMap((name) => GENERATION_NAME.exec(name)?.[1] ?? []);
    if (generations.some((generation) => Number(generation) > GENERATION)) {
      return new ForeignMigrations(LATER_GENERATION);
    }
    const migrations = ran.filter((name) => !GENERATION_NAME.test(name));
    for (const [n, file] of files.slice(0, migrations.length).entries()) {
      const migration = migrations[n];
      if (migration !== undefined && migration !== file) {
        return new ForeignMigrations(describeForeign(module, migration, file));
      }
    }
  }
  return null;
};
