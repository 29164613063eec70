import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { openBrowser, type TestBrowser, type TestPage } from '../../../test/support/browser.js';
import {
  BUILD_SAML_PROVIDER_TIMEOUT_MS,
  FOREIGN_ATTRIBUTES,
  FOREIGN_PASSWORD,
  startForeignSamlProvider,
  type ForeignSamlProvider,
} from '../../../test/support/foreign-saml-provider.js';
import { expectStatus, makeOrganization, makeTeam, resource } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

// People sign in with a real browser, at a real server, with a provider that another project has written. Each side knows the
// other one only by its metadata.

const PROVIDERS = '/api/v2/admin/identity-providers';

let server: TestServer;
let browser: TestBrowser;
let provider: ForeignSamlProvider;
let id: string;

beforeAll(async () => {
  [server, browser, provider] = await Promise.all([
    startTestServer({ forBrowsers: true }),
    openBrowser(),
    startForeignSamlProvider(),
  ]);
  const attributes = {
    name: 'Acme SAML',
    protocol: 'saml',
    'metadata-url': `${provider.url}/metadata`,
    enabled: true,
    'creates-users': true,
    ...FOREIGN_ATTRIBUTES,
  };
  id = expectStatus(await server.post(PROVIDERS, resource('identity-providers', attributes)), 201).body.data
    .id as string;
  const metadata = await (await fetch(`${server.url}/sign-in/saml/${id}/metadata`)).text();
  // The login page of this provider loses the signature of the request, so it must not demand one.
  await provider.putService(metadata.replace('AuthnRequestsSigned="true"', 'AuthnRequestsSigned="false"'));
  await makeOrganization(server, 'company');
  await makeTeam(server, 'company', 'developers', { 'sso-team-id': 'developers' });
}, BUILD_SAML_PROVIDER_TIMEOUT_MS);

afterAll(async () => {
  await browser.close();
  await provider.close();
  await server.close();
});

const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const follow = (page: TestPage, name: string) => page.getByRole('link', { name, exact: true }).click();
const titleOf = (page: TestPage) => page.getByRole('heading', { level: 1 }).textContent();

/** Types the name on the login page of the provider. */
const logInAtProvider = async (page: TestPage, name: string): Promise<void> => {
  await page.locator('input[name=user]').fill(name);
  await page.locator('input[name=password]').fill(FOREIGN_PASSWORD);
  await press(page, 'Log In');
};

const listTeams = async (username: string): Promise<readonly string[]> =>
  (
    await server.database.rows<{ name: string }>(sql`
      select t.name from team_members m join teams t on t.id = m.team join users u on u.id = m.user_id
       where u.username = ${username}`)
  ).map(({ name }) => name);

describe('with a provider of another project, a person', () => {
  it('signs in with an encrypted assertion, joins a team, and signs out there', async () => {
    await provider.putPerson('ada', { email: 'ada@corp.example', groups: ['developers'] });
    const page = await browser.openPage({ javaScript: true });
    await page.goto(`${server.url}/account`);
    await follow(page, 'Continue with Acme SAML');
    const answer = page.waitForRequest(/\/acs$/);
    await logInAtProvider(page, 'ada');
    const response = new URLSearchParams((await answer).postData() ?? '').get('SAMLResponse') ?? '';
    expect(Buffer.from(response, 'base64').toString()).toContain('EncryptedAssertion');
    await page.waitForURL(`${server.url}/account`);
    expect(await titleOf(page)).toBe('Your account');
    expect(await listTeams('ada')).toEqual(['developers']);

    await press(page, 'Sign out');
    await follow(page, 'Sign out at Acme SAML too');
    await page.waitForURL(`${server.url}/sign-in`);
    await follow(page, 'Continue with Acme SAML');
    await page.locator('input[name=user]').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('signs in without scripts', async () => {
    await provider.putPerson('bob', { email: 'bob@corp.example', groups: [] });
    const page = await browser.openPage({ javaScript: false });
    await page.goto(`${server.url}/account`);
    await follow(page, 'Continue with Acme SAML');
    await logInAtProvider(page, 'bob');
    // The page of the provider, and then ours.
    await page.locator('input[type=submit], button').first().click();
    await press(page, 'Continue');
    expect(await titleOf(page)).toBe('Your account');
    expect(await listTeams('bob')).toEqual([]);
    await page.context().close();
  });
});
