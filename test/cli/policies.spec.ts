import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { missingSandbox } from '../../apps/executor/src/sandbox/spec.js';
import { installOpa } from '../support/opa.js';
import { denyResource, makePolicy, makePolicySet } from '../support/policies.js';
import { waitUntil } from '../support/product.js';
import { expectStatus, makeMember, makeTeam } from '../support/seeds.js';
import type { TestExecutor } from '../support/test-executor.js';
import { flat, hasIacTools } from './iac.js';
import { createSiteExecutor, openRemoteOrganization, type RemoteOrganization } from './remote-site.js';
import { openSite, type CliSite } from './site.js';

// A person plans and applies in workspaces whose plans must pass policies, which a real OPA evaluates.

const LONG = 180_000;
/** The first call on a machine builds OPA. */
const INSTALLATION_MS = 900_000;

/** Executors evaluate policies only in a sandbox. */
const programs = missingSandbox === null ? hasIacTools : [];

let site: CliSite;
let executor: TestExecutor;

beforeAll(async () => {
  if (programs.length === 0) return;
  const folder = await installOpa();
  site = await openSite();
  executor = await createSiteExecutor(site, {
    PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    CADASTRE_EXECUTOR_SANDBOX: 'on',
  });
  await executor.start();
}, INSTALLATION_MS);

afterAll(async () => {
  await executor?.remove();
  await site?.product.remove();
});

describe('a machine with a client and a sandbox', () => {
  it('runs the tests of this file', () => expect(site === undefined).toBe(programs.length === 0));
});

const CONFIGURATION = `
  variable "secret" {
    default   = "hush-hush"
    sensitive = true
  }
  variable "login" {
    type      = object({ user = string, port = number })
    default   = { user = "open-sesame", port = 54321 }
    sensitive = true
  }
  resource "terraform_data" "forbidden" { input = var.secret }
`;

/** In the syntax from before version 1 of OPA. */
const PRINTS_EVERYTHING = `package rules
deny[msg] { change := input.plan.resource_changes[_]; print(change.change.after); msg := "never" }
deny[msg] { print(input.plan.variables); print(input.plan.configuration.root_module.variables.login); msg := "never" }
`;

/** OPA itself ends the evaluation. On a busy machine, the executor kills OPA first. */
const EVALUATION_TIMEOUT = /timeout|timed out|cancel|longer than 60 seconds/;

const HOSTILE = {
  'http.send': 'deny contains msg if { http.send({"method": "get", "url": "http://127.0.0.1"}); msg := "x" }',
  'opa.runtime': 'deny contains msg if { msg := opa.runtime().env.PATH }',
  loop: 'deny contains "x" if { some a in numbers.range(1, 100000000); some b in numbers.range(1, a); a + b == 0 }',
};

for (const program of programs) {
  describe(`the policies of a remote run with ${program}`, () => {
    let remote: RemoteOrganization;
    let workspaces = 0;

    beforeAll(async () => {
      remote = await openRemoteOrganization(site, program, `policies-of-${program}`);
    }, LONG);

    afterAll(() => remote?.person.leave());

    /** Creates a workspace with a policy set of these policies. */
    const guard = async (
      policies: readonly { readonly text: string; readonly attributes?: object }[],
      set: object = {},
    ) => {
      const name = `guarded-${(workspaces += 1)}`;
      const prepared = await remote.prepare(name, CONFIGURATION);
      const ids: string[] = [];
      for (const [number, { text, attributes }] of policies.entries())
        ids.push(await makePolicy(site.api, remote.name, `${name}-${number}`, attributes, text));
      await makePolicySet(site.api, remote.name, name, set, { policies: ids, workspaces: [prepared.id] });
      return prepared;
    };

    const apply = (folder: string) => remote.person.startInteractively(folder, 'apply', '-auto-approve');

    const readOutcomes = async (workspace: string) => {
      const run = await remote.getLastRun(workspace);
      const stages = await site.api.get(`/api/v2/runs/${run.id}/task-stages?include=policy_evaluations`);
      const [evaluation] = expectStatus(stages, 200).body.included;
      const path = `/api/v2/policy-evaluations/${evaluation.id}/policy-set-outcomes`;
      return expectStatus(await site.api.get(path), 200).body.data[0].attributes.outcomes as readonly {
        readonly status: string;
        readonly output: readonly { readonly print: string }[];
      }[];
    };

    it(
      'let a plan pass, show an advisory failure without secrets, and stop at a mandatory one',
      async () => {
        const passing = { text: denyResource('another') };
        const advisory = { text: PRINTS_EVERYTHING, attributes: { 'enforcement-level': 'advisory' } };
        const { folder, id } = await guard([passing, advisory]);
        const applied = flat(await remote.person.run(folder, 'apply', '-input=false', '-auto-approve'));
        expect(applied).toContain('OPA Policy Evaluation');
        expect(applied).toContain('Overall Result: PASSED');
        expect(applied).toContain('2 policies evaluated');
        expect(applied).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.');
        const outcomes = await readOutcomes(id);
        expect(outcomes.map(({ status }) => status)).toEqual(['passed', 'failed']);
        expect(JSON.stringify(outcomes)).toContain('***');
        expect(JSON.stringify(outcomes)).toContain('login');
        for (const secret of ['hush-hush', 'open-sesame', '54321'])
          expect(JSON.stringify(outcomes)).not.toContain(secret);

        const { folder: stopped, id: guarded } = await guard([{ text: denyResource('forbidden') }]);
        const { code, output } = await apply(stopped).end;
        expect(code).toBe(1);
        expect(flat(output)).toContain('Overall Result: FAILED');
        expect((await remote.getLastRun(guarded)).attributes.status).toBe('errored');
      },
      LONG,
    );

    it(
      'wait for the override of another person, and then apply',
      async () => {
        const { folder, id } = await guard([{ text: denyResource('forbidden') }], { overridable: true });
        const access = { 'manage-policy-overrides': true, 'read-workspaces': true };
        const team = await makeTeam(site.api, remote.name, 'security', { 'organization-access': access });
        const overrider = await makeMember(site.api, remote.name, `olivia-${program}`, [team]);
        const command = apply(folder);
        await waitUntil(
          async () => (await remote.getLastRun(id))?.attributes.status === 'post_plan_awaiting_decision',
          'the run waits for an override',
        );
        const run = await remote.getLastRun(id);
        const [stage] = expectStatus(await site.api.get(`/api/v2/runs/${run.id}/task-stages`), 200).body.data;
        expectStatus(await overrider.post(`/api/v2/task-stages/${stage.id}/actions/override`, {}), 200);
        const { output } = await command.end;
        expect(flat(output)).toContain('Overall Result: FAILED');
        await waitUntil(
          async () => (await remote.getLastRun(id)).attributes.status === 'applied',
          'the run is applied',
        );
      },
      LONG,
    );

    it.each([
      ['sends requests', HOSTILE['http.send'], 'undefined function http.send'],
      ['reads the environment', HOSTILE['opa.runtime'], 'undefined function opa.runtime'],
      ['never ends', HOSTILE.loop, EVALUATION_TIMEOUT],
      ['has another name', 'denny contains "x" if { true }', 'has no result'],
    ])(
      'are an error if a policy %s',
      async (_, rule, message) => {
        const { folder, id } = await guard([{ text: `package rules\n\nimport rego.v1\n\n${rule}\n` }]);
        const { code } = await apply(folder).end;
        expect(code).toBe(1);
        expect((await remote.getLastRun(id)).attributes.status).toBe('errored');
        const [outcome] = await readOutcomes(id);
        expect(outcome?.status).toBe('errored');
        expect(outcome?.output[0]?.print).toMatch(message);
      },
      LONG,
    );
  });
}
