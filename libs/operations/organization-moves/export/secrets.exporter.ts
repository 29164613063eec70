import { sql } from '#platform/kernel';
import type { BackupArchive, TableExport } from '#operations/backup';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import type { EncryptedColumn, ModuleDefinition } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import type { ExportedRow } from '../format/organization-export.manifest.js';

/** A table outside the log with rows of organizations, and its encrypted columns. */
export type MovedTable = {
  readonly table: string;
  /** Returns the ids of the resources that a row belongs to; none for rows that are not exported. */
  readonly listOwners: (row: ExportedRow) => readonly unknown[];
  readonly encrypted: readonly EncryptedColumn[];
};

export const listMovedTables = (definitions: readonly ModuleDefinition[]): readonly MovedTable[] =>
  definitions.flatMap(({ tablesOutsideLog = [], encryptedColumns = [] }) =>
    tablesOutsideLog.flatMap((one) =>
      one.backup === 'rows' && 'listOwners' in one.organizationExport
        ? [
            {
              table: one.table,
              listOwners: one.organizationExport.listOwners,
              encrypted: encryptedColumns.filter(({ table }) => table === one.table),
            },
          ]
        : [],
    ),
  );

/** Returns the table of this name. Throws the archive's error about damage if no rows of it are moved. */
export const requireMovedTable = (
  archive: BackupArchive,
  movedTables: readonly MovedTable[],
  name: string,
): MovedTable => {
  const target = movedTables.find(({ table }) => table === name);
  if (!target) throw archive.describeDamage(`it has rows of ${name}, which is no table of organizations`);
  return target;
};

/** row_to_json writes bytes as hexadecimal digits after this prefix. */
const HEX = String.raw`\x`;

const replaceValues = (
  row: ExportedRow,
  columns: readonly EncryptedColumn[],
  replace: (envelope: EncryptedColumn, id: string, value: Buffer) => Buffer,
): ExportedRow =>
  columns.reduce((changed: ExportedRow, column) => {
    const value = row[column.column];
    if (typeof value !== 'string') return changed;
    const bytes = replace(column, String(row[column.id]), Buffer.from(value.slice(HEX.length), 'hex'));
    return { ...changed, [column.column]: HEX + bytes.toString('hex') };
  }, row);

const decryptRow = (line: string, columns: readonly EncryptedColumn[], keys: EncryptionKeys): ExportedRow =>
  replaceValues(JSON.parse(line) as ExportedRow, columns, ({ purpose }, id, value) =>
    new Envelope(keys, purpose).open(id, value),
  );

/** Returns a row of an export, encrypted with the key of this site. */
export const encryptRow = (row: ExportedRow, columns: readonly EncryptedColumn[], keys: EncryptionKeys): string =>
  JSON.stringify(
    replaceValues(row, columns, ({ purpose }, id, value) => new Envelope(keys, purpose).encrypt(id, value)),
  );

/** Writes the rows of an organization that the open transaction of the session sees, with readable values. */
export const exportMovedTable = async (
  { session, archive, folder }: { session: DatabaseSession; archive: BackupArchive; folder: string },
  { table, listOwners, encrypted }: MovedTable,
  organization: string,
  keys: EncryptionKeys,
): Promise<TableExport> => {
  const stored = await session.run<{ line: string }>(sql`
    select row_to_json(exported)::text as line from ${sql.raw(table)} exported where organization = ${organization}`);
  const rows = stored.filter(({ line }) => listOwners(JSON.parse(line) as ExportedRow).length > 0);
  const [first] = rows;
  if (!first) return { table, columns: [], parts: [] };
  const lines = rows.map(({ line }) => JSON.stringify(decryptRow(line, encrypted, keys)));
  const columns = Object.keys(JSON.parse(first.line) as ExportedRow);
  return { table, columns, parts: [await archive.putLines(`${folder}/${table}`, lines)] };
};
