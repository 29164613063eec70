import type { Command } from 'commander';
import {
  checkBackup,
  createArchive,
  findCutIn,
  openArchive,
  readManifest,
  restoreBackup,
  writeBackup,
  type BackupArchive,
  type BackupManifest,
  type RestoreCut,
  type RestoreTarget,
} from '#operations/backup';
import { computeKeyFingerprint } from '#platform/encryption';
import { adoptEncryptionKeys } from '#storage/event-store';
import { StartupError, SystemClock, VERSION } from '#platform/host';
import type { Settings } from '#platform/settings';
import { createFollowers, moduleDefinitions } from '../../../modules.js';
import type { Runtime } from '../../../runtime.js';
import { loadCommandSettings, runResumable, withErrorReport } from '../command-actions.js';
import { withRuntime } from '../command-runtime.js';
import { verifySite } from '../views.commands.js';
import { printLine } from '../output.js';
import {
  addLocationOptions,
  parsePosition,
  parseTime,
  type BackupOptions,
  type RestoreOptions,
} from './backup-options.js';
import { formatMegabytes, formatSince, TerminalProgress } from './backup-progress.js';
import { openBackupStore, prepareBackupFolder, readArchiveKey, requireSiteKey } from './backup-store.js';

const describeContent = ({ snapshot: { events, last, files } }: BackupManifest): string => {
  const position = last ? `, up to position ${last.position} (${last.time})` : '';
  return `${events} events${position}, and ${files.count} files (${formatMegabytes(files.bytes)})`;
};

/** Resolves to true. */
const runBackup = async (
  settings: Settings,
  destination: string,
  options: BackupOptions,
  stopping: AbortSignal,
): Promise<boolean> => {
  const started = performance.now();
  const target = await openBackupStore(destination, options, settings, { clock: new SystemClock(), noun: 'backup' });
  const progress = new TerminalProgress();
  await withRuntime(settings, async ({ store, blobs, clock, encryptionKeys }) => {
    const { writing } = encryptionKeys;
    const key = options.keyFile === undefined ? writing : await readArchiveKey(options, settings);
    await prepareBackupFolder(destination);
    const archive = await createArchive(target, key);
    const fingerprint = computeKeyFingerprint(writing).toString('hex');
    const site = { blobs, definitions: moduleDefinitions, key: fingerprint, clock, version: VERSION };
    const control = { signal: stopping, report: progress.report };
    const manifest = await writeBackup(store.database, site, archive, control).finally(() => progress.clear());
    printLine(`Backed up ${describeContent(manifest)} to ${destination} in ${formatSince(started)}.`);
  });
  return true;
};

const toTarget = ({ toPosition, toTime }: RestoreOptions): RestoreTarget => {
  if (toPosition !== undefined && toTime !== undefined)
    throw new StartupError('--to-position and --to-time: name only one of them');
  if (toPosition !== undefined) return { to: 'position', position: toPosition };
  return toTime === undefined ? { to: 'end' } : { to: 'time', ms: toTime };
};

const requireManifest = async (archive: BackupArchive): Promise<BackupManifest> => {
  const manifest = await readManifest(archive);
  if (manifest) return manifest;
  throw new StartupError('the backup is unfinished; run cadastre backup again to finish it, or use another backup');
};

const requireCut = async (
  archive: BackupArchive,
  manifest: BackupManifest,
  target: RestoreTarget,
): Promise<RestoreCut> => {
  const cut = await findCutIn(archive, manifest, target);
  if (!cut)
    throw new StartupError(
      `--to-position: the backup has no event at this position; it contains ${describeContent(manifest)}`,
    );
  if (cut.parts === 0 && cut.events === 0 && !cut.isWhole)
    throw new StartupError(
      `--to-time: the backup has no event before this time; it contains ${describeContent(manifest)}`,
    );
  return cut;
};

const requireSameKey = (key: Buffer, { snapshot }: BackupManifest): void => {
  if (computeKeyFingerprint(key).toString('hex') === snapshot.siteKey) return;
  throw new StartupError(
    'CADASTRE_ENCRYPTION_KEY: this is not the key of the site that made the backup; set that key. Nothing was changed',
  );
};

/** Followers that compute no view, and continue where they were. */
const listFollowers = (runtime: Runtime, { republish }: RestoreOptions): readonly string[] => [
  ...createFollowers(runtime)
    .filter(({ tables }) => tables.length === 0)
    .map(({ name }) => name),
  ...(republish ? [] : ['publisher']),
];

/** Returns false if the restored views differ from the log. */
const runRestore = async (
  settings: Settings,
  source: string,
  options: RestoreOptions,
  stopping: AbortSignal,
): Promise<boolean> => {
  const target = toTarget(options);
  const store = await openBackupStore(source, options, settings, { clock: new SystemClock(), noun: 'backup' });
  const archive = await openArchive(store, await readArchiveKey(options, settings));
  const manifest = await requireManifest(archive);
  if (options.check) return runCheck(archive, manifest, stopping);
  requireSameKey(await requireSiteKey(settings), manifest);
  const cut = await requireCut(archive, manifest, target);
  let isClean = false;
  await withRuntime(
    settings,
    async (runtime) => {
      await restore(runtime, { archive, manifest, cut }, options, stopping);
      await adoptEncryptionKeys(runtime.databaseUrl, moduleDefinitions, runtime.encryptionKeys);
      isClean = await verifySite(runtime, stopping);
    },
    { mayInitialise: true, mayContinueRestore: true },
  );
  return isClean;
};

const runCheck = async (archive: BackupArchive, manifest: BackupManifest, signal: AbortSignal): Promise<boolean> => {
  const started = performance.now();
  const progress = new TerminalProgress();
  await checkBackup(archive, manifest, { signal, report: progress.report }).finally(() => progress.clear());
  printLine(`The backup is complete and readable: ${describeContent(manifest)}. Checked in ${formatSince(started)}.`);
  return true;
};

const restore = async (
  runtime: Runtime,
  backup: { readonly archive: BackupArchive; readonly manifest: BackupManifest; readonly cut: RestoreCut },
  options: RestoreOptions,
  signal: AbortSignal,
): Promise<void> => {
  const started = performance.now();
  const progress = new TerminalProgress();
  const { store, blobs, clock } = runtime;
  const site = { store, blobs, definitions: moduleDefinitions, followers: listFollowers(runtime, options), clock };
  const control = { signal, report: progress.report };
  const events = await restoreBackup(site, backup, control).finally(() => progress.clear());
  const { count } = backup.manifest.snapshot.files;
  printLine(`Restored ${events} events and ${count} files in ${formatSince(started)}.`);
  if (!backup.cut.isWhole) {
    printLine(
      `The backup has ${backup.manifest.snapshot.events - events} later events, which were left out. ` +
        'Files and secrets that they deleted are not in the backup.',
    );
  }
};

const addKeyOption = (command: Command): Command =>
  command.option(
    '--key-file <file>',
    'file with the key of the backup, 32 bytes in base64, instead of the key of the site',
  );

/** Adds `backup` and `restore`. */
export const addBackupCommands = (program: Command): void => {
  addLocationOptions(
    addKeyOption(
      program
        .command('backup <destination>')
        .description('back up events, secrets and files, encrypted, to an empty folder or s3://BUCKET/PREFIX'),
    ),
  ).action(
    withErrorReport((destination: string, options: BackupOptions) =>
      runResumable(async (stopping) => runBackup(await loadCommandSettings(), destination, options, stopping)),
    ),
  );

  addLocationOptions(
    addKeyOption(
      program
        .command('restore <source>')
        .description('restore a backup into an empty database, rebuild the views, and compare them with the log'),
    )
      .option('--to-position <n>', 'restore events up to the one at this position', parsePosition)
      .option('--to-time <time>', 'restore events up to this time, such as 2026-11-24T10:30:00Z', parseTime)
      .option('--republish', 'publish all events to Kafka again, instead of those that were not published')
      .option('--check', 'read the whole backup, and restore nothing'),
  ).action(
    withErrorReport((source: string, options: RestoreOptions) =>
      runResumable(async (stopping) => runRestore(await loadCommandSettings(), source, options, stopping)),
    ),
  );
};
