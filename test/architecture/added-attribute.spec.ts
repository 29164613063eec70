import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transformFile } from '@swc/core';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { BUILD, ROOT } from '../support/folders.js';
import { launchProduct, type Product } from '../support/product.js';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../support/seeds.js';
import { createApiTestClient, startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';
import { applyEdit, readDocumentedEdits, type DocumentedEdit } from './documented-edits.js';

const WORKSPACES = '/api/v2/organizations/acme/workspaces';

/** docs/reference/openapi.json describes the sources without the edits. */
const ignoreDescription = (): void => undefined;

/** The modules that use settings of workspaces. */
// `libs/api/edge` declares what it adds to requests of Fastify.
const CHECKED = ['libs/workspaces/workspaces', 'libs/activity/history', 'libs/api/edge/server/http.server.ts'];

let attributeEdits: readonly DocumentedEdit[];
let filterEdits: readonly DocumentedEdit[];
let folder: string;
/** Today's sources. */
let server: TestServer;
let product: Product;
/** The sources with the edits, over the same database. */
let edited: ApiTestClient;
let typeErrors: string;

/** Copies sources and build into a folder that looks like an installed product, and edits and compiles there. */
const buildEdited = async (edits: readonly DocumentedEdit[]): Promise<void> => {
  await cp(join(ROOT, 'libs'), join(folder, 'libs'), { recursive: true });
  await cp(join(BUILD, 'dist'), join(folder, 'dist'), { recursive: true });
  for (const file of ['package.json', 'tsconfig.json', '.swcrc']) await cp(join(ROOT, file), join(folder, file));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const edit of edits) {
    const source = join(folder, edit.file);
    await writeFile(source, applyEdit(await readFile(source, 'utf8'), edit));
    const { code } = await transformFile(source, { configFile: join(folder, '.swcrc'), sourceMaps: false });
    await writeFile(join(folder, 'dist', edit.file.replace(/\.ts$/, '.js')), code);
  }
};

/** Returns the errors that the compiler reports, or an empty text. */
const checkTypes = async (): Promise<string> => {
  const config = { extends: './tsconfig.json', include: CHECKED, exclude: ['**/*.spec.ts'] };
  await writeFile(join(folder, 'tsconfig.checked.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const checking = promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.checked.json'], { cwd: folder });
  return checking.then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { readonly stdout: string }).stdout,
  );
};

const startEdited = async (): Promise<void> => {
  const { databaseUrl, encryptionKeys } = server.runtime;
  product = await launchProduct(
    { DATABASE_URL: databaseUrl, CADASTRE_ENCRYPTION_KEY: encryptionKeys.current.toString('base64') },
    { build: folder },
  );
  await product.start('gateway');
  edited = createApiTestClient(product.url, server.adminToken, ignoreDescription);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-edited-'));
  attributeEdits = await readDocumentedEdits('Add an attribute');
  filterEdits = await readDocumentedEdits('Add a list filter');
  await buildEdited([...attributeEdits, ...filterEdits]);
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  [typeErrors] = await Promise.all([checkTypes(), startEdited()]);
});

afterAll(async () => {
  await product.remove();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const readAttribute = async (api: ApiTestClient, workspace: string): Promise<unknown> =>
  expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 200).body.data.attributes['cost-center'];

const readLastEvent = (workspace: string) =>
  server.database.row<{ version: number; data: unknown }>(sql`
    select schema_version as version, data from event_store.events where stream = ${workspace}
     order by event_store.events.version desc limit 1`);

describe('an attribute that is added to workspaces', () => {
  it('needs an edit of one production file besides the document', () => {
    expect(attributeEdits.map(({ file }) => file)).toEqual([
      'libs/workspaces/workspaces/settings/workspace-settings.ts',
      'libs/workspaces/workspaces/workspaces/workspaces.document.ts',
    ]);
  });

  it('compiles', () => expect(typeErrors).toBe(''));

  it('goes from the body of a POST into the event and the document', async () => {
    const body = resource('workspaces', { name: 'one', 'cost-center': '4711' });
    const { data } = expectStatus(await edited.post(WORKSPACES, body), 201).body;
    expect(data.attributes['cost-center']).toBe('4711');
    expect(await readAttribute(edited, data.id)).toBe('4711');
    expect(await readLastEvent(data.id)).toMatchObject({ version: 2, data: { settings: { costCenter: '4711' } } });
  });

  it('has its default if the request does not name it', async () => {
    const workspace = await makeWorkspace(edited, 'acme', 'two');
    expect(await readAttribute(edited, workspace)).toBeNull();
    expect(await readLastEvent(workspace)).toMatchObject({ data: { settings: { costCenter: null } } });
  });

  it('goes from the body of a PATCH into the event and the document', async () => {
    const path = `/api/v2/workspaces/${await makeWorkspace(edited, 'acme', 'three', { 'cost-center': '4711' })}`;
    const set = await edited.patch(path, resource('workspaces', { 'cost-center': '4712' }));
    expect(expectStatus(set, 200).body.data.attributes['cost-center']).toBe('4712');
    const cleared = await edited.patch(path, resource('workspaces', { 'cost-center': null }));
    expect(expectStatus(cleared, 200).body.data.attributes['cost-center']).toBeNull();
    expect(await readLastEvent(path.split('/').at(-1) ?? '')).toMatchObject({
      version: 2,
      data: { changes: { costCenter: null } },
    });
  });

  it('is refused if its value is invalid', async () => {
    for (const [value, detail] of [
      [4711, 'Cost center must be a string'],
      ['x'.repeat(256), 'Cost center: too long, at most 255 characters'],
    ]) {
      const answer = await edited.post(WORKSPACES, resource('workspaces', { name: 'bad', 'cost-center': value }));
      expect(expectStatus(answer, 422).body.errors).toMatchObject([
        { detail, source: { pointer: '/data/attributes/cost-center' } },
      ]);
    }
  });

  it('has its default in workspaces that an older build made, and can be set there', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'older', { 'cost-center': 'ignored' });
    expect(await readAttribute(server, workspace)).toBeUndefined();
    expect(await readLastEvent(workspace)).toMatchObject({ version: 1 });
    expect(await readAttribute(edited, workspace)).toBeNull();
    const body = resource('workspaces', { 'auto-apply': true });
    expectStatus(await edited.patch(`/api/v2/workspaces/${workspace}`, body), 200);
    const set = resource('workspaces', { 'cost-center': '4713' });
    expectStatus(await edited.patch(`/api/v2/workspaces/${workspace}`, set), 200);
    expect(await readAttribute(edited, workspace)).toBe('4713');
  });
});

describe('the view of workspaces', () => {
  it('has a later version in the build with the attribute, so rows of older builds are rebuilt', async () => {
    await makeWorkspace(edited, 'acme', 'registers-its-writer');
    const rows = await server.database.rows<{ workspaces: string }>(sql`
      select distinct versions ->> 'workspaces' as workspaces from event_store.view_writers order by 1`);
    expect(rows).toEqual([{ workspaces: '4' }, { workspaces: '5' }]);
  });
});

describe('a filter that is added to the list of workspaces', () => {
  it('needs edits of two production files and of the description', () => {
    expect(filterEdits.map(({ file }) => file)).toEqual([
      'libs/workspaces/workspaces/lists/workspace-conditions.queries.ts',
      'libs/workspaces/workspaces/lists/workspaces.filter.ts',
      'libs/workspaces/workspaces/lists/workspace-lists.openapi.ts',
    ]);
  });

  it('lists the workspaces that match', async () => {
    await makeWorkspace(edited, 'acme', 'in-5000', { 'cost-center': '5000' });
    await makeWorkspace(edited, 'acme', 'in-5001', { 'cost-center': '5001' });
    const listNames = async (api: ApiTestClient): Promise<string[]> => {
      const { data, meta } = expectStatus(await api.get(`${WORKSPACES}?filter[cost-center]=5000`), 200).body;
      expect(meta.pagination['total-count']).toBe(data.length);
      return data.map(({ attributes }: { attributes: { name: string } }) => attributes.name);
    };
    expect(await listNames(edited)).toEqual(['in-5000']);
    const unedited = createApiTestClient(server.url, server.adminToken, ignoreDescription);
    expectStatus(await unedited.get(`${WORKSPACES}?filter[cost-center]=5000`), 400);
  });
});
