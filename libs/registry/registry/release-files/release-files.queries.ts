import { notFound, sql, type Sql } from '#platform/kernel';
import { selectRangesOfLink } from '#api/access';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database, DatabaseSession } from '#platform/postgres';
import { formatChecksumsName, formatSignatureName } from '#registry/provider-release';
import { FROM_VERSION_KEY } from '../versions/registry-provider-versions.queries.js';
import type { ReleaseFile, ReleaseLinkRecipient } from './release.links.js';

export type ReleaseUploadTarget = {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly keyId: string;
  /** The organization's copy of the public key that the version names; null if the organization has no copy. */
  readonly armor: string | null;
  readonly snapshot: StreamSnapshot;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

const selectRangesFor = ({ type, id }: ReleaseLinkRecipient): Sql =>
  selectRangesOfLink(sql.raw('v.organization'), { type: sql`${type}::text`, id: sql`${id}::text` });

/** Returns the version that a file is uploaded to. It checks no permission. */
export const loadReleaseUploadTarget = async (
  database: Database,
  version: string,
  recipient: ReleaseLinkRecipient,
): Promise<ReleaseUploadTarget> => {
  const row = await database.row<ReleaseUploadTarget>(sql`
    select v.organization, so.version as "organizationVersion", v.key_id as "keyId",
           (select k.ascii_armor ${FROM_VERSION_KEY}) as armor, ${buildSnapshotJson('s')} as snapshot,
           ${selectRangesFor(recipient)} as "allowedRanges"
      from registry_provider_versions v join registry_providers p on p.id = v.provider
      join event_store.streams s on s.stream = v.id
      join event_store.streams so on so.stream = v.organization
     where v.id = ${version}`);
  if (!row) throw notFound('This version has been deleted');
  return row;
};

export type UploadAttempt = { readonly id: string; readonly attempt: string };

/** Serializes removing a file and beginning to upload it. */
const lockOf = (id: string): Sql => sql`select pg_advisory_xact_lock(event_store.lock_of(${`upload ${id}`}))`;

/** Records, before each attempt, that a file may be stored. */
export const recordUploadAttempt = async (
  database: Database,
  { id, attempt }: UploadAttempt,
  now: Date,
): Promise<void> => {
  const note = sql`
    insert into registry.open_uploads (id, attempt, since) values (${id}, ${attempt}, ${now.toISOString()})`;
  await database.transaction([lockOf(id), note]);
};

/** Deletes the note of an attempt that an event has recorded or that stored nothing. Notes of other attempts remain. */
export const deleteUploadAttempt = ({ id, attempt }: UploadAttempt): Sql =>
  sql`delete from registry.open_uploads where id = ${id} and attempt = ${attempt}`;

/** Condition: an event has recorded the file, so that the upload is complete. */
const isRecorded = sql.raw(`(
  exists (select 1 from registry_provider_platforms l where l.id = u.id and l.size is not null)
  or exists (select 1 from registry_provider_versions v
              where v.id = split_part(u.id, '/', 1)
                and split_part(u.id, '/', 2) in (v.shasums ->> 'sha256', v.signature ->> 'sha256')))`);

/** Condition: no attempt for this file began after `before`. */
const isAbandoned = (before: Date): Sql => sql`
  u.since < ${before.toISOString()}
  and not exists (select 1 from registry.open_uploads later
                   where later.id = u.id and later.since >= ${before.toISOString()})`;

/** Returns ids of files for which every attempt began before `before`. */
export const listAbandonedFiles = async (
  database: Database,
  before: Date,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await database.rows<{ id: string }>(sql`
    select distinct u.id from registry.open_uploads u where ${isAbandoned(before)} order by u.id limit ${limit}`);
  return rows.map(({ id }) => id);
};

/**
 * Removes an abandoned file that no event has recorded, and its notes. New uploads of the file wait until the removal
 * has finished.
 */
export const removeAbandonedFile = async (
  session: DatabaseSession,
  { id, before, remove }: { readonly id: string; readonly before: Date; readonly remove: () => Promise<void> },
): Promise<void> => {
  await session.pipeline([sql`begin`, lockOf(id)]);
  const [note] = await session.run<{ isRecorded: boolean }>(sql`
    select ${isRecorded} as "isRecorded" from registry.open_uploads u where u.id = ${id} and ${isAbandoned(before)}`);
  if (note?.isRecorded === false) await remove();
  await session.pipeline([...(note ? [sql`delete from registry.open_uploads where id = ${id}`] : []), sql`commit`]);
};

/** A file that can be downloaded. `sha256` leads to its content in the store. */
type DownloadTarget = {
  readonly filename: string;
  readonly sha256: string;
  readonly size: number;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

type FileRow = Omit<DownloadTarget, 'filename'> & { readonly name: string; readonly version: string };

/** Selects SHA256SUMS or its signature; the version determines their names. */
const selectFile = (column: 'shasums' | 'signature', recipient: ReleaseLinkRecipient): Sql => {
  const file = sql.raw(`v.${column}`);
  return sql`select p.name, v.version, ${file} ->> 'sha256' as sha256, (${file} ->> 'size')::bigint as size,
                    ${selectRangesFor(recipient)} as "allowedRanges"
               from registry_provider_versions v join registry_providers p on p.id = v.provider`;
};

/** Returns null if the file does not exist, or is a signature that is not verified yet. */
export const findDownloadTarget = async (
  database: Database,
  { file, recipient }: { readonly file: ReleaseFile; readonly recipient: ReleaseLinkRecipient },
): Promise<DownloadTarget | null> => {
  if (file.kind === 'binary') {
    const archive = await database.row<DownloadTarget>(sql`
      select l.filename, l.shasum as sha256, l.size, ${selectRangesFor(recipient)} as "allowedRanges"
        from registry_provider_platforms l join registry_provider_versions v on v.id = l.version
        join registry_providers p on p.id = v.provider
       where l.id = ${file.platform} and l.size is not null`);
    return archive ?? null;
  }
  const [statement, nameOf] =
    file.kind === 'shasums'
      ? [
          sql`${selectFile('shasums', recipient)} where v.id = ${file.version} and v.shasums is not null`,
          formatChecksumsName,
        ]
      : [
          sql`${selectFile('signature', recipient)} where v.id = ${file.version} and (v.signature ->> 'verified')::boolean`,
          formatSignatureName,
        ];
  const row = await database.row<FileRow>(statement);
  if (!row) return null;
  const { sha256, size, allowedRanges } = row;
  return { filename: nameOf(row), sha256, size, allowedRanges };
};
