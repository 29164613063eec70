import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeProduct, type Product } from '../support/product.js';
import { resource } from '../support/seeds.js';
import { found, personWith, type Person } from './iac.js';

// The real clients against the built product, over TLS with its own CA. Nothing but the provider that is built into
// them is used, and so no network.

const LONG = 120_000;

let product: Product;
let ca: string;

type Answer = { readonly status: number; readonly body: any };

const ask = (method: string, path: string, body?: object, token = product.adminToken): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' };
    // One connection a request: none that is kept could hold up the end.
    const request = https.request(`${product.url}${path}`, { method, headers, ca, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text ? JSON.parse(text) : null }));
    });
    request.once('error', reject);
    request.end(body && JSON.stringify(body));
  });

beforeAll(async () => {
  if (found.length === 0) return;
  product = await makeProduct({ CADASTRE_TLS: 'auto' });
  await product.start();
  ca = await readFile(join(product.dataFolder, 'tls/ca.pem'), 'utf8');
}, LONG);

afterAll(() => product?.remove());

describe('the command-line clients', () => {
  it('are on PATH, or their journeys were not run', () => {
    if (found.length === 0) process.stderr.write('no terraform or tofu on PATH: the CLI journeys were not run\n');
    expect(product === undefined).toBe(found.length === 0);
  });
});

const cloud = (organization: string, workspaces: string): string => `
  terraform {
    cloud {
      hostname     = "localhost:${product.port}"
      organization = "${organization}"
      workspaces { ${workspaces} }
    }
  }
`;

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

for (const program of found) {
  describe(`with ${program}`, () => {
    const organization = `with-${program}`;
    let person: Person;
    let folder: string;
    let id: string;

    const inOrganization = (path: string): string => `/api/v2/organizations/${organization}${path}`;
    const shown = async (): Promise<any> => (await ask('GET', `/api/v2/workspaces/${id}`)).body.data.attributes;
    const locked = async (): Promise<boolean> => (await shown()).locked as boolean;
    const current = async (): Promise<any> =>
      (await ask('GET', `/api/v2/workspaces/${id}/current-state-version`)).body.data;

    beforeAll(async () => {
      const attributes = { name: organization, email: 'ops@example.test' };
      await ask('POST', '/api/v2/organizations', resource('organizations', attributes));
      const caFile = join(product.dataFolder, 'tls/ca.pem');
      person = await personWith({ program, host: `localhost:${product.port}`, token: product.adminToken, caFile });
      folder = await person.folder(cloud(organization, 'name = "first"') + RESOURCES);
    }, LONG);

    afterAll(() => person?.leave());

    it(
      'init makes the workspace',
      async () => {
        await person.run(folder, 'init', '-input=false');
        const { status, body } = await ask('GET', inOrganization('/workspaces/first'));
        expect({ status, name: body.data.attributes.name }).toEqual({ status: 200, name: 'first' });
        id = body.data.id as string;
      },
      LONG,
    );

    it(
      'plan shows what would be, and leaves no lock',
      async () => {
        const { code, output } = await person.attempt(folder, 'plan', '-input=false', '-detailed-exitcode');
        expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining('2 to add') });
        expect(await locked()).toBe(false);
      },
      LONG,
    );

    it(
      'apply stores the state that is pulled again, and then there is nothing to do until something changes',
      async () => {
        await person.run(folder, 'apply', '-input=false', '-auto-approve');
        const first = await current();
        expect(first.attributes.status).toBe('finalized');
        expect(await shown()).toMatchObject({ locked: false, 'resource-count': 2 });
        const pulled = JSON.parse(await person.run(folder, 'state', 'pull')) as any;
        const stored = await ask('GET', new URL(first.attributes['hosted-state-download-url'] as string).pathname);
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
      'state list and output tell what was applied, the secret to whoever asks for it',
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

    it(
      'a lock that somebody else holds stops a plan, names the workspace, and is still theirs',
      async () => {
        await ask('POST', `/api/v2/workspaces/${id}/actions/lock`, { reason: 'for the test' });
        const { code, output } = await person.attempt(folder, 'plan', '-input=false');
        expect({ code, output }).toEqual({
          code: 1,
          output: expect.stringContaining('Error acquiring the state lock'),
        });
        expect(output).toContain(`${organization}/first`);
        expect(await locked()).toBe(true);
        await person.run(folder, 'plan', '-input=false', '-lock=false');
        await person.run(folder, 'force-unlock', '-force', `${organization}/first`);
        expect(await locked()).toBe(false);
      },
      LONG,
    );

    it(
      'a state of yesterday is not taken over the one of today',
      async () => {
        const now = await current();
        const pulled = JSON.parse(await person.run(folder, 'state', 'pull')) as any;
        await person.write(folder, 'old.json', JSON.stringify({ ...pulled, serial: pulled.serial - 1 }));
        const { code } = await person.attempt(folder, 'state', 'push', 'old.json');
        expect(code).toBe(1);
        expect((await current()).id).toBe(now.id);
        expect(await locked()).toBe(false);
      },
      LONG,
    );

    it(
      'a server that was killed and is back is no news to a client',
      async () => {
        const now = await current();
        await product.kill();
        await product.start();
        expect(await current()).toEqual(now);
        await person.run(folder, 'apply', '-input=false', '-auto-approve', '-var', 'what=three');
        expect((await current()).attributes.serial).toBe(now.attributes.serial + 1);
      },
      LONG,
    );

    it(
      'a wrong token is told so, and makes nothing',
      async () => {
        const caFile = join(product.dataFolder, 'tls/ca.pem');
        const host = `localhost:${product.port}`;
        const stranger = await personWith({ program, host, token: 'nobody.atlasv1.wrong', caFile });
        const theirs = await stranger.folder(cloud(organization, 'name = "stranger"'));
        const { code, output } = await stranger.attempt(theirs, 'init', '-input=false');
        expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/unauthorized|not found/i) });
        expect((await ask('GET', inOrganization('/workspaces/stranger'))).status).toBe(404);
        await stranger.leave();
      },
      LONG,
    );

    it(
      'workspaces are made, listed, selected and deleted by their tag; not while they manage something',
      async () => {
        const tags = { data: [{ type: 'tags', attributes: { name: 'network' } }] };
        const body = resource('workspaces', { name: 'net-one' }, { tags });
        expect((await ask('POST', inOrganization('/workspaces'), body)).status).toBe(201);
        const many = await person.folder(cloud(organization, 'tags = ["network"]') + RESOURCES);
        await person.run(many, 'init', '-input=false');
        await person.run(many, 'workspace', 'new', 'net-two');
        const listed = await person.run(many, 'workspace', 'list');
        expect(listed.match(/[\w-]+/g)?.toSorted()).toEqual(['net-one', 'net-two']);
        const made = await ask('GET', inOrganization('/workspaces/net-two'));
        expect(made.body.data.attributes['tag-names']).toEqual(['network']);

        await person.run(many, 'apply', '-input=false', '-auto-approve');
        await person.run(many, 'workspace', 'select', 'net-one');
        const refused = await person.attempt(many, 'workspace', 'delete', 'net-two');
        expect(refused).toMatchObject({ code: 1 });
        expect((await ask('GET', inOrganization('/workspaces/net-two'))).status).toBe(200);
        await person.run(many, 'workspace', 'delete', '-force', 'net-two');
        expect((await ask('GET', inOrganization('/workspaces/net-two'))).status).toBe(404);
      },
      LONG,
    );

    it(
      'a second workspace reads the first one’s state through a team that may, and no longer once that is taken away',
      async () => {
        const made = async (path: string, body?: object): Promise<any> => {
          const { status, body: answer } = await ask('POST', path, body);
          expect({ status, errors: answer.errors }).toEqual({ status: 201, errors: undefined });
          return answer.data;
        };
        const give = (team: string, workspace: string, access: string): Promise<any> => {
          const relations = {
            team: { data: { type: 'teams', id: team } },
            workspace: { data: { type: 'workspaces', id: workspace } },
          };
          return made('/api/v2/team-workspaces', resource('team-workspaces', { access }, relations));
        };
        const second = (await made(inOrganization('/workspaces'), resource('workspaces', { name: 'second' }))).id;
        const team = (await made(inOrganization('/teams'), resource('teams', { name: 'readers' }))).id as string;
        const token = (await made(`/api/v2/teams/${team}/authentication-token`)).attributes.token as string;
        const reading = await give(team, id, 'read');
        await give(team, second as string, 'write');

        const host = `localhost:${product.port}`;
        const caFile = join(product.dataFolder, 'tls/ca.pem');
        const member = await personWith({ program, host, token, caFile });
        const theirs = await member.folder(`${cloud(organization, 'name = "second"')}
          data "terraform_remote_state" "first" {
            backend = "remote"
            config = {
              hostname     = "${host}"
              organization = "${organization}"
              workspaces   = { name = "first" }
            }
          }
          output "seen" { value = data.terraform_remote_state.first.outputs.what }
        `);
        await member.run(theirs, 'init', '-input=false');
        await member.run(theirs, 'apply', '-input=false', '-auto-approve');
        expect(JSON.parse(await member.run(theirs, 'output', '-json', 'seen'))).toEqual(['three', 'and more']);

        expect((await ask('DELETE', `/api/v2/team-workspaces/${reading.id}`)).status).toBe(204);
        const { code, output } = await member.attempt(theirs, 'plan', '-input=false');
        expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/not found|unable to find|error/i) });
        expect(output).not.toContain('and more');
        await member.leave();
      },
      LONG,
    );

    it(
      'destroy leaves an empty state, and the trail tells of all of it',
      async () => {
        await person.run(folder, 'destroy', '-input=false', '-auto-approve');
        expect(await shown()).toMatchObject({ locked: false, 'resource-count': 0 });
        const token = await ask('POST', inOrganization('/authentication-token'));
        const secret = token.body.data.attributes.token as string;
        const trail = await ask('GET', '/api/v2/organization/audit-trail', undefined, secret);
        const told = (trail.body.data as any[]).map(({ resource: { type, action } }) => `${type} ${action}`);
        expect(new Set(told)).toEqual(
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
            'workspace destroy',
            'workspace add_team',
            'workspace remove_team',
            'organization_user create',
            'state_version create',
            'authentication_token create',
          ]),
        );
      },
      LONG,
    );
  });
}
