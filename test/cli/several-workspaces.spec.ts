import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  bindTags,
  grantWorkspaceAccess,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  reportBody,
} from '../support/seeds.js';
import type { ApiResponse } from '../support/server.js';
import { flat, hasIacTools, type CliUser } from './iac.js';
import { openSite, type CliSite } from './site.js';

// Configurations that choose workspaces by tags or by project, and configurations that read the state of another
// workspace.

const LONG = 120_000;

const RESOURCES = `
  resource "terraform_data" "first" { input = "one" }
  output "what" { value = [terraform_data.first.output, "and more"] }
`;

/** Configuration of an executor, which keeps its own state locally. */
const LOCALLY = `
  terraform {
    backend "local" {}
  }
`;

let site: CliSite;

beforeAll(async () => {
  if (hasIacTools.length > 0) site = await openSite();
}, LONG);

afterAll(() => site?.product.remove());

describe('a machine with a client', () => {
  it('runs the tests of this file', () => expect(site === undefined).toBe(hasIacTools.length === 0));
});

for (const program of hasIacTools) {
  describe(`with ${program}`, () => {
    const organization = `with-${program}`;
    let person: CliUser;
    let first: string;

    const getWorkspace = (name: string): Promise<ApiResponse> =>
      site.api.get(`/api/v2/organizations/${organization}/workspaces/${name}`);
    const projectOf = async (name: string): Promise<string> =>
      (await getWorkspace(name)).body.data.relationships.project.data.id as string;
    /** Returns the bindings, sorted, because terraform sends a map in any order. */
    const bindingsOf = async (name: string): Promise<readonly string[]> => {
      const { id } = (await getWorkspace(name)).body.data;
      const { body } = await site.api.get(`/api/v2/workspaces/${id}/tag-bindings`);
      return body.data.map(({ attributes: { key, value } }: any) => `${key}=${value}`).toSorted();
    };
    const tagged = (...names: readonly string[]): object => ({
      tags: { data: names.map((name) => ({ type: 'tags', attributes: { name } })) },
    });
    const bound = (bindings: Readonly<Record<string, string>>): object => ({
      'tag-bindings': {
        data: Object.entries(bindings).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
      },
    });

    /** Returns an initialized folder of the administrator. */
    const inFolder = async (workspaces: string): Promise<string> => {
      const folder = await person.folder(site.cloud(organization, workspaces) + RESOURCES);
      await person.run(folder, 'init', '-input=false');
      return folder;
    };
    const listed = async (folder: string): Promise<unknown> =>
      (await person.run(folder, 'workspace', 'list')).match(/[\w-]+/g)?.toSorted();

    beforeAll(async () => {
      await makeOrganization(site.api, organization);
      person = await site.person(program);
      await person.run(await inFolder('name = "first"'), 'apply', '-input=false', '-auto-approve');
      first = (await getWorkspace('first')).body.data.id as string;
    }, LONG);

    afterAll(() => person?.leave());

    it(
      'workspaces are created, listed, selected and deleted by tag, and not deleted while they manage resources',
      async () => {
        await makeWorkspace(site.api, organization, 'net-one', {}, tagged('network'));
        const folder = await inFolder('tags = ["network"]');
        await person.run(folder, 'workspace', 'new', 'net-two');
        expect(await listed(folder)).toEqual(['net-one', 'net-two']);
        expect((await getWorkspace('net-two')).body.data.attributes['tag-names']).toEqual(['network']);

        await person.run(folder, 'apply', '-input=false', '-auto-approve');
        await person.run(folder, 'workspace', 'select', 'net-one');
        const refused = await person.attempt(folder, 'workspace', 'delete', 'net-two');
        expect(refused).toMatchObject({ code: 1 });
        expect((await getWorkspace('net-two')).status).toBe(200);
        await person.run(folder, 'workspace', 'delete', '-force', 'net-two');
        expect((await getWorkspace('net-two')).status).toBe(404);
      },
      LONG,
    );

    // OpenTofu has no tags with values.
    if (program === 'terraform') {
      it(
        'workspaces are selected by keys and values, and new ones get them',
        async () => {
          const tags = { team: 'net', tier: 'one' };
          await makeWorkspace(site.api, organization, 'key-one', {}, bound(tags));
          await makeWorkspace(site.api, organization, 'key-other', {}, bound({ ...tags, team: 'web' }));
          const folder = await inFolder('tags = { team = "net", tier = "one" }');
          expect(await listed(folder)).toEqual(['key-one']);
          await person.run(folder, 'workspace', 'new', 'key-two');
          expect(await bindingsOf('key-two')).toEqual(['team=net', 'tier=one']);
          expect(await listed(folder)).toEqual(['key-one', 'key-two']);
          await person.run(folder, 'workspace', 'select', 'key-one');
          expect(await person.run(folder, 'workspace', 'show')).toContain('key-one');
          expect(await person.attempt(folder, 'workspace', 'select', 'key-other')).toMatchObject({ code: 1 });

          const project = await projectOf('key-one');
          await bindTags(site.api, `projects/${project}`, { tier: 'one' });
          await makeWorkspace(site.api, organization, 'key-inherits', {}, bound({ team: 'net' }));
          expect(await listed(folder)).toEqual(['key-inherits', 'key-one', 'key-two']);
        },
        LONG,
      );
    }

    it(
      'a named project is created if it does not exist, and only its workspaces are found',
      async () => {
        await inFolder('name = "shop"\nproject = "web shop"');
        const project = await projectOf('shop');
        const { body } = await site.api.get(`/api/v2/projects/${project}`);
        expect(body.data.attributes.name).toBe('web shop');

        await makeWorkspace(site.api, organization, 'not-in-it', {}, tagged('web'));
        const inIt = { ...tagged('web'), project: { data: { type: 'projects', id: project } } };
        await makeWorkspace(site.api, organization, 'web-one', {}, inIt);
        const folder = await inFolder('tags = ["web"]\nproject = "web shop"');
        await person.run(folder, 'workspace', 'new', 'web-two');
        expect(await projectOf('web-two')).toBe(project);
        expect(await listed(folder)).toEqual(['web-one', 'web-two']);
        await person.run(folder, 'workspace', 'select', 'web-one');
      },
      LONG,
    );

    const readsFirst = (): string => `
      data "terraform_remote_state" "first" {
        backend = "remote"
        config = {
          hostname     = "${site.host}"
          organization = "${organization}"
          workspaces   = { name = "first" }
        }
      }
      output "seen" { value = data.terraform_remote_state.first.outputs.what }
    `;
    const isRefused = async (reader: CliUser, folder: string, why: string): Promise<void> => {
      const { code, output } = await reader.attempt(folder, 'plan', '-input=false');
      expect({ code, output: flat(output) }).toEqual({ code: 1, output: expect.stringContaining(why) });
      expect(output).not.toContain('and more');
    };

    it(
      'a configuration reads the state of another workspace through a team with access, until the access is removed',
      async () => {
        const second = await makeWorkspace(site.api, organization, 'second');
        const team = await makeTeam(site.api, organization, 'readers');
        const reading = await grantWorkspaceAccess(site.api, team, first, 'read');
        await grantWorkspaceAccess(site.api, team, second, 'write');
        const token = await makeToken(site.api, `/api/v2/teams/${team}/authentication-token`);

        const member = await site.person(program, token);
        const folder = await member.folder(site.cloud(organization, 'name = "second"') + readsFirst());
        await member.run(folder, 'init', '-input=false');
        await member.run(folder, 'apply', '-input=false', '-auto-approve');
        expect(JSON.parse(await member.run(folder, 'output', '-json', 'seen'))).toEqual(['one', 'and more']);

        expectStatus(await site.api.delete(`/api/v2/team-workspaces/${reading}`), 204);
        await isRefused(member, folder, 'resource not found');
        await member.leave();
      },
      LONG,
    );

    it.each(['read', 'plan'])(
      'a team with the access %s can plan without a lock, but not with one',
      async (access) => {
        const team = await makeTeam(site.api, organization, `planners-${access}`);
        await grantWorkspaceAccess(site.api, team, first, access);
        const token = await makeToken(site.api, `/api/v2/teams/${team}/authentication-token`);
        const member = await site.person(program, token);
        const folder = await member.folder(site.cloud(organization, 'name = "first"') + RESOURCES);
        await member.run(folder, 'init', '-input=false');
        const { code, output } = await member.attempt(folder, 'plan', '-input=false');
        expect(code).toBe(1);
        expect(flat(output)).toContain('Error acquiring the state lock Error message: resource not found');
        expect(await member.run(folder, 'plan', '-input=false', '-lock=false')).toContain('No changes');
        await member.leave();
      },
      LONG,
    );

    it(
      'a run reads the state of a workspace that has it as a consumer, of no other workspace, and of none after its end',
      async () => {
        const { api } = site;
        const pool = await makeAgentPool(api, organization, 'executors');
        const agent = api.as(await makeAgentToken(api, pool));
        const own = { 'execution-mode': 'agent', 'agent-pool-id': pool };
        const workspace = await makeWorkspace(api, organization, 'in-a-run', own);
        await makeConfigurationVersion(api, workspace);
        const run = await makeRun(api, workspace);
        const report = async (status: string): Promise<unknown> =>
          expectStatus(await agent.post(`/api/v2/runs/${run}/progress`, reportBody(status)), 200);
        await report('planning');

        const token = await makeToken(agent, `/api/v2/runs/${run}/authentication-tokens`);
        const executor = await site.person(program, token);
        const folder = await executor.folder(`${LOCALLY}${readsFirst()}`);
        await executor.run(folder, 'init', '-input=false');
        await isRefused(executor, folder, 'resource not found');

        const consumers = `/api/v2/workspaces/${first}/relationships/remote-state-consumers`;
        expectStatus(await api.post(consumers, related('workspaces', workspace)), 204);
        await executor.run(folder, 'apply', '-input=false', '-auto-approve');
        expect(JSON.parse(await executor.run(folder, 'output', '-json', 'seen'))).toEqual(['one', 'and more']);

        expectStatus(await api.delete(consumers, related('workspaces', workspace)), 204);
        await isRefused(executor, folder, 'resource not found');
        expectStatus(await api.post(consumers, related('workspaces', workspace)), 204);
        await report('errored');
        await isRefused(executor, folder, 'unauthorized');
        await executor.leave();
      },
      LONG,
    );
  });
}
