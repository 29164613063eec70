import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  formatReport,
  ImportSourceError,
  renderReport,
  type ImportContext,
  type SourceConnection,
} from '#operations/service-imports';
import { createOutboundFetch, PrivateHosts } from '#platform/outbound';
import { StartupError } from '#platform/host';
import type { Settings } from '#platform/settings';
import { TerminalProgress } from '../backup/backup-progress.js';
import { loadCommandSettings, runResumable, withErrorReport } from '../command-actions.js';
import { withRuntime } from '../command-runtime.js';
import { printLine } from '../output.js';
import { parseCount } from '../seed/seed-options.js';
import { MAX_STATE_BYTES } from './import-gateway.js';
import {
  parseSourceAddress,
  readSourceToken,
  readSuppliedValues,
  requireOrganizationName,
  TOKEN_VARIABLE,
  writeSuppliedValues,
  type ServiceImportOptions,
} from './import-options.js';
import { runServiceImport, type ImportResult } from './run-import.js';

const DOCUMENTS = { timeoutMs: 60_000, maxBytes: 32 * 1024 * 1024, returnsRedirects: true };
const FILES = { timeoutMs: 600_000, maxBytes: MAX_STATE_BYTES, returnsRedirects: true };

const connect = async (
  settings: Settings,
  options: ServiceImportOptions,
  signal: AbortSignal,
): Promise<SourceConnection> => ({
  address: parseSourceAddress(options.from),
  token: await readSourceToken(options),
  requestsPerSecond: options.rate,
  documents: createOutboundFetch({ privateHosts: null, ...DOCUMENTS }),
  files: createOutboundFetch({ privateHosts: null, ...FILES }),
  foreignFiles: createOutboundFetch({ privateHosts: new PrivateHosts(settings.outboundPrivateHosts), ...FILES }),
  now: () => performance.now(),
  pause: (ms) => delay(ms, undefined, { signal }),
});

const MODES = ['apply', 'verify', 'finish', 'undo'] as const;

const chooseMode = (options: ServiceImportOptions): ImportContext['mode'] => {
  const [mode, ...others] = MODES.filter((name) => options[name]);
  if (others.length > 0) throw new StartupError(`${MODES.map((name) => `--${name}`).join(', ')}: choose one`);
  return mode ?? 'dry run';
};

/** With them, the copy is not the same as the original. What is withheld is left out on purpose. */
const NOT_THE_SAME = ['created', 'differs', 'kept', 'waiting', 'failed'] as const;

const toFailure = (error: unknown): unknown =>
  error instanceof ImportSourceError
    ? new StartupError(`--from: ${error.message}. The report has what was copied; run the import again to continue`)
    : error;

const printResult = async (
  { summary, report }: ImportResult,
  { report: file }: ServiceImportOptions,
): Promise<void> => {
  const text = formatReport(summary, report);
  if (file === undefined) return printLine(text);
  await writeFile(`${file}.md`, text);
  await writeFile(`${file}.json`, `${JSON.stringify(renderReport(summary, report), null, 2)}\n`);
  printLine(`Wrote ${file}.md and ${file}.json.`);
};

/** Resolves to whether everything was copied, or is the same. */
const runImport = async (
  settings: Settings,
  options: ServiceImportOptions,
  stopping: AbortSignal,
): Promise<boolean> => {
  const organization = requireOrganizationName('--organization', options.organization);
  const into = requireOrganizationName('--into', options.into ?? options.organization);
  const mode = chooseMode(options);
  const connection = await connect(settings, options, stopping);
  const values = await readSuppliedValues(options);
  const progress = new TerminalProgress();
  let isComplete = false;
  await withRuntime(settings, async (runtime) => {
    const task = { connection, organization, into, owner: options.owner, values, mode, signal: stopping };
    const control = { newestStates: options.states ?? null, progress: progress.report };
    const result = await runServiceImport(runtime, { ...task, ...control }).finally(() => progress.clear());
    await writeSuppliedValues(options, values);
    await printResult(result, options);
    if (result.failure) throw toFailure(result.failure.error);
    isComplete = (mode === 'verify' ? NOT_THE_SAME : (['failed'] as const)).every(
      (outcome) => result.report.count(outcome) === 0,
    );
    if (mode === 'dry run') printLine('Nothing was changed. Add --apply to create what is missing.');
  });
  return isComplete;
};

/** Adds `import`. */
export const addImportCommand = (program: Command): void => {
  program
    .command('import')
    .description('copy an organization from HCP Terraform, TFE, OTF or another Cadastre; a dry run without --apply')
    .requiredOption('--from <url>', 'address of the source, such as https://app.terraform.io')
    .requiredOption('--organization <name>', 'organization at the source')
    .requiredOption('--owner <user>', 'user of this site who owns the organization that gets the copies')
    .option('--into <name>', 'organization of this site that gets the copies; by default, the one with the same name')
    .option('--token-file <file>', `file with a token of the source; by default, ${TOKEN_VARIABLE} has it`)
    .option('--values <file>', 'JSON file with values that the source does not return; missing entries are added')
    .option('--report <name>', 'write the report to NAME.md and NAME.json instead of printing it')
    .option('--apply', 'create what is missing; run it again to continue after an interruption')
    .option('--verify', 'compare both sides, and change nothing')
    .option('--finish', 'lock each workspace at the source, copy its last states, and unlock the copy')
    .option('--undo', 'lock the copies, and unlock the workspaces that --finish has locked at the source')
    .option('--states <n>', 'copy only the newest state versions of each workspace', parseCount(1, 100_000))
    .option('--rate <n>', 'requests to the source in a second', parseCount(1, 1_000), 20)
    .action(
      withErrorReport((options: ServiceImportOptions) =>
        runResumable(async (stopping) => runImport(await loadCommandSettings(), options, stopping)),
      ),
    );
};
