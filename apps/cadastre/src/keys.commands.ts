import type { Command } from 'commander';
import { EncryptedBlobs, MAX_LINK_LIFETIME_MS, reencryptFiles } from '#storage/blob-store';
import { computeKeyFingerprint, formatKeyId } from '#platform/encryption';
import {
  completeRotation,
  listEncryptedColumns,
  listUnpreparedProcesses,
  readRotationState,
  reencryptColumn,
  switchWritingKey,
  tryRotationLock,
  type RotationState,
} from '#storage/event-store';
import { StartupError } from '#platform/host';
import type { Settings } from '#platform/settings';
import type { DatabaseSession } from '#platform/postgres';
import { ENCRYPTED_FILES, moduleDefinitions } from '../../modules.js';
import type { Runtime } from '../../runtime.js';
import { countAllKeyUses, type KeyUseOfKind } from './key-uses.js';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { withRuntime } from './command-runtime.js';
import { createProgressReporter, formatTable, printLine } from './output.js';
import { addWrappedKeyCommands } from './wrapped-keys.commands.js';

const COLUMNS = listEncryptedColumns(moduleDefinitions);

/** Prints how many values each key protects. */
const runKeysStatus = (settings: Settings, { json }: { readonly json?: boolean }): Promise<void> =>
  withRuntime(settings, async (runtime) => {
    const progress = createProgressReporter('files examined');
    const uses = await countAllKeyUses(runtime, (prefix) => progress(prefix, 1));
    const state = await readRotationState(runtime.store.database);
    if (json) return printLine(JSON.stringify({ ...state, uses }, null, 2));
    printLine(formatTable(['KEY', 'ID', ...uses.map(({ kind }) => kind)], listKeyRows(runtime, uses)));
    printLine(describeState(runtime, state));
  });

const listKeyRows = ({ encryptionKeys }: Runtime, uses: readonly KeyUseOfKind[]): readonly (readonly string[])[] => {
  const { current, previous, writing } = encryptionKeys;
  const describeKey = (name: string, key: Buffer): readonly string[] => [
    key === writing ? `${name}, encrypts` : name,
    formatKeyId(computeKeyFingerprint(key)),
  ];
  return [
    [...describeKey('current', current), ...uses.map((use) => String(use.current))],
    ...(previous ? [[...describeKey('previous', previous), ...uses.map((use) => String(use.previous))]] : []),
    ['not configured', '–', ...uses.map((use) => String(use.missing))],
  ];
};

const describeState = (
  { encryptionKeys: { current, previous, writing }, clock }: Runtime,
  { isRotating, switchedAt }: RotationState,
): string => {
  if (isRotating || writing !== current) return 'The rotation is not complete: run cadastre keys rotate.';
  if (previous === null) return 'No rotation is due.';
  return describeRemoval(switchedAt, clock.now());
};

/** Returns when the operator may remove the previous key. */
const describeRemoval = (switchedAt: string | null, now: Date): string => {
  const linksEnd = new Date(Date.parse(switchedAt ?? '1970-01-01') + MAX_LINK_LIFETIME_MS);
  return linksEnd > now
    ? `Remove CADASTRE_ENCRYPTION_KEY_PREVIOUS after ${linksEnd.toISOString()}: links that were signed with that key ` +
        'work until then. No value needs it.'
    : 'You can remove CADASTRE_ENCRYPTION_KEY_PREVIOUS now: nothing needs that key.';
};

/**
 * Encrypts every value with the current key while servers run. An interrupted rotation continues where it was. Returns
 * false if values are damaged; they keep their key.
 */
const runKeysRotate = async (settings: Settings): Promise<boolean> => {
  let isComplete = false;
  await withRuntime(settings, async (runtime) => {
    const { database } = runtime.store;
    const session = await database.session();
    try {
      if (!(await tryRotationLock(session)))
        throw new StartupError('another keys rotate, or a backup, is running; wait until it ends');
      isComplete = await rotate(runtime, session);
    } finally {
      await session.close();
    }
  });
  return isComplete;
};

const rotate = async (runtime: Runtime, session: DatabaseSession): Promise<boolean> => {
  const { store, encryptionKeys, clock, closing } = runtime;
  const before = await readRotationState(store.database);
  if (encryptionKeys.previous === null) {
    throw new StartupError(
      'CADASTRE_ENCRYPTION_KEY_PREVIOUS: missing; set it to the key until now, and CADASTRE_ENCRYPTION_KEY to the new key',
    );
  }
  if (before.isRotating || encryptionKeys.writing !== encryptionKeys.current) {
    await requirePreparedProcesses(runtime);
    await switchWritingKey(session, encryptionKeys, COLUMNS, { signal: closing });
    printLine('All processes encrypt and sign with the current key.');
    if (!(await reencryptEverything(runtime, session))) return false;
    await completeRotation(session);
  }
  const { switchedAt } = await readRotationState(store.database);
  printLine(`All values are encrypted with the current key. ${describeRemoval(switchedAt, clock.now())}`);
  return true;
};

const requirePreparedProcesses = async ({ store, encryptionKeys }: Runtime): Promise<void> => {
  const unprepared = await listUnpreparedProcesses(store.database, encryptionKeys);
  if (unprepared.length === 0) return;
  const processes = unprepared.map(({ name, address }) => `${name} (${address ?? 'this host'})`).join('; ');
  throw new StartupError(
    `these processes do not have the current key: ${processes}. Restart them with CADASTRE_ENCRYPTION_KEY and ` +
      'CADASTRE_ENCRYPTION_KEY_PREVIOUS, then run this again. Nothing was changed',
  );
};

const MAX_LISTED = 10;

const describeDamage = (kind: string, damaged: readonly string[]): string => {
  const more = damaged.length > MAX_LISTED ? ` and ${damaged.length - MAX_LISTED} more` : '';
  return `${kind}: ${damaged.length} DAMAGED, no configured key decrypts them: ${damaged.slice(0, MAX_LISTED).join(', ')}${more}`;
};

/** Returns false if values are damaged. */
const reencryptEverything = async ({ encryptionKeys, blobs }: Runtime, session: DatabaseSession): Promise<boolean> => {
  const progress = createProgressReporter('values examined');
  let isIntact = true;
  const report = (kind: string, { reencrypted, damaged }: Awaited<ReturnType<typeof reencryptFiles>>): void => {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    printLine(`${kind}: ${reencrypted} encrypted again`);
    if (damaged.length > 0) printLine(describeDamage(kind, damaged));
    isIntact &&= damaged.length === 0;
  };
  for (const column of COLUMNS) {
    const onBatch = (values: number): void => progress(column.table, values);
    report(column.table, await reencryptColumn(session, encryptionKeys, column, onBatch));
  }
  const files = new EncryptedBlobs(blobs, encryptionKeys);
  for (const segment of ENCRYPTED_FILES) {
    report(segment, await reencryptFiles(files, segment, () => progress(segment, 1)));
  }
  return isIntact;
};

/** Adds `keys status`, `keys rotate`, and the commands for wrapped keys. */
export const addKeysCommands = (program: Command): void => {
  const keys = program
    .command('keys')
    .description('encryption keys of the site: status, rotate, create, wrap, unwrap, rewrap');

  keys
    .command('status')
    .description('count the values that each key protects; reads the beginning of every encrypted file')
    .option('--json', 'print JSON')
    .action(
      withErrorReport(async (options: { json?: boolean }) => runKeysStatus(await loadCommandSettings(), options)),
    );

  keys
    .command('rotate')
    .description(
      'encrypt everything with CADASTRE_ENCRYPTION_KEY instead of CADASTRE_ENCRYPTION_KEY_PREVIOUS, while servers run; ' +
        'exits with 1 if values are damaged',
    )
    .action(
      withErrorReport(async () => {
        if (!(await runKeysRotate(await loadCommandSettings()))) process.exitCode = 1;
      }),
    );
  addWrappedKeyCommands(keys);
};
