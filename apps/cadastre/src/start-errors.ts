import { DataFolderInUseError, describePortInUse, StartupError } from '#platform/host';
import { InvalidSettingsError, redactSecrets } from '#platform/settings';
import { getErrorCode, Refusal } from '#platform/kernel';

const MAX_MESSAGE_LENGTH = 1_000;

/** Returns what to print if a process cannot start or a command fails: one line for each problem, without a stack. */
export const describeFailure = (error: unknown): string => {
  if (
    error instanceof InvalidSettingsError ||
    error instanceof DataFolderInUseError ||
    error instanceof StartupError ||
    error instanceof Refusal
  ) {
    return error.message;
  }
  if (isPortInUseError(error)) return describePortInUse(error.address, error.port);
  if (getErrorCode(error) === 'ENOSPC') return `the disk is full (${formatOneLine(error)}); free space and start again`;
  return `unexpected error: ${formatOneLine(error)}; set LOG_LEVEL=debug to see the stack trace`;
};

type PortInUseError = Error & { readonly address: string; readonly port: number };

const isPortInUseError = (error: unknown): error is PortInUseError =>
  getErrorCode(error) === 'EADDRINUSE' && error instanceof Error && 'address' in error && 'port' in error;

const formatOneLine = (error: unknown): string => {
  const text = error instanceof AggregateError ? error.errors.map(describeError).join('; ') : describeError(error);
  return redactSecrets(text.trim().replaceAll(/\s*\n\s*/g, ' ')).slice(0, MAX_MESSAGE_LENGTH);
};

const describeError = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : (getErrorCode(error) ?? String(error));
