import type { PhaseJob } from '../api/phase-job.js';
import { SYSTEM_PATH } from '../sandbox/sandbox.js';

/** Terraform imports resources in a run only if the agent has at least version 1.10. */
const AGENT_VERSION = '1.23.0';

/** Paths that the commands of a run see. */
type RunPaths = {
  readonly temporary: string;
  readonly home: string;
  /** Null without an SSH key. */
  readonly gitConfig: string | null;
  readonly sshKey: string | null;
  readonly cliConfig: string;
  readonly authorities: string;
};

/** Returns the command that git runs for SSH. Nobody can confirm the key of a host, so an unknown one is accepted once. */
export const toSshCommand = ({ sshKey, home }: Pick<RunPaths, 'sshKey' | 'home'>): string =>
  `ssh -i ${sshKey ?? ''} -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=${home}/known_hosts`;

/** A name that a process can have in its environment. */
const isName = (key: string): boolean => key !== '' && !/[=\0]/.test(key);

/** Returns the whole environment of the commands that run code of the configuration. The server names the run in it. */
export const buildEnvironment = (job: PhaseJob, paths: RunPaths): Readonly<Record<string, string>> => {
  const own = Object.fromEntries(
    job.environment.flatMap(({ key, value }) => (isName(key) && !value.includes('\0') ? [[key, value] as const] : [])),
  );
  return {
    PATH: SYSTEM_PATH,
    LANG: 'C.UTF-8',
    TF_CLI_CONFIG_FILE: paths.cliConfig,
    SSL_CERT_FILE: paths.authorities,
    GIT_SSL_CAINFO: paths.authorities,
    GIT_TERMINAL_PROMPT: '0',
    ...(paths.gitConfig === null ? {} : { GIT_CONFIG_GLOBAL: paths.gitConfig, GIT_SSH_COMMAND: toSshCommand(paths) }),
    ...own,
    TFC_AGENT_VERSION: AGENT_VERSION,
    HOME: paths.home,
    TMPDIR: paths.temporary,
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    CHECKPOINT_DISABLE: '1',
    TF_WORKSPACE: job['workspace-name'],
  };
};

const isToolOption = (name: string): boolean => name.startsWith('TF_CLI_ARGS') || name.startsWith('TF_LOG');

/** Removes what would change the output of commands whose output the executor reads. */
export const withoutToolOptions = (environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !isToolOption(name)));

const UPGRADE = /(^|\s)-{1,2}upgrade(?:=\S*)?(?=\s|$)/g;

/** Removes `-upgrade`, because an apply uses the providers of its plan. */
export const withoutUpgrades = (environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) =>
      name === 'TF_CLI_ARGS' || name === 'TF_CLI_ARGS_init' ? [name, value.replaceAll(UPGRADE, '$1')] : [name, value],
    ),
  );

/** Returns the options for the number of operations at a time. */
export const listParallelismOptions = ({ environment }: PhaseJob): readonly string[] => {
  const value = environment.find(({ key }) => key === 'TFE_PARALLELISM')?.value ?? '';
  const number = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  return number >= 1 && number <= 256 ? [`-parallelism=${number}`] : [];
};
