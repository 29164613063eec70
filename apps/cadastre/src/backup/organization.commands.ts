import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import {
  createArchive,
  openArchive,
  ORGANIZATION_EXPORT,
  parseBackupLocation,
  type BackupArchive,
} from '#operations/backup';
import { StartupError, SystemClock, VERSION } from '#platform/host';
import type { Settings } from '#platform/settings';
import { removeIpAllowlist } from '#organizations/ip-allowlists';
import { getErrorCode } from '#platform/kernel';
import {
  checkOrganizationExport,
  exportOrganization,
  importOrganization,
  parseUserMapping,
  readOrganizationManifest,
  type ImportPlan,
  type OrganizationManifest,
  type UserMapping,
} from '#operations/organization-moves';
import { ENCRYPTED_FILES, moduleDefinitions } from '../../../modules.js';
import type { Runtime } from '../../../runtime.js';
import { loadCommandSettings, runResumable, withErrorReport } from '../command-actions.js';
import { withRuntime } from '../command-runtime.js';
import { promptAtTerminal, requireConfirmation } from '../confirmation.js';
import { printLine } from '../output.js';
import { addLocationOptions, type BackupOptions } from './backup-options.js';
import { formatImportPlan } from './import-plan.js';
import { formatMegabytes, formatSince, TerminalProgress } from './backup-progress.js';
import { isWithin, openBackupStore, prepareBackupFolder, readArchiveKey } from './backup-store.js';

/** The key is never that of the site, because the other site has another one. */
type OrganizationExportOptions = BackupOptions & { readonly keyFile: string };

type OrganizationImportOptions = OrganizationExportOptions & {
  readonly mapUser?: readonly UserMapping[];
  readonly check?: boolean;
  readonly yes?: boolean;
};

/** Parses one of several options `OLD=NEW`. */
const collectUserMapping = (text: string, before: readonly UserMapping[] = []): readonly UserMapping[] => {
  const mapping = parseUserMapping(text);
  if (mapping) return [...before, mapping];
  throw new InvalidArgumentError(`must be OLD=NEW, with the name or the id of a user on each side, got "${text}"`);
};

const KEY_LENGTH = 32;

/** Creates the file if it does not exist. Returns whether it was created. */
const createKeyFile = async (file: string, destination: string): Promise<boolean> => {
  const location = parseBackupLocation(destination);
  if (location?.kind === 'folder' && isWithin(resolve(file), location.folder)) {
    throw new StartupError('--key-file: the key would be among the files that it protects; name another folder');
  }
  try {
    await writeFile(file, `${randomBytes(KEY_LENGTH).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw new StartupError(`--key-file: ${file} cannot be written (${getErrorCode(error) ?? String(error)})`);
  }
};

const describeContent = ({ snapshot: { organization, events, last, files } }: OrganizationManifest): string =>
  `${organization.name} with ${events} events, up to position ${last.position}, and ${files.count} files ` +
  `(${formatMegabytes(files.bytes)})`;

const toSite = ({ store, blobs, encryptionKeys, clock, ids }: Runtime) => ({
  store,
  blobs,
  encryptionKeys,
  clock,
  ids,
  encryptedFiles: ENCRYPTED_FILES,
  definitions: moduleDefinitions,
});

/** Resolves to true. */
const runOrganizationExport = async (
  settings: Settings,
  { name, destination }: { readonly name: string; readonly destination: string },
  options: OrganizationExportOptions,
  stopping: AbortSignal,
): Promise<boolean> => {
  const started = performance.now();
  const target = await openBackupStore(destination, options, settings, { clock: new SystemClock(), noun: 'export' });
  const progress = new TerminalProgress();
  await withRuntime(settings, async (runtime) => {
    if (await createKeyFile(options.keyFile, destination)) {
      printLine(`Created the key ${options.keyFile}. The import needs it. Keep it apart from the export.`);
    }
    await prepareBackupFolder(destination);
    const archive = await createArchive(target, await readArchiveKey(options, settings), ORGANIZATION_EXPORT);
    const site = { ...toSite(runtime), publicUrl: settings.publicUrl, version: VERSION };
    const control = { signal: stopping, report: progress.report };
    const manifest = await exportOrganization(site, name, archive, control).finally(() => progress.clear());
    printLine(`Exported ${describeContent(manifest)} to ${destination} in ${formatSince(started)}.`);
  });
  return true;
};

const requireManifest = async (archive: BackupArchive): Promise<OrganizationManifest> => {
  const manifest = await readOrganizationManifest(archive);
  if (manifest) return manifest;
  throw new StartupError(
    'the export is unfinished; run cadastre organization export again to finish it, or use another export',
  );
};

/** Prints what the import gives to people and pipelines. Throws unless the operator agrees. */
const approveImport = async (
  plan: ImportPlan,
  { yes }: OrganizationImportOptions,
  progress: TerminalProgress,
): Promise<void> => {
  progress.clear();
  printLine(formatImportPlan(plan));
  if (!yes) await requireConfirmation(plan.organization, promptAtTerminal());
};

/** Resolves to true. */
const runOrganizationImport = async (
  settings: Settings,
  source: string,
  options: OrganizationImportOptions,
  stopping: AbortSignal,
): Promise<boolean> => {
  const started = performance.now();
  const store = await openBackupStore(source, options, settings, { clock: new SystemClock(), noun: 'export' });
  const archive = await openArchive(store, await readArchiveKey(options, settings), ORGANIZATION_EXPORT);
  const manifest = await requireManifest(archive);
  const progress = new TerminalProgress();
  const control = { signal: stopping, report: progress.report };
  if (options.check) {
    await checkOrganizationExport(archive, manifest, moduleDefinitions, control).finally(() => progress.clear());
    printLine(`The export is complete and readable: ${describeContent(manifest)}. Checked in ${formatSince(started)}.`);
    return true;
  }
  await withRuntime(settings, async (runtime) => {
    const imported = await importOrganization(
      toSite(runtime),
      { archive, manifest },
      { mappings: options.mapUser ?? [], approve: (plan) => approveImport(plan, options, progress) },
      control,
    ).finally(() => progress.clear());
    printLine(`Imported ${describeContent(manifest)} in ${formatSince(started)}.`);
    printLine(
      `Created ${imported.createdUsers} users without tokens. Destroyed ${imported.destroyedTokens} tokens of the ` +
        'organization, which work only at the other site.',
    );
  });
  return true;
};

const runIpAllowlistRemoval = (settings: Settings, name: string): Promise<void> =>
  withRuntime(settings, async ({ store, ids }) => {
    const removed = await removeIpAllowlist(store, ids, name);
    printLine(
      removed === null
        ? `No IP allowlist restricts ${name}.`
        : `Removed the IP allowlist ${removed} of ${name}. Its members can use every address again.`,
    );
  });

/** Adds `organization export`, `organization import` and `organization remove-ip-allowlist`. */
export const addOrganizationCommands = (program: Command): void => {
  const organization = program
    .command('organization')
    .description('organizations: export, import, remove-ip-allowlist');

  organization
    .command('remove-ip-allowlist <name>')
    .description('delete the IP allowlist that keeps the owners of an organization out; lists for agents stay')
    .action(withErrorReport(async (name: string) => runIpAllowlistRemoval(await loadCommandSettings(), name)));

  addLocationOptions(
    organization
      .command('export <name> <destination>')
      .description('export events, secrets, files and users of an organization, encrypted, while the server runs')
      .requiredOption('--key-file <file>', 'file with the key of the export; created if it does not exist'),
  ).action(
    withErrorReport((name: string, destination: string, options: OrganizationExportOptions) =>
      runResumable(async (stopping) =>
        runOrganizationExport(await loadCommandSettings(), { name, destination }, options, stopping),
      ),
    ),
  );

  addLocationOptions(
    organization
      .command('import <source>')
      .description('import an exported organization into this site: everything, or nothing if it is refused')
      .requiredOption('--key-file <file>', 'file with the key of the export')
      .option('--map-user <old=new>', 'a user of the export is this user of the site; repeatable', collectUserMapping)
      .option('--check', 'read and check the whole export, and import nothing')
      .option('--yes', 'do not ask before the access that the import adds is created'),
  ).action(
    withErrorReport((source: string, options: OrganizationImportOptions) =>
      runResumable(async (stopping) => runOrganizationImport(await loadCommandSettings(), source, options, stopping)),
    ),
  );
};
