import { sql, type Sql } from '#platform/kernel';
import { selectRangesOfLink } from '#api/access';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { MODULE_FILES } from './module.files.js';
import type { ModuleLink, ModuleLinkRecipient } from './module.links.js';

const selectRangesFor = ({ type, id }: ModuleLinkRecipient): Sql =>
  selectRangesOfLink(sql.raw('v.organization'), { type: sql`${type}::text`, id: sql`${id}::text` });

export type ModuleUpload = {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly module: string;
  readonly snapshot: StreamSnapshot;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

/** Returns the module with the version that an archive is uploaded to; null if it was deleted. It checks no permission. */
export const findModuleUpload = async (
  database: Database,
  versionId: string,
  recipient: ModuleLinkRecipient,
): Promise<ModuleUpload | null> => {
  const row = await database.row<ModuleUpload>(sql`
    select v.organization, so.version as "organizationVersion", v.module, ${buildSnapshotJson('s')} as snapshot,
           ${selectRangesFor(recipient)} as "allowedRanges"
      from registry_module_versions v join event_store.streams s on s.stream = v.module
      join event_store.streams so on so.stream = v.organization
     where v.id = ${versionId}`);
  return row ?? null;
};

/** An archive that can be downloaded. */
type ModuleDownload = {
  readonly name: string;
  readonly provider: string;
  readonly version: string;
  readonly archive: number;
  readonly size: number;
  readonly sha256: string;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

/** Returns null if the version was deleted or has no archive. */
export const findModuleDownload = async (
  database: Database,
  { versionId, recipient }: ModuleLink,
): Promise<ModuleDownload | null> => {
  const row = await database.row<ModuleDownload>(sql`
    select m.name, m.provider, v.version, v.archive, v.size, v.sha256, ${selectRangesFor(recipient)} as "allowedRanges"
      from registry_module_versions v join registry_modules m on m.id = v.module
     where v.id = ${versionId} and v.archive is not null`);
  return row ?? null;
};

/** Selects the keys of the archives of an organization's modules. */
export const selectOrganizationFiles = (organization: string): Sql => sql`
  select concat_ws('/', ${MODULE_FILES}::text, id, 'archive-' || archive) as key
    from registry_module_versions where organization = ${organization} and archive is not null`;
