import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import {
  describeCheckpoint,
  readCheckpointFile,
  readKeys,
  readPolicy,
  runReported,
  VerifierUsageError,
  type CommandContext,
} from './command-line.js';
import { verifyExport, type ExportReport } from './export-verification.js';
import { isUrl, openLog } from './log-readers.js';
import { readCheckpoint, verifyLog } from './log-verification.js';
import type { OpenedCheckpoint } from './opened-checkpoints.js';
import { PROOF_FIRST_LINE } from './formats/proofs.js';
import { verifyProof } from './proof-verification.js';
import { verifySite, type SiteEntries } from './site-verification.js';
import type { LogFileReader } from './tile-source.js';
import type { VerifierKey } from './verifier-keys.js';
import { requireQuorum, type WitnessPolicy } from './witness-policy.js';

export type VerifyOptions = {
  readonly key?: readonly string[];
  readonly entry?: string | undefined;
  readonly since?: string | undefined;
  readonly url?: string | undefined;
  readonly filtered?: boolean | undefined;
  readonly site?: string | undefined;
  readonly siteCheckpoint?: string | undefined;
  readonly policy?: string | undefined;
};

/** A proof is at most some 100 KB: extra data, 63 hashes and a checkpoint. */
const PROOF_FILE_MAX = 2_000_000;

/**
 * Verifies an export, a proof or a log, prints what was verified, and returns the exit code. `source` is a file, a folder or
 * URL with a log, or `-` for an export at the standard input.
 */
export const runVerify = (source: string, options: VerifyOptions, context: CommandContext): Promise<number> =>
  runReported(context, async () => {
    const policy = await readPolicy(options.policy);
    const keys = await readKeys(options.key ?? [], policy);
    const since = await readCheckpointFile(options.since, keys);
    const target = { source, options, context, keys, since, policy };
    const kind = await findKind(source);
    rejectOtherOptions(kind, options);
    if (kind === 'log') await runVerifyLog(target);
    else if (kind === 'proof') await runVerifyProof(target);
    else await runVerifyExport(target);
  });

type VerifyTarget = {
  readonly source: string;
  readonly options: VerifyOptions;
  readonly context: CommandContext;
  readonly keys: readonly VerifierKey[];
  readonly since: OpenedCheckpoint | null;
  readonly policy: WitnessPolicy | null;
};

type Kind = 'export' | 'log' | 'proof';

const findKind = async (source: string): Promise<Kind> => {
  if (source === '-') return 'export';
  if (isUrl(source) || (await stat(source)).isDirectory()) return 'log';
  const file = await open(source);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PROOF_FIRST_LINE.length), 0, PROOF_FIRST_LINE.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === PROOF_FIRST_LINE ? 'proof' : 'export';
  } finally {
    await file.close();
  }
};

/** Throws for an option that does not apply, so that nobody believes that it had an effect. */
const rejectOtherOptions = (kind: Kind, options: VerifyOptions): void => {
  const accepted: Readonly<Record<'entry' | 'url' | 'filtered', Kind>> = {
    entry: 'proof',
    url: 'export',
    filtered: 'export',
  };
  for (const name of ['entry', 'url', 'filtered'] as const) {
    if (options[name] !== undefined && accepted[name] !== kind) {
      throw new VerifierUsageError(`--${name}: is for ${accepted[name] === 'proof' ? 'a proof' : 'an export'} only`);
    }
  }
  if (options.siteCheckpoint !== undefined && options.site === undefined)
    throw new VerifierUsageError('--site-checkpoint: needs --site');
  if (kind === 'proof' && options.entry === undefined)
    throw new VerifierUsageError('--entry: name the file with the entry');
};

const runVerifyExport = async (target: VerifyTarget): Promise<void> => {
  const { source, options, context, keys, since } = target;
  const chunks = source === '-' ? context.stdin : createReadStream(source, { highWaterMark: 256 * 1024 });
  const log = options.url === undefined ? null : openLog(options.url, context.token, context.signal);
  const report = await verifyExport(stopWith(chunks, context.signal), {
    keys,
    since,
    log,
    isFiltered: options.filtered ?? false,
  });
  printReport(context, report, [
    `entries:     ${describeRange(report)}`,
    ...(report.absent > 0 ? [`not in file: ${report.absent} entries of the log behind the first one`] : []),
    describeWithheld(report.withheld),
    ...(await compareWithSite(target, report.checkpoint)),
  ]);
};

const runVerifyProof = async (target: VerifyTarget): Promise<void> => {
  const { source, options, context, keys, since } = target;
  if ((await stat(source)).size > PROOF_FILE_MAX) throw new VerifierUsageError(`${source} is too long for a proof`);
  const entry = await readFile(options.entry ?? '');
  const report = verifyProof(await readFile(source, 'utf8'), { keys, entry, since });
  printReport(context, report, [
    `entry:       ${report.index}`,
    describeWithheld(report.withheld),
    ...(await compareWithSite(target, report.checkpoint)),
  ]);
};

const runVerifyLog = async (target: VerifyTarget): Promise<void> => {
  const { source, context, keys, since, options, policy } = target;
  const read = openLog(source, context.token, context.signal);
  // Before the log itself, which then has all checkpoints of which the site has digests.
  const site = options.site === undefined ? null : await readSite(target, (await readCheckpoint(read, keys)).origin);
  const onRoot = site ? { onRoot: (size: number, root: Buffer) => site.compareRoot(size, root) } : {};
  const report = await verifyLog(read, { keys, since, ...onRoot });
  if (!site && policy) requireQuorum(report.checkpoint, policy);
  const covered = site?.requireOneHistory();
  if (since) site?.requireCheckpoint(since);
  const { size } = report.checkpoint;
  printReport(context, report, [
    `tree:        all ${size} leaf hashes and the tiles above them`,
    report.firstBundled === 0
      ? 'bundles:     all'
      : `bundles:     from entry ${report.firstBundled}; those before were deleted, which the log may do`,
    ...(site ? describeSite(site, `the first ${covered} entries`) : []),
  ]);
};

/** Reads the log of the site and requires the cosignatures of a quorum, if there is a policy. Sends no token. */
const readSite = async ({ options, context, keys, policy }: VerifyTarget, origin: string): Promise<SiteEntries> => {
  const newest = openLog(options.site ?? '', null, context.signal);
  const { siteCheckpoint } = options;
  const read: LogFileReader =
    siteCheckpoint === undefined ? newest : (path) => (path === 'checkpoint' ? readFile(siteCheckpoint) : newest(path));
  const site = await verifySite(read, { keys, origin });
  if (policy) requireQuorum(site.checkpoint, policy);
  return site;
};

/** Requires that the log of the site has the checkpoint of a file, or that the checkpoint itself has the cosignatures. */
const compareWithSite = async (target: VerifyTarget, checkpoint: OpenedCheckpoint): Promise<readonly string[]> => {
  const { options, policy, since } = target;
  if (options.site === undefined) {
    if (policy) requireQuorum(checkpoint, policy);
    return [];
  }
  const site = await readSite(target, checkpoint.origin);
  site.requireCheckpoint(checkpoint);
  if (since) site.requireCheckpoint(since);
  return describeSite(site, 'this checkpoint');
};

const describeSite = ({ checkpoint }: SiteEntries, what: string): readonly string[] => [
  `site:        has ${what}, and is`,
  ...describeCheckpoint(checkpoint).map((line) => `  ${line}`),
];

const printReport = (
  { print }: CommandContext,
  { checkpoint, since }: Pick<ExportReport, 'checkpoint' | 'since'>,
  lines: readonly string[],
): void => {
  print('VERIFIED');
  for (const line of [...describeCheckpoint(checkpoint), ...lines]) print(line);
  if (since) print(`extends:     the checkpoint of ${since.size} entries that was given`);
};

const describeRange = ({ entries, first, last }: ExportReport): string => {
  if (first === null || last === null) return '0';
  const before = first === 0 ? '' : `; the ${first} entries before are not in the file`;
  return `${entries}, from index ${first} to ${last}${before}`;
};

const describeWithheld = (count: number): string => `withheld:    ${count} personal values that were erased or hidden`;

async function* stopWith(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}
