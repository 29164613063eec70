import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole, expectElements } from '../support/console.js';
import { makeProvider, pathOfProvider, pathOfVersion, publishVersion } from '../support/registry.js';
import {
  addGpgKey,
  checksumsOf,
  makeRelease,
  makeSigner,
  publish,
  TestRelease,
  type Signer,
} from '../support/releases.js';
import { expectStatus, makeMember, makeOrganization } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let signer: Signer;
let owner: string;
let member: string;

beforeAll(async () => {
  [server, browser, signer] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser(), makeSigner()]);
  for (const name of ['acme', 'fresh']) {
    const { ownersTeam } = await makeOrganization(server, name);
    owner = (await makeMember(server, name, 'olga', [ownersTeam])).id;
  }
  member = (await makeMember(server, 'acme', 'mia')).id;
  await addGpgKey(server, 'acme', signer);
  const released = await makeRelease(server, 'acme', 'aws', signer);
  await publish(server, released, signer, released.archive('linux'), released.archive('darwin', 'arm64'));
  const body = {
    type: 'registry-provider-versions',
    attributes: { version: '1.1.0', 'key-id': signer.keyId, protocols: ['5.0'] },
  };
  expectStatus(await server.post(released.path.replace(/\/1\.0\.0$/, ''), { data: body }), 201);
  const next = new TestRelease(server, 'acme', 'aws', '1.1.0');
  await next.addPlatform(next.archive('linux'));
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, title: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path });
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  return page;
};

/** Returns the files of a release, as a browser uploads them. */
const listFiles = async (version: string) => {
  const release = new TestRelease(server, 'acme', 'example', version);
  const archives = [release.archive('linux'), release.archive('windows')];
  const sums = checksumsOf(...archives);
  const prefix = `terraform-provider-example_${version}`;
  return [
    ...archives.map(({ filename, bytes }) => ({ name: filename, mimeType: 'application/zip', buffer: bytes })),
    { name: `${prefix}_SHA256SUMS`, mimeType: 'text/plain', buffer: sums },
    { name: `${prefix}_SHA256SUMS.sig`, mimeType: 'application/octet-stream', buffer: await signer.sign(sums) },
  ];
};

/** Returns the manifest of a release, as a browser uploads it. */
const toManifest = (version: string, content: object) => ({
  name: `terraform-provider-example_${version}_manifest.json`,
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(content)),
});

describe('the registry', () => {
  it('lists providers and keys, and leads to the versions of a provider', async () => {
    const page = await open(owner, '/app/acme/registry', 'Registry');
    await page.getByRole('row').filter({ hasText: 'aws' }).waitFor();
    await page.getByText(signer.keyId).waitFor();
    expect(await inspectScreen(page, 'registry')).toEqual([]);
    await page.getByRole('link', { name: 'aws' }).click();
    await page.getByRole('heading', { level: 1, name: 'aws' }).waitFor();
    expect(page.url()).toBe(`${server.url}/app/acme/registry/aws`);
    await page.context().close();
  });

  it('describes the next step while it is empty', async () => {
    const page = await open(owner, '/app/fresh/registry', 'Registry');
    await page.getByRole('heading', { name: 'There is no provider yet' }).waitFor();
    await page.getByText('There is no key yet.').waitFor();
    expect(await inspectScreen(page, 'registry-empty')).toEqual([]);
    await page.getByRole('button', { name: 'Publish a version' }).click();
    await page.getByRole('button', { name: 'Add the key that signs the release' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a GPG key' });
    await dialog.getByLabel('Public key').fill('no key');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.locator('textarea[aria-invalid="true"]').waitFor();
    await dialog.getByLabel('Public key').fill(signer.armor);
    expect(await inspectScreen(page, 'registry-add-key')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page
      .getByLabel('GPG key that signs the release')
      .and(page.locator(`[value="${signer.keyId}"]`))
      .waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText(signer.keyId).waitFor();
    await page.context().close();
  });

  it('does not exist for a stranger', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await open(id, '/app/acme/registry', 'Registry');
    await page.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    expect(await inspectScreen(page, 'registry-no-access')).toEqual([]);
    await page.context().close();
  });
});

describe('a provider', () => {
  it('shows what each version and platform lacks, and the block to paste', async () => {
    const page = await open(owner, '/app/acme/registry/aws', 'aws');
    const complete = page.getByRole('row').filter({ hasText: '1.0.0' });
    await complete.getByText('Can be installed').waitFor();
    await complete.getByText('signature verified').waitFor();
    const incomplete = page.getByRole('row').filter({ hasText: '1.1.0' });
    await incomplete
      .getByText('Missing: SHA256SUMS, SHA256SUMS.sig, terraform-provider-aws_1.1.0_linux_amd64.zip')
      .waitFor();
    await incomplete.getByText('zip missing').waitFor();
    const block = page.getByRole('region', { name: 'the required_providers block' });
    expect(await block.textContent()).toContain(`source  = "${new URL(server.url).host}/acme/aws"`);
    expect(await block.textContent()).toContain('version = "1.0.0"');
    expect(await inspectScreen(page, 'provider')).toEqual([]);
    await page.context().close();
  });

  it('lets a member read, and names the right that changes need', async () => {
    const page = await open(member, '/app/acme/registry/aws', 'aws');
    await page.getByRole('row').filter({ hasText: '1.0.0' }).getByText('Can be installed').waitFor();
    const button = page.getByRole('button', { name: 'Delete version 1.0.0' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Publish a version' }).hover();
    await page.getByRole('tooltip', { name: 'You need a team with the right to manage providers.' }).first().waitFor();
    await page.context().close();
  });

  it('is published from the files of a release, and continues after an interruption', async () => {
    const page = await open(owner, '/app/acme/registry', 'Registry');
    await page.getByRole('button', { name: 'Publish a version' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish a version' });
    const files = await listFiles('2.0.0');
    const input = dialog.locator('input[type="file"]');
    await input.setInputFiles(files.slice(1));
    await dialog
      .getByRole('alert')
      .filter({ hasText: 'terraform-provider-example_2.0.0_linux_amd64.zip is missing.' })
      .waitFor();
    const manifest = { metadata: { protocol_versions: ['7.0'] } };
    await input.setInputFiles([...files, toManifest('2.0.0', manifest)]);
    await dialog.getByText('metadata.protocol_versions has "7.0". It must be one of 4.0, 5.0, 6.0.').waitFor();
    const notes = { name: 'CHANGELOG.md', mimeType: 'text/plain', buffer: Buffer.from('') };
    await input.setInputFiles([...files, toManifest('2.0.0', { metadata: { protocol_versions: ['5.1'] } }), notes]);
    const list = dialog.getByRole('list', { name: 'Chosen files' });
    await list.getByRole('listitem').filter({ hasText: 'CHANGELOG.md (not used)' }).waitFor();
    await expectElements(list.getByText('(not used)'), 1);
    await dialog.getByText('protocol 5.0, platforms: linux/amd64, windows/amd64').waitFor();
    expect(await inspectScreen(page, 'registry-publish')).toEqual([]);
    let isFirst = true;
    await page.route('**/api/registry/private/v2/uploads/**', async (route) => {
      const fails = isFirst && (route.request().postDataBuffer()?.length ?? 0) === files[0]?.buffer.length;
      if (fails) isFirst = false;
      await (fails ? route.abort() : route.continue());
    });
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'example' }).waitFor();
    await page.getByRole('row').filter({ hasText: '2.0.0' }).getByText('Can be installed').waitFor();
    expect(
      expectStatus(await server.get(pathOfVersion('acme', 'example', '2.0.0')), 200).body.data.attributes.missing,
    ).toEqual([]);
    await page.context().close();
  });

  it('is published from files that a person drops', async () => {
    const page = await open(owner, '/app/acme/registry', 'Registry');
    await page.getByRole('button', { name: 'Publish a version' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish a version' });
    const release = await listFiles('2.1.0');
    const files = release.map(({ name, mimeType, buffer }) => ({
      name,
      mimeType,
      content: buffer.toString('base64'),
    }));
    // A text, because the types of the tests do not include those of browsers.
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      for (const { name, mimeType, content } of ${JSON.stringify(files)}) {
        const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type: mimeType }));
      }
      return transfer;
    })()`);
    const target = dialog.locator('input[type="file"]').locator('xpath=..');
    for (const type of ['dragenter', 'dragover', 'drop']) await target.dispatchEvent(type, { dataTransfer: transfer });
    await dialog.getByText('linux/amd64, windows/amd64').waitFor();
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'example' }).waitFor();
    await page.getByRole('row').filter({ hasText: '2.1.0' }).getByText('Can be installed').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Publish a version' }).click();
    // The same zips with another list of checksums.
    const others = release.map((file) =>
      file.name.endsWith('_SHA256SUMS')
        ? { ...file, buffer: Buffer.from(file.buffer.toString().replace(/^.{8}/, '00000000')) }
        : file,
    );
    await dialog.locator('input[type="file"]').setInputFiles(others);
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    const prefix = 'terraform-provider-example_2.1.0';
    const differences = `${prefix}_SHA256SUMS, ${prefix}_linux_amd64.zip`;
    await dialog.getByText(`example 2.1.0 exists already and differs: ${differences}. Nothing was sent.`).waitFor();
    await dialog.locator('input[type="file"]').setInputFiles(release);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText('example 2.1.0 was published already. The server has the same files.').waitFor();
    await dialog.getByText('Already there, and left alone:').waitFor();
    await dialog.getByRole('button', { name: 'Show the provider' }).click();
    await page.getByRole('heading', { level: 1, name: 'example' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('loses a version after its number is typed', async () => {
    const page = await open(owner, '/app/acme/registry/aws', 'aws');
    await page.getByRole('button', { name: 'Delete version 1.1.0' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete aws 1.1.0' });
    const confirm = dialog.getByRole('button', { name: 'Delete', exact: true });
    await dialog.getByLabel('Type 1.1.0 to confirm').fill('1.0.0');
    await expectDisabled(confirm);
    await dialog.getByLabel('Type 1.1.0 to confirm').fill('1.1.0');
    expect(await inspectScreen(page, 'provider-delete')).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('row').filter({ hasText: '1.1.0' }).waitFor({ state: 'detached' });
    expectStatus(await server.get(pathOfVersion('acme', 'aws', '1.1.0')), 404);
    await page.context().close();
  });

  it('is deleted after its name is typed, and comes back with the undo', async () => {
    const id = await makeProvider(server, 'acme', 'undone');
    await publishVersion(server, 'acme', 'undone', '1.0.0', signer);
    const page = await open(owner, '/app/acme/registry/undone', 'undone');
    await page.getByRole('button', { name: 'Delete the provider' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the provider undone' });
    await dialog.getByLabel('Type undone to confirm').fill('undone');
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('undone is deleted.').waitFor();
    await page.getByRole('link', { name: 'undone' }).waitFor({ state: 'detached' });
    expectStatus(await server.get(pathOfProvider('acme', 'undone')), 404);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('undone is back.').waitFor();
    await page.getByRole('link', { name: 'undone' }).waitFor();
    expect(expectStatus(await server.get(pathOfProvider('acme', 'undone')), 200).body.data.id).toBe(id);
    expectStatus(await server.get(pathOfVersion('acme', 'undone', '1.0.0')), 200);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
