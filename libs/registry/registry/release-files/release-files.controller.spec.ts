import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type ClientRequest } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sql } from '#platform/kernel';
import { FolderBlobs } from '#storage/blob-store';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { waitForFollowers, logLength, readWholeLog } from '../../../../test/support/event-log.js';
import { waitUntil } from '../../../../test/support/product.js';
import {
  addGpgKey,
  checksumsOf,
  makeRelease,
  makeSigner,
  sha256Of,
  upload,
  type TestArchive,
  type TestRelease,
  type Signer,
} from '../../../../test/support/releases.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
} from '../../../../test/support/seeds.js';
import { getDetail } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { registryDefinition } from '../index.js';

const MIB = 1024 * 1024;
const clock = new AdjustableClock();
let server: TestServer;
let signer: Signer;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true, env: { CADASTRE_PROVIDER_MAX_MIB: '1' } });
  signer = await makeSigner();
  await makeOrganization(server, 'acme');
  await addGpgKey(server, 'acme', signer);
});

afterAll(() => server.close());

let count = 0;
let release: TestRelease;
let linux: TestArchive;

beforeEach(async () => {
  release = await makeRelease(server, 'acme', `made-${(count += 1)}`, signer);
  linux = release.archive('linux');
});

const put = (link: string, bytes: Uint8Array): Promise<ApiResponse> => upload(server, link, bytes);
const binaryLink = (archive = linux): Promise<string> => release.linkOf(archive, 'provider-binary-upload');

const refused = async (answer: Promise<ApiResponse>): Promise<[number, string]> => {
  const response = await answer;
  return [response.status, getDetail(response)];
};

/** Returns everything that uploads leave behind: number of events, names of files, ids of notes. */
const traces = async () => {
  const { blobsFolder } = server.runtime.settings;
  const files = await readdir(blobsFolder, { recursive: true, withFileTypes: true }).catch(() => []);
  const notes = await server.database.rows<{ id: string }>(sql`select id from registry.open_uploads order by id`);
  return {
    events: await logLength(server.store),
    files: files
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted(),
    notes: notes.map(({ id }) => id),
  };
};

type Sent = { readonly status: number; readonly text: string };

/** Sends a PUT that fetch cannot send: with a wrong length, without a length, or with `Expect: 100-continue`. */
const rawPut = (
  link: string,
  headers: Readonly<Record<string, string | number>>,
  send: (request: ClientRequest) => void,
): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(`${server.url}${link}`, { method: 'PUT', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.once('end', () => {
        request.destroy();
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    request.once('error', reject);
    send(request);
  });

describe('an upload', () => {
  it('sets the flag of its file, replaces the upload link, and can be downloaded', async () => {
    await release.addPlatform(linux);
    const sums = checksumsOf(linux);
    const signature = await signer.sign(sums);
    for (const [name, bytes] of [
      ['shasums', sums],
      ['shasums-sig', signature],
    ] as const) {
      const before = await release.document();
      expect(before.attributes[`${name}-uploaded`]).toBe(false);
      expect(before.links).not.toHaveProperty([`${name}-download`]);
      const answer = await put(await release.link(`${name}-upload`), bytes);
      expect([answer.status, answer.text]).toEqual([200, '']);
      const after = await release.document();
      expect(after.attributes[`${name}-uploaded`]).toBe(true);
      expect(after.links).not.toHaveProperty([`${name}-upload`]);
      expect((await server.as(null).get(await release.link(`${name}-download`))).status).toBe(200);
    }
    expect((await release.document()).attributes).toMatchObject({ usable: false, missing: [linux.filename] });
    expect((await put(await binaryLink(), linux.bytes)).status).toBe(200);
    expect((await release.platform(linux)).attributes['provider-binary-uploaded']).toBe(true);
    expect((await release.document()).attributes).toMatchObject({ usable: true, missing: [] });
  });

  it.each([
    ['any content type', { 'content-type': 'application/vnd.api+json' }],
    ['no content type and no length', { 'transfer-encoding': 'chunked' }],
    ['an Expect header', { expect: '100-continue', 'content-type': 'multipart/form-data; boundary=x' }],
  ])('may have %s', async (_, headers) => {
    await release.addPlatform(linux);
    const sent = await rawPut(await binaryLink(), headers, (request) => {
      if ('expect' in headers) request.once('continue', () => request.end(linux.bytes));
      else request.end(linux.bytes);
    });
    expect(sent).toEqual({ status: 200, text: '' });
    expect((await release.platform(linux)).attributes['provider-binary-uploaded']).toBe(true);
  });

  it('is accepted once: a second upload with the same link is a conflict and changes nothing', async () => {
    await release.addPlatform(linux);
    const sums = checksumsOf(linux);
    const links = [
      await release.link('shasums-upload'),
      await release.link('shasums-sig-upload'),
      await binaryLink(),
    ] as const;
    const files = [sums, await signer.sign(sums), linux.bytes];
    for (const [index, link] of links.entries()) expect((await put(link, files[index] ?? sums)).status).toBe(200);
    const [before, document] = [await traces(), await release.document()];
    for (const [index, link] of links.entries()) {
      const name = ['SHA256SUMS', 'The signature', linux.filename][index];
      const words = `${name} has been uploaded already; a file is uploaded once`;
      expect(await refused(put(link, files[index] ?? sums))).toEqual([409, words]);
    }
    expect(await refused(put(links[0], checksumsOf(release.archive('plan9'))))).toEqual([409, expect.anything()]);
    expect(await refused(put(links[2], randomBytes(100)))).toEqual([409, expect.anything()]);
    expect(await traces()).toEqual(before);
    expect({ ...(await release.document()), links: null }).toEqual({ ...document, links: null });
  });

  it('is refused with both checksums if the zip does not match its declaration, and can be repeated', async () => {
    await release.addPlatform(linux);
    const before = await traces();
    const spoiled = Buffer.from(linux.bytes);
    spoiled[7] = 255 - (spoiled[7] ?? 0);
    const words = `${linux.filename} has checksum ${sha256Of(spoiled)}, its platform was declared with ${linux.shasum}`;
    expect(await refused(put(await binaryLink(), spoiled))).toEqual([422, words]);
    expect(await traces()).toEqual(before);
    expect((await put(await binaryLink(), linux.bytes)).status).toBe(200);
  });

  it('is refused if it is empty', async () => {
    await release.addPlatform(linux);
    const before = await traces();
    for (const [link, name] of [
      [await binaryLink(), linux.filename],
      [await release.link('shasums-upload'), 'SHA256SUMS'],
      [await release.link('shasums-sig-upload'), 'SHA256SUMS.sig'],
    ] as const) {
      expect(await refused(put(link, Buffer.alloc(0)))).toEqual([422, `${name} is empty`]);
    }
    expect(await traces()).toEqual(before);
  });

  it('leaves nothing if it is interrupted, and can be repeated', async () => {
    await release.addPlatform(linux);
    const sums = checksumsOf(linux);
    const before = await traces();
    const noted = (count: number, what: string) => waitUntil(async () => (await traces()).notes.length === count, what);
    // The note of a zip is recorded before its bytes arrive. A small file is read completely first.
    for (const [link, bytes, notes] of [
      [await binaryLink(), linux.bytes, 1],
      [await release.link('shasums-upload'), sums, 0],
    ] as const) {
      const sent = Promise.withResolvers<ClientRequest>();
      const answer = rawPut(link, { 'content-length': bytes.length }, (request) => {
        request.write(bytes.subarray(0, 50), () => sent.resolve(request));
      });
      const request = await sent.promise;
      await noted(notes, 'the server has begun');
      request.destroy(new Error('cut'));
      await expect(answer).rejects.toThrow('cut');
      await noted(0, 'the server has noticed');
    }
    expect(await traces()).toEqual(before);
    expect((await put(await release.link('shasums-upload'), sums)).status).toBe(200);
    expect((await put(await binaryLink(), linux.bytes)).status).toBe(200);
  });
});

describe('an upload that the store cannot write', () => {
  it('returns 503 and can be repeated', async () => {
    await release.addPlatform(linux);
    const before = await traces();
    // Simulates a full disk: a file has the path of the folder.
    const folder = join(server.runtime.settings.blobsFolder, 'registry');
    await mkdir(folder, { recursive: true });
    await rename(folder, `${folder}.away`);
    await writeFile(folder, '');
    const answer = await put(await binaryLink(), linux.bytes);
    expect([answer.status, getDetail(answer), answer.headers.get('retry-after')]).toEqual([
      503,
      'The file cannot be stored at the moment. Please try again.',
      '1',
    ]);
    await rm(folder);
    await rename(`${folder}.away`, folder);
    const { id } = await release.platform(linux);
    // The store may have the file after all; the scheduled job checks that.
    expect(await traces()).toEqual({ ...before, notes: [id] });
    expect((await put(await binaryLink(), linux.bytes)).status).toBe(200);
    await server.database.rows(sql`delete from registry.open_uploads where id = ${id}`);
  });
});

describe('an upload above the size limit', () => {
  const TOO_MUCH = 'The upload is larger than 1 MiB';

  it('is refused before its content is read if the declared length is too large, also with Expect: 100-continue', async () => {
    await release.addPlatform(linux);
    const before = await traces();
    for (const headers of [{}, { expect: '100-continue' }]) {
      const sent = await rawPut(await binaryLink(), { ...headers, 'content-length': MIB + 1 }, (request) =>
        request.flushHeaders(),
      );
      expect([sent.status, JSON.parse(sent.text).errors[0].detail]).toEqual([413, TOO_MUCH]);
    }
    expect(await traces()).toEqual(before);
  });

  it('is refused as soon as its content exceeds the limit if it declares no length', async () => {
    await release.addPlatform(linux);
    const before = await traces();
    const sent = await rawPut(await binaryLink(), { 'transfer-encoding': 'chunked' }, (request) =>
      request.end(Buffer.alloc(MIB + 1)),
    );
    expect([sent.status, JSON.parse(sent.text).errors[0].detail]).toEqual([413, TOO_MUCH]);
    expect(await traces()).toEqual(before);
  });

  it.each([
    ['shasums-upload', 128],
    ['shasums-sig-upload', 64],
  ] as const)('is refused for %s above %d KiB', async (link, kib) => {
    const words = `The upload is larger than ${kib} KiB`;
    expect(await refused(put(await release.link(link), Buffer.alloc(kib * 1024 + 1)))).toEqual([413, words]);
  });
});

describe('a signed link', () => {
  const NOT_VALID = 'This link is not valid';

  it('expires after a day', async () => {
    await release.addPlatform(linux);
    const [first, second] = [await binaryLink(), await release.link('shasums-upload')];
    clock.pass({ minutes: 24 * 60 - 1 });
    expect(await refused(put(first, Buffer.alloc(0)))).toEqual([422, expect.anything()]);
    clock.pass({ days: 1 });
    expect(await refused(put(first, linux.bytes))).toEqual([403, 'This link has expired']);
    expect(await refused(put(second, checksumsOf(linux)))).toEqual([403, 'This link has expired']);
    expect((await put(await binaryLink(), linux.bytes)).status).toBe(200);
    const download = await release.linkOf(linux, 'provider-binary-download');
    clock.pass({ days: 2 });
    expect(await refused(server.as(null).get(download))).toEqual([403, 'This link has expired']);
  });

  it('to upload is refused when its recipient may not manage providers any more', async () => {
    const access = { 'organization-access': { 'manage-providers': true } };
    const team = await makeTeam(server, 'acme', 'publishers-for-now', access);
    const publisher = await makeMember(server, 'acme', 'petra', [team]);
    await release.addPlatform(linux);
    const pathOfLink = async (api: ApiTestClient): Promise<string> => {
      const { links } = (await api.get(`${release.path}/platforms/linux/amd64`)).body.data;
      return new URL(links['provider-binary-upload'] as string).pathname;
    };
    const [theirs, other] = [await pathOfLink(publisher), await pathOfLink(server)];
    expectStatus(await server.delete(`/api/v2/teams/${team}`), 204);
    expect(await refused(put(theirs, linux.bytes))).toEqual([
      403,
      'The recipient of this upload link may not manage providers any more',
    ]);
    expect((await put(other, linux.bytes)).status).toBe(200);
  });

  it('is refused if it was forged or made for another purpose', async () => {
    await release.addPlatform(linux);
    const link = await binaryLink();
    const token = link.split('/').at(-1) ?? '';
    const [payload = '', mac = ''] = token.split('.');
    const subject = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, number];
    const extended = Buffer.from(JSON.stringify([subject[0], subject[1] + 1])).toString('base64url');
    const uploads = '/api/registry/private/v2/uploads';
    for (const forged of [`${extended}.${mac}`, `${payload}.`, payload, `${token}.x`, `${payload}.${mac.slice(1)}A`]) {
      expect(await refused(put(`${uploads}/${forged}`, linux.bytes))).toEqual([403, NOT_VALID]);
    }
    await put(link, linux.bytes);
    const download = await release.linkOf(linux, 'provider-binary-download');
    expect(await refused(put(`${uploads}/${download.split('/').at(-2)}`, linux.bytes))).toEqual([403, NOT_VALID]);
    const files = '/api/registry/private/v2/files';
    expect(await refused(server.as(null).get(`${files}/${token}/${linux.filename}`))).toEqual([403, NOT_VALID]);
  });

  it('returns 404 if its version or platform is deleted', async () => {
    await makeOrganization(server, 'brief');
    await addGpgKey(server, 'brief', signer);
    const [inBrief, inDeletedProvider] = [
      await makeRelease(server, 'brief', 'tool', signer),
      await makeRelease(server, 'acme', `made-${(count += 1)}`, signer),
    ];
    const links: string[] = [];
    for (const one of [release, inBrief, inDeletedProvider]) {
      await one.addPlatform(linux);
      links.push(await one.link('shasums-upload'), await one.linkOf(linux, 'provider-binary-upload'));
    }
    const windows = release.archive('windows');
    await release.addPlatform(windows);
    const ofWindows = await binaryLink(windows);
    expectStatus(await server.delete(release.platformPath(windows)), 204);
    expect(await refused(put(ofWindows, windows.bytes))).toEqual([404, 'This platform has been deleted']);
    expectStatus(await server.delete(release.path), 204);
    expectStatus(await server.delete('/api/v2/organizations/brief'), 204);
    expectStatus(await server.delete(inDeletedProvider.path.replace(/\/versions.*/, '')), 204);
    const before = await traces();
    for (const link of links) {
      expect(await refused(put(link, linux.bytes))).toEqual([404, 'This version has been deleted']);
    }
    expect(await traces()).toEqual(before);
  });
});

describe('SHA256SUMS', () => {
  it('must list each platform with its checksum', async () => {
    const windows = release.archive('windows');
    await release.addPlatform(linux);
    await release.addPlatform(windows);
    const link = await release.link('shasums-upload');
    expect(await refused(put(link, checksumsOf(linux)))).toEqual([422, `SHA256SUMS does not list ${windows.filename}`]);
    const words = `SHA256SUMS lists ${windows.filename} with checksum ${linux.shasum}, its platform has ${windows.shasum}`;
    expect(await refused(put(link, checksumsOf(linux, { ...windows, shasum: linux.shasum })))).toEqual([422, words]);
    expect(await refused(put(link, Buffer.from('hello\n')))).toEqual([
      422,
      expect.stringMatching(/^Line 1 of SHA256SUMS/),
    ]);
    expect((await put(link, checksumsOf(linux, windows))).status).toBe(200);
  });

  it('limits later platforms to those that it lists', async () => {
    await put(await release.link('shasums-upload'), checksumsOf(linux));
    const changed = { ...linux, shasum: '0'.repeat(64) };
    const [wrong, unlisted] = [expect.stringMatching(/lists .* with checksum/), expect.stringMatching(/does not list/)];
    expect(await refused(release.declarePlatform(changed))).toEqual([422, wrong]);
    expect(await refused(release.declarePlatform(release.archive('windows')))).toEqual([422, unlisted]);
    await release.addPlatform(linux);
  });
});

describe('an uploaded signature', () => {
  const signatureLink = (): Promise<string> => release.link('shasums-sig-upload');
  const isUploaded = async (): Promise<boolean> =>
    (await release.document()).attributes['shasums-sig-uploaded'] as boolean;
  const putSums = async (): Promise<Buffer> => {
    const sums = checksumsOf(linux);
    expectStatus(await put(await release.link('shasums-upload'), sums), 200);
    return sums;
  };

  it.each([['before'], ['after']])('may arrive %s the checksums', async (when) => {
    await release.addPlatform(linux);
    const sums = checksumsOf(linux);
    const signature = await signer.sign(sums);
    if (when === 'after') await putSums();
    expect((await put(await signatureLink(), signature)).status).toBe(200);
    expect(await isUploaded()).toBe(when === 'after');
    if (when === 'before') await putSums();
    expect(await isUploaded()).toBe(true);
    const download = await fetch(`${server.url}${await release.link('shasums-sig-download')}`);
    expect(Buffer.from(await download.arrayBuffer())).toEqual(signature);
  });

  it('is refused at once if it does not match the checksums, and a valid one is accepted later', async () => {
    await release.addPlatform(linux);
    const sums = await putSums();
    const stranger = await makeSigner();
    const before = await traces();
    const link = await signatureLink();
    for (const [signature, words] of [
      [
        await stranger.sign(sums),
        `SHA256SUMS.sig: The signature was made by the key ${stranger.keyId}, not by ${signer.keyId}`,
      ],
      [await signer.sign(Buffer.from('else')), 'SHA256SUMS.sig: The signature does not match this content'],
      [randomBytes(300), 'SHA256SUMS.sig: The signature is not an OpenPGP signature, or it is damaged'],
      [
        Buffer.from('-----BEGIN PGP SIGNATURE-----\n'),
        expect.stringMatching(/ASCII-armored; clients need a binary one/),
      ],
    ] as const) {
      expect(await refused(put(link, signature))).toEqual([422, words]);
    }
    expect(await traces()).toEqual(before);
    expect(await isUploaded()).toBe(false);
    expect((await put(link, await signer.sign(sums))).status).toBe(200);
    expect(await isUploaded()).toBe(true);
  });

  it('blocks checksums that it does not match until another signature replaces it', async () => {
    await release.addPlatform(linux);
    const sums = checksumsOf(linux);
    expect((await put(await signatureLink(), await signer.sign(Buffer.from('else')))).status).toBe(200);
    const [status, words] = await refused(put(await release.link('shasums-upload'), sums));
    expect([status, words]).toEqual([422, expect.stringMatching(/uploaded before does not match this SHA256SUMS/)]);
    expect((await put(await signatureLink(), await signer.sign(sums))).status).toBe(200);
    await putSums();
    expect(await isUploaded()).toBe(true);
  });

  it('is accepted unverified while the version has no platform, and can be replaced by a valid one', async () => {
    const stranger = await makeSigner();
    const sums = await putSums();
    expect((await put(await signatureLink(), await stranger.sign(sums))).status).toBe(200);
    expect(await isUploaded()).toBe(false);
    expect((await release.document()).attributes.missing).toContain('SHA256SUMS.sig');
    expect((await put(await signatureLink(), await signer.sign(sums))).status).toBe(200);
    expect(await isUploaded()).toBe(true);
  });

  it('is verified when it is uploaded again after the missing key is added', async () => {
    const late = await makeSigner({ subkey: true });
    release = await makeRelease(server, 'acme', `made-${(count += 1)}`, late);
    linux = release.archive('linux');
    const sums = await putSums();
    const signature = await late.sign(sums);
    expect((await put(await signatureLink(), signature)).status).toBe(200);
    expect(await isUploaded()).toBe(false);
    await release.addPlatform(linux);
    const words = `SHA256SUMS.sig: the organization has no GPG key ${late.keyId}; add it, then upload this file again`;
    expect(await refused(put(await signatureLink(), signature))).toEqual([422, words]);
    await addGpgKey(server, 'acme', late);
    expect((await put(await signatureLink(), signature)).status).toBe(200);
    expect(await isUploaded()).toBe(true);
  });

  it('is verified by the next zip after the missing key is added', async () => {
    const late = await makeSigner();
    release = await makeRelease(server, 'acme', `made-${(count += 1)}`, late);
    linux = release.archive('linux');
    const sums = await putSums();
    expectStatus(await put(await signatureLink(), await late.sign(sums)), 200);
    await release.addPlatform(linux);
    await addGpgKey(server, 'acme', late);
    expectStatus(await put(await binaryLink(), linux.bytes), 200);
    expect((await release.document()).attributes).toMatchObject({ 'shasums-sig-uploaded': true, usable: true });
  });
});

describe('a download', () => {
  const NAMES = ['shasums', 'shasums-sig', 'binary'] as const;
  let links: Readonly<Record<(typeof NAMES)[number], string>>;
  let files: Readonly<Record<(typeof NAMES)[number], Buffer>>;

  beforeEach(async () => {
    const sums = checksumsOf(linux);
    files = { shasums: sums, 'shasums-sig': await signer.sign(sums), binary: linux.bytes };
    await release.addPlatform(linux);
    expectStatus(await put(await release.link('shasums-upload'), files.shasums), 200);
    expectStatus(await put(await release.link('shasums-sig-upload'), files['shasums-sig']), 200);
    expectStatus(await put(await binaryLink(), files.binary), 200);
    links = {
      shasums: await release.link('shasums-download'),
      'shasums-sig': await release.link('shasums-sig-download'),
      binary: await release.linkOf(linux, 'provider-binary-download'),
    };
  });

  const get = (link: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Response> =>
    fetch(`${server.url}${link}`, { method, headers });
  const bytesIn = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

  it.each([
    ['shasums', 'SHA256SUMS', 'text/plain; charset=utf-8'],
    ['shasums-sig', 'SHA256SUMS.sig', 'application/octet-stream'],
    ['binary', 'linux_amd64.zip', 'application/zip'],
  ] as const)('has the headers of the type of %s for GET and HEAD', async (kind, suffix, type) => {
    const filename = `terraform-provider-${release.name}_1.0.0_${suffix}`;
    expect(links[kind].split('/').at(-1)).toBe(filename);
    for (const method of ['GET', 'HEAD']) {
      const response = await get(links[kind], {}, method);
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': type,
        'content-length': String(files[kind].length),
        'content-disposition': `attachment; filename="${filename}"`,
        etag: `"${sha256Of(files[kind])}"`,
        'accept-ranges': 'bytes',
        'cache-control': 'private, no-cache',
        'x-content-type-options': 'nosniff',
      });
      expect(await bytesIn(response)).toEqual(method === 'GET' ? files[kind] : Buffer.alloc(0));
    }
  });

  it('returns the requested range', async () => {
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      ['bytes=500-', 500, 1_999],
      ['bytes=-10', 1_990, 1_999],
      ['bytes=1900-5000', 1_900, 1_999],
    ] as const) {
      const response = await get(links.binary, { range });
      const { headers } = response;
      expect([response.status, headers.get('content-range'), headers.get('content-length')]).toEqual([
        206,
        `bytes ${start}-${end}/2000`,
        String(end - start + 1),
      ]);
      expect(await bytesIn(response)).toEqual(linux.bytes.subarray(start, end + 1));
    }
    const beyond = await get(links.binary, { range: 'bytes=2000-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */2000']);
    for (const range of ['bytes=9-5', 'lines=1-2', 'bytes=0-1,5-6', 'x']) {
      expect((await get(links.binary, { range })).status).toBe(200);
    }
  });

  it('returns a range only if If-Range matches the file, and otherwise all of it', async () => {
    const etag = `"${linux.shasum}"`;
    const part = { range: 'bytes=10-' };
    const statusOf = async (headers: Readonly<Record<string, string>>) => (await get(links.binary, headers)).status;
    expect(await statusOf({ ...part, 'if-range': etag })).toBe(206);
    expect(await statusOf({ ...part, 'if-range': '"else"' })).toBe(200);
    expect(await statusOf({ ...part, 'if-range': `W/${etag}` })).toBe(200);
    expect(await statusOf({ ...part, 'if-range': new Date().toUTCString() })).toBe(200);
  });

  it('returns 304 if the client already has the file', async () => {
    const etag = `"${linux.shasum}"`;
    for (const match of [etag, `W/${etag}`, `"else", ${etag}`, '*']) {
      const response = await get(links.binary, { 'if-none-match': match });
      expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([304, etag, '']);
    }
    expect((await get(links.binary, { 'if-none-match': '"else"' })).status).toBe(200);
  });

  it('requires the exact file name in the path', async () => {
    const otherName = links.shasums.split('/').at(-1) ?? '';
    for (const name of [otherName, 'x.zip', '..%2f..%2fetc%2fpasswd', '%c3%a4.zip', `${linux.filename}%20`]) {
      expect((await get(links.binary.replace(linux.filename, name))).status).toBe(404);
    }
    expect((await get(links.binary.replace(linux.filename, 'x%00'))).status).toBe(400);
  });

  it('returns 404 after the version is deleted', async () => {
    expectStatus(await server.delete(release.path), 204);
    for (const kind of NAMES) expect((await get(links[kind])).status).toBe(404);
    await waitForFollowers(server.store, 'release_sweeper');
    for (const kind of NAMES) expect((await get(links[kind])).status).toBe(404);
  });

  it('closes the file if the client disconnects', async () => {
    const large = release.archive('windows', 'amd64', randomBytes(MIB));
    release = await makeRelease(server, 'acme', `made-${(count += 1)}`, signer);
    await release.addPlatform(large);
    expectStatus(await put(await binaryLink(large), large.bytes), 200);
    const link = await release.linkOf(large, 'provider-binary-download');
    const opened: Readable[] = [];
    const { blobs } = server.runtime;
    const get = jest.spyOn(blobs, 'get').mockImplementation(async (key, range) => {
      const blob = await FolderBlobs.prototype.get.call(blobs, key, range);
      if (blob) opened.push(blob.content);
      return blob;
    });
    // After an aborted `fetch`, undici opens a connection that it never uses. The server would wait a minute for its request.
    await new Promise<void>((resolve, reject) => {
      const request = httpRequest(`${server.url}${link}`, { agent: false }, (response) =>
        response.once('data', () => {
          request.destroy();
          resolve();
        }),
      );
      request.once('error', reject);
      request.end();
    });
    expect(opened).toHaveLength(1);
    await waitUntil(() => opened.every(({ closed }) => closed), 'the file is closed');
    get.mockRestore();
  });
});

describe('simultaneous uploads', () => {
  it('all succeed for the 50 platforms of one version', async () => {
    const archives = Array.from({ length: 50 }, (_, index) => release.archive('linux', `arch${index}`));
    await Promise.all(archives.map((archive) => release.addPlatform(archive)));
    const links = await Promise.all(archives.map((archive) => binaryLink(archive)));
    const sums = checksumsOf(...archives);
    links.push(await release.link('shasums-upload'));
    const answers = await Promise.all(links.map((link, index) => put(link, archives[index]?.bytes ?? sums)));
    expect(answers.map(({ status }) => status)).toEqual(links.map(() => 200));
    expect((await put(await release.link('shasums-sig-upload'), await signer.sign(sums))).status).toBe(200);
    expect((await release.document()).attributes).toMatchObject({ usable: true, missing: [] });
  });

  it('succeed once for the same file, return 409 otherwise, and append one event', async () => {
    await release.addPlatform(linux);
    const link = await binaryLink();
    const answers = await Promise.all(Array.from({ length: 20 }, () => put(link, linux.bytes)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
    const events = (await readWholeLog(server.store)).filter(({ type, data }) => {
      return type === 'RegistryProviderBinaryUploaded' && (data as { filename: string }).filename === linux.filename;
    });
    expect(events).toHaveLength(1);
  });
});

describe('the audit trail of uploads', () => {
  it('contains name, size and checksum, and no content', async () => {
    const sums = checksumsOf(linux);
    const signature = await signer.sign(sums);
    await release.addPlatform(linux);
    expectStatus(await put(await release.link('shasums-upload'), sums), 200);
    expectStatus(await put(await release.link('shasums-sig-upload'), signature), 200);
    expectStatus(await put(await binaryLink(), linux.bytes), 200);
    const token = await makeOrganizationToken(server, 'acme');
    const { body } = expectStatus(await server.as(token).get('/api/v2/organization/audit-trail?page[size]=20'), 200);
    const uploads = body.data.filter(({ resource }: any) => resource.action === 'upload').slice(0, 3);
    const of = { provider: release.name, version: '1.0.0' };
    const stem = `terraform-provider-${release.name}_1.0.0`;
    expect(uploads.map(({ resource, auth }: any) => [resource.type, resource.meta, auth.type])).toEqual([
      [
        'registry_provider_platform',
        { ...of, os: 'linux', arch: 'amd64', filename: linux.filename, shasum: linux.shasum, size: 2_000 },
        'System',
      ],
      [
        'registry_provider_version',
        { ...of, filename: `${stem}_SHA256SUMS.sig`, size: signature.length, sha256: sha256Of(signature) },
        'System',
      ],
      [
        'registry_provider_version',
        { ...of, filename: `${stem}_SHA256SUMS`, size: sums.length, sha256: sha256Of(sums) },
        'System',
      ],
    ]);
  });

  it('the views equal those that are rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [registryDefinition]);
  });
});
