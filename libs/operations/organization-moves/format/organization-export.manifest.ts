import { z } from 'zod';
import { backupPart, tableExport, type BackupArchive, type BackupPart } from '#operations/backup';
import type { ImportedEvent } from '#storage/event-store';

/** A text that a command prints. Control characters could change what the terminal shows. */
const line = z.string().regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, { error: 'contains control characters' });

const MAX_CHECKPOINT_LENGTH = 65_536;

/** What an export contains at its position, apart from the events. It is stored when the files are complete. */
export const organizationSnapshot = z.object({
  organization: z.object({ id: line, name: line }),
  /** The public URL of the site. */
  source: line,
  /** The version of Cadastre. */
  madeBy: line,
  takenAt: z.iso.datetime(),
  /** Which events the export contains, as Postgres writes a pg_snapshot. */
  visible: z.string(),
  events: z.number().int(),
  /** The last event of the organization in the order of the log. */
  last: z.object({ transaction: z.string(), position: z.number().int(), id: z.uuid() }),
  /** The migrations that ran, as `module/name`. */
  migrations: z.array(z.string()),
  /** Values that a site encrypts with its key are readable in these rows. */
  tables: z.array(tableExport),
  /** The newest checkpoint of the log of the audit trail, if it has one. Exports of earlier versions have none. */
  trailCheckpoint: z.string().max(MAX_CHECKPOINT_LENGTH).nullable().default(null),
  files: z.object({ count: z.number().int(), bytes: z.number().int(), parts: z.array(backupPart) }),
});
export type OrganizationSnapshot = z.infer<typeof organizationSnapshot>;

/** The first line of a part of the events: the position of its last event in the log of the site. */
export const eventPartHead = z.object({ transaction: z.string(), position: z.number().int() });

/** The people that the events name, as far as the site has accounts for them or has forgotten them. */
export const exportedPeople = z.object({
  accounts: z.array(z.object({ id: line, username: line, email: line.nullable() })),
  forgotten: z.array(line),
});
export type ExportedPeople = z.infer<typeof exportedPeople>;

/** The last file of an export. An export without it is unfinished. */
const organizationManifest = z.object({
  snapshot: organizationSnapshot,
  /** The first line of each part is its head; each of the others is an event. */
  events: z.array(backupPart),
  people: exportedPeople,
});
export type OrganizationManifest = z.infer<typeof organizationManifest>;

const exportedRow = z.record(z.string(), z.unknown());
export type ExportedRow = Readonly<z.infer<typeof exportedRow>>;

export const SNAPSHOT = 'snapshot';
export const MANIFEST = 'manifest';

/** Returns the parsed value. Throws the archive's error about damage if the value does not have the expected format. */
const parseOrDescribeDamage = async <T>(
  archive: BackupArchive,
  name: string,
  parse: () => T | Promise<T>,
): Promise<T> => {
  try {
    return await parse();
  } catch (cause) {
    if (cause instanceof z.ZodError || cause instanceof SyntaxError)
      throw archive.describeDamage(`${name} does not have the format of exports`, { cause });
    throw cause;
  }
};

export const readOrganizationManifest = (archive: BackupArchive): Promise<OrganizationManifest | null> =>
  parseOrDescribeDamage(archive, MANIFEST, () => archive.readJson(MANIFEST, organizationManifest));

/** Returns the events of a part. */
export const readEvents = async (archive: BackupArchive, part: BackupPart): Promise<readonly ImportedEvent[]> => {
  const [, ...lines] = await archive.readLines(part);
  return parseOrDescribeDamage(archive, part.name, () => lines.map(parseEvent));
};

/** Returns the rows of a part of a table. */
export const readRows = async (archive: BackupArchive, part: BackupPart): Promise<readonly ExportedRow[]> => {
  const lines = await archive.readLines(part);
  return parseOrDescribeDamage(archive, part.name, () => lines.map((text) => exportedRow.parse(JSON.parse(text))));
};

const context = z.object({
  accessor: z.object({ id: z.string(), type: z.string(), name: z.string() }),
  auth: z.enum(['Client', 'Impersonated', 'System']),
  impersonator: z.string().nullable(),
  request: z.object({
    id: z.string().nullable(),
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
  }),
  linkOf: z.string().exactOptional(),
  origin: z.strictObject({ from: z.string(), id: z.string(), time: z.iso.datetime().nullable() }).exactOptional(),
  correlation: z.string(),
  causation: z.string().nullable(),
});

const exportedEvent = z.object({
  id: z.uuid(),
  stream: z.string(),
  version: z.number().int(),
  type: z.string(),
  schemaVersion: z.number().int().min(1),
  organization: z.string(),
  time: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
  context,
});

export const formatEvent = ({
  id,
  stream,
  version,
  type,
  schemaVersion,
  organization,
  time,
  data,
  context: caller,
}: ImportedEvent): string =>
  JSON.stringify({ id, stream, version, type, schemaVersion, organization, time, data, context: caller });

export const parseEvent = (line: string): ImportedEvent => exportedEvent.parse(JSON.parse(line)) as ImportedEvent;
