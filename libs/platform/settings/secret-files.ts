import { readFileSync } from 'node:fs';
import { getErrorCode } from '#platform/kernel';
import { secretNames } from './variables.js';

export type EnvironmentValues = Readonly<Record<string, string | undefined>>;

/** The environment with each `NAME_FILE` replaced by `NAME`, and one line for each unusable file. */
type ResolvedEnvironment = { readonly values: EnvironmentValues; readonly lines: readonly string[] };

/** Returns the variable that names the file of a secret, for example `DATABASE_URL_FILE`. */
export const toFileVariable = (name: string): string => `${name}_FILE`;

/**
 * Reads every secret whose `NAME_FILE` is set. A secret in the environment would be visible to child processes and
 * inspection tools. White space around the content is removed, because editors and `echo` end a file with a newline.
 */
export const resolveSecretFiles = (values: EnvironmentValues): ResolvedEnvironment => {
  const resolved: Record<string, string | undefined> = { ...values };
  const lines: string[] = [];
  for (const name of secretNames) {
    const fileVariable = toFileVariable(name);
    const file = values[fileVariable];
    if (file === undefined) continue;
    if (values[name] !== undefined) {
      lines.push(`${fileVariable}: ${name} is set too; remove one of the two`);
      continue;
    }
    try {
      resolved[name] = readSecret(file);
    } catch (error) {
      // The message does not contain the path, because some operators put the secret itself there.
      lines.push(`${fileVariable}: the file ${(error as Error).message}`);
    }
  }
  return { values: resolved, lines };
};

const readSecret = (file: string): string => {
  const content = readText(file).trim();
  if (content === '') throw new Error('is empty; write the secret into it');
  return content;
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(
      `cannot be read (${getErrorCode(error) ?? 'unknown reason'}); name a file that this user can read`,
      {
        cause: error,
      },
    );
  }
};
