import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql, unavailable } from '#platform/kernel';
import { AdjustableClock } from '../../../test/support/clocks.js';
import { waitForFollowers } from '../../../test/support/event-log.js';
import {
  makeModule,
  makeModuleVersion,
  moduleBody,
  moduleVersionBody,
  packModule,
  pathOfModule,
  pathOfModules,
  publishModuleVersion,
} from '../../../test/support/registry-modules.js';
import { settleNeighbours, uploadTo } from '../../../test/support/registry.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  refusalOf,
  resource,
} from '../../../test/support/seeds.js';
import { getDetail, listNames } from '../../../test/support/responses.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { createModuleSweeper, modulesDefinition } from './index.js';

const HOUR_MS = 60 * 60 * 1000;
const clock = new AdjustableClock();
let server: TestServer;
let member: ApiTestClient;
let stranger: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true, env: { CADASTRE_MODULE_MAX_MIB: '1' } });
  ({ member, stranger } = await settleNeighbours(server));
});

afterAll(() => server.close());

let count = 0;
const uniqueName = (): string => `module-${(count += 1)}`;

const makeUniqueModule = async (): Promise<string> => {
  const name = uniqueName();
  await makeModule(server, 'acme', name);
  return name;
};

const showModule = async (name: string): Promise<any> =>
  expectStatus(await member.get(pathOfModule('acme', name)), 200).body.data;

const readTrail = async (id: string): Promise<readonly [action: string, meta: unknown][]> => {
  const { body } = expectStatus(await server.get('/api/v2/organizations/acme/audit-trail?page[size]=100'), 200);
  return body.data
    .filter(({ resource: { id: of } }: any) => of === id)
    .map(({ resource: { action, meta } }: any) => [action, meta])
    .toReversed();
};

const listFiles = async (): Promise<readonly string[]> =>
  (await readdir(server.runtime.settings.blobsFolder, { recursive: true }).catch(() => [])).filter((file) =>
    /registry-modules.*archive-/.test(file),
  );

describe('a module', () => {
  it('is created, shown by name in any case and by id, listed, changed and deleted', async () => {
    const name = 'Network_1';
    const created = expectStatus(await server.post(pathOfModules('acme'), moduleBody(name)), 201).body.data;
    expect(created.attributes).toMatchObject({
      name,
      provider: 'aws',
      namespace: 'acme',
      'registry-name': 'private',
      status: 'pending',
      'publishing-mechanism': 'non_vcs',
      'no-code': false,
      'version-statuses': [],
      permissions: { 'can-delete': true, 'can-resync': false, 'can-retry': false },
    });
    const path = pathOfModule('acme', name);
    expect(created.links.self).toBe(path);
    for (const address of [path, pathOfModule('ACME', 'network_1'), `/api/v2/registry-modules/${created.id}`])
      expect(expectStatus(await server.get(address), 200).body.data).toEqual(created);
    expect((await showModule(name)).attributes.permissions['can-delete']).toBe(false);

    const listed = async (query: string) =>
      listNames(expectStatus(await member.get(pathOfModules('acme') + query), 200));
    expect(await listed('?q=WORK_1')).toEqual([name]);
    expect(await listed('?filter[provider]=aws&filter[registry_name]=private&include=no-code-modules')).toEqual([name]);
    expect(await listed('?filter[provider]=gcp')).toEqual([]);
    expect(await listed('?filter[registry_name]=public')).toEqual([]);

    const changed = expectStatus(await server.patch(path, resource('registry-modules', { 'no-code': true })), 200);
    expect(changed.body.data.attributes['no-code']).toBe(true);
    expectStatus(await server.patch(path, resource('registry-modules', {})), 200);
    expectStatus(await server.delete(path), 204);
    expectStatus(await server.get(path), 404);
    expect(await readTrail(created.id)).toEqual([
      ['create', { name, provider: 'aws' }],
      ['update', { name, provider: 'aws', change: 'no_code', no_code: true }],
      ['destroy', { name, provider: 'aws' }],
    ]);
  });

  it.each([
    [{ name: 'a b' }, 'Name may only contain letters and numbers, and dashes and underscores between them'],
    [{ name: '-a' }, 'Name may only contain letters and numbers, and dashes and underscores between them'],
    [{ name: 'a'.repeat(65) }, 'Name is too long (at most 64 characters)'],
    [{ provider: 'AWS' }, 'Provider may only contain lowercase letters and numbers'],
    [{ provider: '' }, "Provider can't be blank"],
    [{ namespace: 'neighbour' }, 'Namespace of a private module must be the organization, acme'],
    [{ 'registry-name': 'public' }, 'Registry name must be private, got "public"'],
  ])('is refused with the attributes %j', async (attributes, detail) => {
    const answer = await server.post(pathOfModules('acme'), moduleBody('network', attributes));
    expect(refusalOf(answer)[1]).toBe(detail);
  });

  it('has a name of its own, regardless of case, for each provider', async () => {
    const name = await makeUniqueModule();
    const twin = await server.post(pathOfModules('acme'), moduleBody(name.toUpperCase()));
    expect(refusalOf(twin)).toEqual(['/data/attributes/name', 'Name has already been taken']);
    expectStatus(await server.post(pathOfModules('acme'), moduleBody(name, { provider: 'google' })), 201);
    expectStatus(await server.delete(`${pathOfModules('acme')}/private/acme/${name}`), 204);
    expectStatus(await server.get(pathOfModule('acme', name)), 404);
    expectStatus(await server.get(pathOfModule('acme', name, 'google')), 404);
  });

  it('is changed by owners and by teams that manage modules, and hidden from other organizations', async () => {
    const name = await makeUniqueModule();
    const team = await makeTeam(server, 'acme', 'librarians', { 'organization-access': { 'manage-modules': true } });
    const librarian = await makeMember(server, 'acme', 'lea', [team]);
    const path = pathOfModule('acme', name);
    for (const caller of [member, stranger]) {
      expectStatus(await caller.post(pathOfModules('acme'), moduleBody('mine')), 404);
      expectStatus(await caller.post(`${path}/versions`, moduleVersionBody('1.0.0')), 404);
      expectStatus(await caller.patch(path, resource('registry-modules', { 'no-code': true })), 404);
      expectStatus(await caller.delete(path), 404);
    }
    expectStatus(await stranger.get(path), 404);
    expectStatus(await stranger.get(pathOfModules('acme')), 404);
    await publishModuleVersion(librarian, 'acme', name, '1.0.0');
    expectStatus(await librarian.delete(path), 204);
  });

  it('is deleted by the paths of older clients', async () => {
    const actions = '/api/v2/registry-modules/actions/delete/acme';
    const [one, two] = [await makeUniqueModule(), await makeUniqueModule()];
    const old = `/api/v2/registry-modules/acme/${one}/aws/versions`;
    for (const version of ['1.0.0', '1.1.0']) expectStatus(await server.post(old, moduleVersionBody(version)), 201);
    expectStatus(await server.post(`${actions}/${one}/aws/1.0.0`), 204);
    expect((await showModule(one)).attributes['version-statuses']).toEqual([
      { version: '1.1.0', status: 'pending', error: '' },
    ]);
    expectStatus(await server.post(`${actions}/${one}/aws`), 204);
    expectStatus(await server.get(pathOfModule('acme', one)), 404);
    expectStatus(await server.post(`${actions}/${two}`), 204);
    expectStatus(await server.post(`${actions}/${two}`), 404);
  });
});

describe('a version of a module', () => {
  it('is installable after the upload of its archive, and leads the list if it is the newest', async () => {
    const name = await makeUniqueModule();
    const path = pathOfModule('acme', name);
    const created = await makeModuleVersion(server, 'acme', name, '1.10.0');
    expect(created.attributes).toMatchObject({ version: '1.10.0', status: 'pending', source: 'tfe-api' });
    expect(created.links.upload).toContain('/object/');
    const archive = await packModule();
    const uploaded = expectStatus(await uploadTo(server, created.links.upload, archive), 200);
    expect(uploaded.text).toBe('');
    await publishModuleVersion(server, 'acme', name, '1.9.0');
    await makeModuleVersion(server, 'acme', name, '2.0.0-beta.1+build');
    const { attributes, id } = await showModule(name);
    expect(attributes).toMatchObject({ status: 'setup_complete' });
    expect(attributes['version-statuses']).toEqual([
      { version: '2.0.0-beta.1+build', status: 'pending', error: '' },
      { version: '1.10.0', status: 'ok', error: '' },
      { version: '1.9.0', status: 'ok', error: '' },
    ]);
    const uploadedVersion = expectStatus(await server.get(`${path}/version?module_version=1.10.0`), 200).body.data;
    expect(uploadedVersion).toMatchObject({ id: created.id, attributes: { status: 'ok' } });
    expect(uploadedVersion.links).not.toHaveProperty('upload');
    const versions = expectStatus(await member.get(`${path}/versions?page[size]=1`), 200).body;
    expect(versions).toMatchObject({
      data: [{ attributes: { version: '2.0.0-beta.1+build' } }],
      meta: { pagination: { 'total-count': 3 } },
    });
    expect(versions.data[0].links).not.toHaveProperty('upload');
    expect((await readTrail(id)).slice(0, 3)).toEqual([
      ['create', { name, provider: 'aws' }],
      ['update', { name, provider: 'aws', module_version: '1.10.0', change: 'version_created' }],
      [
        'update',
        {
          name,
          provider: 'aws',
          module_version: '1.10.0',
          change: 'version_uploaded',
          size: archive.length,
          sha256: createHash('sha256').update(archive).digest('hex'),
        },
      ],
    ]);
  });

  it.each([
    ['v1.0.0', /Version is invalid/],
    ['1.0', /Version is invalid/],
    ['1.0.0+other', /has already been taken/],
  ])('is refused as %s', async (version, detail) => {
    const name = await makeUniqueModule();
    await makeModuleVersion(server, 'acme', name, '1.0.0');
    const answer = await server.post(`${pathOfModule('acme', name)}/versions`, moduleVersionBody(version));
    expect(refusalOf(answer)).toEqual(['/data/attributes/version', expect.stringMatching(detail)]);
  });

  it('is deleted with its archive, and the last one with its module', async () => {
    const name = await makeUniqueModule();
    const path = pathOfModule('acme', name);
    await publishModuleVersion(server, 'acme', name, '1.0.0');
    await publishModuleVersion(server, 'acme', name, '1.1.0');
    const { id } = await showModule(name);
    const before = (await listFiles()).length;
    expectStatus(await server.delete(`${path}/1.0.0`), 204);
    expectStatus(await server.delete(`${path}/1.0.0`), 404);
    expectStatus(await server.delete(`${path}/1.1.0`), 204);
    expectStatus(await server.get(path), 404);
    expect((await readTrail(id)).slice(-3)).toEqual([
      ['destroy_version', { name, provider: 'aws', version: 1, module_version: '1.0.0' }],
      ['destroy_version', { name, provider: 'aws', version: 2, module_version: '1.1.0' }],
      ['destroy', { name, provider: 'aws' }],
    ]);
    await waitForFollowers(server.store, 'module_sweeper');
    expect((await listFiles()).length).toBe(before - 2);
  });

  it('is created once if two callers create it at the same time', async () => {
    const name = await makeUniqueModule();
    const path = `${pathOfModule('acme', name)}/versions`;
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.post(path, moduleVersionBody('1.0.0'))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422]);
  });
});

describe('the upload of an archive', () => {
  it('is refused if it is no module, stores nothing then, and can be repeated', async () => {
    const name = await makeUniqueModule();
    const { links } = await makeModuleVersion(server, 'acme', name, '1.0.0');
    const before = await listFiles();
    const wrapped = await packModule({ 'network/main.tf': '' });
    expect(getDetail(expectStatus(await uploadTo(server, links.upload, wrapped), 422))).toMatch(
      /no \.tf file at its root/,
    );
    const text = expectStatus(await uploadTo(server, links.upload, Buffer.from('text')), 422);
    expect(getDetail(text)).toMatch(/is damaged/);
    expectStatus(await uploadTo(server, links.upload, Buffer.alloc(1_024 * 1_024 + 1)), 413);
    expect(await listFiles()).toEqual(before);
    expectStatus(await uploadTo(server, links.upload, await packModule()), 200);
    const other = await packModule({ 'main.tf': '', 'other.tf': '' });
    const again = expectStatus(await uploadTo(server, links.upload, other), 409);
    expect(getDetail(again)).toMatch(/uploaded already/);
  });

  it('is accepted again with the same bytes, and recorded once', async () => {
    const name = await makeUniqueModule();
    const { links } = await makeModuleVersion(server, 'acme', name, '1.0.0');
    const archive = await packModule();
    expectStatus(await uploadTo(server, links.upload, archive), 200);
    const before = await listFiles();
    expectStatus(await uploadTo(server, links.upload, archive), 200);
    expect(await listFiles()).toEqual(before);
    const { id } = await showModule(name);
    expect((await readTrail(id)).length).toBe(3);
  });

  it('keeps the archive if the connection is lost after the commit of its event', async () => {
    const name = await makeUniqueModule();
    const { links } = await makeModuleVersion(server, 'acme', name, '1.0.0');
    const archive = await packModule();
    const before = await listFiles();
    const { store } = server;
    const handle = store.handle.bind(store);
    const lost = jest.spyOn(store, 'handle').mockImplementationOnce(async (command: any) => {
      await handle(command);
      throw unavailable('The connection was lost', 1);
    });
    expectStatus(await uploadTo(server, links.upload, archive), 503);
    expect(lost).toHaveBeenCalledTimes(1);
    lost.mockRestore();
    expect((await listFiles()).length).toBe(before.length + 1);
    expectStatus(await uploadTo(server, links.upload, archive), 200);
    expect((await showModule(name)).attributes.status).toBe('setup_complete');
  });

  it('ends in one archive if several arrive at the same time', async () => {
    const name = await makeUniqueModule();
    const { links } = await makeModuleVersion(server, 'acme', name, '1.0.0');
    const archives = await Promise.all(['a', 'b', 'c'].map((file) => packModule({ 'main.tf': '', [file]: '' })));
    const answers = await Promise.all(archives.map((archive) => uploadTo(server, links.upload, archive)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });

  it('needs a link that is valid, and whose recipient may still manage modules', async () => {
    const name = await makeUniqueModule();
    const team = await makeTeam(server, 'acme', 'packers', { 'organization-access': { 'manage-modules': true } });
    const packer = await makeMember(server, 'acme', 'pat', [team]);
    const { links } = await makeModuleVersion(packer, 'acme', name, '1.0.0');
    const archive = await packModule();
    expectStatus(await uploadTo(server, `${links.upload}x`, archive), 403);
    expectStatus(await server.delete(`/api/v2/teams/${team}`), 204);
    expectStatus(await uploadTo(server, links.upload, archive), 403);
    const { links: mine } = await makeModuleVersion(server, 'acme', name, '1.1.0');
    clock.pass({ ms: 26 * HOUR_MS });
    expectStatus(await uploadTo(server, mine.upload, archive), 403);
  });

  it('gets 404 after the version was deleted', async () => {
    const name = await makeUniqueModule();
    const { links } = await makeModuleVersion(server, 'acme', name, '1.0.0');
    expectStatus(await server.delete(pathOfModule('acme', name)), 204);
    expectStatus(await uploadTo(server, links.upload, await packModule()), 404);
  });
});

describe('the views of modules', () => {
  it('equal views that are computed from the log, and end with their organization', async () => {
    await makeOrganization(server, 'doomed');
    await makeModule(server, 'doomed', 'network');
    await publishModuleVersion(server, 'doomed', 'network', '1.0.0');
    await expectViewsMatchLog(server, [modulesDefinition]);
    expectStatus(await server.delete('/api/v2/organizations/doomed'), 204);
    await expectViewsMatchLog(server, [modulesDefinition]);
    expect(createModuleSweeper(server.runtime.blobs).tables).toEqual([]);
    const left = await server.database.rows<{ id: string }>(sql`
      select v.id from registry_module_versions v where not exists (select from organizations o where o.id = v.organization)`);
    expect(left).toEqual([]);
  });
});
