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
  constructor(module: string, ran: string, file: string) {
    super(
      `another version of Cadastre made the database: in ${module} the migration ${ran} ran where this version has ${file}; ` +
        'nothing was changed. Start the version that made the data, or restore a backup that a release made',
    );
    this.name = 'ForeignMigrations';
  }
}

/**
 * Returns an error if the order of the migrations that ran differs from that of the files, else null. A database of a
 * later version, with more migrations than files, is accepted, because both versions run during an upgrade.
 */
export const findForeignMigrations = (modules: readonly ModuleMigrations[]): ForeignMigrations | null => {
  for (const { module, files, ran } of modules) {
    for (const [n, file] of files.slice(0, ran.length).entries()) {
      const migration = ran[n];
      if (migration !== undefined && migration !== file) return new ForeignMigrations(module, migration, file);
    }
  }
  return null;
};
