import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { cached } from './cached.js';
import { digest } from './example-programs.js';
import { ROOT } from './folders.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

const SOURCES = 'test/support/foreign-saml-provider';

/** The first call on a machine builds the provider. */
export const BUILD_SAML_PROVIDER_TIMEOUT_MS = 5 * 60_000;

/** An identity provider of another project (crewjam/saml) with its own login page. */
export type ForeignSamlProvider = {
  readonly url: string;
  /** Adds this person, or replaces them. */
  putPerson(name: string, person: { readonly email: string; readonly groups: readonly string[] }): Promise<void>;
  /** Registers a service provider by its metadata. */
  putService(metadata: string): Promise<void>;
  close(): Promise<void>;
};

/** The names of its attributes. */
export const FOREIGN_ATTRIBUTES = {
  'username-claim': 'urn:oid:0.9.2342.19200300.100.1.1',
  'groups-claim': 'urn:oid:1.3.6.1.4.1.5923.1.1.1.1',
};

export const FOREIGN_PASSWORD = 'password of the provider';

const build = async (): Promise<string> => {
  requirePrograms('go');
  const files = ['main.go', 'go.mod', 'go.sum'].map((file) => readFile(join(ROOT, SOURCES, file), 'utf8'));
  const name = `foreign-saml-provider-${process.arch}-${digest(...(await Promise.all(files)))}`;
  const folder = await cached(name, async (building) => {
    const go = (await run('bash', [join(ROOT, 'test/support/install-go')])).stdout.trim();
    const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-modcacherw' };
    const options = { cwd: join(ROOT, SOURCES), env };
    const { stdout: unformatted } = await run(`${go}fmt`, ['-l', '.'], options);
    if (unformatted !== '') throw new Error(`gofmt would change ${unformatted}`);
    await run(go, ['vet', '.'], options);
    await run(go, ['build', '-trimpath', '-o', join(building, 'provider'), '.'], options);
  });
  return join(folder, 'provider');
};

const put = async (address: string, body: string): Promise<void> => {
  const response = await fetch(address, { method: 'PUT', body });
  if (!response.ok) throw new Error(`${address}: ${response.status} ${await response.text()}`);
};

export const startForeignSamlProvider = async (): Promise<ForeignSamlProvider> => {
  const program = spawn(await build(), { stdio: ['ignore', 'pipe', 'ignore'] });
  const [url] = (await once(createInterface(program.stdout), 'line')) as [string];
  return {
    url,
    putPerson: (name, person) =>
      put(`${url}/users/${name}`, JSON.stringify({ name, password: FOREIGN_PASSWORD, ...person })),
    putService: (metadata) => put(`${url}/services/cadastre`, metadata),
    close: async () => {
      const ended = once(program, 'exit');
      program.kill('SIGKILL');
      await ended;
    },
  };
};
