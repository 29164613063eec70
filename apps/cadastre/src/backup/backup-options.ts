import { InvalidArgumentError, type Command } from 'commander';

export type BackupOptions = {
  readonly keyFile?: string;
  readonly s3Endpoint?: string;
  readonly s3Region?: string;
  readonly s3PathStyle?: boolean;
};

export type RestoreOptions = BackupOptions & {
  readonly toPosition?: number;
  /** In milliseconds since 1970. */
  readonly toTime?: number;
  readonly republish?: boolean;
  readonly check?: boolean;
};

export const parsePosition = (text: string): number => {
  const position = Number(text);
  if (Number.isSafeInteger(position) && position > 0) return position;
  throw new InvalidArgumentError(`must be a whole number from 1, got "${text}"`);
};

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses a time with its offset from UTC, because the server and the operator can be in different time zones. */
export const parseTime = (text: string): number => {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new InvalidArgumentError(
    `must be a time with Z or an offset, such as 2026-11-24T10:30:00Z or 2026-11-24T11:30:00+01:00, got "${text}"`,
  );
};

/** Adds the options that say where a bucket is. */
export const addLocationOptions = (command: Command): Command =>
  command
    .option('--s3-endpoint <url>', 'address of another store with the S3 protocol (CADASTRE_S3_ENDPOINT)')
    .option('--s3-region <name>', 'region of the bucket (CADASTRE_S3_REGION)')
    .option('--s3-path-style', 'addresses contain the bucket in the path (CADASTRE_S3_PATH_STYLE)');
