import { CredentialStore, parseCredentials, type HelperEnvironment } from './credential-store.js';
import { isHost } from './host.js';
import { revokeToken } from './revocation.js';

type HelperInput = {
  readonly env: HelperEnvironment;
  /** Reads standard input to its end. */
  readonly readInput: () => Promise<string>;
};

type HelperResult = { readonly code: number; readonly output: string; readonly errors: string };

const HELP = `Usage: terraform-credentials-cadastre get|store|forget HOST

Stores the tokens of terraform and tofu, each in a file that only you can read, and revokes a token when you log out.
terraform and tofu start it themselves. To install it, put it into ~/.terraform.d/plugins and add this line to the
configuration of the command line (~/.terraformrc, or ~/.tofurc):

  credentials_helper "cadastre" {}

  get HOST     prints the stored token as JSON, or {}
  store HOST   stores the token that standard input contains as JSON: {"token":"…"}
  forget HOST  revokes the token at the server, and deletes it here

Files: ~/.config/cadastre/credentials (or in XDG_CONFIG_HOME, or in APPDATA)
`;

const succeed = (output = ''): HelperResult => ({ code: 0, output, errors: '' });
const fail = (problem: string): HelperResult => ({ code: 1, output: '', errors: `${problem}\n` });

/** The protocol has these verbs. @see https://developer.hashicorp.com/terraform/internals/credentials-helpers */
const VERBS: Readonly<
  Record<string, (host: string, store: CredentialStore, input: HelperInput) => Promise<HelperResult>>
> = {
  get: async (host, store) => succeed(`${JSON.stringify((await store.find(host)) ?? {})}\n`),

  store: async (host, store, { readInput }) => {
    const credentials = parseCredentials(await readInput());
    if (credentials === null) return fail('standard input: must be a JSON object with a token');
    await store.store(host, credentials);
    return succeed();
  },

  /** Fails if the server did not revoke the token: terraform shows no other messages. The token is deleted anyway. */
  forget: async (host, store, { env }) => {
    const credentials = await store.find(host);
    if (credentials === null) return succeed();
    const reason = await revokeToken(host, credentials.token, env);
    await store.remove(host);
    if (reason === null) return succeed();
    return fail(
      `The token for ${host} is deleted on this computer, but the server did not revoke it: ${reason}. ` +
        `The token stays valid until its end. To revoke it, open https://${host}/app/~account/tokens`,
    );
  },
};

/** Runs the helper with its arguments. */
export const runCredentialsHelper = async (args: readonly string[], input: HelperInput): Promise<HelperResult> => {
  if (args.includes('--help') || args.includes('-h')) return succeed(HELP);
  const [verb = '', host = ''] = args;
  const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  if (!run || args.length !== 2)
    return fail(`Expected get, store or forget and a host, got: ${args.join(' ')}\n\n${HELP}`);
  if (!isHost(host))
    return fail(`HOST: must be a host name such as cadastre.example.com:8443, got ${JSON.stringify(host)}`);
  try {
    return await run(host, new CredentialStore(input.env), input);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
};
