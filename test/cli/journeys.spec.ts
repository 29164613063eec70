import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectStatus, makeOrganization, makeToken } from '../support/seeds.js';
import { flat, hasIacTools, type CliUser } from './iac.js';
import { openSite, type CliSite } from './site.js';

// The real clients against the built product, over TLS with its own CA. They use only the built-in provider, so they
// need no network.

const LONG = 120_000;

let site: CliSite;

beforeAll(async () => {
  if (hasIacTools.length > 0) site = await openSite();
}, LONG);

afterAll(() => site?.product.remove());

describe('the command-line clients', () => {
  it('are on PATH, or standard error says that their tests were not run', () => {
    if (hasIacTools.length === 0) process.stderr.write('no terraform or tofu on PATH: the CLI journeys were not run\n');
    expect(site === undefined).toBe(hasIacTools.length === 0);
  });
});

const RESOURCES = `
  variable "what" { default = "one" }
  resource "terraform_data" "first" { input = var.what }
  resource "terraform_data" "second" { input = [terraform_data.first.output, "and more"] }
  output "what" { value = terraform_data.second.output }
  output "secret" {
    value     = "hush-\${var.what}"
    sensitive = true
  }
`;

for (const program of hasIacTools) {
  describe(`with ${program}`, () => {
    const organization = `with-${program}`;
    let person: CliUser;
    let folder: string;
    let id: string;

    const inOrganization = (path: string): string => `/api/v2/organizations/${organization}${path}`;
    const attributesOf = async (): Promise<any> =>
      (await site.api.get(`/api/v2/workspaces/${id}`)).body.data.attributes;
    const locked = async (): Promise<boolean> => (await attributesOf()).locked as boolean;
    const current = async (): Promise<any> =>
      (await site.api.get(`/api/v2/workspaces/${id}/current-state-version`)).body.data;

    beforeAll(async () => {
      await makeOrganization(site.api, organization);
      person = await site.person(program);
      folder = await person.folder(site.cloud(organization, 'name = "first"') + RESOURCES);
    }, LONG);

    afterAll(() => person?.leave());

    it(
      'init creates the workspace',
      async () => {
        await person.run(folder, 'init', '-input=false');
        const { status, body } = await site.api.get(inOrganization('/workspaces/first'));
        expect({ status, name: body.data.attributes.name }).toEqual({ status: 200, name: 'first' });
        id = body.data.id as string;
      },
      LONG,
    );

    it(
      'plan shows the changes, and leaves no lock',
      async () => {
        const { code, output } = await person.attempt(folder, 'plan', '-input=false', '-detailed-exitcode');
        expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining('2 to add') });
        expect(await locked()).toBe(false);
      },
      LONG,
    );

    it(
      'apply stores the state, and the next plan has no changes until the configuration changes',
      async () => {
        await person.run(folder, 'apply', '-input=false', '-auto-approve');
        const first = await current();
        expect(first.attributes.status).toBe('finalized');
        expect(await attributesOf()).toMatchObject({ locked: false, 'resource-count': 2 });
        const pulled = JSON.parse(await person.run(folder, 'state', 'pull')) as any;
        const stored = await site.api.get(new URL(first.attributes['hosted-state-download-url'] as string).pathname);
        expect(stored.body).toMatchObject({ serial: pulled.serial, lineage: pulled.lineage, outputs: pulled.outputs });

        expect(await person.run(folder, 'plan', '-input=false', '-detailed-exitcode')).toContain('No changes');
        await person.run(folder, 'apply', '-input=false', '-auto-approve', '-var', 'what=two');
        const second = await current();
        expect(second.id).not.toBe(first.id);
        expect(second.attributes.serial).toBe(first.attributes.serial + 1);
      },
      LONG,
    );

    it(
      'state list and output show the applied resources, and a sensitive value only on request',
      async () => {
        const listed = await person.run(folder, 'state', 'list');
        expect(listed.trim().split('\n').toSorted()).toEqual(['terraform_data.first', 'terraform_data.second']);
        const outputs = JSON.parse(await person.run(folder, 'output', '-json')) as any;
        expect(outputs).toMatchObject({
          what: { sensitive: false, value: ['two', 'and more'] },
          secret: { sensitive: true, value: 'hush-two' },
        });
        expect(await person.run(folder, 'output')).toContain('secret = <sensitive>');
      },
      LONG,
    );

    const lock = async (reason: string): Promise<void> =>
      void expectStatus(await site.api.post(`/api/v2/workspaces/${id}/actions/lock`, { reason }), 200);

    it(
      'plan fails while another user holds the lock, names the workspace, and keeps the lock',
      async () => {
        await lock('for the test');
        const { code, output } = await person.attempt(folder, 'plan', '-input=false');
        expect({ code, output }).toEqual({
          code: 1,
          output: expect.stringContaining('Error acquiring the state lock'),
        });
        expect(flat(output)).toContain(`already locked (lock ID: "${organization}/first")`);
        expect(await locked()).toBe(true);
        await person.run(folder, 'plan', '-input=false', '-lock=false');
        await person.run(folder, 'force-unlock', '-force', `${organization}/first`);
        expect(await locked()).toBe(false);
      },
      LONG,
    );

    it(
      'plan waits for a lock, whose holder and reason the API shows, and continues after the unlock',
      async () => {
        await lock('moving the database');
        const plan = person.startIn(folder, 'plan', '-input=false', '-lock-timeout=60s');
        await plan.waitForOutput('Acquiring state lock');
        const [lockEntry] = (await site.api.get(inOrganization('/locks'))).body.data;
        const { 'workspace-name': workspace, 'locked-by-name': holder, reason } = lockEntry.attributes;
        expect({ workspace, holder, reason }).toEqual({
          workspace: 'first',
          holder: 'admin',
          reason: 'moving the database',
        });
        expectStatus(await site.api.post(`/api/v2/workspaces/${id}/actions/unlock`), 200);
        expect(await plan.end).toMatchObject({ code: 0 });
        const past = (await site.api.get(`/api/v2/workspaces/${id}/lock-history?page[size]=2`)).body.data;
        expect(past.map(({ attributes }: any) => attributes.reason)).toEqual([
          expect.stringMatching(/^Locked by /),
          'moving the database',
        ]);
      },
      LONG,
    );

    it(
      'state push refuses an older state',
      async () => {
        const before = await current();
        const pulled = JSON.parse(await person.run(folder, 'state', 'pull')) as any;
        await person.write(folder, 'old.json', JSON.stringify({ ...pulled, serial: pulled.serial - 1 }));
        const { code } = await person.attempt(folder, 'state', 'push', 'old.json');
        expect(code).toBe(1);
        expect((await current()).id).toBe(before.id);
        expect(await locked()).toBe(false);
      },
      LONG,
    );

    it(
      'apply succeeds after the server was killed and started again',
      async () => {
        const before = await current();
        await site.product.kill();
        await site.product.start();
        expect(await current()).toEqual(before);
        await person.run(folder, 'apply', '-input=false', '-auto-approve', '-var', 'what=three');
        expect((await current()).attributes.serial).toBe(before.attributes.serial + 1);
      },
      LONG,
    );

    it(
      'init with a wrong token fails and creates nothing',
      async () => {
        const stranger = await site.person(program, 'nobody.atlasv1.wrong');
        const theirs = await stranger.folder(site.cloud(organization, 'name = "stranger"'));
        const { code, output } = await stranger.attempt(theirs, 'init', '-input=false');
        expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/unauthorized|not found/i) });
        expect((await site.api.get(inOrganization('/workspaces/stranger'))).status).toBe(404);
        await stranger.leave();
      },
      LONG,
    );

    it(
      'destroy leaves an empty state, and the trail contains all actions',
      async () => {
        await person.run(folder, 'destroy', '-input=false', '-auto-approve');
        expect(await attributesOf()).toMatchObject({ locked: false, 'resource-count': 0 });
        const token = await makeToken(site.api, inOrganization('/authentication-token'));
        const trail = await site.api.as(token).get('/api/v2/organization/audit-trail');
        const recorded = (trail.body.data as any[]).map(({ resource: { type, action } }) => `${type} ${action}`);
        expect(new Set(recorded)).toEqual(
          new Set([
            'organization create',
            'project create',
            'team create',
            'team add_member',
            'workspace create',
            'workspace update',
            'workspace lock',
            'workspace unlock',
            'workspace force_unlock',
            'organization_user create',
            'state_version create',
            'state_version show',
            'authentication_token create',
          ]),
        );
      },
      LONG,
    );
  });
}
