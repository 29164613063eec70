import { z } from 'zod';

/** Rises if an earlier version of Cadastre cannot read the backups of this one. */
export const FORMAT_VERSION = 1;

const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** The only file of a backup that is not encrypted. Changing it makes the other files unreadable. */
export const backupHeader = z.object({
  format: z.enum(['cadastre-backup', 'cadastre-organization']),
  version: z.number().int(),
  id: z.uuid(),
  salt: z.string(),
  /** Identifies the key: see computeKeyCheck. */
  keyCheck: z.string(),
});
export type BackupHeader = z.infer<typeof backupHeader>;

/** A gzipped file with one JSON document a line. `sha256` is the digest of its content, as hexadecimal digits. */
export const backupPart = z.object({ name: z.string(), lines: z.number().int(), sha256: digest });
export type BackupPart = z.infer<typeof backupPart>;

const logPosition = z.object({ transaction: z.string(), position: z.number().int() });

export const tableExport = z.object({
  table: z.string(),
  /** In the order of the members of the rows. */
  columns: z.array(z.string().regex(/^[a-z_]+$/)),
  parts: z.array(backupPart),
});
export type TableExport = z.infer<typeof tableExport>;

const follower = logPosition.extend({ follower: z.string() });

/** The first encrypted file. The other files have values and files that this key encrypts. */
export const backupOrigin = z.object({
  /** The fingerprint of the site's encryption key, as hexadecimal digits. */
  siteKey: z.string(),
});

/** What a backup contains at its position, apart from the log. It is stored when the files are complete. */
export const backupSnapshot = backupOrigin.extend({
  /** The version of Cadastre. */
  madeBy: z.string(),
  takenAt: z.string(),
  /** Which events the backup contains, as Postgres writes a pg_snapshot. */
  visible: z.string(),
  events: z.number().int(),
  /** The last event in the order of the log; null if there is none. */
  last: logPosition.extend({ id: z.uuid(), time: z.string() }).nullable(),
  /** The key of MACs in the log, encrypted with the site's key, in base64; null if the site has never rotated its key. */
  macKey: z.string().nullable(),
  /** The migrations that ran, as `module/name`. */
  migrations: z.array(z.string()),
  followers: z.array(follower),
  tables: z.array(tableExport),
  files: z.object({ count: z.number().int(), bytes: z.number().int(), parts: z.array(backupPart) }),
});
export type BackupSnapshot = z.infer<typeof backupSnapshot>;

/** The first line of a part of the log. Parts contain complete transactions. */
export const logPartHead = z.object({
  lastTransaction: z.string(),
  minPosition: z.number().int(),
  maxPosition: z.number().int(),
  /** The highest time of an event, in milliseconds since 1970. */
  maxTime: z.number().int(),
});
const logPart = backupPart.extend(logPartHead.shape);
/** The first line is the head; each of the others is an event. */
export type LogPart = z.infer<typeof logPart>;

/** The last file of a backup. A backup without it is unfinished. */
export const backupManifest = z.object({ snapshot: backupSnapshot, log: z.array(logPart) });
export type BackupManifest = z.infer<typeof backupManifest>;

/** A line of a list of files. */
export const backedUpFile = z.object({ key: z.string(), size: z.number().int() });
