import { readFile } from 'node:fs/promises';
import { openCheckpoint, type OpenedCheckpoint } from './opened-checkpoints.js';
import { TrailAlteredError, TrailUnreadableError } from './trail-errors.js';
import { parseVerifierKey, type VerifierKey } from './verifier-keys.js';
import { parseWitnessPolicy, type WitnessPolicy } from './witness-policy.js';

/** Exit codes of the commands. */
export const VERIFIER_EXIT_CODES = { verified: 0, altered: 1, usage: 2, unreadable: 3, stopped: 130 } as const;

export const EXIT_CODES_HELP = `
Exit codes:
  0    verified
  1    not verified: something was altered, removed, inserted or moved, or a signature is wrong
  2    an option is wrong
  3    something could not be read, or a proof is not there
  130  stopped by Ctrl-C
`;

/** The environment variable with the token for the log at a URL. */
export const TOKEN_VARIABLE = 'CADASTRE_TOKEN';

/** An option or a file of keys is wrong. */
export class VerifierUsageError extends Error {
  override readonly name = 'VerifierUsageError';
}

/** Where a command prints, and what it may read. */
export type CommandContext = {
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly token: string | null;
  readonly signal: AbortSignal;
  /** Waits for a time in milliseconds. Rejects when the signal stops the command. */
  readonly sleep: (duration: number) => Promise<void>;
};

/** Runs a command and returns its exit code. Prints why it failed in one line. */
export const runReported = async (
  { printError, signal }: CommandContext,
  run: () => Promise<void>,
): Promise<number> => {
  try {
    await run();
    return VERIFIER_EXIT_CODES.verified;
  } catch (error) {
    if (signal.aborted) {
      printError('Stopped.');
      return VERIFIER_EXIT_CODES.stopped;
    }
    if (error instanceof TrailAlteredError) {
      printError(`NOT VERIFIED (${error.problem}): ${toPrintable(error.message)}`);
      return VERIFIER_EXIT_CODES.altered;
    }
    if (error instanceof VerifierUsageError) {
      printError(toPrintable(error.message));
      return VERIFIER_EXIT_CODES.usage;
    }
    if (error instanceof TrailUnreadableError || isFileError(error)) {
      printError(`Could not verify: ${toPrintable(error.message)}`);
      return VERIFIER_EXIT_CODES.unreadable;
    }
    throw error;
  }
};

const isFileError = (error: unknown): error is Error =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';

/** Replaces control characters, so that a file that is verified cannot control the terminal. */
export const toPrintable = (text: string): string => text.replaceAll(/\p{Cc}|\p{Bidi_Control}/gu, '?');

/**
 * Returns the verifier keys of `--key`: each is a key, or a file with one key on each line. Adds those of the policy. Throws
 * VerifierUsageError if one is neither.
 */
export const readKeys = async (
  keys: readonly string[],
  policy: WitnessPolicy | null = null,
): Promise<readonly VerifierKey[]> => {
  const logs = policy?.logs ?? [];
  if (keys.length + logs.length === 0)
    throw new VerifierUsageError('--key: name a verifier key or a file with verifier keys');
  const witnesses = policy?.witnesses.map(({ key }) => key) ?? [];
  return [...(await Promise.all(keys.map(readKeysOf))).flat(), ...parseKeys('--policy', logs), ...witnesses];
};

/** Returns the policy in a file, or null without a file. Throws VerifierUsageError with the line that is wrong. */
export const readPolicy = async (file: string | undefined): Promise<WitnessPolicy | null> => {
  if (file === undefined) return null;
  const text = await readFile(file, 'utf8');
  try {
    return parseWitnessPolicy(text);
  } catch (error) {
    throw new VerifierUsageError(`--policy: ${(error as Error).message}`, { cause: error });
  }
};

const readKeysOf = async (key: string): Promise<readonly VerifierKey[]> => {
  const text = /^[^+\s]+\+[0-9a-f]{8}\+\S+$/.test(key) ? key : await readKeyFile(key);
  const lines = text.split('\n').map((line) => line.trim());
  const texts = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (texts.length === 0) throw new VerifierUsageError(`--key: ${key} has no verifier keys`);
  return parseKeys('--key', texts);
};

const parseKeys = (option: string, texts: readonly string[]): readonly VerifierKey[] => {
  try {
    return texts.map(parseVerifierKey);
  } catch (error) {
    throw new VerifierUsageError(`${option}: ${(error as Error).message}`, { cause: error });
  }
};

const readKeyFile = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new VerifierUsageError(`--key: must be NAME+ID+KEY or a file, got ${file}`, { cause: error });
  }
};

/** Returns the checkpoint in a file, or null without a file. */
export const readCheckpointFile = async (
  file: string | undefined,
  keys: readonly VerifierKey[],
): Promise<OpenedCheckpoint | null> =>
  file === undefined ? null : openCheckpoint(await readFile(file, 'utf8'), keys, `the checkpoint in ${file}`);

/** Returns lines with the origin, the size and the root of a checkpoint, and who signed it. */
export const describeCheckpoint = ({ origin, size, root, signatures }: OpenedCheckpoint): readonly string[] => [
  `log:         ${toPrintable(origin)}`,
  `checkpoint:  ${size} entries, root ${root.toString('base64')}`,
  ...signatures.map(({ key, time }) =>
    time
      ? `cosigned by  ${toPrintable(key.name)} at ${formatTime(time)} (key ${key.id})`
      : `signed by    ${toPrintable(key.name)} (key ${key.id})`,
  ),
];

const formatTime = (time: Date): string => (Number.isNaN(time.getTime()) ? 'an unknown time' : time.toISOString());
