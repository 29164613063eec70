import { Command, InvalidArgumentError, Option } from 'commander';
import { checkSourceName, checkProviderVersion, formatPlatform, PROTOCOLS, type Protocol } from '#provider-release';
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
The folder is one as GoReleaser makes it: terraform-provider-NAME_VERSION_OS_ARCH.zip for each platform, SHA256SUMS, its
detached signature SHA256SUMS.sig, and perhaps the manifest, which names the protocols. Or it holds zips only: then
SHA256SUMS is made, and signed with the key that --key names.

Everything is checked before anything is sent. What is missing is made: the GPG key of the organization, the provider, the
version, its platforms. Run again after a cut, the same command goes on where it ended. The signature is sent last, so that
nobody is offered a version that is not whole; then it is read back as terraform would.

The token is that of an owner of the organization, or of somebody who may manage its providers. It is looked for in
--token-file, TF_TOKEN_<host>, TFE_TOKEN, and where terraform login keeps it.

Exit codes:
  0    published, or there already
  ${EXIT_CODES.refused}    something is wrong with the release, or the server refuses it
  ${EXIT_CODES.usage}    an option or a setting is wrong
  ${EXIT_CODES.unreachable}    the server cannot be reached, or keeps failing
  ${EXIT_CODES.stopped}  stopped by Ctrl-C

Example, with a key that never lies in a file:
  gpg --armor --export-secret-keys releases@example.com |
    TFE_TOKEN=… cadastre-provider publish --server https://tfe.example.com --org acme --name demo --key /dev/stdin dist/
`;

const parseProtocols = (text: string): readonly Protocol[] => {
  const named = text.split(',').map((one) => one.trim());
  const unknown = named.find((one) => !PROTOCOLS.some((known) => known === one));
  if (unknown !== undefined) throw new InvalidArgumentError(`${unknown} is none of ${PROTOCOLS.join(', ')}.`);
  return PROTOCOLS.filter((known) => named.includes(known));
};

const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** What is about to be published, before anything is sent. */
const printSummary = (release: PreparedRelease, progress: PublishProgress): void => {
  const { name, version, archives, protocols, ignored } = release;
  const size = formatSize(archives.reduce((sum, archive) => sum + archive.size, 0));
  const platforms = archives.map(formatPlatform).join(', ');
  progress.print(`Provider ${name} ${version} for ${platforms}: ${size}, protocols ${protocols.join(', ')}`);
  if (ignored.length > 0) progress.print(`Not of this release, and left alone: ${ignored.join(', ')}`);
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
    `${isNew ? 'Published' : 'Was published already'}, read back and proved by the GPG key ${published.keyId}. To use it:\n`,
  );
  process.stdout.write(formatTerraformBlock(published, name));
};

const STOPPED_MESSAGE = 'Stopped. The same command, run again, goes on where this one ended.';

/** Ends the work at the first signal, and the process at the second. */
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
    .argument('<dist-dir>', 'the folder that the release lies in')
    .requiredOption('--org <organization>', 'the organization that publishes it')
    .requiredOption(
      '--name <name>',
      'the name of the provider, as in terraform-provider-NAME',
      createOptionParser(checkSourceName),
    )
    .option('--server <url>', 'the server; else CADASTRE_URL or TFE_ADDRESS')
    .option('--token-file <file>', 'a file with the token')
    .option('--ca <file>', 'the certificate of the authority of the server, PEM; else SSL_CERT_FILE')
    .option(
      '--version <version>',
      'which one, where the folder holds several',
      createOptionParser(checkProviderVersion),
    )
    .option('--protocols <list>', 'such as 5.0,6.0; else what the manifest says, else 5.0', parseProtocols)
    .option('--key <file>', 'a private GPG key, ASCII-armored, to sign with what is not signed')
    .option('--key-passphrase-file <file>', 'a file with its passphrase')
    .addOption(
      new Option('--key-passphrase-env <variable>', 'the variable with its passphrase').default(
        'CADASTRE_KEY_PASSPHRASE',
      ),
    )
    .addOption(
      new Option('--public-key <file>', 'the public GPG key that it is signed with, ASCII-armored').conflicts('key'),
    )
    .option('--key-id <id>', 'which GPG key of the organization; else the one that made the signature')
    .option('--json', 'tell the result as JSON')
    .addHelpText('after', HELP)
    .action((folder: string, options: PublishOptions) =>
      runUntilInterrupted((signal) => runPublish(folder, options, signal)).catch((error: unknown) =>
        reportFailure(error, options.json ?? false),
      ),
    );

/** Wrong options are wrong settings: commander would exit with 1. */
const setUsageExitCode = (command: Command): Command =>
  command
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_CODES.usage))
    .showHelpAfterError('(--help tells what there is)');

/** Stands alone as `cadastre-provider`, and below `cadastre` as `provider`. */
export const createProviderCommand = (name: string): Command =>
  setUsageExitCode(new Command(name))
    .description('providers in private registries, from the side of who publishes them')
    .addCommand(setUsageExitCode(publishCommand()));
