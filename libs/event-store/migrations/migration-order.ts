/** The migrations of one module: names without `.sql`, in the order of their numbers, and those that ran, in that order. */
export type ModuleMigrations = {
  readonly module: string;
  readonly files: readonly string[];
  readonly ran: readonly string[];
};

/** The database ran other migrations than this version has, so this version does not know what its tables hold. */
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
 * Returns what is wrong if migrations ran in another order than that of the files, else null. A database of a later
 * version, which ran more migrations than there are files, is fine: during an upgrade, processes of both versions run.
 */
export const findForeignMigrations = (modules: readonly ModuleMigrations[]): ForeignMigrations | null => {
  for (const { module, files, ran } of modules) {
    for (const [n, file] of files.slice(0, ran.length).entries()) {
      const found = ran[n];
      if (found !== undefined && found !== file) return new ForeignMigrations(module, found, file);
    }
  }
  return null;
};
