import { Command, InvalidArgumentError, Option } from 'commander';
import {
  checkSourceName,
  checkProviderVersion,
  formatPlatform,
  PROTOCOLS,
  type Protocol,
} from '#registry/provider-release';
import { readPassphrase, parseServerAddress, findToken } from './credentials.js';
import { ApiClient } from './api-client.js';
import { EXIT_CODES, CommandError } from './command-error.js';
import { HttpClient } from './http-client.js';
import { prepareRelease, type PreparedRelease } from './prepare.js';
import { createProgressBar, createPlainProgress, formatSize, type PublishProgress } from './progress.js';
import { publishRelease, type PublishResult } from './publish.js';
import { ProviderRegistryClient } from './registry-client.js';
import { trustCertificateAuthorities } from './tls-trust.js';

type PublishOptions = {
  readonly org: string;
  readonly name: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly version?: string;
  readonly protocols?: readonly Protocol[];
  readonly key?: string;
  readonly keyPassphraseFile?: string;
  readonly keyPassphraseEnv: string;
  readonly publicKey?: string;
  readonly keyId?: string;
  readonly json?: boolean;
};

const HELP = `
The folder contains a release as GoReleaser makes it: terraform-provider-NAME_VERSION_OS_ARCH.zip for each platform,
SHA256SUMS, its detached signature SHA256SUMS.sig, and optionally the manifest, which names the protocols. If the folder
contains only zips, the command creates SHA256SUMS and signs it with the key of --key.

The command checks everything before it sends anything. It creates the GPG key of the organization, the provider, the
version and the platforms if they are missing. If the command is interrupted, run it again to continue. It uploads the
signature last, so that clients never see an incomplete version. Then it checks the published version as terraform would.

The token must belong to an owner of the organization, or to a member with permission to manage its providers. The command
looks for it in --token-file, TF_TOKEN_<host>, TFE_TOKEN and the credentials of terraform login.

Exit codes:
  0    published, or published already
  ${EXIT_CODES.refused}    the release is invalid, or the server refuses it
  ${EXIT_CODES.usage}    an option or a setting is wrong
  ${EXIT_CODES.unreachable}    the server cannot be reached, or keeps failing
  ${EXIT_CODES.stopped}  stopped by Ctrl-C

Example, with a key that is never stored in a file:
  gpg --armor --export-secret-keys releases@example.com |
    TFE_TOKEN=… cadastre-provider publish --server https://tfe.example.com --org acme --name demo --key /dev/stdin dist/
`;

const parseProtocols = (text: string): readonly Protocol[] => {
  const values = text.split(',').map((one) => one.trim());
  const unknown = values.find((one) => !PROTOCOLS.some((protocol) => protocol === one));
  if (unknown !== undefined) throw new InvalidArgumentError(`Accepted are ${PROTOCOLS.join(', ')}, got ${unknown}.`);
  return PROTOCOLS.filter((protocol) => values.includes(protocol));
};

const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** Prints what is about to be published, before anything is sent. */
const printSummary = (release: PreparedRelease, progress: PublishProgress): void => {
  const { name, version, archives, protocols, ignored } = release;
  const size = formatSize(archives.reduce((sum, archive) => sum + archive.size, 0));
  const platforms = archives.map(formatPlatform).join(', ');
  progress.print(`Provider ${name} ${version} for ${platforms}: ${size}, protocols ${protocols.join(', ')}`);
  if (ignored.length > 0) progress.print(`Ignored, because not part of this release: ${ignored.join(', ')}`);
};

const formatTerraformBlock = ({ source, version }: PublishResult, name: string): string => `terraform {
  required_providers {
    ${name} = {
      source  = "${source}"
      version = "${version}"
    }
  }
}
`;

const runPublish = async (folder: string, options: PublishOptions, signal: AbortSignal): Promise<void> => {
  const { org, name } = options;
  const isTerminal = process.stderr.isTTY && !process.env['CI'] && !options.json;
  const progress = isTerminal ? createProgressBar(process.stderr) : createPlainProgress(printError);
  const server = parseServerAddress(options.server, process.env);
  const token = await findToken(server, options.tokenFile, process.env);
  await trustCertificateAuthorities(options.ca ?? process.env['SSL_CERT_FILE']);
  const passphrase = await readPassphrase(options, process.env);
  const now = (): Date => new Date();
  const release = await prepareRelease({ ...options, folder, passphrase }, now());
  printSummary(release, progress);
  const api = new ApiClient(new HttpClient({ signal, print: (line) => progress.print(line) }), server, token);
  const registry = await ProviderRegistryClient.find(api, org, name);
  const published = await publishRelease({ release, registry, keyId: options.keyId, progress, now });
  if (options.json) {
    process.stdout.write(`${JSON.stringify(published, null, 2)}\n`);
    return;
  }
  const isNew = published.uploaded.length > 0;
  printError(
    `${isNew ? 'Published' : 'Already published'}, and verified with the GPG key ${published.keyId}. To use it:\n`,
  );
  process.stdout.write(formatTerraformBlock(published, name));
};

const STOPPED_MESSAGE = 'Stopped. Run the same command again to continue.';

/** Aborts the work at the first signal, and ends the process at the second. */
const runUntilInterrupted = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const controller = new AbortController();
  const stop = (): void => {
    process.once('SIGINT', () => process.exit(EXIT_CODES.stopped));
    controller.abort(new CommandError('stopped', [STOPPED_MESSAGE]));
  };
  process.once('SIGINT', stop);
  try {
    await work(controller.signal);
  } finally {
    process.removeListener('SIGINT', stop);
  }
};

const createOptionParser = (check: (text: string) => void) => (text: string) => {
  try {
    check(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : '');
  }
};

const reportFailure = (error: unknown, json: boolean): void => {
  if (!(error instanceof CommandError)) throw error;
  if (json) process.stdout.write(`${JSON.stringify({ error: error.kind, problems: error.problems }, null, 2)}\n`);
  for (const problem of error.problems) printError(problem);
  process.exitCode = error.exitCode;
};

const publishCommand = (): Command =>
  new Command('publish')
    .description('publish a release in the private registry of an organization, on any server of the TFE API')
    .argument('<dist-dir>', 'the folder with the release')
    .requiredOption('--org <organization>', 'the organization that publishes the release')
    .requiredOption(
      '--name <name>',
      'the name of the provider, as in terraform-provider-NAME',
      createOptionParser(checkSourceName),
    )
    .option('--server <url>', 'address of the server; default: CADASTRE_URL or TFE_ADDRESS')
    .option('--token-file <file>', 'a file with the token')
    .option('--ca <file>', 'PEM file with the certificate of the server’s authority; default: SSL_CERT_FILE')
    .option(
      '--version <version>',
      'the version to publish, if the folder contains several',
      createOptionParser(checkProviderVersion),
    )
    .option('--protocols <list>', 'protocols, such as 5.0,6.0; default: those of the manifest, or 5.0', parseProtocols)
    .option('--key <file>', 'an ASCII-armored private GPG key, which signs a release without a signature')
    .option('--key-passphrase-file <file>', 'a file with the passphrase of the key')
    .addOption(
      new Option('--key-passphrase-env <variable>', 'the environment variable with the passphrase of the key').default(
        'CADASTRE_KEY_PASSPHRASE',
      ),
    )
    .addOption(new Option('--public-key <file>', 'the ASCII-armored public GPG key of the signature').conflicts('key'))
    .option('--key-id <id>', 'GPG key of the organization to use; default: the key that made the signature')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action((folder: string, options: PublishOptions) =>
      runUntilInterrupted((signal) => runPublish(folder, options, signal)).catch((error: unknown) =>
        reportFailure(error, options.json ?? false),
      ),
    );

/** Wrong options exit with the code of wrong usage. Commander's default is 1. */
const setUsageExitCode = (command: Command): Command =>
  command
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_CODES.usage))
    .showHelpAfterError('(use --help to list all options)');

/** Used by `cadastre-provider`, and as the subcommand `provider` of `cadastre`. */
export const createProviderCommand = (name: string): Command =>
  setUsageExitCode(new Command(name))
    .description('publish providers in private registries')
    .addCommand(setUsageExitCode(publishCommand()));
