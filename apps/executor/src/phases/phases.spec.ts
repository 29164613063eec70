import { describe, expect, it } from '@jest/globals';
import { phaseJob, type PhaseJob } from '../api/phase-job.js';
import { chooseTool } from '../tools/tool-choice.js';
import { renderCliConfig } from './cli-config.js';
import { buildEnvironment, listParallelismOptions, withoutToolOptions, withoutUpgrades } from './environment.js';
import { listPlanOptions } from './plan-phase.js';
import { reduceSchemas } from '../documents/used-schemas.js';
import { renderVariableFiles } from './variable-files.js';

const makeJob = (attributes: object = {}): PhaseJob =>
  phaseJob.parse({
    phase: 'plan',
    'terraform-version': '1.11.4',
    'working-directory': null,
    variables: [],
    environment: [],
    'ssh-key': null,
    'run-token': 'token-of-the-run',
    'configuration-download-url': null,
    'state-download-url': null,
    'plan-file-url': null,
    'organization-name': 'acme',
    'workspace-name': 'live',
    'workspace-id': 'ws-1',
    'project-name': 'Default',
    'time-limit-seconds': 7200,
    'snapshot-interval-seconds': 20,
    ...attributes,
  });

const PATHS = {
  temporary: '/work/tmp',
  home: '/work/home',
  gitConfig: '/files/gitconfig',
  sshKey: '/files/ssh-key',
  cliConfig: '/files/cli.tfrc',
  authorities: '/files/ca.pem',
};

const build = (environment: readonly (readonly [string, string])[]) =>
  buildEnvironment(
    makeJob({ environment: environment.map(([key, value]) => ({ key, value, sensitive: false })) }),
    PATHS,
  );

describe('the configuration of the command line', () => {
  it('gives the token of the run to the server, also under the generic host', () => {
    const job = makeJob({ 'run-token': 'token-${x}', 'public-url': 'https://terraform.example.com:8443' });
    const config = renderCliConfig(new URL('https://terraform.example.com:8443/'), job);
    expect(config).toBe(
      `disable_checkpoint = true
credentials "terraform.example.com:8443" {
  token = "token-$\${x}"
}
credentials "localterraform.com" {
  token = "token-$\${x}"
}
host "localterraform.com" {
  services = {
    "modules.v1" = "https://terraform.example.com:8443/api/registry/v1/modules/"
    "providers.v1" = "https://terraform.example.com:8443/api/registry/v1/providers/"
  }
}
`,
    );
    expect(renderCliConfig(new URL('https://terraform.example.com:8443'), makeJob({ 'run-token': 'token-${x}' }))).toBe(
      config,
    );
  });

  it('finds the services of the public host at the address that the executor uses', () => {
    const job = makeJob({ 'public-url': 'https://terraform.example.com' });
    const config = renderCliConfig(new URL('https://gateway:8443'), job);
    for (const host of ['gateway:8443', 'terraform.example.com', 'localterraform.com'])
      expect(config).toContain(`credentials "${host}" {\n  token = "token-of-the-run"\n}`);
    expect(config).toContain(`host "terraform.example.com" {
  services = {
    "modules.v1" = "https://gateway:8443/api/registry/v1/modules/"
    "providers.v1" = "https://gateway:8443/api/registry/v1/providers/"
    "state.v2" = "https://gateway:8443/api/v2/"
    "tfe.v2" = "https://gateway:8443/api/v2/"
    "tfe.v2.1" = "https://gateway:8443/api/v2/"
    "tfe.v2.2" = "https://gateway:8443/api/v2/"
  }
}`);
  });
});

describe('the environment of a run', () => {
  it('has the variables of the workspace, and nothing of the executor', () => {
    process.env['CADASTRE_TEST_OF_THE_EXECUTOR'] = 'visible';
    const environment = build([['AWS_REGION', 'eu-central-1']]);
    delete process.env['CADASTRE_TEST_OF_THE_EXECUTOR'];
    expect(environment).toMatchObject({ AWS_REGION: 'eu-central-1', TF_WORKSPACE: 'live', TF_INPUT: '0' });
    expect(environment).not.toHaveProperty('CADASTRE_TEST_OF_THE_EXECUTOR');
    expect(environment['GIT_SSH_COMMAND']).toContain('-i /files/ssh-key');
  });

  it('lets a workspace choose tools, but no home or backend', () => {
    const environment = build([
      ['PATH', '/opt/bin'],
      ['HOME', '/root'],
      ['TF_WORKSPACE', 'other'],
      ['TF_CLI_CONFIG_FILE', '/work/tree/.tfrc'],
    ]);
    expect(environment).toMatchObject({
      PATH: '/opt/bin',
      HOME: '/work/home',
      TF_WORKSPACE: 'live',
      TF_CLI_CONFIG_FILE: '/work/tree/.tfrc',
    });
  });

  it('leaves out names and values that no process can have', () => {
    const environment = build([
      ['A=B', 'x'],
      ['', 'x'],
      ['NUL', 'a\0b'],
    ]);
    expect(Object.keys(environment).filter((name) => ['A=B', '', 'NUL'].includes(name))).toEqual([]);
  });

  it('has no options of the workspace for commands whose output the executor reads', () => {
    const environment = {
      TF_CLI_ARGS: '-no-color',
      TF_CLI_ARGS_show: '-x',
      TF_LOG: 'trace',
      TF_LOG_PATH: '/x',
      A: 'b',
    };
    expect(withoutToolOptions(environment)).toEqual({ A: 'b' });
  });

  it('does not upgrade providers in an apply', () => {
    const environment = {
      TF_CLI_ARGS: '-no-color --upgrade',
      TF_CLI_ARGS_init: '-upgrade=true -plugin-dir=x -upgrade-x',
      A: '-upgrade',
    };
    expect(withoutUpgrades(environment)).toEqual({
      TF_CLI_ARGS: '-no-color ',
      TF_CLI_ARGS_init: ' -plugin-dir=x -upgrade-x',
      A: '-upgrade',
    });
  });

  it.each([
    ['10', ['-parallelism=10']],
    ['256', ['-parallelism=256']],
    ['0', []],
    ['257', []],
    ['-1', []],
    ['1 -target=x', []],
  ])('limits parallelism %s', (value, expected) => {
    const job = makeJob({ environment: [{ key: 'TFE_PARALLELISM', value, sensitive: false }] });
    expect(listParallelismOptions(job)).toEqual(expected);
  });
});

describe('variables', () => {
  it('are written as JSON, except those in the configuration language', () => {
    const files = renderVariableFiles([
      { key: 'text', value: 'a "b" ${c}\n', hcl: false },
      { key: '__proto__', value: 'x', hcl: false },
      { key: 'list', value: '[1, 2]', hcl: true },
    ]);
    expect(files).toEqual([
      { name: 'texts.tfvars.json', content: '{"text":"a \\"b\\" ${c}\\n","__proto__":"x"}' },
      { name: 'expressions.tfvars', content: 'list = [1, 2]\n' },
    ]);
  });

  it('need no file if there are none', () => expect(renderVariableFiles([])).toEqual([]));
});

describe('the options of a plan', () => {
  it('are those of the run', () => {
    const job = makeJob({
      'structured-run-output-enabled': true,
      'is-destroy': true,
      refresh: false,
      'target-addrs': ['a.b["c d"]'],
      'replace-addrs': ['d.e'],
      'invoke-action-addrs': ['action.f.g'],
      'allow-config-generation': true,
    });
    expect(listPlanOptions(job, '/work/generated.tf')).toEqual([
      '-json',
      '-destroy',
      '-refresh=false',
      '-target=a.b["c d"]',
      '-replace=d.e',
      '-invoke=action.f.g',
      '-generate-config-out=/work/generated.tf',
    ]);
  });

  it('are none by default', () => expect(listPlanOptions(makeJob(), 'x')).toEqual([]));
});

it('keeps the schemas of the types that a plan uses', () => {
  const provider = {
    provider: { version: 0 },
    resource_schemas: { used: { version: 1 }, unused: {} },
    data_source_schemas: { read: {}, other: {} },
    functions: { f: {} },
  };
  const plan = {
    resource_changes: [{ type: 'used', provider_name: 'p' }],
    configuration: { root_module: { resources: [{ mode: 'data', type: 'read' }] } },
  };
  expect(reduceSchemas({ format_version: '1.0', provider_schemas: { p: provider } }, plan)).toEqual({
    format_version: '1.0',
    provider_schemas: {
      p: { provider: { version: 0 }, resource_schemas: { used: { version: 1 } }, data_source_schemas: { read: {} } },
    },
  });
});

describe('the tool of a run', () => {
  const choose = (value: string | null, tool: string): string =>
    chooseTool(
      makeJob({
        'iac-tool': tool,
        environment: value === null ? [] : [{ key: 'CADASTRE_IAC_TOOL', value, sensitive: false }],
      }),
    );

  it.each([
    [null, 'tofu', 'tofu'],
    [null, 'terraform', 'terraform'],
    ['tofu', 'terraform', 'tofu'],
    ['terraform', 'tofu', 'terraform'],
  ])('with the variable %s and a version of %s is %s', (value, tool, expected) => {
    expect(choose(value, tool)).toBe(expected);
  });

  it('is refused if it is another one', () => {
    expect(() => choose('pulumi', 'terraform')).toThrow('must be terraform or tofu, got "pulumi"');
  });
});
