import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { BUILD } from '../support/folders.js';
import { makeOrganization } from '../support/seeds.js';
import { PASSWORD } from '../support/sign-in.js';
import { flat, hasIacTools, type CliUser, type CommandOutput } from './iac.js';
import { openSite, type CliSite } from './site.js';

// The real clients log in at the built product over TLS. They open a browser, in which a person signs in and approves.

const LONG = 120_000;

let site: CliSite;
let browser: TestBrowser;

beforeAll(async () => {
  if (hasIacTools.length === 0) return;
  [site, browser] = await Promise.all([openSite(), openBrowser()]);
  await setPassword();
}, LONG);

afterAll(async () => {
  await browser?.close();
  await site?.product.remove();
});

const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Gives the administrator a password, with the link that the command line prints. */
const setPassword = async (): Promise<void> => {
  const { stdout } = await site.product.run('user', 'sign-in-link', 'admin');
  const page = await browser.openPage();
  await page.goto(/https:\S+/.exec(stdout)?.[0] ?? '');
  await press(page, 'Sign in');
  await page.waitForURL('**/app');
  await page.goto(`${new URL(page.url()).origin}/account`);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await press(page, 'Set a password');
  await page.getByText('Your password is set.').waitFor();
  await page.context().close();
};

/**
 * Signs in on the page that the client has opened, and approves or denies. Returns the page. The client may end before the
 * browser has its response, so the page may show either.
 */
const decide = async (person: CliUser, decision: 'Approve' | 'Deny'): Promise<TestPage> => {
  const page = await browser.openPage();
  await page.goto(await person.openedAddress());
  await page.getByLabel('User name or e-mail address').fill('admin');
  await page.getByLabel('Password').fill(PASSWORD);
  await press(page, 'Sign in');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(`Log in to ${site.host}?`);
  await press(page, decision);
  return page;
};

const logIn = async (person: CliUser, decision: 'Approve' | 'Deny' = 'Approve'): Promise<CommandOutput> => {
  const login = person.startIn(person.home, 'login', site.host);
  await login.waitForOutput('Enter a value');
  login.type('yes');
  const page = await decide(person, decision);
  const output = await login.end;
  await page.context().close();
  return output;
};

const statusOf = async (token: string): Promise<number> =>
  (await site.api.as(token).get('/api/v2/account/details')).status;

const credentialsFile = ({ home }: CliUser): string => join(home, '.terraform.d/credentials.tfrc.json');

const readToken = async (person: CliUser): Promise<string> => {
  const { credentials } = JSON.parse(await readFile(credentialsFile(person), 'utf8')) as any;
  return credentials[site.host].token as string;
};

/** Installs the helper as docs/how-to/log-in-from-the-command-line.md shows. */
const installHelper = async (person: CliUser): Promise<void> => {
  const plugins = join(person.home, '.terraform.d/plugins');
  await mkdir(plugins);
  const helper = join(plugins, 'terraform-credentials-cadastre');
  const program = join(BUILD, 'dist/apps/credentials-helper/src/main.js');
  await writeFile(helper, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  await chmod(helper, 0o755);
  await person.configure('credentials_helper "cadastre" {}\n');
};

const helperFolder = ({ home }: CliUser): string => join(home, '.config/cadastre/credentials');

describe('a machine with a client', () => {
  it('runs the tests of this file', () => expect(site === undefined).toBe(hasIacTools.length === 0));
});

for (const program of hasIacTools) {
  describe(`${program} login`, () => {
    const organization = `login-with-${program}`;
    const configuration = () => site.cloud(organization, 'name = "first"');
    const attemptInit = async (person: CliUser): Promise<CommandOutput> =>
      person.attempt(await person.folder(configuration()), 'init', '-input=false');

    beforeAll(() => makeOrganization(site.api, organization), LONG);

    it(
      'stores a token that the person approved in the browser, with which init works',
      async () => {
        const person = await site.person(program, null);
        expect(await attemptInit(person)).toMatchObject({ code: 1 });
        const { code, output } = await logIn(person);
        expect({ code, output: flat(output) }).toEqual({ code: 0, output: expect.stringContaining('Success!') });
        expect(await attemptInit(person)).toMatchObject({ code: 0 });

        const api = site.api.as(await readToken(person));
        const user = (await api.get('/api/v2/account/details')).body.data.id as string;
        const tokens = (await api.get(`/api/v2/users/${user}/authentication-tokens`)).body.data as any[];
        const name = new RegExp(`^${program} login, \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC, 127\\.0\\.0\\.1$`);
        expect(tokens.filter(({ attributes }) => name.test(attributes.description as string))).toHaveLength(1);
        await person.leave();
      },
      LONG,
    );

    it(
      'ends with the reason if the person denies it',
      async () => {
        const person = await site.person(program, null);
        const { code, output } = await logIn(person, 'Deny');
        const reason = '"access_denied" "The login was denied in the browser."';
        expect({ code, output: flat(output) }).toEqual({ code: 1, output: expect.stringContaining(reason) });
        await person.leave();
      },
      LONG,
    );

    it(
      'without the helper leaves a token that logout deletes on this computer only',
      async () => {
        const person = await site.person(program, null);
        await logIn(person);
        const token = await readToken(person);
        await person.run(person.home, 'logout', site.host);
        expect(await readFile(credentialsFile(person), 'utf8')).not.toContain(token);
        expect(await statusOf(token)).toBe(200);
        await person.leave();
      },
      LONG,
    );

    it(
      'stores the token with the credentials helper, and logout revokes it',
      async () => {
        const person = await site.person(program, null);
        await installHelper(person);
        expect(await logIn(person)).toMatchObject({ code: 0 });
        const [name = ''] = await readdir(helperFolder(person));
        const file = join(helperFolder(person), name);
        const { token } = JSON.parse(await readFile(file, 'utf8')) as { token: string };
        expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
        await expect(stat(credentialsFile(person))).rejects.toThrow('ENOENT');
        expect(await attemptInit(person)).toMatchObject({ code: 0 });

        expect(await statusOf(token)).toBe(200);
        await person.run(person.home, 'logout', site.host);
        expect(await statusOf(token)).toBe(401);
        expect(await readdir(helperFolder(person))).toEqual([]);
        await person.leave();
      },
      LONG,
    );

    it(
      'keeps working with a token that was pasted into the configuration or into the credentials file',
      async () => {
        const { product, host } = site;
        for (const paste of ['configuration', 'file'] as const) {
          const person = await site.person(program, null);
          const token = product.adminToken;
          if (paste === 'configuration') await person.configure(`credentials "${host}" {\n  token = "${token}"\n}\n`);
          else await writeFile(credentialsFile(person), JSON.stringify({ credentials: { [host]: { token } } }));
          expect(await attemptInit(person)).toMatchObject({ code: 0 });
          await person.leave();
        }
      },
      LONG,
    );

    it(
      'asks for a token if the configuration names the services of the host without the login',
      async () => {
        const person = await site.person(program, null);
        await person.configure(`host "${site.host}" {\n  services = { "tfe.v2" = "${site.product.url}/api/v2/" }\n}\n`);
        const login = person.startIn(person.home, 'login', site.host);
        await login.waitForOutput('Enter a value');
        login.type('yes');
        await login.waitForOutput(`Token for ${site.host}`);
        expect(await person.openedAddress()).toContain('/app/settings/tokens?source=terraform-login');
        login.type(site.product.adminToken);
        expect(await login.end).toMatchObject({ code: 0 });
        expect(await readToken(person)).toBe(site.product.adminToken);
        await person.leave();
      },
      LONG,
    );

    it(
      'and the helper deletes the token here, and says that it is still valid, if the server stopped before the logout',
      async () => {
        const person = await site.person(program, null);
        await installHelper(person);
        await logIn(person);
        await site.product.stop();
        const { code, output } = await person.attempt(person.home, 'logout', site.host);
        expect({ code, output: flat(output) }).toEqual({
          code: 1,
          output: expect.stringContaining('The token stays valid until its end.'),
        });
        expect(await readdir(helperFolder(person))).toEqual([]);
        await site.product.start();
        await person.leave();
      },
      LONG,
    );
  });
}
