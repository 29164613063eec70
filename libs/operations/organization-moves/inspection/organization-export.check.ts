import { checkArchive, type BackupArchive, type BackupControl } from '#operations/backup';
import { buildEventRegistry, type ModuleDefinition } from '#storage/event-store';
import { listMovedTables, requireMovedTable } from '../export/secrets.exporter.js';
import { ExportInspector } from './export.inspector.js';
import { readEvents, readRows, type OrganizationManifest } from '../format/organization-export.manifest.js';

/**
 * Reads every file of an export (see checkArchive), and checks that its events and rows contain one organization and nothing
 * else. Throws StartupError. What depends on a site is checked by the import.
 */
export const checkOrganizationExport = async (
  archive: BackupArchive,
  manifest: OrganizationManifest,
  definitions: readonly ModuleDefinition[],
  control: BackupControl = {},
): Promise<void> => {
  const { snapshot, events } = manifest;
  const parts = [...snapshot.tables.flatMap((table) => table.parts), ...events];
  await checkArchive(archive, { parts, files: snapshot.files }, control);
  const inspector = new ExportInspector(buildEventRegistry(definitions), manifest);
  let done = 0;
  for (const part of events) {
    control.signal?.throwIfAborted();
    for (const event of await readEvents(archive, part)) inspector.inspect(event);
    control.report?.('events checked', (done += part.lines - 1), snapshot.events);
  }
  inspector.finish();
  const movedTables = listMovedTables(definitions);
  for (const { table, parts: rows } of snapshot.tables) {
    const target = requireMovedTable(archive, movedTables, table);
    for (const part of rows) for (const row of await readRows(archive, part)) inspector.inspectRow(target, row);
  }
};
