import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** Returns the version of Cadastre from its package.json. The module of the server that has it loads more than an executor needs. */
export const readExecutorVersion = (): string => {
  const file = findPackageJSON(import.meta.url);
  return file === undefined
    ? 'unknown'
    : (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
};
