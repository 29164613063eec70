import { EXIT_CODES_HELP, TOKEN_VARIABLE } from './command-line.js';

/** An option of a command, as `--help` shows it. An option with `isRepeatable` may occur several times. */
export type VerifierOption = {
  readonly flags: string;
  readonly description: string;
  readonly isRepeatable?: boolean;
};

/** A command of the verifier, for `cadastre audit` and for `cadastre-verify`. */
export type VerifierCommand = {
  readonly name: 'verify' | 'watch';
  readonly description: string;
  readonly argument: { readonly name: string; readonly description: string };
  readonly options: readonly VerifierOption[];
  readonly help: string;
};

const KEY_OPTION: VerifierOption = {
  flags: '--key <key>',
  description: 'verifier key of the log or of a witness, or a file with one on each line; repeatable',
  isRepeatable: true,
};

const POLICY_OPTION: VerifierOption = {
  flags: '--policy <file>',
  description:
    'witnesses whose cosignatures are required, as C2SP tlog-policy; with --site those of the log of the site',
};

const TOKEN_HELP = `
The environment variable ${TOKEN_VARIABLE} has the token for a log at a URL. Without it, requests have no token.
`;

export const VERIFIER_COMMANDS: readonly VerifierCommand[] = [
  {
    name: 'verify',
    description: 'verify an export, a proof or the log of an audit trail, without database and server',
    argument: {
      name: 'source',
      description: 'file with an export or a proof, folder or URL with a log, or - for an export at the standard input',
    },
    options: [
      KEY_OPTION,
      { flags: '--entry <file>', description: 'the entry of a proof, as JSON' },
      { flags: '--since <file>', description: 'a checkpoint that you kept: the log must extend it' },
      {
        flags: '--url <prefix>',
        description: 'URL or folder of the log, for an export without proofs or checkpoints far apart',
      },
      {
        flags: '--site <prefix>',
        description: 'URL or folder of the log of the site, which must have the checkpoints and no others of the log',
      },
      {
        flags: '--site-checkpoint <file>',
        description:
          'an earlier checkpoint of the log of the site, such as a stamped one; the default is its newest one',
      },
      POLICY_OPTION,
      { flags: '--filtered', description: 'the export has selected entries only: accept entries that are absent' },
    ],
    help: `${TOKEN_HELP}${EXIT_CODES_HELP}`,
  },
  {
    name: 'watch',
    description: 'keep the checkpoints of a log, and raise an alarm if the log is rolled back, forked or stopped',
    argument: { name: 'url', description: 'URL or folder of the log' },
    options: [
      KEY_OPTION,
      POLICY_OPTION,
      { flags: '--state <folder>', description: 'folder where the checkpoints are kept' },
      { flags: '--interval <time>', description: 'time between two checks, such as 30s or 10m; default: 60s' },
      {
        flags: '--stopped-after <time>',
        description: 'raise the alarm if the log has no new entry for this time, such as 7d',
      },
      {
        flags: '--time-stamp-ca <file>',
        description: 'certificates of a time stamp authority (PEM): verify the time stamps of the log of the site',
      },
      {
        flags: '--stamped-within <time>',
        description: 'raise the alarm if entries have no time stamp for this time; default: 2d',
      },
      { flags: '--webhook <url>', description: 'URL that receives an alarm as JSON' },
      { flags: '--once', description: 'check once, and exit' },
    ],
    help: `
The command ends at the first alarm. Ctrl-C ends it with 0. A log counts as stopped after three checks in vain, or
after the time of --stopped-after. With --once, one check in vain ends the command with 3, and is no alarm before that time.
${TOKEN_HELP}${EXIT_CODES_HELP}`,
  },
];
