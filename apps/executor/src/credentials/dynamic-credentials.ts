import { CREDENTIAL_PROVIDERS, type ProviderContext } from './credential-providers.js';
import { CredentialError, type CredentialSettings } from './credential-settings.js';

/** What a run gets in addition to the variables of its workspace. */
type DynamicCredentials = {
  readonly environment: Readonly<Record<string, string>>;
  /** Values of input variables as JSON, which is HCL too. */
  readonly variables: Readonly<Record<string, string>>;
  /** Texts that no log may contain. */
  readonly secrets: readonly string[];
};

type CredentialSource = Pick<ProviderContext, 'write' | 'logIn'> & {
  /** Resolves to a token of the run for the audience. */
  readonly requestToken: (audience: string) => Promise<string>;
};

/** Tags become parts of file names. */
const TAG = /^[\w-]{1,64}$/;

const checkTag = (tag: string | null): void => {
  if (tag !== null && !TAG.test(tag)) {
    throw new CredentialError(
      `The tag ${JSON.stringify(tag)} of dynamic credentials must have at most 64 letters, digits, _ and -.`,
    );
  }
};

/** Builds the credentials that the variables of the workspace switch on. Throws a CredentialError if one is missing. */
export const buildDynamicCredentials = async (
  settings: CredentialSettings,
  { requestToken, write, logIn }: CredentialSource,
): Promise<DynamicCredentials> => {
  const environment: Record<string, string> = {};
  const variables: Record<string, string> = {};
  const secrets: string[] = [];
  const request = async (audience: string): Promise<string> => {
    const token = await requestToken(audience);
    secrets.push(token);
    return token;
  };
  for (const { tag, audience } of settings.listGenericAudiences()) {
    checkTag(tag);
    environment[`TFC_WORKLOAD_IDENTITY_TOKEN${tag === null ? '' : `_${tag}`}`] = await request(audience);
  }
  const keepSecret: ProviderContext['logIn'] = async (login) => {
    const secret = await logIn(login);
    secrets.push(secret);
    return secret;
  };
  for (const [name, provider] of Object.entries(CREDENTIAL_PROVIDERS)) {
    const aliases: Record<string, object> = {};
    let unnamed: object = {};
    for (const tag of settings.listTags(name)) {
      checkTag(tag);
      const token = await request(provider.getAudience(settings, tag));
      const built = await provider.build({ settings, tag, token, write, logIn: keepSecret });
      if (tag === null) Object.assign(environment, built.environment);
      if (tag === null) unnamed = built.member;
      else aliases[tag] = built.member;
    }
    if (Object.keys(aliases).length > 0) {
      variables[`tfc_${name.toLowerCase()}_dynamic_credentials`] = JSON.stringify({ default: unnamed, aliases });
    }
  }
  return { environment, variables, secrets };
};
