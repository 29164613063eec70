import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

const readVersion = (): string => {
  const file = findPackageJSON(import.meta.url);
  if (file === undefined) return 'unknown';
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
};

/** Version of Cadastre, from its package.json. */
export const VERSION = readVersion();
