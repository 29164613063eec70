import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import http, { type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMessage, generateKey, readKey, sign } from 'openpgp';
import { ZipFile } from 'yazl';
import { RELEASE_KEYS, type ReleaseKeys } from './release-keys.js';
import type { ToolName } from './tool-choice.js';
import { ToolFinder } from './tool-finder.js';
import { findChecksum, getReleasePlatform, type SiteArchive } from './tool-release.js';

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined };

let folder: string;
let path: string | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-tools-'));
  path = process.env['PATH'];
  process.env['PATH'] = `${join(folder, 'bin')}:/usr/bin:/bin`;
  await mkdir(join(folder, 'bin'));
});

afterEach(async () => {
  process.env['PATH'] = path;
  await rm(folder, { recursive: true, force: true });
});

const program = (version: string): string => `#!/bin/sh\necho '{"terraform_version":"${version}"}'\n`;

const install = async (name: string, version: string): Promise<void> => {
  await writeFile(join(folder, 'bin', name), program(version));
  await chmod(join(folder, 'bin', name), 0o755);
};

const mirror = (): string => join(folder, 'mirror');

type PublishOptions = { readonly checksum?: string; readonly tool?: ToolName };

const publish = async (version: string, { checksum, tool = 'terraform' }: PublishOptions = {}): Promise<void> => {
  const release = join(mirror(), tool, version);
  const name = `${tool}_${version}_${getReleasePlatform()}.zip`;
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from('license'), 'LICENSE.txt');
  zip.addBuffer(Buffer.from(program(version)), tool, { mode: 0o755 });
  zip.end();
  const content = await buffer(zip.outputStream);
  await mkdir(release, { recursive: true });
  await writeFile(join(release, name), content);
  const sum = checksum ?? createHash('sha256').update(content).digest('hex');
  await writeFile(join(release, `${tool}_${version}_SHA256SUMS`), `${'0'.repeat(64)}  other.zip\n${sum}  ${name}\n`);
};

const createFinder = (from = mirror(), keys: ReleaseKeys | null = null): ToolFinder =>
  new ToolFinder({ folder: join(folder, 'tools'), mirror: from, keys, logger: SILENT, now: () => new Date() });

/** Signs the checksums of a release, and returns the public key. */
const signRelease = async (tool: ToolName, version: string, suffix: string): Promise<string> => {
  const { privateKey, publicKey } = await generateKey({ userIDs: [{ name: 'Release' }], format: 'object' });
  const file = join(mirror(), tool, version, `${tool}_${version}_SHA256SUMS`);
  const message = await createMessage({ binary: await readFile(file) });
  const signature = await sign({ message, signingKeys: privateKey, detached: true, format: 'binary' });
  await writeFile(`${file}.${suffix}`, signature as Uint8Array);
  return publicKey.armor();
};

describe('the signature of a release', () => {
  it.each([
    ['terraform', 'sig'],
    ['tofu', 'gpgsig'],
  ] as const)('lets an executor accept %s', async (tool, suffix) => {
    await publish('1.8.5', { tool });
    const keys = { ...RELEASE_KEYS, [tool]: await signRelease(tool, '1.8.5', suffix) };
    expect(await createFinder(mirror(), keys).find(tool, '1.8.5')).toMatchObject({ name: tool, version: '1.8.5' });
  });

  it('lets an executor accept a pre-release of OpenTofu', async () => {
    await publish('1.10.0-rc1', { tool: 'tofu' });
    const keys = { ...RELEASE_KEYS, tofu: await signRelease('tofu', '1.10.0-rc1', 'gpgsig') };
    await expect(createFinder(mirror(), RELEASE_KEYS).find('tofu', '1.10.0-rc1')).rejects.toThrow('cannot be verified');
    expect(await createFinder(mirror(), keys).find('tofu', '1.10.0-rc1')).toMatchObject({ version: '1.10.0-rc1' });
  });

  it('is missing, so the release is refused, and the error says what the mirror needs', async () => {
    await publish('1.8.5');
    const problem = createFinder(mirror(), RELEASE_KEYS).find('terraform', '1.8.5');
    await expect(problem).rejects.toThrow(/SHA256SUMS\.sig cannot be verified .* CADASTRE_TOOL_SIGNATURES=off accepts/);
    expect(await readdir(join(folder, 'tools/verified/terraform'))).toEqual([]);
  });

  it('is required also of a version that was downloaded without it, which is then removed', async () => {
    await publish('1.8.5');
    const unverified = await createFinder().find('terraform', '1.8.5');
    const finder = createFinder(mirror(), RELEASE_KEYS);
    await expect(finder.find('terraform', '1.8.5')).rejects.toThrow('cannot be verified');
    await expect(finder.find('terraform', 'latest')).rejects.toThrow('cannot be verified');
    const keys = { ...RELEASE_KEYS, terraform: await signRelease('terraform', '1.8.5', 'sig') };
    const verified = await createFinder(mirror(), keys).find('terraform', '1.8.5');
    expect(verified.path).not.toBe(unverified.path);
    await createFinder().removeUnverified();
    expect((await readdir(join(folder, 'tools'))).toSorted()).toEqual(['terraform', 'verified']);
    await createFinder(mirror(), keys).removeUnverified();
    expect(await readdir(join(folder, 'tools'))).toEqual(['verified']);
    expect(await readFile(verified.path, 'utf8')).toBe(program('1.8.5'));
  });

  it('is by another key, or of other checksums, so the release is refused', async () => {
    await publish('1.8.5');
    const key = await signRelease('terraform', '1.8.5', 'sig');
    const other = createFinder(mirror(), RELEASE_KEYS).find('terraform', '1.8.5');
    await expect(other).rejects.toThrow('not by 34365D9472D7468F');
    await publish('1.8.5', { checksum: 'f'.repeat(64) });
    const changed = createFinder(mirror(), { ...RELEASE_KEYS, terraform: key }).find('terraform', '1.8.5');
    await expect(changed).rejects.toThrow('The signature does not match this content');
  });

  it('is verified with the keys that HashiCorp and OpenTofu publish', async () => {
    const fingerprints = Object.entries(RELEASE_KEYS).map(async ([tool, armoredKey]) => [
      tool,
      (await readKey({ armoredKey })).getFingerprint().toUpperCase(),
    ]);
    expect(Object.fromEntries(await Promise.all(fingerprints))).toEqual({
      terraform: 'C874011F0AB405110D02105534365D9472D7468F',
      tofu: 'E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80',
    });
  });
});

describe('the program of a run', () => {
  it('is the installed one if it has the version', async () => {
    await install('terraform', '1.11.4');
    await install('tofu', '1.9.0');
    const finder = createFinder();
    expect(await finder.find('terraform', '1.11.4')).toMatchObject({ name: 'terraform', version: '1.11.4' });
    expect(await finder.find('tofu', '1.9.0')).toMatchObject({ name: 'tofu', version: '1.9.0' });
    expect(await finder.find('terraform', 'latest')).toMatchObject({ name: 'terraform', version: '1.11.4' });
    expect(await finder.find('tofu', '~> 1.9.0')).toMatchObject({ name: 'tofu' });
    expect(await finder.find('tofu', 'latest')).toMatchObject({ name: 'tofu', version: '1.9.0' });
  });

  it('is never the other tool, and the error says how to choose it', async () => {
    await install('tofu', '1.9.0');
    await expect(createFinder().find('terraform', '1.9.0')).rejects.toThrow(
      'The executor has tofu 1.9.0: to use it, set the environment variable CADASTRE_IAC_TOOL of the workspace to tofu.',
    );
    await expect(createFinder().find('terraform', 'latest')).rejects.toThrow('The executor has no terraform');
  });

  it('is a download instead of the installed one if the installed one has another checksum than the plan', async () => {
    await install('terraform', '1.8.5');
    await publish('1.8.5');
    const finder = createFinder();
    const installed = await finder.find('terraform', '1.8.5');
    const checksum = await finder.readChecksum(installed);
    expect(checksum).toBe(createHash('sha256').update(program('1.8.5')).digest('hex'));
    expect(await finder.find('terraform', '1.8.5', [], checksum)).toEqual(installed);
    const other = await finder.find('terraform', '1.8.5', [], '0'.repeat(64));
    expect(other.path).toBe(join(folder, 'tools/terraform/1.8.5/terraform'));
    // The operator replaces the program, and the next run notices.
    await install('terraform', '1.8.6');
    expect(await finder.find('terraform', '1.8.6')).toMatchObject({ version: '1.8.6', path: installed.path });
    expect(await finder.readChecksum(installed)).not.toBe(checksum);
  });

  it('is OpenTofu of the mirror if the run needs it', async () => {
    await publish('1.10.9', { tool: 'tofu' });
    expect(await createFinder().find('tofu', '1.10.9')).toMatchObject({ name: 'tofu', version: '1.10.9' });
    expect(await readdir(join(folder, 'tools'))).toEqual(['tofu']);
  });

  it('is removed if ten others were used later, and if nobody has used it for two days', async () => {
    const folders = join(folder, 'tools/terraform');
    for (let minor = 0; minor < 12; minor += 1) {
      await publish(`1.${minor}.0`);
      await createFinder().find('terraform', `1.${minor}.0`);
    }
    for (let minor = 0; minor < 6; minor += 1) {
      const usedAt = new Date(Date.now() - (8 - minor) * 86_400_000);
      await utimes(join(folders, `1.${minor}.0`), usedAt, usedAt);
    }
    // The use of a version counts, and not its download.
    await createFinder().find('terraform', '1.0.0');
    await publish('1.12.0');
    await createFinder().find('terraform', '1.12.0');
    const left = await readdir(folders);
    expect(left).toHaveLength(10);
    expect(left).toEqual(expect.arrayContaining(['1.0.0', '1.12.0']));
    expect(left).not.toContain('1.1.0');
  });

  it('is downloaded once from a mirror, also if two runs need it at the same time', async () => {
    await publish('1.8.5');
    const finder = createFinder();
    const [first, second] = await Promise.all([finder.find('terraform', '1.8.5'), finder.find('terraform', '1.8.5')]);
    expect(second).toBe(first);
    expect(await readFile(first.path, 'utf8')).toBe(program('1.8.5'));
    // Without the mirror: it is there.
    await rm(mirror(), { recursive: true });
    expect(await createFinder().find('terraform', '1.8.5')).toEqual(first);
    expect(await readdir(join(folder, 'tools/terraform'))).toEqual(['1.8.5']);
  });

  it('is the newest release of the mirror if nothing is installed', async () => {
    for (const version of ['1.9.9', '1.10.1', '1.11.0-beta1']) await publish(version);
    expect(await createFinder().find('terraform', 'latest')).toMatchObject({ version: '1.10.1' });
  });

  it('comes from a server with the layout of the releases of HashiCorp', async () => {
    await publish('1.8.5');
    const server: Server = http.createServer((request, response) => {
      readFile(join(mirror(), request.url?.replace('/tools', '') ?? '')).then(
        (content) => response.end(content),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools/`;
    expect(await createFinder(url).find('terraform', '1.8.5')).toMatchObject({ version: '1.8.5' });
    await expect(createFinder(url).find('terraform', '1.8.6')).rejects.toThrow(
      '1.8.6_SHA256SUMS does not exist. Choose another version',
    );
    await new Promise((resolve) => server.close(resolve));
    await expect(createFinder(url).find('terraform', '1.8.6')).rejects.toThrow('cannot be reached');
  });

  it('is refused if its checksum is wrong, and leaves nothing behind', async () => {
    await publish('1.8.5', { checksum: 'f'.repeat(64) });
    await expect(createFinder().find('terraform', '1.8.5')).rejects.toThrow(
      'cannot get terraform 1.8.5: terraform_1.8.5_',
    );
    expect(await readdir(join(folder, 'tools/terraform'))).toEqual([]);
  });

  it.each([
    ['1.8.5', 'does not exist. Choose another version in the settings of the workspace'],
    ['newest', 'is no version. Set an exact version'],
    ['latest', 'neither on its path nor on its mirror'],
    ['../../etc', 'is no version'],
  ])('cannot be had for %s, and the error says what to do', async (version, message) => {
    await expect(createFinder().find('terraform', version)).rejects.toThrow(message);
  });

  it('is downloaded again if a program is damaged', async () => {
    await publish('1.8.5');
    const { path: file } = await createFinder().find('terraform', '1.8.5');
    await writeFile(file, '#!/bin/sh\nexit 1\n');
    await createFinder().find('terraform', '1.8.5');
    expect(await readFile(file, 'utf8')).toBe(program('1.8.5'));
  });
});

describe('the program of a version for which the site has archives', () => {
  let server: Server;
  let content: Buffer;

  beforeEach(async () => {
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from(program('1.9.5')), 'terraform', { mode: 0o755 });
    zip.end();
    content = await buffer(zip.outputStream);
    server = http.createServer((_, response) => response.end(content));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const toArchive = (change: Partial<SiteArchive> = {}): SiteArchive => {
    const [os = '', arch = ''] = getReleasePlatform().split('_');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/terraform.zip`;
    return { url, sha: createHash('sha256').update(content).digest('hex'), os, arch, ...change };
  };

  it('is the one of the archive, also if the path has the version', async () => {
    await install('terraform', '1.9.5');
    const archives = [toArchive({ os: 'plan9', url: 'http://127.0.0.1:1/none' }), toArchive()];
    const tool = await createFinder().find('terraform', '1.9.5', archives);
    expect(tool.path).toBe(join(folder, 'tools/terraform', `1.9.5-${archives[1]?.sha}`, 'terraform'));
    await new Promise((resolve) => server.close(resolve));
    expect(await createFinder().find('terraform', '1.9.5', archives)).toEqual(tool);
  });

  it('may have a version without the suffix of the site', async () => {
    expect(await createFinder().find('terraform', '1.9.5-acme.1', [toArchive()])).toMatchObject({ version: '1.9.5' });
  });

  it.each([
    ['1.9.5', { sha: 'f'.repeat(64) }, 'but must have ffff'],
    ['1.9.5', { os: 'plan9' }, 'but none for '],
    ['1.9.6', {}, 'has got version 1.9.5 instead of terraform 1.9.6'],
  ])('is refused for %s with %j, and nothing stays', async (version, change, message) => {
    await expect(createFinder().find('terraform', version, [toArchive(change)])).rejects.toThrow(message);
    expect(await readdir(join(folder, 'tools/terraform')).catch(() => [])).toEqual([]);
  });

  it('is OPA without a zip file around it', async () => {
    content = Buffer.from("#!/bin/sh\necho 'Version: 1.19.1'\necho 'Build Commit: 0'\n");
    const archives = [toArchive()];
    const opa = await createFinder().findArchived('opa', '1.19.1', archives);
    expect(opa).toEqual({
      name: 'opa',
      version: '1.19.1',
      path: join(folder, 'tools/opa', `1.19.1-${archives[0]?.sha}`, 'opa'),
    });
    await expect(createFinder().findArchived('opa', '1.18.2', archives)).rejects.toThrow(
      'has got version 1.19.1 instead of opa 1.18.2',
    );
    await expect(createFinder().findArchived('opa', '1.19.1', [toArchive({ sha: 'f'.repeat(64) })])).rejects.toThrow(
      'but must have ffff',
    );
    await expect(createFinder().findOpa('1.2.3', [], true)).rejects.toThrow(
      'OPA 1.2.3 is unknown to this site, or disabled',
    );
  });

  it('is never the other tool', async () => {
    await expect(createFinder().find('tofu', '1.9.5', [toArchive()])).rejects.toThrow('the archive has no file tofu');
  });
});

it('finds the checksum of a file', () => {
  const sum = 'a'.repeat(64);
  expect(findChecksum(`${sum}  a.zip\n${sum} *b.zip\nx  c.zip\n`, 'b.zip')).toBe(sum);
  expect(findChecksum(`${sum}  a.zip\n`, 'zip')).toBeNull();
});
