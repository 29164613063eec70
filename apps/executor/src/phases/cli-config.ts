import type { PhaseJob } from '../api/phase-job.js';

/** The host of sources that mean the server that executes the run, so that a configuration works on several servers. */
const GENERIC_HOST = 'localterraform.com';

/** The services that commands of a run use, as the server describes them (`/.well-known/terraform.json`). */
const REGISTRY = { 'modules.v1': '/api/registry/v1/modules/', 'providers.v1': '/api/registry/v1/providers/' };
const SERVICES = {
  ...REGISTRY,
  'state.v2': '/api/v2/',
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
};

/** A string of the configuration language. */
const quote = (text: string): string => JSON.stringify(text).replaceAll(/[$%](?=\{)/g, '$&$&');

const renderCredentials = (host: string, token: string): string =>
  `credentials ${quote(host)} {\n  token = ${quote(token)}\n}`;

/** Lets terraform find the services of a host at another address. */
const renderHost = (host: string, services: Readonly<Record<string, string>>, { origin }: URL): string => {
  const lines = Object.entries(services).map(([name, path]) => `    ${quote(name)} = ${quote(`${origin}${path}`)}`);
  return [`host ${quote(host)} {`, '  services = {', ...lines, '  }', '}'].join('\n');
};

type CliConfigJob = Pick<PhaseJob, 'run-token' | 'public-url'>;

/**
 * Lets terraform use the registry and the states of the server with the token of the run. Configurations name the public host of
 * the server, which may be out of reach, so its services are at the address that the executor uses.
 */
export const renderCliConfig = (server: URL, { 'run-token': token, 'public-url': publicUrl }: CliConfigJob): string => {
  const publicHost = publicUrl === null ? server.host : new URL(publicUrl).host;
  const isElsewhere = publicHost !== server.host;
  const hosts = [...new Set([server.host, publicHost, GENERIC_HOST])];
  return [
    'disable_checkpoint = true',
    ...hosts.map((host) => renderCredentials(host, token)),
    ...(isElsewhere ? [renderHost(publicHost, SERVICES, server)] : []),
    renderHost(GENERIC_HOST, REGISTRY, server),
    '',
  ].join('\n');
};
