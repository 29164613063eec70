import { BadSettings, DataFolderInUse, portInUse, StartRefused, withoutSecrets } from '#host';
import { codeOf, Refused } from '#kernel';

const LONGEST_MESSAGE = 1_000;

/** What to print if a process cannot start or a command fails: one line for each problem, without a stack. */
export const describeFailure = (error: unknown): string => {
  if (
    error instanceof BadSettings ||
    error instanceof DataFolderInUse ||
    error instanceof StartRefused ||
    error instanceof Refused
  ) {
    return error.message;
  }
  if (isPortTaken(error)) return portInUse(error.address, error.port);
  if (codeOf(error) === 'ENOSPC') return `the disk is full (${oneLine(error)}); free space and start again`;
  return `unexpected error: ${oneLine(error)}; set LOG_LEVEL=debug to see where it comes from`;
};

type PortTaken = Error & { readonly address: string; readonly port: number };

const isPortTaken = (error: unknown): error is PortTaken =>
  codeOf(error) === 'EADDRINUSE' && error instanceof Error && 'address' in error && 'port' in error;

const oneLine = (error: unknown): string => {
  const text = error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : messageOf(error);
  return withoutSecrets(text.trim().replaceAll(/\s*\n\s*/g, ' ')).slice(0, LONGEST_MESSAGE);
};

const messageOf = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : (codeOf(error) ?? String(error));
