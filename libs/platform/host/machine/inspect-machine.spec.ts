import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { issueCa, issueServerCertificate } from '../certificates/certificates.js';
import { inspectMachine } from './inspect-machine.js';

import { listSettingWarnings, parseSettings, type ProcessKind } from '#platform/settings';
import { removeFolder, createTemporaryFolder } from '../spec.js';

const NOW = new Date('2026-11-23T00:00:00Z');
const YEARS_LATER = new Date('2036-11-23T00:00:00Z');

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await createTemporaryFolder();
  file = join(folder, 'file');
  await writeFile(file, 'content');
});
afterAll(() => removeFolder(folder));

const inspect = (env: Readonly<Record<string, string>>, kind: ProcessKind = 'command', now = NOW) => {
  const { settings, invalid } = parseSettings({ CADASTRE_DATA: join(folder, 'data'), ...env });
  return inspectMachine(settings, kind, invalid, now);
};

describe('the inspection of the machine', () => {
  it('reports nothing for the defaults, and leaves no files', async () => {
    const before = await readdir(folder);
    expect(await inspect({})).toEqual([]);
    await mkdir(join(folder, 'existing'));
    expect(await inspect({ CADASTRE_DATA: join(folder, 'existing') })).toEqual([]);
    expect(await readdir(join(folder, 'existing'))).toEqual([]);
    expect(await readdir(folder)).toEqual([...before, 'existing'].toSorted());
  });

  it('reports a data folder that is a file or is inside one, in one line', async () => {
    expect(await inspect({ CADASTRE_DATA: file })).toEqual([
      `CADASTRE_DATA: ${file} is a file; name a folder that this user can write to`,
    ]);
    expect(await inspect({ CADASTRE_DATA: join(file, 'data') })).toEqual([
      `CADASTRE_DATA: ${file}/data cannot be created, because ${file} is a file; ` +
        'name a folder that this user can write to',
    ]);
  });

  it('reports a folder for blobs that is not writable, unless there is a bucket', async () => {
    const blobs = '/sys/kernel/cadastre';
    expect(await inspect({ CADASTRE_BLOBS: blobs })).toEqual([
      expect.stringMatching(`^CADASTRE_BLOBS: ${blobs} cannot be written to \\(\\w+\\); name a folder `),
    ]);
    expect(await inspect({ CADASTRE_S3_BUCKET: 'acme' })).toEqual([]);
  });

  it('reports a certificate that is unreadable, invalid, expired or of another key', async () => {
    const ca = await issueCa(NOW);
    const pairs = await Promise.all([1, 2].map(() => issueServerCertificate(ca, ['localhost'], NOW)));
    const [cert, key, otherKey] = ['cert.pem', 'key.pem', 'other-key.pem'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(cert, pairs[0]?.certificate ?? '');
    await writeFile(key, pairs[0]?.key ?? '');
    await writeFile(otherKey, pairs[1]?.key ?? '');
    const tls = (CADASTRE_TLS_CERT: string, CADASTRE_TLS_KEY: string, now = NOW) =>
      inspect({ CADASTRE_TLS_CERT, CADASTRE_TLS_KEY }, 'command', now);
    expect(await tls(cert, key)).toEqual([]);
    expect(await tls(join(folder, 'absent'), file)).toEqual([
      `CADASTRE_TLS_CERT: ${folder}/absent cannot be read (ENOENT); name a PEM file that this user can read`,
      `CADASTRE_TLS_KEY: ${file} does not contain a private key without a passphrase in PEM format`,
    ]);
    expect(await tls(cert, otherKey)).toEqual([
      `CADASTRE_TLS_KEY: ${otherKey} is not the key of the certificate in ${cert}; name a pair`,
    ]);
    expect(await tls(cert, key, YEARS_LATER)).toEqual([
      expect.stringMatching(`^CADASTRE_TLS_CERT: the certificate in ${cert} expired on 20.*Z; renew it$`),
    ]);
  });

  it('reports an address of another machine, and a port in use', async () => {
    // An address for documentation (RFC 5737), which no machine has.
    expect(await inspect({ HOST: '203.0.113.9' }, 'gateway')).toEqual([
      'HOST: 203.0.113.9 is not an address of this machine; use one of its addresses, 127.0.0.1, or 0.0.0.0 for all',
    ]);
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await inspect({ PORT: String(port) }, 'gateway')).toEqual([
      `PORT: ${port} on 127.0.0.1 is in use by another process; stop that process or use another port`,
    ]);
    expect(await inspect({ PORT: String(port) }, 'command')).toEqual([]);
    server.close();
  });

  it('skips checks that depend on an invalid setting', async () => {
    expect(await inspect({ HOST: '203.0.113.9', PORT: 'http' }, 'gateway')).toEqual([]);
  });
});

describe('listSettingWarnings', () => {
  const warnings = (env: Readonly<Record<string, string>>, kind: ProcessKind = 'serve') =>
    listSettingWarnings(env, parseSettings(env).settings, kind);

  it('names the closest setting for an unknown one', () => {
    expect(warnings({ CADASTRE_ENCRYPTON_KEY: 'x', CADASTRE_ADMIN_TOKEN_FILES: 'x', OTHER: 'x' })).toEqual([
      'CADASTRE_ENCRYPTON_KEY: unknown setting, ignored; did you mean CADASTRE_ENCRYPTION_KEY?',
      'CADASTRE_ADMIN_TOKEN_FILES: unknown setting, ignored; did you mean CADASTRE_ADMIN_TOKEN_FILE?',
    ]);
    expect(warnings({ CADASTRE_EDITION: 'all', CADASTRE_URL: 'x', CADASTRE_KEY_PASSPHRASE: 'x' })).toEqual([]);
  });

  it('names the closest setting for a name without the prefix that resembles one', () => {
    expect(warnings({ KAFKA_BROKRS: 'x', LOGLEVEL: 'debug', DATABASE_URLS: 'x' })).toEqual([
      'KAFKA_BROKRS: unknown setting, ignored; did you mean KAFKA_BROKERS?',
      'LOGLEVEL: unknown setting, ignored; did you mean LOG_LEVEL?',
      'DATABASE_URLS: unknown setting, ignored; did you mean DATABASE_URL?',
    ]);
    expect(warnings({ KAFKA_HOME: '/opt/kafka', POST: 'x', HOSTS: 'x', PATH: '/bin' })).toEqual([]);
  });

  it('reports a public URL without TLS for a server with TLS', () => {
    const url = { CADASTRE_PUBLIC_URL: 'http://tf.example.com' };
    expect(warnings(url)).toEqual([
      expect.stringMatching(/^CADASTRE_PUBLIC_URL: http:\/\/tf\.example\.com begins with/),
    ]);
    expect(warnings({ ...url, CADASTRE_TLS: 'off' })).toEqual([]);
    expect(warnings(url, 'projector')).toEqual([]);
  });

  it('reports plain HTTP that other machines can reach, unless a proxy uses TLS', () => {
    const plain = { CADASTRE_TLS: 'off', HOST: '0.0.0.0' };
    expect(warnings(plain)).toEqual([expect.stringContaining('HOST 0.0.0.0 is reachable from other machines')]);
    expect(warnings({ ...plain, CADASTRE_PUBLIC_URL: 'https://tf.example.com' })).toEqual([]);
    expect(warnings({ ...plain, HOST: '127.0.0.1' })).toEqual([]);
    expect(warnings(plain, 'projector')).toEqual([]);
  });
});
