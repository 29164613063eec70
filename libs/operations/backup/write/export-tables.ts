import { sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { formatPartName, type BackupArchive } from '../format/backup-archive.js';
import type { BackupPart, TableExport } from '../format/backup-manifest.js';
import type { BackupControl } from '../progress.js';

const ROWS_IN_PART = 5_000;

type RowLine = { readonly line: string };

/** Writes the rows that the open transaction of the session sees. */
export const exportTable = async (
  { session, archive, folder }: { session: DatabaseSession; archive: BackupArchive; folder: string },
  table: string,
  { signal }: BackupControl,
): Promise<TableExport> => {
  const parts: BackupPart[] = [];
  let columns: string[] = [];
  await session.run(
    sql.raw(`declare exported no scroll cursor for select row_to_json(exported)::text as line from ${table} exported`),
  );
  for (;;) {
    signal?.throwIfAborted();
    const rows = await session.run<RowLine>(sql.raw(`fetch ${ROWS_IN_PART} from exported`));
    const [first] = rows;
    if (!first) break;
    columns = Object.keys(JSON.parse(first.line) as object);
    const name = formatPartName(`${folder}/${table}`, parts.length + 1);
    parts.push(
      await archive.putLines(
        name,
        rows.map(({ line }) => line),
      ),
    );
  }
  await session.run(sql`close exported`);
  return { table, columns, parts };
};
